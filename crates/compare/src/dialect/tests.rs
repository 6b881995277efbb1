#![cfg(test)]

use super::*;
use serde_json::json;

/// Two small documents of one API.
pub(crate) fn two() -> (Dialect, Dialect) {
    let a = json!({
        "info": {"title": "Books, dialect A"}, "servers": [{"url": "/a/api"}],
        "x-wrapping": {
            "success": {"success": true, "message": "$message", "data": "$data", "errors": null},
            "failure": {"success": false, "message": "$title", "data": null, "errors": "$errors"},
            "loggedIn": {"accessToken": "$token", "expiresIn": "$seconds", "user": "$"}
        },
        "paths": {
            "/Users/login": {"post": {
                "operationId": "login", "tags": ["Authentication"],
                "requestBody": {"content": {"application/json": {"example": {"credential": "jo", "password": "x"}}}},
                "x-message": "OK"
            }},
            "/{businessId}/parties": {"get": {"operationId": "partiesList", "parameters": [
                {"in": "path", "name": "businessId"}, {"in": "query", "name": "page", "schema": {"type": "integer"}}
            ]}, "post": {
                "operationId": "partiesCreate", "parameters": [{"in": "path", "name": "businessId"}],
                "requestBody": {"content": {"application/json": {"example": {"name": "X"}}}, "required": true},
                "x-message": "Created"
            }},
            "/{businessId}/parties/{id}": {"get": {"operationId": "partiesGet", "parameters": []}},
            "/{businessId}/parties/tree": {"get": {"operationId": "partiesTree", "parameters": []}}
        }
    });
    let b = json!({
        "info": {"title": "Books, dialect B"}, "servers": [{"url": "/b/api"}],
        "x-wrapping": {
            "success": "$data", "failure": {"status": "$status", "title": "$title", "errors": "$errors"},
            "loggedIn": {"token": "$token", "expiresAt": "$until"}
        },
        "components": {"securitySchemes": {"company": {"type": "apiKey", "in": "header", "name": "X-Business-Id"}}},
        "paths": {
            "/auth/login": {"post": {
                "operationId": "login", "tags": ["Authentication"],
                "requestBody": {"content": {"application/json": {"example": {"email": "jo", "password": "x"}}}},
                "responses": {"200": {"content": {"application/json": {"example": {"token": "x", "expiresAt": "x"}}}}}
            }},
            "/parties": {"get": {"operationId": "partiesList", "security": [{"token": [], "company": []}], "parameters": [
                {"in": "query", "name": "page", "schema": {"type": "integer"}}
            ]}, "post": {
                "operationId": "partiesCreate", "parameters": [{"in": "header", "name": "X-Business-Id"}],
                "requestBody": {"content": {"application/json": {"example": {"name": "X"}}}, "required": true},
                "responses": {"201": {"content": {"application/json": {"example": {}}}}}
            }},
            "/parties/{id}": {"get": {"operationId": "partiesGet", "parameters": [{"in": "header", "name": "X-Business-Id"}]}},
            "/parties/tree": {"get": {"operationId": "partiesTree", "parameters": [{"in": "header", "name": "X-Business-Id"}]}}
        }
    });
    (Dialect::of(a, None).unwrap(), Dialect::of(b, None).unwrap())
}

#[test]
fn what_one_renders_both_recognise_as_the_same() {
    let (a, b) = two();
    assert_eq!(
        (a.wrapping.of_login("token").unwrap(), b.wrapping.of_login("token").unwrap()),
        ("data.accessToken".into(), "token".into())
    );
    let said = Neutral {
        business: Some("b 1".into()),
        ..Neutral::of("partiesGet").on("p/1").asking("q", "ä b&c").header("If-None-Match", "\"x\"")
    };
    let in_a = a.render(&said, None, Some("t")).unwrap();
    assert_eq!(in_a.target, "/a/api/b%201/parties/p%2F1?q=%C3%A4%20b%26c");
    let in_b = b.render(&said, None, Some("t")).unwrap();
    assert_eq!(in_b.target, "/b/api/parties/p%2F1?q=%C3%A4%20b%26c");
    assert_eq!(in_b.header("x-business-id"), Some("b 1"));
    let mut expected = said.clone();
    expected.authorization = Some("Bearer t".into());
    assert_eq!((a.recognise(&in_a), b.recognise(&in_b)), (Some(expected.clone()), Some(expected)));
}

#[test]
fn a_log_in_is_called_differently() {
    let (a, b) = two();
    let said = Neutral::of(LOGIN).with(json!({"login": "jo", "password": "x"}));
    let in_a = a.render(&said, None, Some("t")).unwrap();
    assert_eq!(in_a.body.as_deref(), Some(r#"{"credential":"jo","password":"x"}"#));
    assert_eq!(in_a.header("authorization"), None);
    let in_b = b.render(&a.recognise(&in_a).unwrap(), None, None).unwrap();
    assert_eq!(
        (in_b.target.as_str(), in_b.body.as_deref()),
        ("/b/api/auth/login", Some(r#"{"email":"jo","password":"x"}"#))
    );
}

#[test]
fn a_segment_that_is_said_wins_over_one_that_is_named() {
    let (_, b) = two();
    assert_eq!(b.find("GET", "/parties/tree").unwrap().0.id, "partiesTree");
    assert_eq!(b.find("GET", "/parties/x").unwrap().0.id, "partiesGet");
    assert_eq!((b.operations["partiesTree"].stem(), b.operations["login"].stem()), ("parties", "login"));
    assert!(b.find("PUT", "/parties/x").is_none() && b.find("GET", "/parties/x/y").is_none());
}

#[test]
fn what_is_missing_is_said() {
    let (a, _) = two();
    assert!(a.render(&Neutral::of("partiesList"), None, None).unwrap_err().contains("company"));
    assert!(a.render(&Neutral::of("partiesGet"), Some("b"), None).unwrap_err().contains("record"));
    let error = a.render(&Neutral::of("parties.list"), Some("b"), None).unwrap_err();
    assert!(error.contains("did you mean partiesList?"), "{error}");
}

#[test]
fn a_name_that_none_has_is_completed_and_corrected() {
    let (a, _) = two();
    for (written, meant) in [
        ("parties.list", vec!["partiesList"]),
        ("Parties-Create", vec!["partiesCreate"]),
        ("partysList", vec!["partiesList"]),
        ("partiesLits", vec!["partiesList"]),
        ("partyList", vec!["partiesList"]),
        ("partiesT", vec!["partiesTree"]),
        ("parties", vec!["partiesList", "partiesCreate", "partiesGet", "partiesTree"]),
        ("partys", vec!["partiesList", "partiesCreate", "partiesGet", "partiesTree"]),
        ("somethingElse", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(a.nearest(written), meant, "{written}");
    }
    let said = a.operation("parties").unwrap_err();
    assert!(said.contains("did you mean one of partiesList, partiesCreate,"), "{said}");
}
