//! What is to be sent, and what is kept of what became of it.
//!
//! Each webhook has a place in the feed, and is told what comes after it in its order: while something is refused, what comes
//! behind it waits. The place moves only over what was taken, so a process that ends loses nothing; what it had sent and not
//! written down is sent again, under the same identifier.

use super::letter::{self, Voice};
use super::table::{self, Column, cursor, delivery};
use super::{WebhookStatus, Webhooks, headers_of, revealed};
use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::event::types::Types;
use crate::event::{Event, Wanted, told};
use crate::ids::{BusinessId, RecordId, UserId};
use answers::Ask;
use books::cx::Cx;
use cursor::Column as At;
use delivery::{AttemptStatus, Column as Of};
use kit::master::{self, Columns};
use schema::tables::books as heads;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{HashMap, HashSet};

/// A webhook, by its company and its identifier.
pub type WebhookOf = (BusinessId, RecordId);

/// As many letters as are written at once.
const AT_ONCE: i64 = 50;
/// As many events of no type that is wanted are looked at again and again, rather than a place is moved behind each.
const PASSED_OVER: i64 = 500;
/// So many attempts of each webhook are kept at most.
const KEPT_MOST: u64 = 5_000;
/// As long as it is kept what became of them.
const KEPT_MICROS: i64 = 30 * 86_400 * 1_000_000;

/// A message that is due.
#[derive(Debug, Clone)]
pub struct Letter {
    /// What it is known by at every attempt.
    pub event: RecordId,
    /// Its place in the feed; none of a test.
    pub sequence: Option<i64>,
    pub kind: String,
    pub attempt: i64,
    pub body: String,
    /// The request that it came of, by our own name.
    pub request_id: Option<String>,
    /// The row that asked for it, where it is sent beside the feed.
    asked: Option<RecordId>,
}

/// All that is due for one webhook now.
pub struct Mail {
    pub url: String,
    pub letters: Vec<Letter>,
    content_type: &'static str,
    headers: Vec<(String, String)>,
    secrets: Vec<String>,
    /// Where it stood when this was written, and how often the next event was refused.
    after: i64,
    failures: i64,
    /// Up to where the feed was read for it.
    until: i64,
    /// Whether it was not, because what was refused is not to be tried yet.
    rests: bool,
}

/// What came of a letter.
#[derive(Debug, Clone)]
pub struct Sent {
    pub letter: Letter,
    pub at: Instant,
    pub is_taken: bool,
    pub status: Option<i64>,
    pub ms: i64,
    pub said: String,
    pub problem: Option<String>,
}

/// What happens next where something was refused.
#[derive(Debug, Clone)]
pub enum Then {
    TriedAgain(Instant),
    GivenUp(String),
}

impl Letter {
    /// Whether what comes behind it waits for it.
    pub fn is_of_feed(&self) -> bool {
        self.asked.is_none()
    }
}

impl Mail {
    /// How often the next event was refused before.
    pub fn failures(&self) -> i64 {
        self.failures
    }

    /// Whether more is due behind what is sent now.
    pub fn is_full(&self) -> bool {
        i64::try_from(self.letters.len()).is_ok_and(|letters| letters >= AT_ONCE)
    }

    /// An answer without what our own headers say: whoever reads it may be shown the webhook, and not its secrets.
    fn hushed(&self, said: &str) -> String {
        const SHORTEST: usize = 4;
        let words = self.headers.iter().flat_map(|(_, value)| value.split_whitespace().chain([value.as_str()]));
        let mut words: Vec<&str> = words.filter(|word| word.len() >= SHORTEST).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let mut hushed = words.iter().fold(said.to_owned(), |said, word| said.replace(word, super::HIDDEN));
        // Only the beginning of an answer is kept: where it was cut, a word may have been cut as well.
        let ends = |word: &&str| (SHORTEST..word.len()).filter(|end| word.is_char_boundary(*end)).collect::<Vec<_>>();
        let cut = words.iter().flat_map(|word| ends(word).into_iter().map(|end| &word[..end]));
        if let Some(longest) = cut.filter(|begun| hushed.ends_with(begun)).map(str::len).max() {
            hushed.truncate(hushed.len() - longest);
            hushed.push_str(super::HIDDEN);
        }
        hushed
    }

    /// Whether there is something to send, or so much was passed over that it is not to be looked at once more.
    pub fn is_worth_noting(&self) -> bool {
        !self.letters.is_empty() || self.until - self.after >= PASSED_OVER
    }

    /// The headers of a letter that is sent now, with those of its way.
    pub fn headers(&self, letter: &Letter, now: Instant, way: Vec<(String, String)>) -> Result<Vec<(String, String)>> {
        let own = [
            ("content-type", self.content_type.to_owned()),
            ("user-agent", concat!("duet/", env!("CARGO_PKG_VERSION")).to_owned()),
            ("webhook-id", letter.event.to_string()),
            ("webhook-timestamp", now.seconds().to_string()),
            ("webhook-signature", letter::signature(&self.secrets, letter.event, now, &letter.body)?),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(way).collect::<Vec<_>>();
        let is_own = |name: &str| own.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        Ok(self.headers.iter().filter(|(name, _)| !is_own(name)).cloned().chain(own.iter().cloned()).collect())
    }
}

/// Webhooks for which something is due now, in all companies. Where there are none at all, one question tells so.
pub async fn due(connection: &impl ConnectionTrait, now: Instant) -> Result<Option<Vec<WebhookOf>>> {
    let active: Vec<WebhookOf> = table::Entity::find()
        .filter(Column::Status.eq(WebhookStatus::Active))
        .select_only()
        .columns([Column::BusinessId, Column::Id])
        .into_tuple()
        .all(connection)
        .await?;
    if active.is_empty() {
        return Ok(None);
    }
    let companies: HashSet<BusinessId> = active.iter().map(|(business, _)| *business).collect();
    let ends: Vec<(BusinessId, i64)> = heads::Entity::find()
        .filter(heads::Column::BusinessId.is_in(companies))
        .select_only()
        .columns([heads::Column::BusinessId, heads::Column::AuditSequence])
        .into_tuple()
        .all(connection)
        .await?;
    let ends: HashMap<BusinessId, i64> = ends.into_iter().collect();
    let waiting: Vec<WebhookOf> = delivery::Entity::find()
        .filter(Of::Status.eq(AttemptStatus::Waiting))
        .select_only()
        .columns([Of::BusinessId, Of::WebhookId])
        .distinct()
        .into_tuple()
        .all(connection)
        .await?;
    let mut found: HashSet<WebhookOf> = waiting.into_iter().collect();
    for stands in cursor::Entity::find().all(connection).await? {
        let rests = stands.next_at.is_some_and(|next| next > now);
        if !rests && ends.get(&stands.business_id).is_some_and(|end| *end > stands.after) {
            found.insert((stands.business_id, stands.webhook_id));
        }
    }
    Ok(Some(active.into_iter().filter(|of| found.contains(of)).collect()))
}

/// In whose name a webhook hears.
pub async fn speaker(connection: &impl ConnectionTrait, of: WebhookOf) -> Result<Option<UserId>> {
    let row = table::Entity::find_by_id(of).one(connection).await?;
    let row = row.filter(|row| row.status == WebhookStatus::Active);
    Ok(row.map(|row| row.user_id))
}

/// What is due for a webhook, as it may be told in the context of who speaks for it; nothing where that is not active any more.
pub async fn mail(cx: &Cx<'_>, id: RecordId) -> Result<Option<Mail>> {
    let business = cx.business_id()?;
    let row = table::Entity::find_by_id((business, id)).model(&cx.db).await?;
    let Some(row) = row.filter(|row| row.status == WebhookStatus::Active) else { return Ok(None) };
    let stands = cursor::Entity::find_by_id((business, id)).model(&cx.db).await?;
    let stands = stands.ok_or_else(|| Error::internal("a webhook stands nowhere in the feed"))?;
    let mut letters = asked_for(cx, &row).await?;
    let (mut until, rests) = (stands.after, stands.next_at.is_some_and(|next| next > cx.now));
    if !rests {
        let types = Types::of(row.types.0.iter().map(String::as_str)).map_err(|(_, why)| Error::internal(why))?;
        let events = told(cx, &Wanted { after: stands.after, types, limit: AT_ONCE, payload: row.payload }).await?;
        // What was there is there: a feed that ends before this place is that of books of before.
        until = events.last_sequence.max(stands.after);
        for (place, event) in events.into_items().iter().enumerate() {
            let attempt = if place == 0 { stands.failures + 1 } else { 1 };
            letters.push(letter_of(event, voice(&row), (attempt, None))?);
        }
    }
    let mut secrets = vec![revealed(cx, &row.secret)?];
    if let Some(former) = row.former_secret.as_ref().filter(|_| row.former_until.is_some_and(|until| until > cx.now)) {
        secrets.push(revealed(cx, former)?);
    }
    let headers = headers_of(cx, &row)?.into_iter().map(|header| (header.name, header.value)).collect();
    let (after, failures) = (stands.after, stands.failures);
    let content_type = letter::content_type(row.format);
    Ok(Some(Mail { url: row.url, letters, content_type, headers, secrets, after, failures, until, rests }))
}

fn voice(row: &table::Model) -> Voice {
    Voice { format: row.format, business: row.business_id }
}

fn letter_of(event: &Event, voice: Voice, (attempt, asked): (i64, Option<RecordId>)) -> Result<Letter> {
    Ok(Letter {
        event: event.id,
        sequence: Some(event.sequence),
        kind: event.kind.clone(),
        attempt,
        body: voice.body(event)?,
        request_id: event.request_id.clone(),
        asked,
    })
}

/// What somebody asked to have sent beside the feed.
async fn asked_for(cx: &Cx<'_>, row: &table::Model) -> Result<Vec<Letter>> {
    let waiting = delivery::Entity::find()
        .filter(Of::BusinessId.eq(row.business_id))
        .filter(Of::WebhookId.eq(row.id))
        .filter(Of::Status.eq(AttemptStatus::Waiting))
        .order_by_asc(Of::At)
        .order_by_asc(Of::Id)
        .all(&cx.db)
        .await?;
    let mut letters = Vec::new();
    for asked in waiting {
        let Some(sequence) = asked.sequence else {
            let body = voice(row).test(asked.event_id, row.id, asked.at)?;
            let (event, kind) = (asked.event_id, asked.r#type);
            let asked = Some(asked.id);
            letters.push(Letter { event, sequence: None, kind, attempt: 1, body, request_id: None, asked });
            continue;
        };
        let wanted = Wanted { after: sequence - 1, types: Types::all(), limit: 1, payload: row.payload };
        let found = told(cx, &wanted).await?.into_items().into_iter().find(|event| event.sequence == sequence);
        match found {
            Some(event) => letters.push(letter_of(&event, voice(row), (1, Some(asked.id)))?),
            // Whoever speaks for it may not view that any more.
            None => letters.push(Letter {
                event: asked.event_id,
                sequence: None,
                kind: asked.r#type,
                attempt: 1,
                body: String::new(),
                request_id: None,
                asked: Some(asked.id),
            }),
        }
    }
    Ok(letters)
}

/// Writes down what was sent, and moves the place of the webhook behind what was taken, unless somebody moved it meanwhile.
pub async fn note(cx: &Cx<'_>, id: RecordId, (mail, sent, then): (&Mail, &[Sent], Option<&Then>)) -> Result<()> {
    let business = cx.business_id()?;
    if table::Entity::find_by_id((business, id)).model(&cx.db).await?.is_none() {
        // It was removed meanwhile, and what became of its mail with it.
        return Ok(());
    }
    for one in sent {
        let status = if one.is_taken { AttemptStatus::Delivered } else { AttemptStatus::Failed };
        let row = delivery::ActiveModel {
            business_id: Set(business),
            id: Set(one.letter.asked.unwrap_or(RecordId(cx.new_id()))),
            webhook_id: Set(id),
            event_id: Set(one.letter.event),
            sequence: Set(one.letter.sequence),
            r#type: Set(one.letter.kind.clone()),
            attempt: Set(one.letter.attempt),
            status: Set(status),
            at: Set(one.at),
            answered: Set(one.status),
            ms: Set(Some(one.ms)),
            said: Set(Some(mail.hushed(&one.said)).filter(|said| !said.is_empty())),
            problem: Set(one.problem.clone()),
        };
        if let Some(asked) = one.letter.asked {
            delivery::Entity::delete_many()
                .filter(Of::BusinessId.eq(business))
                .filter(Of::Id.eq(asked))
                .exec(&cx.db)
                .await?;
        }
        delivery::Entity::insert(row).exec_without_returning(&cx.db).await?;
    }
    forget_old(cx, id).await?;
    // What was asked for beside the feed says nothing of how that goes on.
    let is_of_feed = mail.letters.iter().any(Letter::is_of_feed);
    if mail.rests || (is_of_feed && then.is_none() && !sent.iter().any(|one| one.letter.is_of_feed())) {
        return Ok(());
    }
    let taken =
        sent.iter().filter(|one| one.is_taken && one.letter.is_of_feed()).filter_map(|one| one.letter.sequence).max();
    let is_all = then.is_none()
        && mail.letters.iter().filter(|letter| letter.is_of_feed()).count()
            == sent.iter().filter(|one| one.letter.is_of_feed()).count();
    let after = if is_all { mail.until } else { taken.unwrap_or(mail.after) };
    let failures = match (then, taken) {
        (None, _) => 0,
        (Some(_), Some(_)) => 1,
        (Some(_), None) => mail.failures + 1,
    };
    let next_at = match then {
        Some(Then::TriedAgain(at)) => Some(at.micros()),
        Some(Then::GivenUp(_)) | None => None,
    };
    let moved = cursor::Entity::update_many()
        .filter(At::BusinessId.eq(business))
        .filter(At::WebhookId.eq(id))
        .filter(At::After.eq(mail.after))
        .col_expr(At::After, Expr::value(after))
        .col_expr(At::Failures, Expr::value(failures))
        .col_expr(At::NextAt, Expr::value(next_at))
        .exec(&cx.db)
        .await?;
    match then {
        Some(Then::GivenUp(reason)) if moved.rows_affected > 0 => give_up(cx, id, reason).await,
        _ => Ok(()),
    }
}

/// Forgets what is old, and what there is more of than is kept: whoever has all of it sent again fills no disk.
async fn forget_old(cx: &Cx<'_>, id: RecordId) -> Result<()> {
    let business = cx.business_id()?;
    let beyond: Option<Instant> = delivery::Entity::find()
        .filter(Of::BusinessId.eq(business))
        .filter(Of::WebhookId.eq(id))
        .order_by_desc(Of::At)
        .order_by_desc(Of::Id)
        .offset(KEPT_MOST)
        .limit(1)
        .select_only()
        .column(Of::At)
        .into_tuple()
        .one(&cx.db)
        .await?;
    let old = cx.now.micros() - KEPT_MICROS;
    let until = beyond.map_or(old, |beyond| beyond.micros().max(old));
    delivery::Entity::delete_many()
        .filter(Of::BusinessId.eq(business))
        .filter(Of::WebhookId.eq(id))
        .filter(Of::Status.ne(AttemptStatus::Waiting))
        .filter(Of::At.lte(until))
        .exec(&cx.db)
        .await?;
    Ok(())
}

/// Tells a webhook nothing any more, until somebody makes it active again; that is an event like any other.
pub async fn give_up(cx: &Cx<'_>, id: RecordId, reason: &str) -> Result<()> {
    let mut draft = Columns::new();
    draft.set(Column::Status, WebhookStatus::Disabled);
    draft.set(Column::Reason, reason.to_owned());
    match master::update::<Webhooks>(cx, id, &draft).await {
        Ok(_) | Err(Error::NotFound) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Hides what is secret under another master key.
pub async fn hide_anew(
    connection: &impl ConnectionTrait,
    (old, new): (&books::keys::Keys, &books::keys::Keys),
) -> Result<()> {
    use books::keys::Purpose::Webhooks as Purpose;
    for row in table::Entity::find().all(connection).await? {
        let whose = row.business_id.to_string();
        let anew = |hidden: &str| new.hide(Purpose, &whose, &old.reveal(Purpose, &whose, hidden)?);
        table::Entity::update_many()
            .filter(Column::BusinessId.eq(row.business_id))
            .filter(Column::Id.eq(row.id))
            .col_expr(Column::Headers, Expr::value(anew(&row.headers)?))
            .col_expr(Column::Secret, Expr::value(anew(&row.secret)?))
            .col_expr(Column::FormerSecret, Expr::value(row.former_secret.as_deref().map(anew).transpose()?))
            .exec(connection)
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_repeats_of_our_headers_is_not_kept() {
        let headers = [("Authorization", "Bearer one.two"), ("X-Shop", "north"), ("X-On", "1")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let mail = Mail {
            url: String::new(),
            letters: Vec::new(),
            content_type: "",
            headers,
            secrets: Vec::new(),
            after: 0,
            failures: 0,
            until: 0,
            rests: false,
        };
        let said = r#"{"authorization":"Bearer one.two","token":"one.two","shop":"north","lines":1}"#;
        let hushed = r#"{"authorization":"***","token":"***","shop":"***","lines":1}"#;
        assert_eq!(mail.hushed(said), hushed);
        // Wherever it was cut.
        for end in 0..said.len() {
            let kept = mail.hushed(&said[..end]);
            assert!(!kept.contains("Bear") && !kept.contains("one.") && !kept.contains("nort"), "{kept}");
        }
    }
}
