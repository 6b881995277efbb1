//! Tells webhooks what happened: in the order of each company's feed, each event until it is taken.
//!
//! Owns: when is tried what, and when it is given up. What is due, and how far a webhook was told, the books say; nothing is
//! remembered here that would be lost with the process. Of several processes of one database one tells.

use crate::config::Telling;
use crate::sight;
use crate::tenants::Books;
use courier::{Courier, Outcome, Parcel, Places};
use ledger_core::database::{Alone, Duty};
use ledger_core::error::Error;
use ledger_core::ledger::{Ledger, Letter, Mail, Sent, Then, WebhookOf};
use ledger_core::news::Listener;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// How often it is looked for what is due.
const LOOK: Duration = Duration::from_secs(1);
/// As long as is left between two looks, however much is committed.
const TOGETHER: Duration = Duration::from_millis(20);
/// After so long it is written down what was sent, if more is left to send.
const WRITTEN: Duration = Duration::from_secs(1);
/// So many messages a second go out for a company, where more of them wait than are written down at once: neither its
/// receivers nor the other companies of these books are to be worn out by what is sent again.
const PACE: u32 = 100;
/// As long as a process that stops waits for what is being sent to be written down.
const REST: Duration = Duration::from_secs(3);

/// What is told with.
pub(crate) struct Teller {
    courier: Courier,
    retries: Vec<Duration>,
    /// Webhooks that somebody is telling something just now.
    busy: Mutex<HashSet<(usize, WebhookOf)>>,
}

/// Some books, as long as they are open.
struct Place {
    ledger: Weak<Ledger>,
    /// The place in the line of those who would tell of them; nothing where nobody is told anything.
    alone: Option<Alone>,
    /// What is committed there, where somebody is told of it.
    news: Option<Listener>,
}

impl Teller {
    pub(crate) fn new(settings: &Telling) -> Arc<Self> {
        let courier = Courier::new(Places::and(settings.networks.clone()), settings.timeout);
        Arc::new(Self { courier, retries: settings.retries.clone(), busy: Mutex::default() })
    }

    fn busy(&self) -> MutexGuard<'_, HashSet<(usize, WebhookOf)>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on as long as the process does.
    pub(crate) async fn tell(self: Arc<Self>, books: Arc<Books>) {
        let mut places: Vec<Place> = Vec::new();
        loop {
            places.retain(|place| place.ledger.strong_count() > 0);
            for ledger in books.ledgers() {
                if !places.iter().any(|place| place.ledger.as_ptr() == Arc::as_ptr(&ledger)) {
                    places.push(Place { ledger: Arc::downgrade(&ledger), alone: None, news: None });
                }
            }
            for place in &mut places {
                if let Some(ledger) = place.ledger.upgrade()
                    && let Err(error) = self.look(&ledger, place).await
                {
                    tracing::debug!(?error, "what is due for webhooks is not known for now");
                }
            }
            match &mut places[..] {
                [Place { news: Some(news), .. }] if !news.is_over() => {
                    if timeout(LOOK, news.heard()).await.is_ok() {
                        sleep(TOGETHER).await;
                    }
                }
                _ => sleep(LOOK).await,
            }
        }
    }

    /// Begins what is due in some books.
    async fn look(self: &Arc<Self>, ledger: &Arc<Ledger>, place: &mut Place) -> Result<(), Error> {
        let Some(due) = ledger.webhooks_due().await? else {
            (place.alone, place.news) = (None, None);
            return Ok(());
        };
        let mut alone = match place.alone.take() {
            Some(alone) => alone,
            None => ledger.alone(Duty::Webhooks).await?,
        };
        let is_ours = alone.is_ours().await?;
        place.alone = Some(alone);
        if !is_ours {
            place.news = None;
            return Ok(());
        }
        place.news.get_or_insert_with(|| ledger.hears());
        for of in due {
            let key = (Arc::as_ptr(ledger) as usize, of);
            if self.busy().insert(key) {
                let (teller, ledger) = (self.clone(), ledger.clone());
                supervise::once("what tells a webhook", async move {
                    let _busy = Busy { teller: teller.clone(), key };
                    if let Err(error) = teller.deliver(&ledger, of).await {
                        tracing::debug!(?error, "a webhook is told later");
                    }
                });
            }
        }
        Ok(())
    }

    /// Tells one webhook what is due, until nothing is, or something is refused.
    async fn deliver(&self, ledger: &Arc<Ledger>, of: WebhookOf) -> Result<(), Error> {
        while let Some(mail) = ledger.mail(of).await? {
            if !mail.is_worth_noting() {
                return Ok(());
            }
            let begun = Instant::now();
            let (mut sent, mut then) = (Vec::new(), None);
            for letter in &mail.letters {
                let at = ledger.now();
                let outcome = self.carry(&mail, letter, ledger).await?;
                if letter.is_of_feed() && !outcome.is_taken() {
                    let taken_before = sent.iter().any(|one: &Sent| one.letter.is_of_feed());
                    let failures = if taken_before { 0 } else { mail.failures() };
                    then = Some(self.after(ledger, failures, &outcome)?);
                }
                sent.push(noted(letter, at, outcome));
                if then.is_some() || begun.elapsed() > WRITTEN || ledger.is_silent() {
                    break;
                }
            }
            if let Some(Then::GivenUp(why)) = &then {
                let (business, webhook) = of;
                tracing::warn!(code = "webhook_given_up", %business, %webhook, why, "a webhook is told nothing any more");
            }
            let ends = then.is_some() || mail.letters.is_empty() || ledger.is_silent();
            let (more, many) = (mail.is_full(), u32::try_from(sent.len()).unwrap_or(u32::MAX));
            ledger.note_mail(of, mail, sent, then).await?;
            if ends {
                break;
            }
            if more {
                let beside = self.busy().iter().filter(|(_, other)| other.0 == of.0).count();
                let pause = Duration::from_secs(1) / PACE * many * u32::try_from(beside).unwrap_or(u32::MAX);
                sleep_until(begun + pause).await;
            }
        }
        Ok(())
    }

    async fn carry(&self, mail: &Mail, letter: &Letter, ledger: &Ledger) -> Result<Outcome, Error> {
        if letter.body.is_empty() {
            let problem = "whoever the webhook hears for may not view that record any more".to_owned();
            let took = Duration::ZERO;
            return Ok(Outcome { status: None, took, said: String::new(), retry_after: None, problem: Some(problem) });
        }
        let way = sight::way_of(letter);
        let headers = mail.headers(letter, ledger.now(), way.headers())?;
        let outcome = self.courier.carry(Parcel { url: mail.url.clone(), headers, body: letter.body.clone() }).await;
        sight::delivered(&way, letter, &outcome);
        Ok(outcome)
    }

    /// What happens after something was refused so often before.
    fn after(&self, ledger: &Ledger, failures: i64, outcome: &Outcome) -> Result<Then, Error> {
        const GONE: u16 = 410;
        if outcome.status == Some(GONE) {
            return Ok(Then::GivenUp("The receiver answered 410: it wants nothing any more".into()));
        }
        let place = usize::try_from(failures).map_err(Error::internal)?;
        let Some(rest) = self.retries.get(place) else {
            let last = match (outcome.status, &outcome.problem) {
                (Some(status), _) => format!("the receiver answered {status}"),
                (None, problem) => problem.clone().unwrap_or_else(|| "there was no answer".into()),
            };
            return Ok(Then::GivenUp(format!(
                "An event was refused {} times, the last time because {last}",
                place + 1
            )));
        };
        let rest = outcome.retry_after.map_or(*rest, |asked| asked.max(*rest));
        Ok(Then::TriedAgain(ledger.later(rest)?))
    }

    /// Waits until what is being sent is written down, for a while: it would be sent again else.
    pub(crate) async fn rests(&self) {
        let until = Instant::now() + REST;
        while !self.busy().is_empty() && Instant::now() < until {
            sleep(TOGETHER).await;
        }
    }
}

/// That somebody tells a webhook something, until it is dropped.
struct Busy {
    teller: Arc<Teller>,
    key: (usize, WebhookOf),
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.teller.busy().remove(&self.key);
    }
}

fn noted(letter: &Letter, at: ledger_core::clock::Instant, outcome: Outcome) -> Sent {
    Sent {
        letter: letter.clone(),
        at,
        is_taken: outcome.is_taken(),
        status: outcome.status.map(i64::from),
        ms: i64::try_from(outcome.took.as_millis()).unwrap_or(i64::MAX),
        said: outcome.said,
        problem: outcome.problem,
    }
}
