//! Events: what happened to which record, in the order in which it was committed.
//!
//! The audit log is written in the transaction of each change and numbers a company's changes from 1 without a gap. So the
//! feed is a reading of it: nothing is written a second time, and an event is there if and only if its change is. Owns: what
//! an event says. Refuses: to show anybody what happened to records that they may not view; whoever reads begins with
//! [`kit::changes::records`], as everybody who reads the log does.

mod told;
pub mod types;

use crate::error::{Code, Error, FieldErrors, Result};
use crate::ids::RecordId;
use books::cx::Cx;
use books::database::lane::BoxFuture;
use kit::extra::{Awaited, Does, Extra, NoWords, On, Produced, Reading};
use kit::feed::Portions;
use kit::list::{FilterValue, ListQuery, Page, Parameter, Reads};
use kit::operation::Verb;
use kit::resource::{About, NoRecord, Resource, Scope};
use kit::rows::read_only;
use schema::key::ResourceKey;
use schema::rights::Action;
use serde_json::json;
use std::time::Duration;
pub use told::{Event, Events as Told, Payload, Wanted, example, told};
use types::Types;

pub struct Events;

/// As many as one answer tells.
const MOST: i64 = 500;
/// As long as anybody waits for an answer.
const LONGEST_WAIT: u64 = 60;

const PARAMETERS: &[Parameter] = &[
    Parameter::new(
        "after",
        "Only events after this one, by its `sequence`; from the first one when absent. One that the feed does not reach is \
         refused as `feed_went_back`: the company was put back to a backup.",
        Reads::PLACE,
    ),
    Parameter::new(
        "types",
        "Only events of these types, separated by commas, such as `salesInvoice.posted`, `salesInvoice.*` or `*.voided`; \
         all when absent.",
        Reads::Text,
    ),
    Parameter::new("limit", "At most so many events; 500 when absent.", Reads::Whole(1, MOST)),
    Parameter::new(
        "wait",
        "How long to wait for the next event where there is none yet, such as `20s`; at most 60s, and no longer than the \
         server keeps anybody waiting. It is answered at once when absent.",
        Reads::Text,
    ),
    Parameter::new(
        "payload",
        "`full` for the record of each event as well; `thin` when absent.",
        Reads::OneOf(Payload::TEXTS),
    ),
];

impl Resource for Events {
    const KEY: ResourceKey = ResourceKey::Events;
    const SCOPE: Scope = Scope::Business;
    // It says what happened until now, by the moment.
    const CACHED: bool = false;
    const ABOUT: About = About {
        one: "an event",
        many: "events",
        description: "What happened to which record, in the order in which it was committed. Each company has a feed of its \
                      own, numbered from 1 without a gap, and an event is there if and only if its change is. Keep \
                      `lastSequence` and ask again with `after` set to it: nothing is missed and nothing comes twice. Changes \
                      of what you may not view are left out.",
        sorts: &[],
        searched: "",
    };
    const VERBS: &'static [Verb] = &[];
    type Input = NoWords;
    type Draft = ();
    type View = NoRecord;

    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    fn extras() -> Vec<Extra> {
        vec![Extra {
            name: "List",
            segment: "",
            on: On::Collection,
            action: Action::View,
            answers: None,
            summary: "Follow what happens",
            description: "Events after the one that is named, in their order. With `wait` an answer that would be empty is \
                          held back until something happens. With `Accept: text/event-stream` they come as server-sent \
                          events, as they happen: `id` is the event's `sequence`, and a client that comes again with \
                          `Last-Event-ID` goes on behind it.",
            does: Does::Reads(Reading {
                parameters: PARAMETERS,
                awaited: Some(Awaited { patience: wait, begin: || Box::new(Stream::default()) }),
                ..Reading::json::<Told>(read, || json!({"items": [example()], "lastSequence": 42, "hasMore": false}))
            }),
        }]
    }

    fn example() -> serde_json::Value {
        json!({})
    }

    fn example_view() -> serde_json::Value {
        json!({})
    }

    async fn list(_: &Cx<'_>, _: &ListQuery) -> Result<Page<NoRecord>> {
        Err(Error::NotFound)
    }

    async fn get(_: &Cx<'_>, _: RecordId) -> Result<NoRecord> {
        Err(Error::NotFound)
    }

    read_only!();
}

/// What is asked for.
fn asked(query: &ListQuery) -> Result<Wanted> {
    let whole = |name: &str| match query.filter(name) {
        Some(FilterValue::Whole(number)) => Some(*number),
        _ => None,
    };
    let text = |name: &str| match query.filter(name) {
        Some(FilterValue::Text(text) | FilterValue::OneOf(text)) => Some(text.as_str()),
        _ => None,
    };
    Ok(Wanted {
        after: whole("after").unwrap_or(books::BEFORE_THE_FIRST),
        types: text("types").map_or_else(|| Ok(Types::all()), Types::said)?,
        limit: whole("limit").unwrap_or(MOST),
        payload: text("payload").map_or(Ok(Payload::Thin), str::parse).map_err(Error::internal)?,
    })
}

/// How long whoever asks will wait.
fn wait(query: &ListQuery) -> Result<Duration> {
    let Some(FilterValue::Text(text)) = query.filter("wait") else { return Ok(Duration::ZERO) };
    let seconds = kit::list::whole(text.strip_suffix('s').unwrap_or(text)).filter(|seconds| *seconds <= LONGEST_WAIT);
    let seconds =
        seconds.ok_or_else(|| Error::field("wait", format!("must be seconds up to {LONGEST_WAIT}s, such as 20s")))?;
    Ok(Duration::from_secs(seconds))
}

/// What is asked for of a feed that goes so far. One that ends before what somebody had of it went back.
async fn from_there(cx: &Cx<'_>, wanted: &Wanted) -> Result<Told> {
    let events = told(cx, wanted).await?;
    let end = events.last_sequence;
    if end < wanted.after {
        let mut errors = FieldErrors::default();
        let message = format!(
            "is beyond the feed, which ends at {end}. If you were told of more, the company went back to a backup: \
             read its records anew, and go on with after={end}"
        );
        errors.add_as(Code::FeedWentBack, "after", message);
        return Err(errors.into());
    }
    Ok(events)
}

fn read<'c>(cx: &'c Cx<'c>, _: Option<RecordId>, query: &'c ListQuery) -> BoxFuture<'c, Result<Produced>> {
    Box::pin(async move {
        let events = from_there(cx, &asked(query)?).await?;
        let nothing_after = events.is_empty().then_some(events.last_sequence);
        Ok(Produced { nothing_after, ..Produced::json(&events)? })
    })
}

/// Events as they happen, from where whoever listens left off.
#[derive(Default)]
struct Stream {
    /// Up to where all was told; nothing before the first portion.
    told_until: Option<i64>,
    /// Whether there is nothing more yet.
    rests: bool,
}

impl Portions for Stream {
    fn next<'c>(&'c mut self, cx: &'c Cx<'c>, query: &'c ListQuery) -> BoxFuture<'c, Result<Option<String>>> {
        Box::pin(async move {
            let wanted = asked(query)?;
            let after = self.told_until.unwrap_or(wanted.after);
            let events = from_there(cx, &Wanted { after, ..wanted }).await?;
            (self.told_until, self.rests) = (Some(events.last_sequence), !events.has_more);
            events.as_stream().map(Some)
        })
    }

    fn nothing_after(&self) -> Option<i64> {
        self.told_until.filter(|_| self.rests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::said;
    use books::cx::Point;

    fn query(filters: Vec<(&'static str, FilterValue)>) -> ListQuery {
        ListQuery {
            page: 1,
            page_size: 10,
            sort: Vec::new(),
            search: None,
            updated_since: None,
            filters,
            point: Point::default(),
            fields: None,
            expand: Vec::new(),
            walk: None,
        }
    }

    #[test]
    fn what_is_asked_for_is_bounded_and_each_fault_has_its_name() {
        let all = Wanted { after: 0, types: Types::all(), limit: 500, payload: Payload::Thin };
        assert_eq!(asked(&query(vec![])).unwrap(), all);
        let of = |name, number| query(vec![(name, FilterValue::Whole(number))]);
        assert_eq!(asked(&of("after", 7)).unwrap().after, 7);
        assert_eq!(asked(&of("limit", 1)).unwrap().limit, 1);
        let named = |types: &str| asked(&query(vec![("types", FilterValue::Text(types.into()))]));
        assert!(named("party.*,item.created").is_ok());
        assert!(said(named("party.eaten")).starts_with("types: "));
    }

    #[test]
    fn whoever_waits_says_for_how_long() {
        let waits =
            |text: &str| wait(&query(vec![("wait", FilterValue::Text(text.into()))])).ok().map(|wait| wait.as_secs());
        for (text, seconds) in [
            ("20s", Some(20)),
            ("20", Some(20)),
            ("0", Some(0)),
            ("60s", Some(60)),
            ("61s", None),
            ("soon", None),
            ("-1", None),
        ] {
            assert_eq!(waits(text), seconds, "{text}");
        }
        assert_eq!(wait(&query(vec![])).unwrap(), Duration::ZERO);
    }
}
