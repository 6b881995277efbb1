//! The page about moving a client from one dialect to the other, call by call, made from the two documents.

use crate::curl;
use crate::dialect::{CompanyIn, Dialect, LOGIN, Operation};
use crate::neutral::Neutral;
use crate::report::escape;
use crate::translate::token_of;
use crate::wrapping::shown;
use indexmap::IndexMap;
use std::sync::Arc;

/// The body of the page: each dialect beside each other one.
pub fn body(dialects: &[Arc<Dialect>], shared: Option<&str>) -> String {
    let beside = |(place, one): (usize, &Arc<Dialect>)| {
        dialects[place + 1..].iter().map(|other| of_two(one, other, shared)).collect::<String>()
    };
    dialects.iter().enumerate().map(beside).collect()
}

fn of_two(a: &Dialect, b: &Dialect, shared: Option<&str>) -> String {
    let mut tags: IndexMap<&str, Vec<(&Operation, &Operation)>> = IndexMap::new();
    for (id, in_a) in a.operations.iter() {
        if let Some(in_b) = b.operations.get(id) {
            tags.entry(&in_a.tag).or_default().push((in_a, in_b));
        }
    }
    let mut page = rules(a, b, shared);
    let anchor = |tag: &str| format!("{}-{}-{}", anchor(&a.name), anchor(&b.name), anchor(tag));
    page += "<h2 id=\"calls\">Call by call</h2>\n<p>The body of a request and the record in its answer are the same in both dialects, to the letter, but for the log-in. Each line opens to an example.</p>\n<nav class=\"tags\">";
    for tag in tags.keys() {
        page += &format!("<a href=\"#{}\">{}</a> ", anchor(tag), escape(tag));
    }
    page += "</nav>\n";
    for (tag, operations) in &tags {
        page += &format!("<h3 id=\"{}\">{}</h3>\n", anchor(tag), escape(tag));
        for (in_a, in_b) in operations {
            page += &call(a, b, in_a, in_b);
        }
    }
    page
}

fn rules(a: &Dialect, b: &Dialect, shared: Option<&str>) -> String {
    // Where there is no room for columns, each cell says whose it is.
    let [of_a, of_b] = [a, b].map(|dialect| escape(&dialect.name));
    let row = |what: &str, in_a: &str, in_b: &str| {
        format!(
            "<tr><th scope=\"row\">{what}</th><td data-of=\"{of_a}\">{in_a}</td><td data-of=\"{of_b}\">{in_b}</td></tr>\n"
        )
    };
    let code = |text: &str| format!("<code>{}</code>", escape(text));
    let login = |dialect: &Dialect| {
        dialect.operations.get(LOGIN).map_or_else(String::new, |login| format!("POST {}{}", dialect.base, login.path))
    };
    let mut rows = String::new();
    rows += &row("base", &code(&a.base), &code(&b.base));
    let company = |dialect: &Dialect| match dialect.company_in() {
        CompanyIn::Header => format!("in the header {}", code("X-Business-Id")),
        CompanyIn::Path | CompanyIn::Nowhere => format!("in the path: {}", code("/{businessId}/parties")),
    };
    rows += &row("the company", &company(a), &company(b));
    rows += &row(
        "log-in",
        &format!("{} with {}", code(&login(a)), code(a.login_name())),
        &format!("{} with {}", code(&login(b)), code(b.login_name())),
    );
    let [token_a, token_b] = [a, b].map(|one| escape(&token_of(one, '"')));
    rows += &row("its token", &token_a, &token_b);
    let of_success = |one: &Dialect, data: &str| {
        let word = |name: &str| if name == "data" { data.to_owned() } else { "\"OK\"".to_owned() };
        code(&shown(&one.wrapping.success, &word))
    };
    rows += &row("a record", &of_success(a, "{…}"), &of_success(b, "{…}"));
    let page = r#"{"items":[…],"pagination":{…}}"#;
    rows += &row("a page", &of_success(a, page), &of_success(b, page));
    let of_failure = |one: &Dialect| {
        let word = |name: &str| match name {
            "status" => "400".to_owned(),
            "errors" => "{field:[…]}".to_owned(),
            _ => "\"…\"".to_owned(),
        };
        code(&shown(&one.wrapping.failure, &word))
    };
    rows += &row("a failure", &of_failure(a), &of_failure(b));
    let shared = shared.map_or_else(String::new, |shared| {
        format!(
            "<li>{} takes requests of both: a client may keep its base URL and move one call after the other.</li>\n",
            code(shared)
        )
    });
    format!(
        "<h2>What differs</h2>\n<div class=\"wide\"><table class=\"rules\"><thead><tr><td></td><th scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead>\n{rows}</table></div>\n\
         <h2>What stays</h2>\n<ul>\n<li>Identifiers, numbers, <code>ETag</code>s and the fields of every record.</li>\n\
         <li>The token: one from either log-in is good for both dialects, so a client may move call by call.</li>\n\
         <li>Status codes, the code in <code>X-Error-Code</code>, the messages of each field.</li>\n\
         <li>Query parameters, paging, <code>Link</code>, <code>If-Match</code>, <code>dryRun</code>; <code>Location</code> is a path of the caller's own dialect.</li>\n\
         <li>An <code>Idempotency-Key</code>: a repeat in the other dialect is answered like the first request and does nothing more.</li>\n{shared}</ul>\n\
         <h2>In which order</h2>\n<ol>\n\
         <li><b>See</b> who still calls what: <code>duet usage</code>, or <code>dialect-usage</code> of each company.</li>\n\
         <li><b>Compare</b> before you move: <code>duet compare --file recorded.har</code> asks both dialects what your client asks, and says where they differ.</li>\n\
         <li><b>Translate</b>: <code>duet translate</code> changes what differs in scripts with <code>curl</code>, <code>.http</code> files, HARs and Postman collections, and leaves all else as it is typed.</li>\n\
         <li><b>Move</b> the log-in or a read first; the rest may follow in any order.</li>\n\
         <li><b>Announce</b> the end with <code>Dialects:A:Deprecation</code>, <code>:Sunset</code> and <code>:Link</code>: every answer then says so.</li>\n\
         <li><b>Retire</b> it with <code>Dialects:A:AfterSunset=warn</code>, then <code>gone</code>, without a restart; back again just as fast.</li>\n</ol>\n",
        escape(&a.name),
        escape(&b.name)
    )
}

fn call(a: &Dialect, b: &Dialect, in_a: &Operation, in_b: &Operation) -> String {
    let mut neutral = Neutral::of(&in_a.id);
    if in_a.company != CompanyIn::Nowhere {
        neutral.business = Some("BUSINESS".into());
    }
    if in_a.names_record() {
        neutral.id = Some("ID".into());
    }
    if in_a.id == LOGIN {
        neutral.body = Some(serde_json::json!({"login": "jo@harbour.example", "password": "…"}));
    } else if in_a.body.is_some() {
        neutral.body = Some(serde_json::json!({"…": "…"}));
    }
    let shown = |dialect: &Dialect| {
        let token = (in_a.id != LOGIN).then_some(curl::TOKEN);
        let request = dialect.render(&neutral, None, token);
        request
            .map(|request| curl::written("http://HOST", &request).replace("{\"…\":\"…\"}", "{…}"))
            .unwrap_or_default()
    };
    let line = |dialect: &Dialect, operation: &Operation| {
        format!("<code><b>{}</b> {}{}</code>", operation.method, escape(&dialect.base), escape(&operation.path))
    };
    format!(
        "<details class=\"call\"><summary><span>{}</span>{}{}</summary><div class=\"pair\"><pre>{}</pre><pre>{}</pre></div></details>\n",
        escape(&in_a.summary),
        line(a, in_a),
        line(b, in_b),
        escape(&shown(a)),
        escape(&shown(b))
    )
}

fn anchor(tag: &str) -> String {
    tag.to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::two;

    #[test]
    fn every_operation_is_beside_its_twin() {
        let (a, b) = two();
        let page = body(&[a, b].map(Arc::new), Some("/api"));
        for (in_a, in_b) in [
            ("GET</b> /a/api/{businessId}/parties/{id}", "GET</b> /b/api/parties/{id}"),
            ("POST</b> /a/api/Users/login", "POST</b> /b/api/auth/login"),
        ] {
            assert!(page.contains(in_a) && page.contains(in_b), "{page}");
        }
        assert!(
            page.contains("http://HOST/a/api/BUSINESS/parties/ID") && page.contains("-H 'X-Business-Id: BUSINESS'")
        );
        assert!(page.contains("<code>/api</code> takes requests of both"));
    }
}
