//! The documents are what users read: pinned, complete, alike in both dialects, and usable in a browser.

use crate::harness::authority;
use crate::harness::browser::Browser;
use crate::harness::{Engine, Request, Server, on_both_engines};
use compare::document::{shown, spelled_out};
use dialect_a::DialectA;
use dialect_b::DialectB;
use http_kit::openapi::{Document, as_30, pretty};
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};
use std::path::Path;

fn default_server() -> &'static Server {
    Server::shared(Engine::Sqlite).expect("SQLite needs nothing")
}

fn document(path: &str) -> Value {
    default_server().send(&Request::new("GET", path)).expect(200).json()
}

/// Every operation of a document with its path and method.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let (path, item) = (path.clone(), item.as_object().unwrap().clone());
        item.into_iter().map(move |(method, operation)| (path.clone(), method, operation))
    };
    paths.iter().flat_map(of_path).collect()
}

/// The names of a record's fields, and of those in its lists.
fn fields(record: &Value) -> std::collections::BTreeSet<String> {
    let mut names = std::collections::BTreeSet::new();
    for (name, value) in record.as_object().unwrap() {
        names.insert(name.clone());
        let parts = value.as_array().into_iter().flatten().filter(|part| part.is_object());
        names.extend(parts.flat_map(|part| fields(part).into_iter().map(|inner| format!("{name}.{inner}"))));
    }
    names
}

/// A reference of the document, or the value itself.
fn resolve<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.strip_prefix('#').unwrap())
            .unwrap_or_else(|| panic!("{reference} leads nowhere")),
        None => value,
    }
}

#[test]
fn the_documents_are_pinned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi");
    let mut changed = Vec::new();
    // Made of the code as it is now; what is served was pinned when the program was built.
    let mut both = Document::of_installation();
    both.add::<DialectA>("/a/api");
    both.add::<DialectB>("/b/api");
    for (name, made, path) in [
        ("both", both.finish(), "/swagger/v1/swagger.json"),
        ("dialect-a", Document::of_one::<DialectA>("/a/api"), "/swagger/a/swagger.json"),
        ("dialect-b", Document::of_one::<DialectB>("/b/api"), "/swagger/b/swagger.json"),
    ] {
        let (made, file) = (as_30(made), folder.join(format!("{name}.json")));
        // They are served in as few bytes as they take, and written down so that people see what changed.
        if std::fs::read_to_string(&file).unwrap_or_default() == pretty(&made) {
            let served = default_server().send(&Request::new("GET", path)).expect(200);
            let pinned = made.to_string();
            assert!(served.text == pinned, "{path} is not what is pinned; build again");
            continue;
        }
        changed.push(name);
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::write(&file, pretty(&made)).unwrap();
            changed.pop();
        }
    }
    assert!(changed.is_empty(), "{changed:?} changed; if that is meant, run with UPDATE_OPENAPI=1 and commit openapi/");
}

#[test]
fn every_operation_is_described_to_the_end() {
    for path in [
        "/swagger/v1/swagger.json",
        "/swagger/a/swagger.json",
        "/swagger/b/swagger.json",
        "/swagger/v1/openapi-3.1.json",
    ] {
        let document = spelled_out(document(path));
        let schemas = document["components"]["schemas"].as_object().unwrap();
        assert_eq!(document["info"]["version"], "v2026");
        let mut untrue = Vec::new();
        for (target, method, operation) in operations(&document) {
            let place = format!("{path} {method} {target}");
            for text in ["summary", "description", "operationId"] {
                assert!(operation[text].as_str().is_some_and(|text| !text.is_empty()), "{place}: {text}");
            }
            let is_login = target.ends_with("/login") || target.ends_with("/accept-invitation");
            // Of a batch each operation needs its own.
            let is_own = target.ends_with("/batch")
                || target.contains("/me")
                || target.to_lowercase().replace('-', "").contains("/installationlog");
            assert!(
                operation.get("x-required-permission").is_some_and(|key| key.is_string() || is_login || is_own),
                "{place}"
            );
            assert_eq!(operation["security"] == json!([]), target.ends_with("/login"), "{place}");
            let responses = operation["responses"].as_object().unwrap();
            for status in ["401", "500", "503"] {
                assert!(responses.contains_key(status), "{place}: {status}");
            }
            for (status, response) in responses {
                assert!(response["description"].is_string(), "{place} {status}");
                if status != "304" {
                    let forms = response["content"].as_object().unwrap();
                    let (form, media) = forms.iter().next().unwrap();
                    let expected = match (status.as_str(), target.rsplit(['/', '.']).next().unwrap()) {
                        ("200", "export") => "application/x-ndjson",
                        ("200", "csv") => "text/csv",
                        _ => "application/json",
                    };
                    // A client knows by the operation what it reads.
                    assert_eq!((form.as_str(), forms.len()), (expected, 1), "{place} {status}");
                    assert!(media["schema"].is_object(), "{place} {status}");
                    let example = shown(schemas, media).unwrap_or_else(|| panic!("{place} {status}: no example"));
                    let faults = authority::faults(&document, &media["schema"], &example);
                    untrue.extend(faults.into_iter().map(|fault| format!("{place} {status}: {fault}")));
                }
            }
            if let Some(body) = operation.get("requestBody") {
                let media = &body["content"]["application/json"];
                let example = shown(schemas, media).unwrap_or_else(|| panic!("{place}: no example"));
                let faults = authority::faults(&document, &media["schema"], &example);
                untrue.extend(faults.into_iter().map(|fault| format!("{place}: {fault}")));
                assert_eq!(resolve(&document, &media["schema"])["additionalProperties"], false, "{place}");
            }
        }
        assert!(untrue.is_empty(), "{} examples are not what their schemas say: {untrue:#?}", untrue.len());
    }
}

#[test]
fn operations_are_named_alike_in_both_dialects() {
    let names = |path: &str| {
        let mut names: Vec<String> = operations(&document(path))
            .iter()
            .map(|(_, _, one)| one["operationId"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let of_a = names("/swagger/a/swagger.json");
    assert_eq!(of_a, names("/swagger/b/swagger.json"));
    let mut expected: Vec<String> = registry()
        .iter()
        .flat_map(|one| {
            let as_csv = one.verbs().filter(|verb| one.csv(*verb).is_some()).map(|verb| one.operation_id(verb) + "Csv");
            one.verbs().map(|verb| one.operation_id(verb)).chain(as_csv).collect::<Vec<_>>()
        })
        .chain(["login".to_owned(), "acceptInvitation".to_owned()])
        .collect();
    expected.sort();
    assert_eq!(of_a, expected);
    let mut lettered: Vec<String> = expected.iter().flat_map(|name| [format!("{name}A"), format!("{name}B")]).collect();
    lettered.sort();
    assert_eq!(names("/swagger/v1/swagger.json"), lettered);
}

#[test]
fn a_document_is_sent_once_to_those_who_keep_it() {
    let first = default_server().send(&Request::new("GET", "/swagger/v1/swagger.json")).expect(200);
    let tag = first.header("etag").unwrap();
    default_server().send(&Request::new("GET", "/swagger/v1/swagger.json").header("If-None-Match", tag)).expect(304);
}

#[test]
fn redoc_is_bound_to_our_own_documents() {
    for (query, shown) in [
        ("?url=/swagger/v1/swagger.json", "/swagger/v1/swagger.json"),
        ("?url=/swagger/b/swagger.json", "/swagger/b/swagger.json"),
        ("?url=https://evil.example/api.json", "/swagger/v1/swagger.json"),
        ("?url=//evil.example/api.json", "/swagger/v1/swagger.json"),
        ("", "/swagger/v1/swagger.json"),
    ] {
        let page = default_server().send(&Request::new("GET", &format!("/redoc/index.html{query}"))).expect(200);
        assert!(page.text.contains(&format!("data-document=\"{shown}\"")), "{query}");
        assert!(page.header("content-security-policy").unwrap().contains("script-src 'self';"));
        assert!(!page.text.contains("evil"));
    }
}

on_both_engines! {
    fn each_example_is_a_request_that_works(server) {
        let company = server.company();
        let document = spelled_out(document("/swagger/b/swagger.json"));
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for (_, _, operation) in operations(&document) {
            let Some(media) = operation.pointer("/requestBody/content/application~1json") else { continue };
            let body = &shown(schemas, media).unwrap();
            let Some(resource) = operation["operationId"].as_str().unwrap().strip_suffix("Create") else { continue };
            // Records that the example names are those of another company.
            let here = company.example(resource);
            let names_others = serde_json::to_string(body).unwrap().contains("019a9f6e");
            let body = if names_others { &here } else { body };
            let made = company.ask(crate::harness::Dialect::B, "POST", resource, "", Some(body)).expect(201).data;
            let media = operation.pointer("/responses/201/content/application~1json").unwrap();
            let told = shown(schemas, media).unwrap();
            assert_eq!(fields(&made), fields(&told), "{resource}: the example shows the record's fields, all of them");
        }
    }
}

/// The row of an operation in Swagger UI.
fn row(operation: &str) -> String {
    format!("[id$='-{operation}']")
}

#[test]
fn the_interactive_reference_works_in_a_browser() {
    let Some(browser) = Browser::start() else { return };
    let server = default_server();
    let company = server.company();
    company.party(json!({"name": "Seen in the browser"}));
    browser.open(&format!("http://{}/swagger?urls.primaryName=Dialect%20B", server.address));
    browser.wait("document.querySelector('#select')");
    browser.run(
        "const s = document.querySelector('#select'); s.value = '/swagger/b/swagger.json'; \
                 s.dispatchEvent(new Event('change', {bubbles: true}));",
    );
    browser.wait("document.querySelector('.info .title')?.textContent.includes('dialect B')");

    // Log in through try-it-out.
    browser.click("h3[data-tag='Authentication'] button");
    let login = row("login");
    browser.click(&format!("{login} .opblock-summary-control"));
    let credentials =
        json!({"email": crate::harness::server::OWNER_EMAIL, "password": crate::harness::server::OWNER_PASSWORD});
    let field = format!("{login} textarea.body-param__text");
    browser.wait(&format!("document.querySelector({})", json!(field)));
    browser.run(&format!(
        "const t = document.querySelector({}); \
         Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(t, {}); \
         t.dispatchEvent(new Event('input', {{bubbles: true}})); t.dispatchEvent(new Event('change', {{bubbles: true}}));",
        json!(field),
        json!(credentials.to_string())
    ));
    browser.click(&format!("{login} button.execute"));
    let answer = format!(
        "document.querySelector({})?.textContent",
        json!(format!("{login} .live-responses-table .highlight-code"))
    );
    browser.wait(&format!("{answer}?.includes('token')"));
    let text = browser.run(&format!("return {answer}"));
    let text = text.as_str().unwrap();
    let token = text.split('"').find(|part| part.starts_with("eyJ")).expect("a token in the answer");

    // Authorise and name the company, once for all operations; list its parties.
    browser.click("button.authorize");
    for (field, value) in [("#auth-bearer-value", token), ("#api_key_value", &company.id)] {
        browser.fill(&format!(".modal-ux {field}"), value);
        browser.click(&format!(".modal-ux form:has({field}) button.authorize"));
    }
    browser.click(".modal-ux button.btn-done");
    browser.click("h3[data-tag='Parties'] button");
    let list = row("partiesList");
    browser.click(&format!("{list} .opblock-summary-control"));
    browser.click(&format!("{list} button.execute"));
    let body = format!("document.querySelector({})?.textContent", json!(format!("{list} .live-responses-table")));
    browser.wait(&format!("{body}?.includes('Seen in the browser')"));

    browser.open(&format!("http://{}/redoc/index.html?url=/swagger/v1/swagger.json", server.address));
    // It is shown a group at a time: one that is chosen, and one that an address leads to.
    let is_shown = |id: &str| format!("document.querySelector(\"[id$='/{id}'] h2\") !== null");
    browser.wait("document.querySelectorAll('#redoc h2').length > 0");
    assert_eq!(browser.run(&format!("return {}", is_shown("partiesListB"))), json!(false));
    browser.run("groups.value = 'Parties (B)'; groups.dispatchEvent(new Event('change'))");
    browser.wait("document.querySelector(\"[id$='/partiesListB'] h2\")?.textContent.includes('List parties')");
    assert_eq!(browser.run(&format!("return {}", is_shown("itemsListB"))), json!(false));
    browser
        .open(&format!("http://{}/redoc/index.html?url=/swagger/v1/swagger.json#operation/itemsListB", server.address));
    browser.wait(&is_shown("itemsListB"));
    browser.open(&format!("http://{}/about", server.address));
    browser.wait("document.querySelector('h1')?.textContent === 'Duet'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Beside a demo nobody logs in first: the examples name what it has, and whoever looks at the reference is signed in.
#[test]
fn beside_a_demo_an_example_is_executed_at_the_first_click() {
    let Some(browser) = Browser::start() else { return };
    let server = Server::demo();
    browser.open(&format!("http://{}/swagger", server.address));
    // The first document is there: one that is chosen while it comes would be replaced by it.
    browser.wait("document.querySelector('.info .title') && window.ui.authSelectors.authorized().has('bearerAuth')");
    for (document, tag, operations) in [
        ("/swagger/b/swagger.json", "Items", ["itemsList", "itemsCreate"]),
        ("/swagger/a/swagger.json", "Items", ["itemsGet", "itemsUpdate"]),
        ("/swagger/v1/swagger.json", "Items (B)", ["itemsListB", "itemsGetB"]),
    ] {
        browser.wait("document.querySelector('#select')");
        let select = format!(
            "const s = document.querySelector('#select'); s.value = '{document}'; \
             s.dispatchEvent(new Event('change', {{bubbles: true}}));"
        );
        browser.run(&select);
        let title = server.send(&Request::new("GET", document)).expect(200).json()["info"]["title"].clone();
        browser.wait(&format!("document.querySelector('.info .title')?.textContent.includes({title})"));
        // A group that was open in one document is open in the next.
        let first = row(operations[0]);
        if browser.run(&format!("return document.querySelector({}) === null", json!(first))) == true {
            browser.click(&format!("h3[data-tag='{tag}'] button"));
        }
        for operation in operations {
            let operation = row(operation);
            browser.click(&format!("{operation} .opblock-summary-control"));
            browser.click(&format!("{operation} button.execute"));
            let status = format!("{operation} .live-responses-table .response .response-col_status");
            browser.wait(&format!("/^20[01]/.test(document.querySelector({})?.textContent)", json!(status)));
        }
    }
}
