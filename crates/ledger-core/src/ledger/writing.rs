//! A write, from its request to the lane and back.

use super::call::{Call, Reply};
use super::leave::{Judged, Leave};
use super::reading::WriteCall;
use super::speaking::Spoken;
use super::watching::Watch;
use super::{Ledger, Outcome, named_record};
use crate::error::{Error, FieldErrors, Result};
use crate::fingerprint::{self, Fingerprint};
use crate::idempotency::{self, Claim};
use crate::ids::{BusinessId, RecordId};
use crate::quoting::quoted;
use crate::resource::registry::answering;
use ::books::access::Principal;
use ::books::aside;
use ::books::audit::Origin;
use ::books::cx::{Asked, Cx, Expectation, Point};
use ::books::database::lane::{Keep, Manner, Order, Stands, Work};
use ::books::desk::{Desk, Rehearsed};
use ::books::fair::{Kind, Who as Asking};
use ::books::stock::{Ahead, Wish};
use documents::entry;
use kit::list;
use kit::operation::{Prepared, ReplyKind};
use kit::resource::Scope;
use masters::user as user_records;
use sea_orm::ConnectionTrait;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl Ledger {
    /// Answers a call that writes. Whoever stops waiting for it does not stop it, where it runs in a task of its own.
    pub async fn write_down(self: &Arc<Self>, principal: &Principal, call: WriteCall) -> Result<Reply> {
        self.write_named(principal, call, Vec::new()).await
    }

    /// The same for a caller who was recognised: nobody asked the database yet who they are and what they may do. Nothing is
    /// answered, and nothing was done, where that has changed; then it is for `write_down`, once they were asked for.
    pub async fn write_recognised(self: &Arc<Self>, principal: &Principal, call: WriteCall) -> Result<Option<Reply>> {
        let WriteCall(call) = call;
        // What is refused by what is remembered may be allowed by now.
        let Ok(leave) = self.authorise(principal, &call).await else { return Ok(None) };
        self.written(principal, leave, (call, Vec::new())).await
    }

    /// The same where what is made is to be called so: the record of each operation by its place, one that comes alone being
    /// the first. No request can say this; the records of a demo are those that the documents name.
    pub async fn write_named(
        self: &Arc<Self>,
        principal: &Principal,
        call: WriteCall,
        names: Vec<Option<RecordId>>,
    ) -> Result<Reply> {
        let WriteCall(call) = call;
        let leave = self.authorise(principal, &call).await?;
        let written = self.written(principal, leave, (call, names)).await?;
        written.ok_or_else(|| Error::internal("what was asked for as a write began was taken for remembered"))
    }

    async fn written(
        self: &Arc<Self>,
        principal: &Principal,
        (leave, judged): (Leave, Judged),
        (call, names): (Call, Vec<Option<RecordId>>),
    ) -> Result<Option<Reply>> {
        let stood = Self::reached(principal, &call)?;
        let spoken = judged.business.as_ref().and_then(|business| Spoken::of(principal, &call, business));
        let written = self.write_request(principal, (leave, judged), (call, names)).await;
        // What starts over is counted then.
        if let Some(spoken) = spoken.filter(|_| !matches!(written, Ok(None))) {
            self.count_spoken(spoken);
        }
        Ok(written?.map(|reply| reply.knowing(stood)))
    }

    /// Nothing where the caller was recognised, and is another by now.
    async fn write_request(
        self: &Arc<Self>,
        principal: &Principal,
        (leave, judged): (Leave, Judged),
        (mut call, names): (Call, Vec<Option<RecordId>>),
    ) -> Result<Option<Reply>> {
        let business = judged.business.clone();
        let dry_run = check_query(&call.query, &["dryRun"])?;
        let id = named_record(&call)?;
        let company = business.as_ref().map(|business| business.id);
        let key = call.idempotency_key.clone().filter(|_| !dry_run);
        let (resource, verb, body) = (call.resource, call.verb, std::mem::take(&mut call.body));
        let (stands, watch) = (Stands::default(), Watch::default());
        let (asked_of, said_of) = (business.clone(), company.filter(|_| resource.scope == Scope::Business));
        let (record, is_claimed) = (call.id.clone(), key.is_some());
        let prepared = aside::read(body.len(), move || {
            let record = record.as_deref();
            let prepared = resource.prepare((verb, record), asked_of.as_deref(), &body)?;
            let command =
                if is_claimed { Some(fingerprint::command(resource, verb, said_of, record, &body)?) } else { None };
            Ok((prepared, command))
        })
        .await;
        let (prepared, command) = match prepared {
            // By what is remembered of the company it is wrong; it may be right by now.
            Err(_) if principal.recognised.is_some() => return Ok(None),
            prepared => prepared?,
        };
        let claim = match key.zip(command) {
            Some((key, command)) => Some(Claim {
                user: principal.user,
                key,
                fingerprint: Fingerprint::of(&command, &self.installation().await?.fingerprints, &self.token_secret),
                company,
                record: id,
                kind: resource.reply_kind(verb),
                answering: answering(resource, verb),
                at: self.running().await?.now(&self.clock),
            }),
            None => None,
        };
        if principal.recognised.is_some() && prepared.goes_by_a_secret() {
            // Nobody tries secrets in a name that is theirs no more.
            return Ok(None);
        }
        let about = (call.origin.address, dry_run);
        if let Some(reply) = self.by_its_secrets(principal, &*prepared, claim.as_ref(), about).await? {
            return Ok(Some(reply));
        }
        let company = match prepared.opened_by() {
            Some(code) => match self.answered_before(claim.as_ref()).await? {
                Some(reply) => return Ok(Some(reply)),
                None => Some(self.invited_to(principal, code, call.origin.address).await?),
            },
            None => company,
        };
        // Held until the lane has answered.
        let _running = match claim.as_ref().map(|claim| self.in_flight.enter(claim)).transpose() {
            // The other may be a repeat as well, of what was done long ago. Whoever is only remembered is asked for first.
            Err(_) if principal.recognised.is_some() => return Ok(None),
            Err(error) => return self.answered_before(claim.as_ref()).await?.map(Some).ok_or(error),
            Ok(running) => running,
        };
        // A rehearsal is undone by its savepoint, whatever it wrote.
        let manner = if prepared.plans() && !dry_run { Manner::Planned } else { Manner::Direct };
        let who = Asking::asking(company, principal.user, principal.caller());
        let write = Arc::new(Write {
            ledger: self.clone(),
            who,
            ahead: Ahead::default(),
            kind: call.resource.reply_kind(call.verb),
            leave,
            judged,
            secrets: answering(resource, verb).secrets,
            expectation: call.expectation,
            origin: Origin {
                user: Some(principal.user),
                key: principal.key.as_ref().map(|key| key.key),
                ..call.origin
            },
            watch: watch.clone(),
            changes_people: call.resource.changes_people,
            id,
            names,
            prepared,
            claim,
            dry_run,
            outdated: AtomicBool::new(false),
        });
        let running = write.clone();
        let work: Work<Outcome> = Arc::new(move |transaction, desk| {
            let write = running.clone();
            Box::pin(async move { write.run(transaction, desk).await.map(Outcome::Replied) })
        });
        let keep = if dry_run { Keep::Nothing } else { Keep::Effects };
        let outcome = loop {
            let order = Order { company, who: Some(who), manner, keep, work: work.clone(), stands: stands.clone() };
            let ran = self.lanes.run(order).await;
            match write.ahead.wished() {
                _ if ran.is_err() && write.outdated.load(Ordering::Relaxed) => return Ok(None),
                Some(wish) if ran.is_err() => write.read_ahead(wish).await,
                _ => break ran?,
            }
        };
        let Outcome::Replied(reply) = outcome else {
            return Err(Error::internal("a request came to nothing"));
        };
        watch.tell();
        Ok(Some(Reply { dry_run, sequence: said_of.and_then(|_| stands.told()), ..reply }))
    }

    /// Looks at what a call is confirmed by, and settles the passwords that it gives. What was answered before is answered again:
    /// what confirmed it then is used up.
    async fn by_its_secrets(
        self: &Arc<Self>,
        principal: &Principal,
        prepared: &dyn Prepared,
        claim: Option<&Claim>,
        about: (Option<IpAddr>, bool),
    ) -> Result<Option<Reply>> {
        if let Some(said) = prepared.confirmed_by() {
            if let Some(reply) = self.answered_before(claim).await? {
                return Ok(Some(reply));
            }
            self.confirm(principal, &said, about).await?;
        }
        if let Some(first) = prepared.first_password() {
            if !principal.is_system_admin || principal.key.is_some() {
                return Err(user_records::only_the_operator());
            }
            self.settle(first, principal).await?;
        }
        if let Some(new) = prepared.new_password() {
            self.settle(new, principal).await?;
        }
        Ok(None)
    }

    /// Something of our own that must be written, in the lane like everything else.
    pub(super) async fn write<W>(&self, company: Option<BusinessId>, work: W) -> Result<()>
    where
        W: for<'t> Fn(&'t ::books::database::Session, &'t Desk) -> ::books::database::lane::BoxFuture<'t, Result<()>>
            + Send
            + Sync
            + 'static,
    {
        let work = Arc::new(work);
        let watch = Watch::default();
        let seen = watch.clone();
        let work: Work<Outcome> = Arc::new(move |transaction, desk| {
            let work = work.clone();
            let watch = seen.clone();
            Box::pin(async move {
                work(transaction, desk).await?;
                watch.take(desk);
                Ok(Outcome::Done)
            })
        });
        let stands = Stands::default();
        let order = Order { company, who: None, manner: Manner::Direct, keep: Keep::Effects, work, stands };
        self.lanes.run(order).await?;
        watch.tell();
        Ok(())
    }
}

/// One write, ready to run as often as the lane needs it to.
struct Write {
    pub(super) ledger: Arc<Ledger>,
    who: Asking,
    /// What was read for it outside of the lane.
    ahead: Ahead,
    pub(super) kind: ReplyKind,
    pub(super) leave: Leave,
    /// As it was when the request had arrived.
    judged: Judged,
    /// What of the answer is shown once and never kept.
    secrets: &'static [&'static str],
    pub(super) expectation: Expectation,
    pub(super) origin: Origin,
    pub(super) id: Option<RecordId>,
    /// What is to be called so that it makes.
    names: Vec<Option<RecordId>>,
    prepared: Arc<dyn Prepared>,
    claim: Option<Claim>,
    pub(super) dry_run: bool,
    /// What the log of security is told of it.
    watch: Watch,
    /// Whether it may change people, which stands in the installation's log too.
    changes_people: bool,
    /// Its caller was recognised, and who may do what has changed since that was asked for, or may have.
    outdated: AtomicBool,
}

impl Write {
    /// Reads what it wants to have read before it comes to the lane again. What cannot be read here is read there.
    async fn read_ahead(&self, wish: Wish) {
        if let Err(error) = self.reads(wish).await {
            tracing::debug!(?error, "what a command wants was not read before the lane");
        }
    }

    async fn reads(&self, wish: Wish) -> Result<()> {
        let ledger = &self.ledger;
        let business = self.judged.business.as_deref().ok_or_else(|| Error::internal("stock of no company"))?;
        let _turn = ledger.fair.enter(Kind::Dear, self.who).await?;
        let snapshot = ledger.database.snapshot().await?;
        let read = self.ahead.fulfil(&Cx::reading_within(ledger.of_ourselves(business), &snapshot), wish).await;
        snapshot.end()?;
        read
    }

    async fn run(&self, transaction: &::books::database::Session, desk: &Desk) -> Result<Reply> {
        // It waited since it was judged.
        let now = (desk.access_changes(transaction).await?, self.ledger.clock.now());
        let has_changed = now.0 != self.leave.principal.changes;
        if has_changed {
            self.ledger.remembered.doubt();
        }
        // It may run again, in a transaction that finds otherwise, or that began after they came.
        let engine = transaction.get_database_backend();
        let unasked = self.leave.principal.recognised;
        let is_outdated = unasked.is_some_and(|came| has_changed || !desk.has_counted_since(engine, came));
        self.outdated.store(is_outdated, Ordering::Relaxed);
        if is_outdated {
            // What it was prepared by may have changed as well.
            return Err(Error::NotFound);
        }
        let judged = self.leave.since(transaction, now, &self.judged).await?;
        let asked = Asked {
            user: self.leave.principal.user,
            key: judged.key.as_deref(),
            session: self.leave.principal.session,
            keys: &self.ledger.keys,
            business: judged.business.as_deref(),
            clock: &self.ledger.clock,
            expectation: &self.expectation,
            origin: &self.origin,
            point: Point::default(),
            seals: &self.ledger.seals,
        };
        let cx = Cx::writing(asked, transaction, desk).reading_ahead(&self.ahead).naming(&self.names);
        if let Some(claim) = &self.claim
            && let Some(reply) = idempotency::recall(transaction, claim).await?
        {
            return Ok(reply);
        }
        if self.dry_run {
            desk.rehearse();
        }
        if self.changes_people {
            desk.open_installation(transaction).await?;
        }
        let reply = Reply::of_done(self.kind, self.prepared.run(&cx, self.id).await?);
        Box::pin(documents::follow_up(&cx)).await?;
        if self.dry_run {
            // Nothing of it happened.
            drop(desk.take_told());
        } else {
            self.watch.take(desk);
        }
        if let Some(claim) = &self.claim {
            let kept = reply.without(self.secrets)?;
            desk.keep_key(idempotency::kept(claim, &kept)?);
        }
        if self.dry_run {
            let lines = desk.rehearsed();
            // Of several operations each shows its own.
            return if reply.several.is_some() { Ok(reply) } else { self.rehearsed(&cx, reply, lines).await };
        }
        Ok(reply)
    }

    /// The answer of a rehearsal: what would be answered, and the journal lines that would be made.
    async fn rehearsed(&self, cx: &Cx<'_>, reply: Reply, lines: Vec<Rehearsed>) -> Result<Reply> {
        if self.judged.business.is_none() {
            return Ok(reply);
        }
        Ok(Reply { json: entry::with_postings(cx, reply.json, lines).await?, ..reply })
    }
}

/// Refuses parameters that mean nothing here. Answers whether `dryRun` is asked for.
fn check_query(pairs: &[(String, String)], known: &[&str]) -> Result<bool, FieldErrors> {
    let mut faults = list::repeated(pairs);
    let mut dry_run = false;
    for (name, text) in pairs {
        match (known.contains(&name.as_str()), text.as_str()) {
            (true, "true") => dry_run = true,
            (true, "false") => {}
            (true, _) => faults.add(name.as_str(), "must be true or false"),
            (false, _) => faults.add(quoted(name), "is not a known parameter"),
        }
    }
    if faults.is_empty() { Ok(dry_run) } else { Err(faults) }
}
