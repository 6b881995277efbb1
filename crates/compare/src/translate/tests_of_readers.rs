#![cfg(test)]

use super::{Edited, Translator};
use crate::dialect::tests::two;
use crate::dialect::{BATCH, Dialect};
use serde_json::json;
use std::sync::Arc;

/// The two dialects, with a batch.
fn translator() -> Translator {
    let (a, b) = two();
    let with_batch = |mut dialect: Dialect| {
        let mut batch = dialect.operations["partiesCreate"].clone();
        batch.id = BATCH.to_owned();
        batch.path = batch.path.replace("parties", "batch");
        Arc::make_mut(&mut dialect.operations).insert(BATCH.to_owned(), batch);
        Arc::new(dialect)
    };
    Translator { dialects: [a, b].map(with_batch).to_vec(), shared: Some("/api".into()) }
}

fn edited(text: &str) -> Edited {
    translator().edit(text, None, 100).unwrap()
}

/// What is to be looked at, each with its line.
fn warnings(edited: &Edited) -> Vec<String> {
    let of = |one: &super::Told| {
        let line = one.line;
        one.warnings.iter().map(move |why| format!("{line}: {why}")).collect::<Vec<_>>()
    };
    edited.told.iter().flat_map(of).collect()
}

const A: &str = "curl http://h/a/api/b1/parties";
const B: &str = "curl http://h/b/api/parties -H 'X-Business-Id: b1'";
const LOGIN_A: &str = "curl http://h/a/api/Users/login -d '{\"credential\":\"jo@h.example\"}'";
const LOGIN_B: &str = "curl http://h/b/api/auth/login -d '{\"email\":\"jo@h.example\"}'";
const BATCH_A: &str = "curl http://h/a/api/b1/batch -d '{}'";
const BATCH_B: &str = "curl http://h/b/api/batch -H 'X-Business-Id: b1' -d '{}'";

/// What reads the answer of a request is another reader of the other's, and nothing has to be looked at.
#[test]
fn what_reads_an_answer_reads_the_other_one() {
    for (from, given, to, expected) in [
        (B, "| jq '{number,total}'", A, "| jq '.data | {number,total}'"),
        (B, "| jq '. | {number}'", A, "| jq '.data | {number}'"),
        (B, "| jq 'keys[]'", A, "| jq '.data | keys[]'"),
        (B, "| jq keys", A, "| jq '.data | keys'"),
        (B, "| jq 'del(.pagination)'", A, "| jq '.data | del(.pagination)'"),
        (
            B,
            "| jq -r '.items[] as $i | $i.id, .pagination.page'",
            A,
            "| jq -r '.data.items[] as $i | $i.id, .data.pagination.page'",
        ),
        (B, "| jq '.items[] | select(.status == 400)'", A, "| jq '.data.items[] | select(.status == 400)'"),
        (B, "| jq '.status'", A, "| jq '.data.status'"),
        (B, "| jq \".items[] | select(.id == \\\"$ID\\\")\"", A, "| jq \".data.items[] | select(.id == \\\"$ID\\\")\""),
        (B, "| jq '.\"items\"[0]'", A, "| jq '.data.\"items\"[0]'"),
        (B, "> inv.json; jq .total inv.json", A, "> inv.json; jq .data.total inv.json"),
        (B, "-o inv.json && cat inv.json | jq .total", A, "-o inv.json && cat inv.json | jq .data.total"),
        (
            B,
            "| tee inv.json | jq .total; jq .id < inv.json",
            A,
            "| tee inv.json | jq .data.total; jq .data.id < inv.json",
        ),
        (A, "> inv.json; jq .data.total inv.json", B, "> inv.json; jq .total inv.json"),
        (A, "| jq '.[\"data\"][\"id\"]'", B, "| jq '.[\"id\"]'"),
        (A, "| jq '.[\"data\"].id, .data[\"id\"], .data?.id'", B, "| jq '.id, .[\"id\"], .id'"),
        (A, "| jq '. as $r | $r.data.id'", B, "| jq '. as $r | $r.id'"),
        (A, "| jq .data | jq .id", B, "| jq . | jq .id"),
        (
            A,
            "| jq 'if .data.total > 5 then .data.id else empty end'",
            B,
            "| jq 'if .total > 5 then .id else empty end'",
        ),
        (
            A,
            "| grep -o '\"id\":\"[^\"]*' | head -n 1 | cut -d'\"' -f4",
            B,
            "| grep -o '\"id\":\"[^\"]*' | head -n 1 | cut -d'\"' -f4",
        ),
        (A, "| python3 -m json.tool", B, "| python3 -m json.tool"),
        (LOGIN_A, "| jq -r '.data|\"\\(.accessToken)\"'", LOGIN_B, "| jq -r '.|\"\\(.token)\"'"),
        (LOGIN_A, "| jq -r '.[\"data\"][\"accessToken\"]'", LOGIN_B, "| jq -r '.[\"token\"]'"),
        (LOGIN_A, "| jq .data | jq -r .accessToken", LOGIN_B, "| jq . | jq -r .token"),
        (LOGIN_B, "| jq -r .token", LOGIN_A, "| jq -r .data.accessToken"),
        (BATCH_A, "| jq '.data.results[0].body.data.id'", BATCH_B, "| jq '.results[0].body.id'"),
        (BATCH_A, "| jq '.data.results[] | .status, .body.data.id'", BATCH_B, "| jq '.results[] | .status, .body.id'"),
    ] {
        let found = edited(&format!("{from} {given}\n"));
        // Where the header stands is told elsewhere.
        let shown = found.text.trim_end().rsplit_once(expected).map(|(before, _)| before.to_owned());
        assert_eq!(shown.as_deref().map(str::trim_end), Some(to), "{given}: {} {:?}", found.text, warnings(&found));
        assert_eq!(warnings(&found), [""; 0], "{given}");
        let back = edited(&found.text);
        assert_eq!(edited(&back.text).text, found.text, "{given}");
    }
}

/// What cannot be translated is said with its line.
#[test]
fn what_is_not_translated_is_said_at_its_line() {
    for (from, given, stays, why) in [
        (B, "| jq 'if .status == 400 then .title else .id end'", ".status == 400", "`.status` of a failure is nowhere"),
        (
            LOGIN_B,
            "| jq -r .expiresAt",
            "| jq -r .expiresAt",
            "`expiresAt` is in the answer of a log-in of Dialect B alone; Dialect A answers",
        ),
        (LOGIN_B, "| jq '{token}'", "", "takes all of an answer"),
        (
            LOGIN_A,
            "| jq .data.expiresIn",
            "| jq .data.expiresIn",
            "`expiresIn` is in the answer of a log-in of Dialect A alone; Dialect B answers",
        ),
        (LOGIN_A, "| jq .data.user.id", "", "`user` is in the answer of a log-in of Dialect A alone"),
        (
            LOGIN_A,
            "| grep -o '\"expiresIn\":[0-9]*'",
            "",
            "`expiresIn` is in the answer of a log-in of Dialect A alone",
        ),
        (
            A,
            "| grep -q '\"success\":true'",
            "| grep -q '\"success\":true'",
            "`grep` looks for `success`, which is in the envelope of Dialect A",
        ),
        (A, "| jq '.success and (.data.id != null)'", ".success", "`.success` is in the envelope"),
        (A, "| jq '.data // empty'", "", "asks for `.data`, which is null in a failure of Dialect A"),
        (A, "| jq 'select(.data)'", "", "asks for `.data`, which is null"),
        (A, "| jq '{data}'", "'{data}'", "`{data}` takes all of an answer"),
        (A, "| jq keys", "| jq keys", "`keys` takes all of an answer"),
        (
            A,
            "| jq 'def f: .data; f.id'",
            "'def f: .data; f.id'",
            "`jq` does something here that is not understood (`def f",
        ),
        (A, "| jq -s '.[0].data.id'", "'.[0].data.id'", "`jq -s` reads the answer by itself"),
        (BATCH_A, "| jq '[.data.results[].body]'", "", "takes all of an answer"),
        (BATCH_A, "| jq '.data | length, (.results | tojson)'", "", "takes answers of a batch"),
        (
            A,
            "-s\nR=$(curl http://h/a/api/b1/parties)\ncase $R in *'\"success\":true'*) echo ok;; esac",
            "",
            "3: `case` reads the answer by itself",
        ),
        (A, "> x.json\npython3 read.py x.json", "python3 read.py x.json", "2: `python3` reads the answer by itself"),
        (
            A,
            "> x.json\ncurl -d @x.json http://h/a/api/b1/parties",
            "-d @x.json",
            "2: `curl` sends on what was answered",
        ),
        (A, "| while read -r line; do echo; done", "", "`read` reads the answer by itself"),
        (A, "| cut -d'\"' -f8", "", "`cut` reads the answer by itself"),
        (
            A,
            "; wget -qO- http://h/a/api/b1/parties",
            "wget -qO- http://h/a/api/b1/parties",
            "`wget` names an address of Dialect A",
        ),
        (A, "; wget http://h/api/b1/parties", "wget http://h/api/b1/parties", "`wget` names an address of Dialect A"),
        (
            B,
            "; http GET :5000/b/api/parties X-Business-Id:b1",
            "http GET :5000/b/api/parties",
            "`http` names an address of Dialect B",
        ),
        (A, "; wget \"$LIST\"", "wget \"$LIST\"", "`wget` asks for an address that is not shown"),
        (A, "\napi() { curl -s \"$@\"; }\napi x | jq '.success'", "", "4: if `jq` reads an answer here"),
        (
            B,
            "\nget() { curl -s \"$@\"; }\nget x | jq '.items'",
            "jq '.items'",
            "3: if `jq` reads an answer here, all of it is deeper",
        ),
        (
            A,
            "\nget() { curl -s http://h/a/api/b1/parties; }\nget | grep x",
            "grep x",
            "3: if `grep` reads an answer here",
        ),
    ] {
        let given = given.replace("\napi()", "\ntrue\napi()");
        let text = format!("{from} {given}\n");
        let found = edited(&text);
        let told = warnings(&found);
        let why =
            if why.starts_with(|letter: char| letter.is_ascii_digit()) { why.to_owned() } else { format!("1: {why}") };
        let (line, why) = why.split_once(": ").unwrap();
        let is_told = |one: &String| one.starts_with(&format!("{line}: ")) && one.contains(why);
        assert!(told.iter().any(is_told), "{text}: {told:?}");
        assert!(found.text.contains(stays), "{text}: {}", found.text);
    }
}

/// Whatever reads an answer and is none of what is understood, is said. That a program is new, or a filter odd, is no reason to
/// take it for right.
#[test]
fn a_reader_that_is_not_understood_is_always_said() {
    let readers = [
        "awk '{print $4}'",
        "perl -ne 'print'",
        "node -e 'x'",
        "ruby -e 'x'",
        "yq .data",
        "gron",
        "head -c 10",
        "tail -n 1",
        "sort",
        "wc -c",
        "xargs -n 1 echo",
        "sed 's/^{//'",
        "sed 3q",
        "grep paid",
        "grep -c '\"success\"'",
        "fx .data.id",
        "./read.sh",
        "read X",
        "base64",
        "$READER",
        "jq 'def x: .; x'",
        "jq 'input'",
        "jq \"$FILTER\"",
        "jq -R fromjson",
        "jq '.data.'",
        "jq '.data | )'",
        "docker run -i jq jq .data",
        "md5sum",
        "something-new --with words",
    ];
    for (request, before, after) in [A, B, LOGIN_A, LOGIN_B, BATCH_A, BATCH_B].iter().flat_map(|request| {
        [(*request, "", " | "), (*request, "X=$(", " | "), (*request, "", " | cat | "), (*request, "", " | jq . | ")]
    }) {
        for reader in readers {
            let end = if before.is_empty() { "" } else { ")" };
            let text = format!("# first\n{before}{request}{after}\\\n{reader}{end}\n");
            let found = edited(&text);
            assert!(warnings(&found).iter().any(|one| one.starts_with("3: ")), "{text}: {:?}", warnings(&found));
            assert!(found.text.contains(reader), "{text}: {}", found.text);
        }
    }
    for (request, reader) in [A, B, LOGIN_A].iter().flat_map(|request| readers.map(|reader| (*request, reader))) {
        let kept = format!("R=$({request})\n{reader} <<< \"$R\"\n");
        let filed = format!("{request} > x.json\n{reader} < x.json\n");
        for text in [kept, filed] {
            let told = warnings(&edited(&text));
            assert!(told.iter().any(|one| one.starts_with("2: ")), "{text}: {told:?}");
        }
    }
}

#[test]
fn a_call_has_one_header_for_the_company() {
    let found = edited("curl http://h/a/api/$B/parties -H \"X-Business-Id: $B\" -s");
    assert_eq!(found.text, "curl http://h/b/api/parties -H \"X-Business-Id: $B\" -s");
    assert_eq!(warnings(&found), [""; 0]);
    let found = edited("curl http://h/a/api/b1/parties -H 'X-Business-Id: other'");
    assert_eq!(found.text, "curl http://h/b/api/parties -H 'X-Business-Id: b1'");
    assert!(warnings(&found)[0].starts_with("1: its header named the company other"), "{:?}", warnings(&found));
    let found = edited("GET http://h/a/api/{{b}}/parties\nX-Business-Id: {{b}}\n");
    assert_eq!(found.text, "GET http://h/b/api/parties\nX-Business-Id: {{b}}\n");
}

#[test]
fn what_earlier_requests_answered_is_called_by_its_name() {
    let file = |path: &str, kept: &str| {
        format!(
            "# @name login\nPOST http://h/{path}\n\n{{\"x\": 1}}\n\n###\n@token = {kept}\n// @name all\nGET http://h/x\nAuthorization: Bearer {kept}\n"
        )
    };
    let token = |inner: &str| format!("{{{{login.response.body.{inner}}}}}");
    for (in_a, in_b) in
        [("$.data.accessToken", "$.token"), ("data.accessToken", "token"), ("$[\"data\"].accessToken", "$.token")]
    {
        let found = edited(&file("a/api/Users/login", &token(in_a)));
        assert_eq!(found.text, file("b/api/auth/login", &token(in_b)));
    }
    let found = edited(&file("b/api/auth/login", &token("$.token")));
    assert_eq!(found.text, file("a/api/Users/login", &token("$.data.accessToken")));
    for (path, inner, why) in [
        ("a/api/Users/login", "$.data.user.id", "7: `user` is in the answer of a log-in of Dialect A alone"),
        ("b/api/auth/login", "$.expiresAt", "7: `expiresAt` is in the answer of a log-in"),
        ("a/api/Users/login", "*", "7: `.*` is not understood"),
        ("a/api/Users/login", "$..accessToken", "7: `..accessToken` is not understood"),
    ] {
        let told = warnings(&edited(&file(path, &token(inner))));
        assert!(told.iter().any(|one| one.starts_with(why)), "{inner}: {told:?}");
    }
    let told = warnings(&edited("GET http://h/a/api/b1/parties\nX: {{other.response.body.$.id}}\n"));
    assert!(told.iter().any(|one| one.starts_with("2: if `other` is a request that was translated")), "{told:?}");
}

#[test]
fn scripts_of_collections_are_followed_by_their_paths() {
    let collection = |path: &str, header: &str, lines: &[&str]| {
        let script = json!({"listen": "test", "script": {"exec": lines}});
        let request = json!({"method": "GET", "header": [], "url": path});
        json!({"item": [{"event": [script], "request": request}]}).to_string().replace("\"header\":[]", header)
    };
    let [in_a, in_b] = [
        [
            "const body = pm.response.json();",
            "pm.environment.set('id', body.data.id + body[\"data\"].x);",
            "const { length } = body.data.items;",
        ],
        [
            "const body = pm.response.json();",
            "pm.environment.set('id', body.id + body.x);",
            "const { length } = body.items;",
        ],
    ];
    let found = edited(&collection("http://h/a/api/b1/parties", "\"header\":[]", &in_a));
    let header = "\"header\":[{\"key\": \"X-Business-Id\", \"value\": \"b1\"}]";
    assert_eq!(found.text, collection("http://h/b/api/parties", header, &in_b));
    assert_eq!(warnings(&found), [""; 0]);
    for script in [
        "const { data } = pm.response.json();",
        "check(pm.response.json());",
        "pm.expect(pm.response.text()).to.include('true');",
        "const x = JSON.parse(responseBody), y = x;",
        "pm.expect(pm.response.json().success).to.be.true;",
        "pm.response.to.have.jsonBody('data.id');",
    ] {
        let told = warnings(&edited(&collection("http://h/a/api/b1/parties", "\"header\":[]", &[script])));
        assert!(told.iter().any(|one| one.starts_with("1: ")), "{script}: {told:?}");
    }
}
