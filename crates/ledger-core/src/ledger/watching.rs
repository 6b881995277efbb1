//! What the log of security is told of who comes in, and what the installation's log is told of accounts.

use super::Ledger;
use crate::books::verify::{self, Check};
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use ::books::audit::{AuditAction, Change, Origin};
use ::books::auth;
use ::books::auth::{Credentials, Device, LoginName, user};
use ::books::cx::{Asked, Cx, Expectation, Point};
use ::books::database::Session;
use ::books::desk::Desk;
use ::books::security::{AccountChange, Event, Told, Who};
use masters::installation_log;
use schema::key::ResourceKey;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// What was recorded by a command, until it is committed.
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Vec<Told>>>);

impl Watch {
    /// The command ran once more: what it recorded before was never committed.
    pub(super) fn take(&self, desk: &Desk) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = desk.take_told();
    }

    pub(super) fn tell(&self) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().for_each(Told::tell);
    }
}

impl Ledger {
    /// `agent` is what the program calls itself.
    pub async fn login(
        &self,
        by: LoginName,
        credentials: Credentials,
        origin: &Origin,
        agent: Option<String>,
    ) -> Result<auth::Session> {
        let name = credentials.name.clone();
        let address = origin.address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let outcome = self.log_in(by, credentials, Device { address, agent }).await;
        match &outcome {
            Ok(session) => Event::LoggedIn.tell(Who::User(session.user.id), None, origin),
            Err(Error::RateLimited { .. }) => Event::LogInHeldUp.tell(Who::Stranger, None, origin),
            Err(Error::Unauthenticated(_)) => {
                // Whose account it is, but never what was given as a name: people type their password there.
                let account = user::find_by_name(&self.database.read, &name, by).await?.map(|user| user.id);
                Event::LogInFailed { account }.tell(Who::Stranger, None, origin);
            }
            Err(_) => {}
        }
        outcome
    }

    /// Proves what belongs to no company: the chain of the installation's own log, the people, and that no company is gone.
    pub async fn verify_installation(&self) -> Result<Vec<Check>> {
        self.installation().await?;
        let snapshot = self.database.snapshot().await?;
        let origin = Origin::default();
        let checked = verify::installation(&self.of_nobody(&origin, &snapshot)).await;
        snapshot.end()?;
        checked
    }

    /// The installation's own log from its beginning, one JSON text a line. What keeps it may take its time.
    pub async fn installation_log(&self, mut keep: impl FnMut(&str) -> Result<()>) -> Result<()> {
        const PORTION: u64 = 1_000;
        let origin = Origin::default();
        let mut last = 0;
        loop {
            let snapshot = self.database.snapshot().await?;
            let records = installation_log::after(&self.of_nobody(&origin, &snapshot), last, PORTION).await;
            snapshot.end()?;
            let records = records?;
            let Some((sequence, _)) = records.last() else { return Ok(()) };
            last = *sequence;
            for (_, line) in &records {
                keep(line)?;
            }
        }
    }

    /// What the command line reads of the installation itself.
    pub(super) fn of_nobody<'c>(&'c self, origin: &'c Origin, snapshot: &'c Session) -> Cx<'c> {
        let asked = Asked {
            user: UserId::default(),
            key: None,
            session: None,
            keys: &self.keys,
            business: None,
            clock: &self.clock,
            expectation: &Expectation::Unsaid,
            origin,
            point: Point::default(),
            seals: &self.seals,
        };
        Cx::reading_within(asked, snapshot)
    }

    /// Notes that a tenant began or ended, in the log of its own installation.
    pub async fn note_tenant(&self, host: &str, begins: bool) -> Result<()> {
        let (row, now, host) = (RecordId(self.clock.identifier()), self.clock.now(), host.to_owned());
        self.write(None, move |transaction, desk| {
            let said = serde_json::json!({"tenant": host}).to_string();
            let (before, after) = if begins { (None, Some(said)) } else { (Some(said), None) };
            Box::pin(async move {
                desk.open_installation(transaction).await?;
                let change = Change {
                    action: if begins { AuditAction::Created } else { AuditAction::Deleted },
                    resource: ResourceKey::InstallationLog,
                    id: RecordId(BusinessId::INSTALLATION.0),
                    version_from: None,
                    version_to: None,
                    before,
                    after,
                    note: None,
                };
                desk.record(BusinessId::INSTALLATION, row, now, &Origin::default(), change)
            })
        })
        .await
    }

    /// Notes what the operator did to an account.
    pub(super) async fn note_account(
        transaction: &Session,
        desk: &Desk,
        (id, now): (RecordId, crate::clock::Instant),
        account: UserId,
        change: AccountChange,
    ) -> Result<()> {
        desk.open_installation(transaction).await?;
        desk.record(BusinessId::INSTALLATION, id, now, &Origin::default(), change.of(account))
    }
}
