//! What webhooks are to be told, and what became of it. Who carries it stands above: here is nothing of HTTP.

use super::Ledger;
use crate::clock::Instant;
use crate::error::{Error, Result};
use ::books::access::{self, Seat};
use ::books::auth::{UserStatus, user};
use ::books::cx::{Asked, Cx};
use ::books::database::{Alone, Duty};
use ::books::news::Listener;
use masters::webhook::post;
pub use masters::webhook::post::{Letter, Mail, Sent, Then, WebhookOf};
use schema::key::ResourceKey;
use schema::rights::Action;
use std::sync::Arc;

/// Why nobody is told anything any more.
const SILENT: &str = "Whoever wrote the webhook is no active member of the company any more, or may not follow its events; \
                      somebody who may makes it active again";

impl Ledger {
    /// Webhooks for which something is due now; nothing where none is active.
    pub async fn webhooks_due(&self) -> Result<Option<Vec<WebhookOf>>> {
        post::due(&self.database.read, self.clock.now()).await
    }

    /// Lines up to be the process that does something.
    pub async fn alone(&self, duty: Duty) -> Result<Alone> {
        Ok(self.database.alone(duty).await?)
    }

    /// Hears of what is committed in any company.
    pub fn hears(&self) -> Listener {
        self.lanes.news().listen(None)
    }

    /// What is due for a webhook; nothing where that is not active any more. One in whose name nobody may hear is given up.
    pub async fn mail(self: &Arc<Self>, of: WebhookOf) -> Result<Option<Mail>> {
        let Some(speaker) = post::speaker(&self.database.read, of).await? else { return Ok(None) };
        let known = user::find(&self.database.read, speaker).await?.filter(|user| user.status == UserStatus::Active);
        let seen = match known {
            Some(_) => access::visible_business(&self.database.read, speaker, of.0).await.map(Some),
            None => Ok(None),
        };
        let business = match seen {
            Ok(business) => business,
            Err(Error::NotFound) => None,
            Err(error) => return Err(error),
        };
        let Some(business) = business.filter(|business| business.require(ResourceKey::Events, Action::View).is_ok())
        else {
            self.give_up(of).await?;
            return Ok(None);
        };
        let asked = Asked { user: speaker, ..self.of_ourselves(&business) };
        post::mail(&Cx::reading(asked, &self.database.read), of.1).await
    }

    /// Writes down what became of mail.
    pub async fn note_mail(
        self: &Arc<Self>,
        of: WebhookOf,
        mail: Mail,
        sent: Vec<Sent>,
        then: Option<Then>,
    ) -> Result<()> {
        let (ledger, noted) = (self.clone(), Arc::new((mail, sent, then)));
        self.write(Some(of.0), move |transaction, desk| {
            let (ledger, noted) = (ledger.clone(), noted.clone());
            Box::pin(async move {
                desk.open(transaction, of.0).await?;
                let facts = access::seen_from(transaction, of.0, Seat::owner()).await?;
                let cx = Cx::writing(ledger.of_ourselves(&facts), transaction, desk);
                let (mail, sent, then) = &*noted;
                post::note(&cx, of.1, (mail, sent, then.as_ref())).await
            })
        })
        .await
    }

    async fn give_up(self: &Arc<Self>, of: WebhookOf) -> Result<()> {
        let ledger = self.clone();
        self.write(Some(of.0), move |transaction, desk| {
            let ledger = ledger.clone();
            Box::pin(async move {
                desk.open(transaction, of.0).await?;
                let facts = access::seen_from(transaction, of.0, Seat::owner()).await?;
                post::give_up(&Cx::writing(ledger.of_ourselves(&facts), transaction, desk), of.1, SILENT).await
            })
        })
        .await
    }

    /// So long after now, and up to a tenth longer: those who were refused together do not come again together.
    pub fn later(&self, rest: std::time::Duration) -> Result<Instant> {
        let [chance] = crate::ids::random_bytes::<1>()?;
        let more = rest * u32::from(chance) / 2_550;
        let micros = i64::try_from((rest + more).as_micros()).map_err(Error::internal)?;
        Ok(Instant::from_micros(self.clock.now().micros() + micros))
    }
}
