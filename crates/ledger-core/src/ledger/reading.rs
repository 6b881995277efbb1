//! Reads: each in its turn, and each ends with who asked for it.

use super::elsewhere::Needs;
use super::expanding;
use super::leave::{Judged, Leave};
use super::{Answer, Call, Ledger, Proof, Reply, named_record};
use crate::books::verify;
use crate::error::{Error, Result, Unavailable};
use crate::ids::{BusinessId, RecordId, UserId};
use ::books::access::{self, Business, Principal, Seat};
use ::books::audit::Origin;
use ::books::cx::{Asked, Cx, Expectation, Point};
use ::books::database::Reads as Place;
use ::books::database::lane::BoxFuture;
use ::books::export::{Journal, JournalFormat};
use ::books::fair::{Begun, Kind, Present, Tethered, Who};
use ::books::seal::SignedHead;
use ::books::security::Event;
use kit::extra::{Media, Produced, Weight};
use kit::feed::{Feed, Portions, Round};
use kit::list::{DEFAULT_PAGE_SIZE, ListQuery, Parameter, Reads};
use kit::operation::{ReplyKind, ResourceOperations, Shown, Verb};
use schema::business;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// A call, sorted: what only reads ends with who asked for it, what writes goes on to its end.
pub enum Errand {
    Read(ReadCall),
    Write(WriteCall),
}

/// A call that reads. It is asked in front of somebody who waits.
pub struct ReadCall(pub(super) Call);

/// A call that writes.
#[derive(Clone)]
pub struct WriteCall(pub(super) Call);

impl Call {
    pub fn sorted(self) -> Errand {
        if self.resource.writes(self.verb) { Errand::Write(WriteCall(self)) } else { Errand::Read(ReadCall(self)) }
    }
}

/// How long a portion of a long answer may take.
const PORTION: Duration = Duration::from_secs(30);

/// A read, with all that it needs to be made later, or again.
pub(super) struct Question {
    pub(super) ledger: Arc<Ledger>,
    leave: Leave,
    /// As it was when the request had arrived.
    judged: Judged,
    /// Whether it was judged otherwise since: then it is not the question any more that was asked.
    changed: AtomicBool,
    call: Call,
    query: ListQuery,
    id: Option<RecordId>,
    who: Who,
    /// What a standby must have to answer it.
    pub(super) needs: Needs,
    /// What is told of it where it does not come to its end.
    begun: Arc<Begun>,
}

impl Question {
    pub(super) fn company(&self) -> Option<BusinessId> {
        self.judged.business.as_ref().map(|business| business.id)
    }

    /// Its turn has come: from here on it is slow by itself.
    fn begins(&self) {
        self.begun.now(|| faster(self.call.resource, self.call.verb, &self.query));
    }

    /// What the caller is now, after they waited.
    async fn judged(&self, waited: bool) -> Result<Judged> {
        if !waited {
            return Ok(self.judged.clone());
        }
        let connection = &self.ledger.database.read;
        let changes = self.ledger.remembered.changes(connection).await?;
        if changes != self.leave.principal.changes {
            self.changed.store(true, Ordering::Release);
        }
        self.leave.since(connection, (changes, self.ledger.clock.now()), &self.judged).await
    }

    fn asked<'a>(&'a self, judged: &'a Judged) -> Asked<'a> {
        Asked {
            user: self.leave.principal.user,
            key: judged.key.as_deref(),
            session: self.leave.principal.session,
            keys: &self.ledger.keys,
            business: judged.business.as_deref(),
            clock: &self.ledger.clock,
            expectation: &Expectation::Unsaid,
            origin: &self.call.origin,
            point: self.query.point,
            seals: &self.ledger.seals,
        }
    }

    async fn produced(&self, cx: &Cx<'_>) -> Result<(Media, Produced)> {
        self.call.resource.read_extra(self.call.verb, cx, self.id, &self.query).await
    }

    /// A record, a page, or what else is soon read.
    async fn brief(&self) -> Result<Reply> {
        let ledger = &self.ledger;
        let turn = ledger.fair.enter(Kind::Brief, self.who).await?;
        self.begins();
        let judged = self.judged(turn.waited).await?;
        if let Some(elsewhere) = self.elsewhere().await {
            let reply = self.brief_of(&judged, elsewhere.reads).await;
            if let Some(reply) = elsewhere.answered(reply) {
                return reply;
            }
        }
        self.brief_of(&judged, &ledger.database.read).await
    }

    async fn brief_of(&self, judged: &Judged, place: &Place) -> Result<Reply> {
        let reads = place.of_one();
        let cx = Cx::reading(self.asked(judged), &reads);
        let resource = self.call.resource;
        match (self.call.verb, self.id) {
            (Verb::List, _) => {
                let produced = resource.list(&cx, &self.query).await?;
                let text = expanding::expanded(&cx, &self.query, self.call.verb, produced.text).await?;
                Ok(Reply { pagination: produced.pagination, ..Reply::plain(ReplyKind::Listed, text) })
            }
            (Verb::Get, Some(id)) => {
                let shown = resource.get(&cx, id, &self.query).await?;
                let json = expanding::expanded(&cx, &self.query, self.call.verb, shown.json).await?;
                Ok(Reply::of(ReplyKind::Found, Shown { json, ..shown }))
            }
            _ => Ok(told(ReplyKind::Listed, self.produced(&cx).await?)),
        }
    }

    /// What there is to tell; where that is nothing yet, it is waited for, and no place is held meanwhile.
    async fn awaited(&self, company: BusinessId, until: Instant) -> Result<Reply> {
        let mut has_waited = false;
        loop {
            let (media, produced) = {
                let turn = self.ledger.fair.enter(Kind::Brief, self.who).await?;
                self.begins();
                let judged = self.judged(turn.waited || has_waited).await?;
                self.produced(&Cx::reading(self.asked(&judged), &self.ledger.database.read.of_one())).await?
            };
            match produced.nothing_after {
                Some(after) if self.ledger.awaits(company, after, until).await? => has_waited = true,
                _ => return Ok(told(ReplyKind::Listed, (media, produced))),
            }
        }
    }

    /// What is summed from many tables is summed from the same books.
    async fn dear(&self) -> Result<Reply> {
        let turn = self.ledger.fair.enter(Kind::Dear, self.who).await?;
        self.begins();
        let judged = self.judged(turn.waited).await?;
        if let Some(elsewhere) = self.elsewhere().await {
            let reply = self.dear_of(&judged, elsewhere.reads).await;
            if let Some(reply) = elsewhere.answered(reply) {
                return reply;
            }
        }
        self.dear_of(&judged, &self.ledger.database.quiet).await
    }

    async fn dear_of(&self, judged: &Judged, place: &Place) -> Result<Reply> {
        let snapshot = place.snapshot().await?;
        let produced = self.produced(&Cx::reading_within(self.asked(judged), &snapshot)).await;
        snapshot.end()?;
        Ok(told(ReplyKind::Found, produced?))
    }

    /// What reads all there is: one at a time for a company, in slices.
    async fn proof(&self) -> Result<Reply> {
        self.ledger.installation().await?;
        let _place = self.ledger.fair.enter(Kind::Proof, self.who).await?;
        let pace = self.ledger.fair.pace(self.who).await?;
        self.begins();
        let judged = self.judged(true).await?;
        let snapshot = self.ledger.database.quiet.snapshot().await?;
        let produced = self.produced(&Cx::reading_within(self.asked(&judged), &snapshot).at_pace(&pace)).await;
        snapshot.end()?;
        Ok(told(ReplyKind::Found, produced?))
    }

    /// A portion of a long answer, from a snapshot that is gone when it is handed over.
    async fn portion(&self, portions: &mut dyn Portions) -> Result<Option<String>> {
        let _turn = self.ledger.fair.enter(Kind::Dear, self.who).await?;
        self.begins();
        // Whoever takes their time over a long answer gets no more of it than they may.
        let judged = self.judged(true).await?;
        // Who makes portions cannot begin anew with one: what breaks off there is not taken up here.
        if let Some(elsewhere) = self.elsewhere().await {
            let portion = self.portion_of(&judged, portions, elsewhere.reads).await?;
            elsewhere.was_read(&self.needs);
            return Ok(portion);
        }
        self.needs.stays_at_home();
        self.portion_of(&judged, portions, &self.ledger.database.quiet).await
    }

    async fn portion_of(&self, judged: &Judged, portions: &mut dyn Portions, place: &Place) -> Result<Option<String>> {
        let snapshot = place.snapshot().await?;
        let portion = portions.next(&Cx::reading_within(self.asked(judged), &snapshot), &self.query).await;
        snapshot.end()?;
        portion
    }
}

/// As long before a client gives up as what waits is answered, with nothing to tell.
const ANSWERED_BEFORE: Duration = Duration::from_secs(1);

/// What would be faster than what was asked.
fn faster(resource: &ResourceOperations, verb: Verb, query: &ListQuery) -> String {
    if resource.weight(verb) == Weight::Proof {
        return "have duet verify prove it beside the server, by as many hands as it has cores, and with --since what came \
                since an anchor alone"
            .into();
    }
    let offer = resource.offer(verb);
    let is_said = |parameter: &&Parameter| !query.filters.iter().any(|(name, _)| *name == parameter.name);
    let of = |reads: fn(&Reads) -> bool| offer.parameters.iter().filter(move |parameter| reads(&parameter.reads));
    let names = of(|reads| matches!(reads, Reads::Identifier | Reads::Party | Reads::AnyOf(_))).filter(is_said);
    let names: Vec<&str> = names.map(|parameter| parameter.name).take(MOST_NAMED).collect();
    let spans = of(|reads| *reads == Reads::Day).filter(|parameter| !ENDS.contains(&parameter.name));
    let spans: Vec<&str> = spans.map(|parameter| parameter.name).take(2).collect();
    let mut ways = Vec::new();
    if !names.is_empty() {
        ways.push(format!("for one {}", names.join(", or one ")));
    }
    if let [from, to] = spans[..] {
        ways.push(format!("for a shorter time by {from} and {to}"));
    }
    if offer.paged && query.page_size > DEFAULT_PAGE_SIZE {
        ways.push("for shorter pages".into());
    }
    if offer.parameters.iter().any(|parameter| parameter.name == "format") && offer.paged {
        ways.push("with format=csv, which comes in portions however long it is".into());
    }
    if ways.is_empty() { "ask for less at once".into() } else { format!("ask {}", ways.join(", ")) }
}

/// More ways than anybody tries.
const MOST_NAMED: usize = 3;
/// Days that are no beginning of anything, or another name for one that is.
const ENDS: [&str; 2] = ["asOf", "date"];

fn told(kind: ReplyKind, (media, produced): (Media, Produced)) -> Reply {
    Reply { media, pagination: produced.pagination, ..Reply::plain(kind, produced.text) }
}

impl Ledger {
    /// Answers a call that reads, in front of who waits for it.
    pub async fn read(self: &Arc<Self>, waits: Present<'_>, principal: &Principal, call: ReadCall) -> Result<Answer> {
        let ReadCall(call) = call;
        let (leave, judged) = self.authorise(principal, &call).await?;
        let stood = Self::reached(principal, &call)?;
        let business = judged.business.clone();
        if let Some(business) = &business {
            self.count(principal, &call, business);
        }
        let (resource, verb) = (call.resource, call.verb);
        let query = ListQuery::parse(&resource.offer(verb), &call.query)?;
        let awaited = resource.awaited(verb);
        let listens = awaited.filter(|_| call.listens).map(|awaited| (Media::EventStream, awaited.begin));
        let portions = listens.or_else(|| resource.portions(verb, &query));
        let known = business.as_ref().and_then(|business| self.question(principal, &call, business));
        let id = named_record(&call)?;
        let company = business.as_ref().map(|business| business.id);
        let who = Who::asking(company, principal.user, principal.caller());
        let (ledger, changed, begun) = (self.clone(), AtomicBool::new(false), waits.begun());
        let needs = Needs::of((resource, verb), (stood, call.at_least), portions.is_none());
        let question = Arc::new(Question { ledger, leave, judged, changed, call, query, id, who, needs, begun });
        if let Some((media, begin)) = portions {
            if media != Media::EventStream {
                let operation = resource.operation_id(verb);
                Event::Exported { operation }.tell(principal.who(), company, &question.call.origin);
            }
            let begun = match feed(question.clone(), media, begin()).await {
                Err(error) if question.needs.goes_home(&error) => feed(question, media, begin()).await,
                begun => begun,
            };
            return begun.map(|feed| Answer::Portions(feed, stood));
        }
        if resource.tells_of_calls {
            self.write_usage().await?;
        }
        let patience = awaited.map(|awaited| (awaited.patience)(&question.query)).transpose()?;
        let reply = match (resource.weight(verb), company, resource.is_asked_alike(verb)) {
            (Weight::Brief, company, _) => match patience.zip(company) {
                Some((patience, company)) => {
                    let until = (Instant::now() + patience).min(waits.until() - ANSWERED_BEFORE);
                    question.awaited(company, until).await?
                }
                None => question.brief().await?,
            },
            (Weight::Dear, ..) => {
                let question = question.clone();
                Tethered::begin(async move { question.dear().await }).await?
            }
            (Weight::Proof, Some(company), true) => {
                let version = principal.books.filter(|(id, _)| *id == company).map(|(_, version)| version);
                // Whoever joins one that is under way waits for what takes long by itself.
                question.begins();
                let begin = || -> BoxFuture<'static, Result<Reply>> {
                    let question = question.clone();
                    Box::pin(async move { question.proof().await })
                };
                self.proofs.ask((company, resource.key, verb), version, begin).await?
            }
            (Weight::Proof, ..) => {
                let question = question.clone();
                Tethered::begin(async move { question.proof().await }).await?
            }
        };
        let reply = reply.knowing(stood);
        let is_older = |version: i64| reply.sequence.is_some_and(|sequence| sequence < version);
        let known = known.filter(|(_, version)| !is_older(*version));
        if let Some((asked, version)) = known.filter(|_| !question.changed.load(Ordering::Acquire)) {
            // The version is older than the answer: what changed meanwhile has another one.
            self.answers.keep(asked, version, &reply);
        }
        Ok(Answer::Whole(reply))
    }

    /// Proves the books of one company or of all, each as it is at one moment, by so many hands at most. Of a company with a
    /// head what is before it is trusted.
    pub async fn verify(
        &self,
        only: Option<BusinessId>,
        hands: usize,
        since: &[SignedHead],
        progress: &verify::Progress,
    ) -> Result<Vec<Proof>> {
        self.installation().await?;
        let mut named = business::Entity::find().order_by_asc(business::Column::NameKey);
        if let Some(id) = only {
            named = named.filter(business::Column::Id.eq(id));
        }
        let companies = named.all(&self.database.read).await?;
        if only.is_some() && companies.is_empty() {
            return Err(Error::NotFound);
        }
        let mut proofs = Vec::new();
        for company in companies {
            let snapshots = self.database.snapshots(company.id, hands).await?;
            let facts = access::seen_from(&snapshots[0], company.id, Seat::owner()).await?;
            let with = |snapshot| Cx::reading_within(self.of_ourselves(&facts), snapshot);
            let since = since.iter().find(|head| head.business_id == company.id);
            let verdict = verify::run_by(&snapshots, with, since, progress).await;
            for snapshot in snapshots {
                snapshot.end()?;
            }
            let verdict = match verdict {
                // One company's trouble is not another's.
                Err(error) => verify::Verdict::unread(error.of_the_books()?),
                Ok(verdict) => verdict,
            };
            proofs.push(Proof { business_id: company.id, name: company.name, verdict });
        }
        Ok(proofs)
    }

    /// The ledger of a company as a plain text journal, as far as it goes now. What keeps it may take its time.
    pub async fn export(
        &self,
        id: BusinessId,
        format: JournalFormat,
        mut keep: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let mut journal = Journal::of(format);
        loop {
            let snapshot = self.database.snapshot().await?;
            let facts = access::seen_from(&snapshot, id, Seat::owner()).await?;
            let portion = journal.next(&Cx::reading_within(self.of_ourselves(&facts), &snapshot)).await;
            snapshot.end()?;
            match portion? {
                Some(text) => keep(&text)?,
                None => return Ok(()),
            }
        }
    }

    /// What is asked by the program itself, with all rights.
    pub(super) fn of_ourselves<'a>(&'a self, facts: &'a Business) -> Asked<'a> {
        const NOBODY: &Origin =
            &Origin { user: None, key: None, address: None, dialect: None, request_id: None, client_request_id: None };
        Asked {
            user: UserId::default(),
            key: None,
            session: None,
            keys: &self.keys,
            business: Some(facts),
            clock: &self.clock,
            expectation: &Expectation::Unsaid,
            origin: NOBODY,
            point: Point::default(),
            seals: &self.seals,
        }
    }
}

/// Begins an answer that is handed over portion by portion.
async fn feed(question: Arc<Question>, media: Media, portions: Box<dyn Portions>) -> Result<Feed> {
    const LATE: Error = Error::Unavailable(Unavailable::Overloaded);
    let place = question.ledger.feeds.enter(question.who)?;
    let round: Round = Box::new(move |mut portions| {
        let question = question.clone();
        Box::pin(async move {
            if let Some(after) = portions.nothing_after()
                && !question.goes_on(after).await?
            {
                return Ok((portions, None));
            }
            let portion =
                tokio::time::timeout(PORTION, question.portion(portions.as_mut())).await.unwrap_or(Err(LATE))?;
            Ok((portions, portion))
        })
    });
    Feed::begin(place, media, portions, round).await
}
