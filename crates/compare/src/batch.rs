//! Requests from a file: JSON Lines, one neutral request a line or one exchange of a recording, or a HAR as browsers and
//! proxies write it.

use crate::curl::split_url;
use crate::dialect::Dialect;
use crate::meaning::Meaning;
use crate::neutral::Neutral;
use crate::recording;
use crate::wire::{Answer, Request};
use serde_json::Value;

/// The requests of a file, in their order, and what in it is no request to either dialect.
pub fn read(text: &str, dialects: &[&Dialect]) -> Result<(Vec<Neutral>, Vec<String>), String> {
    if text.trim_start().starts_with('{')
        && let Ok(har) = serde_json::from_str::<Value>(text)
        && har["log"]["entries"].is_array()
    {
        return Ok(of_har(&har, dialects));
    }
    let (mut requests, mut left_out) = (Vec::new(), Vec::new());
    for (place, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("//") {
            continue;
        }
        if recording::is_line(line) {
            match recording::neutral(line, dialects) {
                Ok(request) => requests.push(request),
                Err(why) => left_out.push(format!("line {}: {why}", place + 1)),
            }
            continue;
        }
        let request: Neutral = serde_json::from_str(line).map_err(|error| format!("line {}: {error}", place + 1))?;
        for dialect in dialects {
            dialect.operation(&request.operation).map_err(|error| format!("line {}: {error}", place + 1))?;
        }
        requests.push(request);
    }
    Ok((requests, left_out))
}

/// One entry of a HAR as a request with its origin.
pub fn har_request(entry: &Value) -> Result<(String, Request), String> {
    let said = &entry["request"];
    let (origin, target) = split_url(said["url"].as_str().ok_or("an entry has no URL")?)?;
    let headers = said["headers"].as_array().into_iter().flatten().filter_map(|header| {
        let name = header["name"].as_str().filter(|name| !name.starts_with(':'))?;
        Some((name.to_owned(), header["value"].as_str().unwrap_or_default().to_owned()))
    });
    let request = Request {
        method: said["method"].as_str().unwrap_or("GET").to_uppercase(),
        target,
        headers: headers.collect(),
        body: said["postData"]["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned),
    };
    Ok((origin, request))
}

fn of_har(har: &Value, dialects: &[&Dialect]) -> (Vec<Neutral>, Vec<String>) {
    let (mut requests, mut left_out) = (Vec::new(), Vec::new());
    for entry in har["log"]["entries"].as_array().into_iter().flatten() {
        let Ok((_, request)) = har_request(entry) else { continue };
        let known = dialects.iter().find_map(|dialect| Some((dialect, dialect.recognise(&request)?)));
        let Some((dialect, mut neutral)) = known else {
            left_out.push(format!("{} {}", request.method, request.target));
            continue;
        };
        recording::of_whoever_asks_now(&mut neutral);
        neutral.recorded = recorded(dialect, &neutral, entry);
        requests.push(neutral);
    }
    (requests, left_out)
}

/// What was answered then, out of its wrapping.
fn recorded(dialect: &Dialect, neutral: &Neutral, entry: &Value) -> Option<Value> {
    let said = &entry["response"];
    let answer = Answer {
        status: said["status"].as_u64().and_then(|status| u16::try_from(status).ok())?,
        headers: vec![("content-type".into(), said["content"]["mimeType"].as_str().unwrap_or_default().to_owned())],
        body: said["content"]["text"].as_str()?.to_owned(),
        micros: 0,
    };
    let meaning = Meaning::of(dialect, dialect.operation(&neutral.operation).ok(), &answer);
    Some(meaning.data().clone()).filter(|data| !data.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::two;
    use serde_json::json;

    #[test]
    fn lines_are_requests_and_faults_have_their_line() {
        let (a, b) = two();
        let text = "# the parties\n{\"operation\":\"partiesList\"}\n\n{\"operation\":\"partiesGet\",\"id\":\"p\"}\n";
        let (requests, left_out) = read(text, &[&a, &b]).unwrap();
        assert_eq!((requests.len(), left_out.len(), requests[1].id.as_deref()), (2, 0, Some("p")));
        for (text, why) in [
            ("\n{\"operation\":\"x\"", "line 2"),
            ("{\"operation\":\"partyList\"}", "line 1: Dialect A has no operation"),
        ] {
            let error = read(text, &[&a, &b]).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_recording_of_a_browser_is_requests_too() {
        let (a, b) = two();
        let har = json!({"log": {"entries": [
            {"request": {"method": "GET", "url": "http://h/swagger/swagger-ui.css", "headers": []}},
            {"request": {"method": "POST", "url": "http://h/a/api/b1/parties", "headers": [
                {"name": "Authorization", "value": "Bearer secret"}, {"name": "Content-Type", "value": "application/json"},
                {"name": "Sec-Fetch-Mode", "value": "cors"}, {"name": "Idempotency-Key", "value": "k"}],
                "postData": {"text": "{\"name\":\"X\"}"}},
             "response": {"status": 201, "content": {"mimeType": "application/json", "text":
                "{\"success\":true,\"message\":\"Created\",\"data\":{\"id\":\"p1\"},\"errors\":null}"}}}
        ]}});
        let (requests, left_out) = read(&har.to_string(), &[&a, &b]).unwrap();
        assert_eq!(left_out, ["GET /swagger/swagger-ui.css"]);
        let expected = Neutral {
            business: Some("b1".into()),
            recorded: Some(json!({"id": "p1"})),
            ..Neutral::of("partiesCreate").with(json!({"name": "X"}))
        };
        assert_eq!(requests, [expected]);
    }
}
