//! `duet translate` edits, and does not rewrite: what differs between the dialects is changed in its place, and all else
//! comes back as it was typed.

use crate::harness::twins::documented;
use crate::harness::{Dialect, Engine, Options, Request, Server};
use compare::translate::{Edited, Translator};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};
use std::process::Command;

fn translator() -> Translator {
    let dialects = [Dialect::A, Dialect::B].map(|dialect| documented(dialect).clone()).to_vec();
    Translator { dialects, shared: Some("/api".into()) }
}

fn edited(text: &str) -> Edited {
    translator().edit(text, None, 1_000).unwrap()
}

/// What somebody has to look at, each with its line.
fn warnings(edited: &Edited) -> Vec<String> {
    let of = |one: &compare::translate::Told| {
        let line = one.line;
        one.warnings.iter().map(move |why| format!("{line}: {why}")).collect::<Vec<_>>()
    };
    edited.told.iter().flat_map(of).collect()
}

/// Commands as people type them, and what becomes of each.
const TABLE: &[(&str, &str)] = &[
    (r"curl http://h/a/api/b1/parties", r"curl http://h/b/api/parties -H 'X-Business-Id: b1'"),
    (
        r#"curl -s "$BASE/a/api/$BUSINESS/sales?status=overdue" -H "Authorization: Bearer ${TOKEN}" | jq .data.items"#,
        r#"curl -s "$BASE/b/api/sales-invoices?status=overdue" -H "X-Business-Id: $BUSINESS" -H "Authorization: Bearer ${TOKEN}" | jq .items"#,
    ),
    (
        r#"curl -s "$BASE/b/api/sales-invoices" -H "X-Business-Id: $BUSINESS" -H "Authorization: Bearer $(cat token)" | jq '.items[].id'"#,
        r#"curl -s "$BASE/a/api/$BUSINESS/sales" -H "Authorization: Bearer $(cat token)" | jq '.data.items[].id'"#,
    ),
    // Headers on lines of their own; the one that goes takes its line with it.
    (
        "curl $BASE/b/api/parties/$ID \\\n  -H 'Accept: application/json' \\\n  -H 'X-Business-Id: b1' \\\n  -H 'If-None-Match: \"x\"'\n",
        "curl $BASE/a/api/b1/parties/$ID \\\n  -H 'Accept: application/json' \\\n  -H 'If-None-Match: \"x\"'\n",
    ),
    (
        "curl \\\r\n  http://h/a/api/b1/parties \\\r\n  -s\r\n",
        "curl \\\r\n  http://h/b/api/parties -H 'X-Business-Id: b1' \\\r\n  -s\r\n",
    ),
    // A comment, an assignment, several commands, a second address, a file, what is put elsewhere.
    (
        "# curl http://h/a/api/b1/parties\nX=1 curl http://h/a/api/b1/parties -d @party.json > out.json; curl http://h/a/api/b1/items http://h/a/api/b1/receipts && echo 'curl http://h/a/api/b1/parties'\n",
        "# curl http://h/a/api/b1/parties\nX=1 curl http://h/b/api/parties -H 'X-Business-Id: b1' -d @party.json > out.json; curl http://h/b/api/items -H 'X-Business-Id: b1' http://h/b/api/receipts && echo 'curl http://h/a/api/b1/parties'\n",
    ),
    // Inside of what is put in, and behind what says how it is run.
    (
        r#"ID="$(sudo /usr/bin/curl -sS "$BASE/a/api/$B/parties?q=$(printf %s "$Q")" | jq -r '.data.items[0].id')""#,
        r#"ID="$(sudo /usr/bin/curl -sS "$BASE/b/api/parties?q=$(printf %s "$Q")" -H "X-Business-Id: $B" | jq -r '.items[0].id')""#,
    ),
    (
        r#"if curl -sf "$BASE/a/api/$B/parties/$ID" >/dev/null; then echo yes; fi"#,
        r#"if curl -sf "$BASE/b/api/parties/$ID" -H "X-Business-Id: $B" >/dev/null; then echo yes; fi"#,
    ),
    (
        r#"ID=`curl -s "h/a/api/$(cat b)/parties" | jq -r .data.items[0].id`; curl "$BASE/a/api/`cat b`/parties/$ID""#,
        r#"ID=`curl -s "h/b/api/parties" -H "X-Business-Id: $(cat b)" | jq -r .items[0].id`; curl "$BASE/b/api/parties/$ID" -H "X-Business-Id: `cat b`""#,
    ),
    // Quotes that change within a word.
    (r#"curl 'http://h/a/api/'"$B"'/parties'"#, r#"curl 'http://h/b/api/parties' -H "X-Business-Id: $B""#),
    (r#"curl "$BASE/a/api/"$B/parties/$ID"#, r#"curl "$BASE/b/api/parties/"$ID -H "X-Business-Id: $B""#),
    (r#"curl 'http://h/b/api/parties' -H "X-Business-Id: $B""#, r#"curl 'http://h/a/api/'"$B"'/parties'"#),
    // Log-ins.
    (
        r#"curl -d '{"credential":"jo@h.example","password":"it'\''s"}' http://h/a/api/Users/login | jq -r .data.accessToken"#,
        r#"curl -d '{"email":"jo@h.example","password":"it'\''s"}' http://h/b/api/auth/login | jq -r .token"#,
    ),
    (
        r#"T=$(curl -s http://h/b/api/auth/login --json "{\"email\":\"$WHO\"}" | sed 's/.*"token":"\([^"]*\)".*/\1/')"#,
        r#"T=$(curl -s http://h/a/api/Users/login --json "{\"credential\":\"$WHO\"}" | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')"#,
    ),
    (
        "curl http://h/a/api/Users/login -d @- <<'END'\n{\"credential\": \"jo@h.example\", \"password\": \"x\"}\nEND\necho\n",
        "curl http://h/b/api/auth/login -d @- <<'END'\n{\"email\": \"jo@h.example\", \"password\": \"x\"}\nEND\necho\n",
    ),
    // Where another path is, behind the record as well as before it; flags in one word; the head alone; what browsers copy.
    (
        r"curl -sXPOST h:5000/a/api/b1/sales/s1/post",
        r"curl -sXPOST h:5000/b/api/sales-invoices/s1/post -H 'X-Business-Id: b1'",
    ),
    (r"curl -I http://h/a/api/b1/parties/p1", r"curl -I http://h/b/api/parties/p1 -H 'X-Business-Id: b1'"),
    (
        r#"curl 'http://h/a/api/b1/parties' -H 'accept: */*' --data-raw $'{"name":"d\u00e9j\u00e0"}' --compressed"#,
        r#"curl 'http://h/b/api/parties' -H 'X-Business-Id: b1' -H 'accept: */*' --data-raw $'{"name":"d\u00e9j\u00e0"}' --compressed"#,
    ),
    // Below the base of both, below another one, and behind a variable that has it.
    (r"curl http://h/api/b1/parties", r"curl http://h/api/parties -H 'X-Business-Id: b1'"),
    (r#"curl "$BOOKS/$B/parties""#, r#"curl "$BOOKS/parties" -H "X-Business-Id: $B""#),
    // The prompt of Windows.
    (
        "curl \"http://h/a/api/%B%/parties\" ^\r\n  -H \"Authorization: Bearer %TOKEN%\" ^\r\n  -d \"{\\\"name\\\":\\\"x\\\"}\"\r\n",
        "curl \"http://h/b/api/parties\" -H \"X-Business-Id: %B%\" ^\r\n  -H \"Authorization: Bearer %TOKEN%\" ^\r\n  -d \"{\\\"name\\\":\\\"x\\\"}\"\r\n",
    ),
    (
        "curl ^\"http://h/a/api/b1/parties^\" ^\n  -H ^\"accept: */*^\"\n",
        "curl ^\"http://h/b/api/parties^\" -H ^\"X-Business-Id: b1^\" ^\n  -H ^\"accept: */*^\"\n",
    ),
    (
        "curl.exe -X POST http://h/a/api/Users/login -d \"{\\\"credential\\\":\\\"jo@h.example\\\"}\"\n",
        "curl.exe -X POST http://h/b/api/auth/login -d \"{\\\"email\\\":\\\"jo@h.example\\\"}\"\n",
    ),
    // Filters: what begins at the answer, and what does not.
    (
        r"curl h/a/api/b1/parties | jq '{n: (.data.items | length), all: [.data.items[] | {data: .id}], s: .data.pagination}'",
        r"curl h/b/api/parties -H 'X-Business-Id: b1' | jq '{n: (.items | length), all: [.items[] | {data: .id}], s: .pagination}'",
    ),
    (
        r"curl h/b/api/parties -H 'X-Business-Id: b1' | jq '[.items[] | select(.balance > 0)] | map(.id)'",
        r"curl h/a/api/b1/parties | jq '[.data.items[] | select(.balance > 0)] | map(.id)'",
    ),
    (
        "R=$(curl h/a/api/b1/parties)\necho \"$R\" | jq .data.pagination\n",
        "R=$(curl h/b/api/parties -H 'X-Business-Id: b1')\necho \"$R\" | jq .pagination\n",
    ),
    (
        "R=$(curl h/b/api/parties -H 'X-Business-Id: b1')\necho \"$R\" | jq '{n: .pagination, items}'\n",
        "R=$(curl h/a/api/b1/parties)\necho \"$R\" | jq '.data | {n: .pagination, items}'\n",
    ),
    (
        r"curl h/a/api/b1/batch -d @all.json | jq '.data.results[0].body.data.id'",
        r"curl h/b/api/batch -H 'X-Business-Id: b1' -d @all.json | jq '.results[0].body.id'",
    ),
    // Files of requests.
    (
        "@base = http://h\n### all\nGET {{base}}/a/api/{{business}}/parties?q=x HTTP/1.1\nAccept: application/json\n\n### log in\nPOST {{base}}/a/api/Users/login\nContent-Type: application/json\n\n{\n  \"credential\": \"{{who}}\"\n}\n\n> {% client.global.set(\"t\", response.body.data.accessToken); %}\n",
        "@base = http://h\n### all\nGET {{base}}/b/api/parties?q=x HTTP/1.1\nX-Business-Id: {{business}}\nAccept: application/json\n\n### log in\nPOST {{base}}/b/api/auth/login\nContent-Type: application/json\n\n{\n  \"email\": \"{{who}}\"\n}\n\n> {% client.global.set(\"t\", response.body.token); %}\n",
    ),
    (
        "DELETE {{base}}/b/api/parties/{{id}}\nX-Business-Id: {{business}}\nIf-Match: \"x\"\n",
        "DELETE {{base}}/a/api/{{business}}/parties/{{id}}\nIf-Match: \"x\"\n",
    ),
];

#[test]
fn commands_come_back_with_what_differs_changed() {
    for (given, expected) in TABLE {
        let found = edited(given);
        assert_eq!(found.text, *expected, "{given}\n{:?}", warnings(&found));
        // There and back again asks the same as before.
        let back = translator().edit(&found.text, None, 1_000).unwrap();
        let asked = |edited: &Edited| -> Vec<Value> {
            edited.told.iter().filter_map(|one| one.neutral.as_ref()).map(|one| json!(one)).collect()
        };
        assert_eq!(asked(&found), asked(&back), "{given}");
        let again = translator().edit(&back.text, None, 1_000).unwrap();
        assert_eq!(again.text, found.text, "{given}");
    }
}

#[test]
fn what_cannot_be_translated_is_said_with_its_line() {
    for (given, expected) in [
        (
            "\ncurl http://h/a/api/Users/login -d '{\"credential\":\"jo\"}'",
            "2: `jo` is no e-mail, and Dialect B logs in by one",
        ),
        (
            "curl http://h/a/api/Users/login -d \"{\\\"credential\\\":\\\"$WHO\\\"}\"",
            "1: $WHO must be an e-mail there, and no username",
        ),
        (
            "curl http://h/a/api/Users/login -d @me.json",
            "1: what me.json calls `credential` must be called `email` in it",
        ),
        (
            "curl http://h/a/api/b1/parties |\n  jq .success",
            "2: `.success` is in the envelope of Dialect A; Dialect B has none",
        ),
        ("curl http://h/b/api/parties", "1: it names no company: put its identifier for $BUSINESS"),
        ("curl \"$BOOKS/$B/parties\"", "1: $BOOKS must lead to where Dialect B is: /b/api here"),
        ("true\ncurl \"$URL\"", "2: $URL does not show its path"),
        ("curl http://h/a/api/b1/nothing/at/all", "1: GET /a/api/b1/nothing/at/all is an operation of neither dialect"),
        // One that is not known beside one that is; below a known base nothing else is looked for.
        (
            "curl http://h/a/api/b1/items http://h/a/api/b1/accountants",
            "1: GET /a/api/b1/accountants is an operation of neither",
        ),
        ("curl http://h/a/api/b1/nothing http://h/a/api/b1/items", "1: GET /a/api/b1/nothing is an operation"),
        ("curl -u a:b http://h/a/api/b1/parties", "1: the API takes no user and password"),
        (
            "curl http://h/a/api/b1/parties | python3 -c 'import json,sys; print(json.load(sys.stdin)[\"data\"])'",
            "1: `python3` reads the answer by itself",
        ),
        (
            &format!("curl http://h/a/api/b1/parties\n{}", "$(echo ".repeat(50_000)),
            "2: commands are nested deeper than 32",
        ),
        (
            &format!("curl http://h/a/api/b1/parties\n{}", "\"`{{".repeat(50_000)),
            "2: commands are nested deeper than 32",
        ),
        ("curl http://h/a/api/b1/parties\necho `date", "2: there is no ` to close it"),
        ("curl http://h/a/api/b1/parties\necho 'open", "2: a ' is not closed"),
        ("curl http://h/b/api/parties -H 'X-Business-Id: b'\necho $R | jq .items", "2: if `jq` reads an answer here"),
        (
            "curl http://h/b/api/auth/login -d '{\"email\":\"jo@h.example\"}' | jq .expiresAt",
            "1: `expiresAt` is in the answer of a log-in of Dialect B alone",
        ),
        ("curl http://h/a/api/b1/parties | grep -q '\"success\":true'", "1: `grep` looks for `success`"),
        ("curl http://h/a/api/b1/parties\nwget http://h/a/api/b1/items", "2: `wget` names an address of Dialect A"),
        ("curl http://h/a/api/b1/parties | something-new", "1: `something-new` reads the answer by itself"),
    ] {
        let found = warnings(&edited(given));
        assert!(found.iter().any(|one| one.starts_with(expected)), "{given}: {found:?}");
    }
    // One that cannot be is no reason to leave the others.
    let mixed = edited("curl http://h/x\ncurl http://h/a/api/b1/parties\n");
    assert_eq!(mixed.text, "curl http://h/x\ncurl http://h/b/api/parties -H 'X-Business-Id: b1'\n");
    assert!(translator().edit("curl http://h/x\ncurl http://h/x\n", None, 1).unwrap_err().contains("at most 1"));
}

/// A recording and a collection, indented as nobody else does.
#[test]
fn files_of_json_keep_their_order_and_their_indentation() {
    let har = r#"{ "log": { "creator": {"name": "X"},
    "entries": [
        { "time": 1.50,
          "request": { "method": "GET", "url": "http:\/\/h\/a\/api\/b1\/sales?page=2",
                       "headers": [ { "name": "Accept", "value": "*/*" } ], "queryString": [] },
          "response": {"status": 200, "content": {"text": "{}"}} },
        {"request": {"url": "http://h/logo.png", "method": "GET", "headers": []}},
        {"request": {"method": "POST", "url": "http://h/a/api/Users/login", "headers": [], "postData": {"text": "{\"credential\":\"jo@h.example\"}"}}}
    ] } }
"#;
    let expected = har
        .replace(r#""http:\/\/h\/a\/api\/b1\/sales?page=2""#, r#""http:\/\/h/b/api/sales-invoices?page=2""#)
        .replace(r#"[ { "name": "Accept""#, r#"[ { "name": "X-Business-Id", "value": "b1" }, { "name": "Accept""#)
        .replace("http://h/a/api/Users/login", "http://h/b/api/auth/login")
        .replace(r#"\"credential\""#, r#"\"email\""#);
    let found = edited(har);
    assert_eq!(found.text, expected);
    let told = warnings(&found);
    assert!(told.contains(&"6: recorded answers stay as they were, those of Dialect A".to_owned()), "{told:?}");

    let collection = "{\n\t\"info\": {\"name\": \"Books\"},\n\t\"item\": [{\"name\": \"Folder\", \"item\": [\n\t\t{\n\t\t\t\"name\": \"One\",\n\t\t\t\"event\": [{\"listen\": \"test\", \"script\": {\"exec\": [\"pm.environment.set('id', pm.response.json().data.id)\"]}}],\n\t\t\t\"request\": {\n\t\t\t\t\"method\": \"GET\",\n\t\t\t\t\"header\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"key\": \"Accept\",\n\t\t\t\t\t\t\"value\": \"*/*\",\n\t\t\t\t\t\t\"type\": \"text\"\n\t\t\t\t\t}\n\t\t\t\t],\n\t\t\t\t\"url\": {\"raw\": \"{{base}}/a/api/{{business}}/parties/:id?x=1\", \"host\": [\"{{base}}\"], \"path\": [\"a\", \"api\", \"{{business}}\", \"parties\", \":id\"], \"query\": [{\"key\": \"x\", \"value\": \"1\"}]}\n\t\t\t}\n\t\t}\n\t]}]\n}\n";
    let header = "{\n\t\t\t\t\t\t\"key\": \"X-Business-Id\",\n\t\t\t\t\t\t\"value\": \"{{business}}\",\n\t\t\t\t\t\t\"type\": \"text\"\n\t\t\t\t\t},\n\t\t\t\t\t{\n\t\t\t\t\t\t\"key\": \"Accept\"";
    let expected = collection
        .replace("json().data.id", "json().id")
        .replace("{{base}}/a/api/{{business}}/parties/:id", "{{base}}/b/api/parties/:id")
        .replace(r#"["a", "api", "{{business}}", "parties", ":id"]"#, r#"["b", "api", "parties", ":id"]"#)
        .replace("{\n\t\t\t\t\t\t\"key\": \"Accept\"", header);
    let found = edited(collection);
    assert_eq!(found.text, expected);
    // Back again it is what it was, to the letter.
    assert_eq!(edited(&found.text).text, collection);

    for (given, why) in [("{\"log\": 1}", "neither a HAR"), ("{\"log\": ", "neither a curl command nor a HAR")] {
        assert!(translator().edit(given, None, 10).unwrap_err().contains(why));
    }
}

fn runner() -> TestRunner {
    TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() })
}

/// Anything that asks for nothing, with everything in it that a shell gives a meaning to.
#[test]
fn what_has_no_request_in_it_comes_back_byte_for_byte() {
    let translator = translator();
    let pieces = proptest::collection::vec(
        prop_oneof![
            "[ -~\n]{0,40}",
            "\\PC{0,20}",
            proptest::sample::select(vec![
                "curl ",
                "curl http://h/else ",
                "'",
                "\"",
                "\\\n",
                "$(",
                ")",
                "`",
                "${X}",
                "<<END\n",
                "END\n",
                "| jq .data ",
                "^\r\n",
                "%X%",
                "^\"",
                "### x\n",
                "GET /x\n",
                "{{x}}",
                "{\"a\": [1.50, \"\\u00e9\"]}",
                "# c\n",
                "\r\n",
                "$'\\u00e9'",
            ])
            .prop_map(str::to_owned),
        ],
        0..12,
    );
    runner()
        .run(&pieces, |pieces| {
            let text = pieces.concat();
            // What is no JSON although it looks like it is told, and nothing comes back.
            let Ok(found) = translator.edit(&text, None, 1_000) else {
                prop_assert!(text.trim_start().starts_with('{'), "{}", text);
                return Ok(());
            };
            prop_assert!(found.told.iter().all(|one| one.operation.is_empty()), "{:?}", found.told);
            prop_assert_eq!(found.text, text);
            Ok(())
        })
        .unwrap();
}

/// Any operation, with a company and a record that are words, odd letters or variables, in any quotes: there and back it
/// is the same request, and what is around it is the same text.
#[test]
fn there_and_back_again_is_the_same_request() {
    let translator = translator();
    let operations: Vec<String> = documented(Dialect::A).operations.keys().cloned().collect();
    let names =
        || proptest::sample::select(vec!["b1", "$B", "${B}", "$(cat b)", "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02"]);
    let around =
        proptest::sample::select(vec![("", ""), ("X=$(", ")"), ("# é\n", " | tee x\n"), ("true && ", " || exit 1")]);
    let given = (proptest::sample::select(operations), names(), names(), 0..3_usize, around, any::<bool>());
    runner()
        .run(&given, |(operation, business, id, quotes, (before, after), shared)| {
            let a = documented(Dialect::A);
            let said = &a.operations[&operation];
            let base = if shared { "http://h" } else { "$BASE" };
            let path = said.path.replace("{businessId}", business).replace("{id}", id);
            let url = format!("{base}{}{path}?x=1", a.base);
            let is_open = url.contains("$(");
            let url = match quotes {
                0 if !is_open => url.replace('?', "\\?"),
                1 => format!("'{}'", url.replace(business, &format!("'\"{business}\"'")).replace("$BASE", "'$BASE'")),
                _ => format!("\"{url}\""),
            };
            let body = said.body.as_ref().map_or("", |_| " -d '{\"credential\":\"jo@h.example\",\"n\":1.50}'");
            let text = format!("{before}curl -X {} {url}{body}{after}", said.method);
            let there = translator.edit(&text, None, 10).map_err(TestCaseError::fail)?;
            let back = translator.edit(&there.text, None, 10).map_err(TestCaseError::fail)?;
            let asked = |edited: &Edited| edited.told.iter().find_map(|one| one.neutral.clone());
            prop_assert_eq!(asked(&there).map(|one| one.operation), Some(operation.clone()), "{}", text);
            prop_assert_eq!(asked(&there), asked(&back), "{} {}", text, there.text);
            prop_assert!(there.text.starts_with(before) && there.text.ends_with(after), "{}", there.text);
            let base = format!("{}/", documented(Dialect::B).base);
            prop_assert!(there.text.contains(&base), "{}", there.text);
            Ok(())
        })
        .unwrap();
}

/// What is translated is run by a shell, which shares nothing with what translated it: the same script in each dialect says
/// the same of the same books.
#[test]
fn what_was_translated_says_the_same_when_a_shell_runs_it() {
    let installed =
        |program: &str| Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !installed("curl") {
        assert!(std::env::var("DUET_TEST_CURL").is_err(), "curl is not installed");
        return;
    }
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let company = server.company();
    for name in ["Alder & Sons", "Birch \"B\" $1", "Cedar"] {
        company.party(json!({"name": name, "creditLimit": "10.50"}));
    }
    let script = r#"set -eu
# Whatever stands here stays: curl $BASE/a/api/nobody
api() { curl -sS -H 'Authorization: Bearer '"$TOKEN" "$@"; }
curl -sS "$BASE/a/api/$B/parties?sort=name&fields=name,creditLimit" -H "Authorization: Bearer ${TOKEN}" > "$OUT/list"
ID=$(curl -sS $BASE/a/api/$B/parties?q=cedar -H "Authorization: Bearer $TOKEN" | grep -o '"id":"[^"]*' | head -n 1 | cut -d'"' -f4)
curl -sS -o /dev/null -w '%{http_code}\n' \
  -X PUT "${BASE}/a/api/${B}/parties/${ID}" \
  -H 'Authorization: Bearer '"$TOKEN" -H 'Content-Type: application/json' \
  -d '{"name":"Cedar, it'\''s '"$WHO"'","isCustomer":true}'
curl -sS 'http://'"$HOST"'/a/api/'"$B"'/parties/'$ID -H "Authorization: Bearer $TOKEN" | grep -o '"name":"[^"]*"' | head -n 1
curl -sSI "$BASE/a/api/$B/parties/$ID" -H "Authorization: Bearer $TOKEN" | head -n 1 | cut -d' ' -f2
curl -sS "$BASE/a/api/$B/chart-of-accounts?code=1010" -H "Authorization: Bearer $TOKEN" | grep -o '"code":"[^"]*"'; echo end
"#;
    let translated = edited(script);
    // Nobody can tell what a function is called with.
    assert_eq!(warnings(&translated), ["3: $@ does not show its path"]);
    assert!(
        !translated.text.contains("$BASE/a/api/$B")
            && translated.text.contains("# Whatever stands here stays: curl $BASE/a/api/nobody")
    );
    let back = translator().edit(&translated.text, None, 100).unwrap();
    let run = |script: &str| {
        let out = crate::harness::process::fresh_folder("translated");
        let output = Command::new("bash")
            .args(["-c", script])
            .env("BASE", format!("http://{}", server.address))
            .env("HOST", server.address.to_string())
            .env("TOKEN", server.token())
            .env("B", &company.id)
            .env("WHO", "new \\\"name\\\"")
            .env("OUT", &out)
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), std::fs::read_to_string(out.join("list")).unwrap())
    };
    let (said_a, list_a) = run(script);
    let (said_b, list_b) = run(&translated.text);
    let (said_back, _) = run(&back.text);
    assert!(said_a.contains("200\n\"name\":\"Cedar, it's new") && said_a.ends_with("end\n"), "{said_a}");
    assert_eq!((&said_b, &said_back), (&said_a, &said_a));
    let records =
        |text: &str, place: &str| serde_json::from_str::<Value>(text).unwrap().pointer(place).cloned().unwrap();
    assert_eq!(records(&list_a, "/data/items").as_array().unwrap().len(), 3);
    // The first run gave one of them another name.
    assert_eq!(records(&list_b, "/pagination"), records(&list_a, "/data/pagination"));
    server.send(&Request::new("GET", "/readyz")).expect(200);
}
