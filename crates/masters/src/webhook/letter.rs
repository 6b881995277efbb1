//! What is sent of an event, in the form of Standard Webhooks or of `CloudEvents`, and what proves that it comes from here.
//!
//! Signed is the identifier, the time of the attempt and the body, each exactly as it is sent, with HMAC-SHA-256. The identifier
//! is the event's and the same at each attempt, so whoever has it already knows it again.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::ids::{BusinessId, RecordId, random_bytes};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kit::changes::RecordJson;
use ring::hmac;
use schema::webhook::Format;
use serde::Serialize;

/// What every secret begins with, so that scanners of secrets know it.
pub const PREFIX: &str = "whsec_";

/// The body as Standard Webhooks has it, in the order in which it is sent.
#[derive(Serialize)]
struct Body<'e> {
    r#type: &'e str,
    timestamp: String,
    data: Data<'e>,
}

/// The body as `CloudEvents` 1.0 has it.
#[derive(Serialize)]
struct CloudEvent<'e> {
    specversion: &'static str,
    id: RecordId,
    source: String,
    r#type: String,
    subject: String,
    time: String,
    datacontenttype: &'static str,
    data: Data<'e>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<i64>,
    resource: &'e str,
    resource_id: RecordId,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'e RecordJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'e RecordJson>,
}

/// As standards write a time: without a fraction where there is none.
fn timestamp(at: Instant) -> String {
    let text = at.to_string();
    match text.strip_suffix(".000000Z") {
        Some(whole) => format!("{whole}Z"),
        None => text,
    }
}

/// By what a body is known as that of a form.
pub fn content_type(format: Format) -> &'static str {
    match format {
        Format::Standard => "application/json",
        Format::CloudEvents => "application/cloudevents+json; charset=utf-8",
    }
}

/// Who tells, and in which form.
#[derive(Debug, Clone, Copy)]
pub struct Voice {
    pub format: Format,
    pub business: BusinessId,
}

impl Voice {
    fn says(self, (id, kind, at): (RecordId, &str, Instant), data: Data<'_>) -> Result<String> {
        let time = timestamp(at);
        let text = match self.format {
            Format::Standard => serde_json::to_string(&Body { r#type: kind, timestamp: time, data }),
            Format::CloudEvents => serde_json::to_string(&CloudEvent {
                specversion: "1.0",
                id,
                source: format!("/businesses/{}", self.business),
                r#type: format!("duet.{kind}.v1"),
                subject: format!("{}/{}", data.resource, data.resource_id),
                time,
                datacontenttype: "application/json",
                data,
            }),
        };
        text.map_err(Error::internal)
    }

    /// What is sent of an event.
    pub fn body(self, event: &Event) -> Result<String> {
        let told = event.data.as_ref();
        let data = Data {
            sequence: Some(event.sequence),
            resource: &event.resource,
            resource_id: event.resource_id,
            version: event.version,
            record: told.and_then(|told| told.record.as_ref()),
            note: told.and_then(|told| told.note.as_ref()),
        };
        self.says((event.id, &event.kind, event.occurred_at), data)
    }

    /// What is sent of a test, which is known as `event`: it is of no record, and of no place in the feed.
    pub fn test(self, event: RecordId, webhook: RecordId, at: Instant) -> Result<String> {
        let data = Data {
            sequence: None,
            resource: "webhooks",
            resource_id: webhook,
            version: None,
            record: None,
            note: None,
        };
        self.says((event, TEST, at), data)
    }
}

/// What a test is called that somebody asked for.
pub const TEST: &str = "webhook.test";

/// A new secret: 192 random bits.
pub fn secret() -> Result<String> {
    Ok(format!("{PREFIX}{}", STANDARD.encode(random_bytes::<24>()?)))
}

/// What proves a message, under each of these secrets.
pub fn signature(secrets: &[String], id: RecordId, at: Instant, body: &str) -> Result<String> {
    let signed = format!("{id}.{}.{body}", at.seconds());
    let one = |secret: &String| {
        let key = secret.strip_prefix(PREFIX).and_then(|key| STANDARD.decode(key).ok());
        let key = key.ok_or_else(|| Error::internal("the secret of a webhook is none"))?;
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes());
        Ok(format!("v1,{}", STANDARD.encode(tag.as_ref())))
    };
    Ok(secrets.iter().map(one).collect::<Result<Vec<_>>>()?.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"type":"salesInvoice.posted","timestamp":"2026-11-20T09:00:00Z","data":{"sequence":42,"resource":"salesInvoices","resourceId":"0190a000-0000-7000-8000-000000000042"}}"#;
    const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

    fn id(text: &str) -> RecordId {
        RecordId::parse(text).unwrap()
    }

    fn voice(format: Format) -> Voice {
        Voice { format, business: BusinessId(id("0190a000-0000-7000-8000-00000000000b").0) }
    }

    fn of_the_example() -> Event {
        let mut event = crate::event::example();
        event["resourceId"] = "0190a000-0000-7000-8000-000000000042".into();
        event["occurredAt"] = "2026-11-20T09:00:00.000000Z".into();
        Event::sample(&event)
    }

    #[test]
    fn the_worked_example_holds_to_the_byte() {
        let event = Event { version: None, ..of_the_example() };
        assert_eq!(voice(Format::Standard).body(&event).unwrap(), BODY);
        let (of, at) = (id("0190a000-0000-7000-8000-0000000000e1"), Instant::from_micros(1_795_165_200_000_000));
        let signed = "v1,E0sR367shJGLIyrJYoiJZM1BZSZSpBagxAZ18oQHYrc=";
        assert_eq!(signature(&[SECRET.to_owned()], of, at, BODY).unwrap(), signed);
        // Of several secrets each signs, the newest first.
        let other = secret().unwrap();
        let both = signature(&[other.clone(), SECRET.to_owned()], of, at, BODY).unwrap();
        assert_eq!(both, format!("{} {signed}", signature(&[other], of, at, BODY).unwrap()));
        assert!(signature(&["whsec_?".to_owned()], of, at, BODY).is_err());
    }

    #[test]
    fn a_body_says_what_there_is_to_say_and_a_time_as_exactly_as_it_is() {
        let event = Event { occurred_at: Instant::from_micros(1_795_165_200_000_001), ..of_the_example() };
        let told: serde_json::Value = serde_json::from_str(&voice(Format::Standard).body(&event).unwrap()).unwrap();
        assert_eq!((&told["timestamp"], &told["data"]["version"]), (&"2026-11-20T09:00:00.000001Z".into(), &2.into()));
        assert!(told["data"].get("record").is_none());
        let hook = id("0190a000-0000-7000-8000-0000000000e1");
        let test = voice(Format::Standard).test(event.id, hook, event.occurred_at).unwrap();
        assert!(test.starts_with("{\"type\":\"webhook.test\",") && !test.contains("sequence"), "{test}");
    }

    #[test]
    fn a_cloud_event_says_all_that_cloudevents_asks_for() {
        let event = of_the_example();
        let told = voice(Format::CloudEvents).body(&event).unwrap();
        let expected = r#"{"specversion":"1.0","id":"019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02","source":"/businesses/0190a000-0000-7000-8000-00000000000b","type":"duet.salesInvoice.posted.v1","subject":"salesInvoices/0190a000-0000-7000-8000-000000000042","time":"2026-11-20T09:00:00Z","datacontenttype":"application/json","data":{"sequence":42,"resource":"salesInvoices","resourceId":"0190a000-0000-7000-8000-000000000042","version":2}}"#;
        assert_eq!(told, expected);
        let hook = id("0190a000-0000-7000-8000-0000000000e1");
        let test = voice(Format::CloudEvents).test(event.id, hook, event.occurred_at).unwrap();
        assert!(test.contains("\"type\":\"duet.webhook.test.v1\",\"subject\":\"webhooks/0190a000"), "{test}");
    }

    #[test]
    fn secrets_are_long_enough_and_each_is_another() {
        let (one, other) = (secret().unwrap(), secret().unwrap());
        assert_ne!(one, other);
        assert_eq!(STANDARD.decode(one.strip_prefix(PREFIX).unwrap()).unwrap().len(), 24);
    }
}
