//! What a repeated request is known again by.
//!
//! A fingerprint says by which scheme it was made. Schemes change with releases, keys outlive them: a request that was
//! answered before an upgrade may be repeated after it. So every earlier scheme is still compared, as long as its key is
//! there. Where it is not, what else is known of the first request decides: see [`Fingerprint::is_of`].

use crate::error::{Error, Result};
use crate::idempotency::Claim;
use crate::ids::BusinessId;
use crate::ledger::Reply;
use crate::texts::hex;
use kit::json::{canonical, strict};
use kit::operation::ReplyKind;
use kit::operation::{BodyNeed, ResourceOperations, Verb};
use ring::{digest, hmac};
use schema::idempotency::Model;
use serde_json::Value;

/// The scheme of this release. Whatever changes [`command`] or the key behind it makes another.
const SCHEME: &str = "2:";

/// A request as a text: the same for both dialects and for any order of a body's members.
pub(crate) fn command(
    resource: &ResourceOperations,
    verb: Verb,
    company: Option<BusinessId>,
    record: Option<&str>,
    body: &[u8],
) -> Result<String> {
    let body = if resource.body_need(verb) != BodyNeed::None && !body.is_empty() {
        canonical(&strict(std::str::from_utf8(body).map_err(Error::internal)?)?.0)
    } else {
        String::new()
    };
    Ok(format!(
        "{}\n{}\n{}\n{}\n{body}",
        resource.operation_id(verb),
        company.map(|id| id.to_string()).unwrap_or_default(),
        record.unwrap_or_default(),
        resource.key.stem(),
    ))
}

#[derive(Debug, Clone)]
pub(crate) struct Fingerprint {
    /// What is kept. Whoever reads it in the database cannot try passwords on it.
    pub(crate) text: String,
    /// What releases before would have kept: a digest, and one that the secret of tokens signed.
    earlier: [String; 2],
}

impl Fingerprint {
    pub(crate) fn of(command: &str, own: &hmac::Key, token_secret: &[u8]) -> Self {
        let signed = |key: &hmac::Key| hex(hmac::sign(key, command.as_bytes()).as_ref());
        let of_tokens = hmac::Key::new(hmac::HMAC_SHA256, token_secret);
        Self {
            text: format!("{SCHEME}{}", signed(own)),
            earlier: [hex(digest::digest(&digest::SHA256, command.as_bytes()).as_ref()), signed(&of_tokens)],
        }
    }

    /// Whether a request is the one that was answered.
    ///
    /// A fingerprint of an earlier scheme that fits nothing may be an honest repeat whose secret was changed since. Then
    /// the same user has sent the same key within a day, and the first answer says the rest: the company, what was done,
    /// to which record, and what kind of record came of it. Where all of that agrees the first answer is given. Nothing
    /// is written by that, and what it tells the caller was theirs already; to refuse would make them write it twice.
    pub(crate) fn is_of(&self, claim: &Claim, kept: &Model, reply: &Reply) -> bool {
        if kept.command.starts_with(SCHEME) {
            return kept.command == self.text;
        }
        self.earlier.contains(&kept.command) || agrees(claim, kept, reply)
    }
}

/// Whether all that is known without a fingerprint is the same.
fn agrees(claim: &Claim, kept: &Model, reply: &Reply) -> bool {
    let Ok(Value::Object(answered)) = serde_json::from_str(&reply.json) else { return false };
    // One that was made by an action is another record than the one that the path names.
    let names_it = claim.kind == ReplyKind::Created
        || claim.record.is_none_or(|record| answered.get("id").and_then(Value::as_str) == Some(&record.to_string()));
    let shows = |name: &String| reply.kind == ReplyKind::Deleted || claim.answering.shows(name);
    (kept.business_id, reply.kind) == (claim.company, claim.kind) && names_it && answered.keys().all(shows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Instant;
    use crate::ids::{RecordId, UserId};
    use crate::resource::registry::operations;
    use documents::item::Items;
    use masters::party::Parties;

    const BODY: &[u8] = br#"{"name": "Elbe Books", "isCustomer": true, "creditLimit": 10.50}"#;

    fn own() -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, b"of the installation")
    }

    fn of_body(body: &[u8], token_secret: &[u8]) -> Fingerprint {
        let command = command(operations::<Parties>(), Verb::Create, Some(BusinessId::default()), None, body).unwrap();
        Fingerprint::of(&command, &own(), token_secret)
    }

    /// Red where a release would no longer know what the one before it kept: then it is another scheme.
    #[test]
    fn the_scheme_is_what_it_was() {
        let command = command(operations::<Parties>(), Verb::Create, Some(BusinessId::default()), None, BODY).unwrap();
        assert_eq!(
            command,
            "partiesCreate\n00000000-0000-0000-0000-000000000000\n\nparties\n\
             {\"creditLimit\":10.50,\"isCustomer\":true,\"name\":\"Elbe Books\"}"
        );
        let made = Fingerprint::of(&command, &own(), b"of tokens");
        assert_eq!(made.text, "2:86953f0b7dcb9bfbab8a4ceaba68a2c1d2c4b0892fc7c36161a6485da0f53e50");
        assert_eq!(
            made.earlier,
            [
                "81d20b0a07ba8406661590f034eadd61ecbedc5dd2eac61f488025339b3fab39",
                "c402472875f6f38c47501bcdcfc0f110b8d138d18c5c03be589019adf333b7b5"
            ]
        );
    }

    fn claim(fingerprint: Fingerprint) -> Claim {
        Claim {
            user: UserId::default(),
            key: "key".into(),
            fingerprint,
            company: Some(BusinessId::default()),
            record: None,
            kind: ReplyKind::Created,
            answering: operations::<Parties>(),
            at: Instant::default(),
        }
    }

    fn kept(command: &str) -> (Model, Reply) {
        let json = r#"{"id":"019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02","name":"Elbe Books","version":1}"#.to_owned();
        let reply = Reply::plain(ReplyKind::Created, json);
        let model = Model {
            user_id: UserId::default(),
            key: "key".into(),
            command: command.into(),
            outcome: String::new(),
            created_at: Instant::default(),
            business_id: Some(BusinessId::default()),
            record_id: None,
        };
        (model, reply)
    }

    #[test]
    fn a_request_is_known_by_every_scheme_there_was() {
        let claim = claim(of_body(BODY, b"of tokens"));
        let other = of_body(b"{}", b"of tokens");
        let Fingerprint { text, earlier } = claim.fingerprint.clone();
        for command in [text, earlier[0].clone(), earlier[1].clone()] {
            let (model, reply) = kept(&command);
            assert!(claim.fingerprint.is_of(&claim, &model, &reply), "{command}");
        }
        let (model, reply) = kept(&claim.fingerprint.text);
        assert!(!other.is_of(&claim, &model, &reply));
    }

    #[test]
    fn one_whose_secret_is_gone_is_known_by_all_else() {
        let claim = claim(of_body(BODY, b"of tokens today"));
        let (model, reply) = kept(&of_body(BODY, b"of tokens once").earlier[1]);
        let known = |claim: &Claim, model: &Model, reply: &Reply| claim.fingerprint.is_of(claim, model, reply);
        assert!(known(&claim, &model, &reply));
        let record = RecordId::parse("019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02");
        let updated = Reply { kind: ReplyKind::Updated, ..reply.clone() };
        let updates = Claim { record, kind: ReplyKind::Updated, ..claim.clone() };
        assert!(known(&updates, &model, &updated));
        for (changed, why) in [
            (Claim { company: None, ..claim.clone() }, "another company"),
            (Claim { kind: ReplyKind::Deleted, ..claim.clone() }, "something else is done"),
            (Claim { answering: operations::<Items>(), ..claim.clone() }, "another kind of record"),
        ] {
            let named = kept(&model.command).1.json.replace("\"version\"", "\"isCustomer\"");
            let reply = Reply { json: named, ..reply.clone() };
            assert!(!known(&changed, &model, &reply), "{why}");
        }
        let another = Claim { record: Some(RecordId::default()), ..updates };
        assert!(!known(&another, &model, &updated), "another record");
    }
}
