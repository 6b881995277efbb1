//! Webhooks: a receiver that dies, is slow and lies is told everything all the same, in its order, and nobody else is.

use crate::events::looking;
use crate::harness::books::behind_the_back;
use crate::harness::process::fresh_folder;
use crate::harness::server::{Company, DIALECTS};
use crate::harness::{Dialect, Engine, Options, Server, on_both_engines};
use crate::signin::PASSWORD;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver as Inbox, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// One message, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    head: String,
    body: String,
    /// Whether it was answered 2xx.
    taken: bool,
}

impl Message {
    pub(crate) fn head(&self) -> &str {
        &self.head
    }

    pub(crate) fn body(&self) -> &str {
        &self.body
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn sequence(&self) -> i64 {
        self.json()["data"]["sequence"].as_i64().unwrap()
    }
}

/// How somebody answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Manner {
    /// These words, and then the end of the line.
    Says(String),
    /// It hangs up without a word.
    HangsUp,
    /// It says nothing, and keeps the line.
    IsSilent,
}

pub(crate) fn says(status: &str) -> Manner {
    Manner::Says(format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"))
}

/// A small server that is told things.
pub(crate) struct Somebody {
    address: SocketAddr,
    came: Inbox<Message>,
    manners: Arc<Mutex<Vec<Manner>>>,
}

impl Somebody {
    /// Each message is answered by the next of these manners, and with 200 where there are no more.
    pub(crate) fn who(manners: Vec<Manner>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, came) = channel();
        let manners = Arc::new(Mutex::new(manners));
        let own = manners.clone();
        thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming().flatten() {
                kept.extend(Self::hears(stream, &own, &tell));
            }
        });
        Self { address, came, manners }
    }

    /// Answers one message. A line that is kept open is handed back.
    fn hears(mut stream: TcpStream, manners: &Mutex<Vec<Manner>>, tell: &Sender<Message>) -> Option<TcpStream> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        let (head, length) = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = String::from_utf8(bytes.drain(..end + 4).collect()).unwrap();
                let length = head.lines().filter_map(|line| line.split_once(": "));
                let length = length.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
                break (head.clone(), length.map_or(0, |(_, length)| length.parse::<usize>().unwrap()));
            }
            match stream.read(&mut chunk) {
                Ok(count @ 1..) => bytes.extend_from_slice(&chunk[..count]),
                Ok(_) | Err(_) => return None,
            }
        };
        while bytes.len() < length {
            match stream.read(&mut chunk) {
                Ok(count @ 1..) => bytes.extend_from_slice(&chunk[..count]),
                Ok(_) | Err(_) => return None,
            }
        }
        let manner = {
            let mut manners = manners.lock().unwrap();
            if manners.is_empty() { says("200 OK") } else { manners.remove(0) }
        };
        let taken = matches!(&manner, Manner::Says(words) if words.starts_with("HTTP/1.1 2"));
        let _nobody_left = tell.send(Message { head, body: String::from_utf8(bytes).unwrap(), taken });
        match manner {
            Manner::Says(words) => {
                let _gone = stream.write_all(words.as_bytes()).and_then(|()| stream.shutdown(Shutdown::Write));
                None
            }
            Manner::HangsUp => None,
            Manner::IsSilent => Some(stream),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on each message is answered with 200.
    pub(crate) fn is_easy_now(&self) {
        self.manners.lock().unwrap().clear();
    }

    /// What came until now and was not looked at yet.
    pub(crate) fn all(&self) -> Vec<Message> {
        self.came.try_iter().collect()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook?of=duet", self.address)
    }

    pub(crate) fn next(&self) -> Message {
        self.came.recv_timeout(Duration::from_mins(1)).expect("it is told in time")
    }

    /// What comes until an event was taken that ends at this place of the feed.
    fn until(&self, last: i64) -> Vec<Message> {
        let mut came = Vec::new();
        while !came.last().is_some_and(|message: &Message| message.taken && message.sequence() >= last) {
            came.push(self.next());
        }
        came
    }
}

/// A server that may speak to this machine, is soon tired of waiting and soon tries again.
fn hasty(engine: Engine, more: &[(&str, &str)]) -> Option<Server> {
    let mut settings = json!({
        "Webhooks:AllowNetworks": ["127.0.0.0/8"], "Webhooks:Timeout": "1s", "Webhooks:Retries": vec!["20ms"; 60],
        "Limits:WriteTime": "24h"
    });
    for (name, value) in more {
        settings[*name] = json!(value);
    }
    Server::start_in(
        engine,
        fresh_folder("webhooks"),
        Options { custom: Some(settings.to_string()), ..Options::default() },
    )
}

fn engines(fact: impl Fn(Server), more: &[(&str, &str)]) {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        if let Some(server) = hasty(engine, more) {
            fact(server);
        }
    }
}

pub(crate) fn hook(company: &Company<'_>, url: &str, types: &[&str], more: &Value) -> Value {
    let mut body = json!({"url": url, "types": types});
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    company.ask(Dialect::B, "POST", "webhooks", "", Some(&body)).expect(201).data
}

fn id(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

fn act(company: &Company<'_>, dialect: Dialect, webhook: &Value, action: &str, body: &Value) -> Value {
    company.ask(dialect, "POST", "webhooks", &format!("/{}/{action}", id(webhook)), Some(body)).expect(200).data
}

fn deliveries(company: &Company<'_>, webhook: &Value) -> Value {
    company.ask(Dialect::A, "GET", "webhooks", &format!("/{}/deliveries", id(webhook)), None).expect(200).data
}

pub(crate) fn party(company: &Company<'_>, name: &str) -> Value {
    let body = json!({"name": name, "isCustomer": true, "isSupplier": false});
    company.ask(Dialect::A, "POST", "parties", "", Some(&body)).expect(201).data
}

fn feed(company: &Company<'_>) -> Vec<Value> {
    let request = company.request_at(Dialect::B, "GET", "events?payload=full");
    company.say(Dialect::B, request).expect(200).data["items"].as_array().unwrap().clone()
}

/// Asks something until it is so: what goes on beside requests is done soon, and nobody is told when.
fn soon<T>(mut is_so: impl FnMut() -> Option<T>) -> T {
    let begun = std::time::Instant::now();
    loop {
        if let Some(found) = is_so() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not come");
        thread::yield_now();
    }
}

/// What Python makes of a message, which shares no line with the server.
fn signed_by_python(secret: &str, message: &Message) -> String {
    const PROGRAM: &str = "import sys, json, hmac, hashlib, base64\n\
        said = json.load(sys.stdin)\n\
        key = base64.b64decode(said['secret'].split('_', 1)[1])\n\
        text = '.'.join([said['id'], said['timestamp'], said['body']]).encode()\n\
        print('v1,' + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode(), end='')\n";
    let mut python =
        Command::new("python3").args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let said = json!({
        "secret": secret, "id": message.header("webhook-id"), "timestamp": message.header("webhook-timestamp"), "body": message.body
    });
    python.stdin.take().unwrap().write_all(said.to_string().as_bytes()).unwrap();
    String::from_utf8(python.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn each_event_is_told_once_signed_and_in_its_order() {
    let fact = |server: Server| {
        let company = server.company();
        let somebody = Somebody::who(Vec::new());
        let more = json!({"payload": "full", "headers": [{"name": "X-Shop", "value": "a secret of the shop"}]});
        let made = hook(&company, &somebody.url(), &["party.*", "salesInvoice.*"], &more);
        let secret = made["secret"].as_str().unwrap().to_owned();
        assert!(secret.starts_with("whsec_"));
        company.make("items");
        let mut last = party(&company, "One");
        company.make("salesInvoices");
        last["name"] = "Uno".into();
        company.ask(Dialect::B, "PUT", "parties", &format!("/{}", id(&last)), Some(&last)).expect(200);
        let events: Vec<Value> = feed(&company)
            .into_iter()
            .filter(|one| ["parties", "salesInvoices"].contains(&one["resource"].as_str().unwrap()))
            .collect();
        let last = events.last().unwrap()["sequence"].as_i64().unwrap();
        let came = somebody.until(last);
        assert_eq!(came.len(), events.len());
        for (message, event) in came.iter().zip(&events) {
            let told = message.json();
            assert_eq!(
                (&told["type"], &told["data"]["sequence"], &told["data"]["record"]),
                (&event["type"], &event["sequence"], &event["data"]["record"])
            );
            assert_eq!(
                (&told["data"]["resource"], &told["data"]["resourceId"], &told["data"]["version"]),
                (&event["resource"], &event["resourceId"], &event["version"])
            );
            assert_eq!(message.header("webhook-id"), event["id"].as_str().unwrap());
            assert_eq!(message.header("x-shop"), "a secret of the shop");
            assert_eq!(message.header("content-type"), "application/json");
            assert_eq!(message.header("webhook-signature"), signed_by_python(&secret, message));
        }
        // What is secret is shown once, and nowhere else.
        let read = company.ask(Dialect::A, "GET", "webhooks", &format!("/{}", id(&made)), None).expect(200);
        let log = company.ask(Dialect::A, "GET", "auditLog", "?resource=webhooks", None).expect(200);
        for text in [&read.answer.text, &log.answer.text, &server.log()] {
            assert!(!text.contains(&secret) && !text.contains("a secret of the shop"));
        }
        let told =
            soon(|| Some(deliveries(&company, &made)).filter(|told| told["deliveredUntil"].as_i64() >= Some(last)));
        assert_eq!((told["failures"].as_i64(), &told["nextAttemptAt"]), (Some(0), &Value::Null));
        assert!(
            told["items"]
                .as_array()
                .unwrap()
                .iter()
                .all(|one| one["status"] == "delivered" && one["responseStatus"] == 200 && one["attempt"] == 1)
        );
        assert_eq!(told["items"][0]["responseBody"], "ok");
    };
    engines(fact, &[]);
}

/// As the specification of `CloudEvents` 1.0 has an event in its structured form.
#[test]
fn who_wants_cloud_events_is_told_in_them() {
    let fact = |server: Server| {
        let company = server.company();
        let somebody = Somebody::who(Vec::new());
        let more = json!({"format": "cloudevents", "payload": "full"});
        let made = hook(&company, &somebody.url(), &["party.*"], &more);
        assert_eq!(made["format"], "cloudevents");
        let made_party = party(&company, "One");
        let event = feed(&company).into_iter().find(|one| one["resource"] == "parties").expect("it was made");
        let message = somebody.next();
        assert_eq!(message.header("content-type"), "application/cloudevents+json; charset=utf-8");
        assert_eq!(message.header("webhook-signature"), signed_by_python(made["secret"].as_str().unwrap(), &message));
        let at = event["occurredAt"].as_str().unwrap().replace(".000000Z", "Z");
        let expected = json!({
            "specversion": "1.0", "id": event["id"], "source": format!("/businesses/{}", company.id),
            "type": "duet.party.created.v1", "subject": format!("parties/{}", id(&made_party)), "time": at,
            "datacontenttype": "application/json",
            "data": {"sequence": event["sequence"], "resource": "parties", "resourceId": made_party["id"],
                "version": event["version"], "record": event["data"]["record"]},
        });
        assert_eq!(message.json(), expected);
        act(&company, Dialect::A, &made, "test", &json!({}));
        let test = somebody.next().json();
        assert_eq!((&test["type"], &test["specversion"]), (&json!("duet.webhook.test.v1"), &json!("1.0")));
        assert_eq!(test["subject"], format!("webhooks/{}", id(&made)));
    };
    engines(fact, &[]);
}

/// Whoever is told lies, is slow, dies and comes back, and the server is killed in the middle of it.
#[test]
fn nothing_is_lost_and_nothing_out_of_order_whatever_either_side_does() {
    let fact = |server: Server| {
        let company = server.company();
        let garbage = Manner::Says("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n<what is this".into());
        let moved =
            Manner::Says("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".into());
        let busy = Manner::Says("HTTP/1.1 429 Too Many\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n".into());
        let bad = [
            says("500 No"),
            moved,
            says("204 No Content"),
            busy,
            Manner::HangsUp,
            garbage,
            Manner::IsSilent,
            says("503 Busy"),
            Manner::Says("what".into()),
        ];
        let somebody = Somebody::who(bad.to_vec());
        let made = hook(&company, &somebody.url(), &["party.*"], &json!({}));
        let parties: Vec<Value> = (0..6).map(|number| party(&company, &format!("P {number}"))).collect();
        let rename = |company: &Company<'_>, word: &str| {
            for one in &parties {
                let mut one = one.clone();
                one["name"] = format!("{} {word}", one["name"].as_str().unwrap()).into();
                company.ask(Dialect::B, "PUT", "parties", &format!("/{}", id(&one)), Some(&one)).expect(200);
            }
        };
        rename(&company, "renamed");
        // Some of it has come, and not all of it can have been written down.
        let mut came: Vec<Message> = (0..8).map(|_| somebody.next()).collect();
        server.signal("KILL");
        let company_id = company.id.clone();
        let server = server.restarted();
        let company = Company { server: &server, id: company_id, token: server.token().to_owned() };
        *somebody.manners.lock().unwrap() = vec![says("500 No"), says("200 OK"), Manner::HangsUp, says("410 Gone")];
        rename(&company, "again");
        // It says that it wants no more, and is told no more.
        let disabled = soon(|| {
            let read = company.ask(Dialect::B, "GET", "webhooks", &format!("/{}", id(&made)), None).expect(200).data;
            Some(read).filter(|read| read["status"] == "disabled")
        });
        assert!(disabled["reason"].as_str().unwrap().contains("410"), "{disabled}");
        rename(&company, "meanwhile");
        let mut active = disabled.clone();
        active["status"] = "active".into();
        let active =
            company.ask(Dialect::A, "PUT", "webhooks", &format!("/{}", id(&made)), Some(&active)).expect(200).data;
        assert_eq!((&active["status"], &active["reason"]), (&json!("active"), &Value::Null));

        let events: Vec<Value> = feed(&company).into_iter().filter(|one| one["resource"] == "parties").collect();
        came.extend(somebody.until(events.last().unwrap()["sequence"].as_i64().unwrap()));
        let taken: Vec<&Message> = came.iter().filter(|message| message.taken).collect();
        let mut first = BTreeMap::new();
        for (place, message) in taken.iter().enumerate() {
            first.entry(message.sequence()).or_insert(place);
        }
        let expected: Vec<i64> = events.iter().map(|one| one["sequence"].as_i64().unwrap()).collect();
        assert_eq!(first.keys().copied().collect::<Vec<_>>(), expected, "nothing is lost");
        let places: Vec<usize> = first.values().copied().collect();
        assert!(places.is_sorted(), "nothing is taken before what came before it: {places:?}");
        // What comes twice is known again, and says the same.
        for event in &events {
            let same: BTreeSet<(&str, &str)> = came
                .iter()
                .filter(|message| message.sequence() == event["sequence"].as_i64().unwrap())
                .map(|message| (message.header("webhook-id"), message.body.as_str()))
                .collect();
            assert_eq!(same.len(), 1, "{same:?}");
            assert_eq!(same.first().unwrap().0, event["id"].as_str().unwrap());
        }
        let told = deliveries(&company, &made);
        let problems: BTreeSet<String> =
            told["items"].as_array().unwrap().iter().map(|one| one["responseStatus"].to_string()).collect();
        assert!(["200", "410", "500"].iter().all(|status| problems.contains(*status)), "{problems:?}");
    };
    engines(fact, &[]);
}

#[test]
fn what_is_refused_too_often_is_given_up_and_told_once_it_is_mended() {
    let fact = |server: Server| {
        let company = server.company();
        let somebody = Somebody::who(vec![says("500 No"); 3]);
        let made = hook(&company, &somebody.url(), &["party.created"], &json!({}));
        party(&company, "Patient");
        let refused: Vec<Message> = (0..3).map(|_| somebody.next()).collect();
        assert!(
            refused
                .iter()
                .all(|message| !message.taken && message.header("webhook-id") == refused[0].header("webhook-id"))
        );
        let disabled = soon(|| {
            let read = company.ask(Dialect::A, "GET", "webhooks", &format!("/{}", id(&made)), None).expect(200).data;
            Some(read).filter(|read| read["status"] == "disabled")
        });
        assert!(disabled["reason"].as_str().unwrap().contains("3 times"), "{disabled}");
        // That it was given up is an event like any other.
        assert!(feed(&company).iter().any(|one| one["type"] == "webhook.updated" && one["resourceId"] == made["id"]));
        let attempts: Vec<i64> = deliveries(&company, &made)["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["attempt"].as_i64().unwrap())
            .collect();
        assert_eq!(attempts, [3, 2, 1]);
        let mut active = disabled;
        active["status"] = "active".into();
        company.ask(Dialect::B, "PUT", "webhooks", &format!("/{}", id(&made)), Some(&active)).expect(200);
        assert_eq!(somebody.next().json()["type"], "party.created");
    };
    engines(fact, &[("Webhooks:Retries", "20ms,20ms")]);
}

#[test]
fn a_webhook_is_tried_told_again_and_given_another_secret() {
    let fact = |server: Server| {
        let company = server.company();
        let somebody = Somebody::who(Vec::new());
        let made = hook(&company, &somebody.url(), &["party.*"], &json!({}));
        let old = made["secret"].as_str().unwrap().to_owned();
        act(&company, Dialect::A, &made, "test", &json!({}));
        let test = somebody.next();
        assert_eq!(
            (&test.json()["type"], test.header("webhook-signature")),
            (&json!("webhook.test"), &*signed_by_python(&old, &test))
        );
        party(&company, "One");
        party(&company, "Two");
        let (one, two) = (somebody.next(), somebody.next());
        assert!(one.sequence() < two.sequence());
        let two_sequence = two.sequence();
        let found = soon(|| {
            let told = deliveries(&company, &made);
            told["items"].as_array().unwrap().iter().find(|found| found["sequence"] == two_sequence).cloned()
        });
        // One event once more, and from some place on all of them.
        act(&company, Dialect::B, &made, "redeliver", &json!({"deliveryId": found["id"]}));
        let again = somebody.next();
        assert_eq!((again.header("webhook-id"), &again.body), (two.header("webhook-id"), &two.body));
        act(&company, Dialect::A, &made, "replay", &json!({"after": one.sequence() - 1}));
        let replayed = [somebody.next(), somebody.next()];
        assert_eq!(
            replayed.each_ref().map(|message| message.header("webhook-id").to_owned()),
            [&one, &two].map(|message| message.header("webhook-id").to_owned())
        );
        for dialect in DIALECTS {
            for (action, body, field) in [
                ("replay", json!({"after": 1_000_000}), "after"),
                ("replay", json!({}), "after"),
                ("replay", json!({"after": -1}), "after"),
                ("redeliver", json!({"deliveryId": made["id"]}), "deliveryId"),
                ("rotate-secret", json!({"keepOldFor": "for ever"}), "keepOldFor"),
            ] {
                let refused = company
                    .ask(dialect, "POST", "webhooks", &format!("/{}/{action}", id(&made)), Some(&body))
                    .expect(400);
                assert_eq!(refused.fields(), [field], "{action}");
            }
        }
        // For an hour each message is signed under both.
        let rotated = act(&company, Dialect::A, &made, "rotate-secret", &json!({"keepOldFor": "1h"}));
        let new = rotated["secret"].as_str().unwrap().to_owned();
        assert!(new != old && rotated["formerSecretUntil"].is_string());
        party(&company, "Three");
        let both = somebody.next();
        assert_eq!(
            both.header("webhook-signature"),
            format!("{} {}", signed_by_python(&new, &both), signed_by_python(&old, &both))
        );
        let rotated = act(&company, Dialect::B, &made, "rotate-secret", &json!({}));
        party(&company, "Four");
        let alone = somebody.next();
        assert_eq!(alone.header("webhook-signature"), signed_by_python(rotated["secret"].as_str().unwrap(), &alone));
    };
    engines(fact, &[]);
}

/// What is refused rests for as long as it is to, whatever else is sent meanwhile, and is tried at once where somebody says so.
#[test]
fn what_rests_is_not_disturbed_by_what_is_sent_beside_it() {
    let fact = |server: Server| {
        let company = server.company();
        let somebody = Somebody::who(vec![says("503 Busy\r\nretry-after: 7200")]);
        let made = hook(&company, &somebody.url(), &["party.*"], &json!({}));
        party(&company, "Resting");
        assert!(!somebody.next().taken);
        let rests = soon(|| Some(deliveries(&company, &made)).filter(|told| told["failures"] == 1));
        // Not before the receiver asked for it, though the schedule would be sooner.
        let micros = |at: &Value| ledger_core::clock::Instant::parse(at.as_str().unwrap()).unwrap().micros();
        let rest = micros(&rests["nextAttemptAt"]) - micros(&rests["items"][0]["at"]);
        assert!(rest >= 7_200_000_000, "{rest}");
        act(&company, Dialect::A, &made, "test", &json!({}));
        assert_eq!(somebody.next().json()["type"], "webhook.test");
        let after = soon(|| {
            Some(deliveries(&company, &made))
                .filter(|told| told["items"][0]["type"] == "webhook.test" && told["items"][0]["status"] == "delivered")
        });
        assert_eq!(
            (&after["failures"], &after["nextAttemptAt"], &after["deliveredUntil"]),
            (&rests["failures"], &rests["nextAttemptAt"], &rests["deliveredUntil"])
        );
        let read = company.ask(Dialect::B, "GET", "webhooks", &format!("/{}", id(&made)), None).expect(200).data;
        let mut changed = read;
        changed["types"] = json!(["party.created"]);
        company.ask(Dialect::B, "PUT", "webhooks", &format!("/{}", id(&made)), Some(&changed)).expect(200);
        assert_eq!(somebody.next().json()["type"], "party.created");
    };
    engines(fact, &[("Webhooks:Retries", "1h")]);
}

/// Nobody has this server ask what only it can reach, by whichever name.
#[test]
fn an_address_behind_us_is_not_spoken_to() {
    let fact = |server: Server| {
        let company = server.company();
        let somebody = Somebody::who(Vec::new());
        let port = somebody.address.port();
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0.0.0.0", "169.254.169.254"] {
            let made = hook(&company, &format!("http://{host}:{port}/"), &["party.*"], &json!({}));
            act(&company, Dialect::A, &made, "test", &json!({}));
            let failed = soon(|| {
                let told = deliveries(&company, &made);
                Some(told["items"][0].clone()).filter(|one| one["status"] == "failed")
            });
            assert!(failed["problem"].as_str().unwrap().contains("not an address of the world"), "{host}: {failed}");
        }
        assert!(somebody.came.try_recv().is_err());
    };
    engines(fact, &[("Webhooks:AllowNetworks", "10.0.0.0/8")]);
}

/// A copy that is served beside the original is silent; what happens there waits.
#[test]
fn nobody_is_told_anything_where_that_is_turned_off() {
    let fact = |server: Server| {
        let company = server.company();
        let (somebody, business) = (Somebody::who(Vec::new()), company.id.clone());
        hook(&company, &somebody.url(), &["party.*"], &json!({}));
        party(&company, "While it is off");
        let custom = server.folder.join("config/appsettings.Custom.json");
        let server = server.restarted_after(|_| {
            assert!(somebody.came.try_recv().is_err());
            let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&custom).unwrap()).unwrap();
            settings["Webhooks:Enabled"] = json!(true);
            std::fs::write(&custom, settings.to_string()).unwrap();
        });
        let company = Company { id: business, ..server.company() };
        party(&company, "Once it is on");
        // In its order, from the first one on.
        let told = [somebody.next().sequence(), somebody.next().sequence()];
        let feed = feed(&company);
        let parties = feed.iter().filter(|event| event["type"] == "party.created");
        assert_eq!(parties.map(|event| event["sequence"].as_i64().unwrap()).collect::<Vec<_>>(), told);
    };
    engines(fact, &[("Webhooks:Enabled", "false")]);
}

/// It hears in somebody's name: of what they may not view it is told nothing, and of nothing once they are gone.
#[test]
fn a_webhook_hears_what_its_writer_may_view_and_nothing_more() {
    let fact = |server: Server| {
        let company = server.company();
        let somebody = Somebody::who(Vec::new());
        let scopes = json!([
            {"resource": "webhook", "actions": ["view", "create", "edit"]}, {"resource": "event", "actions": ["view"]},
            {"resource": "item", "actions": ["view"]}
        ]);
        let set = company.ask(Dialect::B, "POST", "permissions", "", Some(&json!({"name": "Items", "grants": scopes})));
        let (_, narrow) = company.joined("items@example.test", &set.expect(201).id(), PASSWORD);
        hook(&narrow, &somebody.url(), &["*"], &json!({}));
        party(&company, "Hidden");
        company.make("items");
        party(&company, "Hidden too");
        company.make("items");
        let mut kinds = Vec::new();
        while kinds.iter().filter(|kind| *kind == "item.created").count() < 2 {
            kinds.push(somebody.next().json()["type"].as_str().unwrap().to_owned());
        }
        assert!(kinds.iter().all(|kind| kind.starts_with("item.") || kind.starts_with("webhook.")), "{kinds:?}");
        // Nor do they read what another webhook was told of it.
        let made = hook(&company, &somebody.url(), &["*"], &json!({}));
        party(&company, "Hidden once more");
        let told = |company: &Company<'_>| {
            let items = deliveries(company, &made)["items"].clone();
            items.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        soon(|| told(&company).contains(&"party.created".to_owned()).then_some(()));
        assert!(!told(&narrow).iter().any(|kind| kind.starts_with("party.")), "{:?}", told(&narrow));
    };
    engines(fact, &[]);
}

/// Who has all of it sent again and again fills no disk.
#[test]
fn so_many_attempts_are_kept_and_no_more() {
    let fact = |server: Server| {
        let company = server.company();
        let somebody = Somebody::who(Vec::new());
        let made = hook(&company, &somebody.url(), &["party.*"], &json!({}));
        let kept = || deliveries(&company, &made)["pagination"]["totalCount"].as_u64().unwrap();
        party(&company, "First");
        soon(|| (kept() == 1).then_some(()));
        let new = if server.engine == Engine::Sqlite { "randomblob(16)" } else { "gen_random_uuid()" };
        let many = format!(
            "INSERT INTO webhook_deliveries (business_id, id, webhook_id, event_id, sequence, type, attempt, status, at) \
             SELECT one.business_id, {new}, one.webhook_id, one.event_id, one.sequence, one.type, 1, one.status, one.at - many.i \
             FROM (SELECT * FROM webhook_deliveries LIMIT 1) AS one, \
             (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5100) SELECT i FROM n) AS many"
        );
        behind_the_back(&server, &[many]).unwrap();
        assert_eq!(kept(), 5_101);
        party(&company, "Second");
        soon(|| (kept() == 5_000).then_some(()));
        let newest = deliveries(&company, &made)["items"][0]["sequence"].as_i64().unwrap();
        assert_eq!(newest, feed(&company).iter().rfind(|one| one["resource"] == "parties").unwrap()["sequence"]);
    };
    engines(fact, &[]);
}

/// What the server writes by itself is told like all else.
#[test]
fn what_is_overdue_is_told_to_who_asked_for_it() {
    let custom = json!({"Webhooks:AllowNetworks": ["127.0.0.0/8"]}).to_string();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let options = Options { custom: Some(custom.clone()), environment: looking(), ..Options::default() };
        let Some(server) = Server::start(engine, options) else { return };
        let somebody = Somebody::who(Vec::new());
        let company = server.company_like(json!({"name": "Late", "baseCurrency": "EUR", "isTrial": true}));
        company.told(Dialect::A, "2031-01-10");
        let customer = party(&company, "Customer");
        hook(&company, &somebody.url(), &["salesInvoice.overdue"], &json!({"payload": "full"}));
        for (due, today) in [("2031-01-11", "2031-01-12"), ("2031-01-13", "2031-01-14")] {
            let body = json!({
                "date": "2031-01-10", "dueDate": due, "partyId": customer["id"],
                "lines": [{"description": "Work", "unitPrice": 100}]
            });
            let made = company.ask(Dialect::A, "POST", "salesInvoices", "", Some(&body)).expect(201).data;
            company.told(Dialect::A, today);
            // The next message is of this one: nothing else is told, and nothing twice.
            let message = somebody.next().json();
            assert_eq!(
                (&message["type"], &message["data"]["resourceId"]),
                (&json!("salesInvoice.overdue"), &made["id"])
            );
            assert_eq!(message["data"]["record"]["isOverdue"], true, "{message}");
        }
        assert_eq!(company.failed_checks(), [""; 0]);
    }
}

/// Of two servers of one database one tells, and when it is gone the other does.
#[test]
fn of_several_servers_one_tells() {
    let settings =
        json!({"Webhooks:AllowNetworks": ["127.0.0.0/8"], "Security:MasterKey": "the master key of several servers"})
            .to_string();
    let options = |database: Option<String>| Options { custom: Some(settings.clone()), database, ..Options::default() };
    let Some(one) = Server::start(Engine::Postgres, options(None)) else { return };
    let other = Server::start(Engine::Postgres, options(Some(one.database_url().to_owned()))).unwrap();
    let somebody = Somebody::who(Vec::new());
    let company = one.company();
    hook(&company, &somebody.url(), &["party.*"], &json!({}));
    // With one master key they take each other's log-ins.
    let there = Company { server: &other, id: company.id.clone(), token: one.token().to_owned() };
    (0..5).for_each(|number| drop(party(if number % 2 == 0 { &company } else { &there }, &format!("P {number}"))));
    let sequences: Vec<i64> = (0..5).map(|_| somebody.next().sequence()).collect();
    assert!(sequences.is_sorted_by(|before, after| before < after), "each once: {sequences:?}");
    one.signal("KILL");
    party(&there, "Later");
    let mut later = somebody.next();
    // What was sent and not written down comes again.
    while sequences.contains(&later.sequence()) {
        later = somebody.next();
    }
    assert_eq!(later.json()["type"], "party.created");
}

/// A process that stands still keeps nobody from being told: whoever says nothing for long holds no duty.
#[test]
fn who_stands_still_does_not_keep_others_from_telling() {
    let more = [("Webhooks__AllowNetworks__0".to_owned(), "127.0.0.0/8".to_owned())];
    let Some(servers) = Server::several_with(2, &more) else { return };
    let [one, other] = &servers[..] else { panic!("two servers") };
    let somebody = Somebody::who(Vec::new());
    let company = one.company();
    hook(&company, &somebody.url(), &["party.*"], &json!({}));
    let there = Company { server: other, id: company.id.clone(), token: other.token().to_owned() };
    party(&company, "First");
    let mut last = somebody.next().sequence();
    // Who was stopped while it told comes back and tells it again; what follows is told in its order.
    let next_after = |last: i64| loop {
        let told = somebody.next().sequence();
        if told > last {
            return told;
        }
    };
    // Whichever of them tells: each of them stands still once, and the other one goes on.
    for (still, goes_on) in [(one, &there), (other, &company)] {
        still.signal("STOP");
        party(goes_on, "While one stands still");
        let told = next_after(last);
        still.signal("CONT");
        assert_eq!(told, last + 1);
        last = told;
    }
    party(&company, "Last");
    assert_eq!(next_after(last), last + 1);
}

on_both_engines! {
    /// Whoever may only change a webhook reads nothing of what its headers say, nor has it sent to themselves.
    fn what_headers_say_goes_where_it_was_said_for(server) {
        let company = server.company();
        let secret = json!({"status": "paused", "headers": [{"name": "Authorization", "value": "Bearer TOPSECRET"}]});
        let made = hook(&company, "https://shop.example/hooks", &["*"], &secret);
        for dialect in DIALECTS {
            let path = format!("/{}", id(&made));
            let put = |url: &str| {
                let headers = json!([{"name": "Authorization", "value": "***"}]);
                let body = json!({"url": url, "types": ["*"], "status": "paused", "headers": headers});
                company.ask(dialect, "PUT", "webhooks", &path, Some(&body))
            };
            put("https://shop.example/other").expect(200);
            put("https://SHOP.example/other").expect(200);
            for elsewhere in ["https://thief.example/hooks", "http://shop.example/hooks", "https://shop.example:444/hooks"] {
                assert_eq!(put(elsewhere).expect(400).fields(), ["headers[0].value"], "{elsewhere}");
            }
        }
    }

    fn no_key_makes_one_and_there_are_not_too_many(server) {
        let company = server.company();
        let key = company.ask(Dialect::B, "POST", "apiKeys", "", Some(&json!({"name": "All"}))).expect(201);
        let program = Company { token: key.data["secret"].as_str().unwrap().to_owned(), ..company.clone() };
        let body = json!({"url": "https://shop.example/hooks", "types": ["*"], "status": "paused"});
        let scopes = json!([{"resource": "webhook", "actions": ["create"]}]);
        for dialect in DIALECTS {
            program.ask(dialect, "POST", "webhooks", "", Some(&body)).expect(403);
            program.ask(dialect, "GET", "webhooks", "", None).expect(200);
            company.ask(dialect, "POST", "apiKeys", "", Some(&json!({"name": "Wide", "scopes": scopes}))).expect(400);
        }
        let made = hook(&company, "https://shop.example/hooks", &["*"], &json!({"status": "paused"}));
        for dialect in DIALECTS {
            let tried = company.ask(dialect, "POST", "webhooks", &format!("/{}/test", id(&made)), Some(&json!({})));
            assert!(tried.expect(409).title.contains("not active"));
        }
        (1..50).for_each(|_| drop(hook(&company, "https://shop.example/hooks", &["*"], &json!({"status": "paused"}))));
        assert!(company.ask(Dialect::B, "POST", "webhooks", "", Some(&body)).expect(409).title.contains("at most 50"));
        // What was delivered tells what happened, so it is for those who may follow that.
        let sees = json!([{"resource": "webhook", "actions": ["view"]}]);
        let set = company.ask(Dialect::B, "POST", "permissions", "", Some(&json!({"name": "Sees", "grants": sees}))).expect(201);
        let (_, narrow) = company.joined(&format!("sees-{}@example.test", company.id), &set.id(), PASSWORD);
        narrow.ask(Dialect::B, "GET", "webhooks", &format!("/{}", id(&made)), None).expect(200);
        narrow.ask(Dialect::B, "GET", "webhooks", &format!("/{}/deliveries", id(&made)), None).expect(403);
    }

    fn a_body_that_says_nothing_useful_is_told_so_by_field(server) {
        let company = server.company();
        for dialect in DIALECTS {
            for (body, fields) in [
                (json!({}), vec!["types", "url"]),
                (json!({"url": "ftp://x.example", "types": ["*"]}), vec!["url"]),
                (json!({"url": "https://x.example", "types": ["party.eaten", "*"]}), vec!["types[0]"]),
                (json!({"url": "https://x.example", "types": ["*"], "headers": [{"name": "webhook-id", "value": "1"}]}), vec!["headers[0].name"]),
                (json!({"url": "https://x.example", "types": ["*"], "headers": [{"name": "A", "value": "***"}]}), vec!["headers[0].value"]),
                (json!({"url": "https://x.example", "types": ["*"], "secret": "mine"}), vec![]),
            ] {
                let said = company.ask(dialect, "POST", "webhooks", "?dryRun=true", Some(&body));
                let mut found = said.fields();
                found.sort();
                assert_eq!(found, fields, "{body}");
            }
        }
    }
}
