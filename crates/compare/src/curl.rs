//! `curl` command lines, read and written.

use crate::wire::Request;

/// What stands for the token in a command that is shown.
pub const TOKEN: &str = "$TOKEN";

/// The request without the secret in it.
pub fn without_token(request: &Request) -> Request {
    let mut request = request.clone();
    for (name, value) in &mut request.headers {
        if name.eq_ignore_ascii_case("authorization") {
            *value = if value.starts_with("Bearer ") { format!("Bearer {TOKEN}") } else { "***".to_owned() };
        }
    }
    request
}

/// The request as a command for a shell.
pub fn written(origin: &str, request: &Request) -> String {
    let mut words = vec![format!("curl {}", quoted(&format!("{origin}{}", request.target)))];
    let implied = if request.body.is_some() { "POST" } else { "GET" };
    if request.method != implied {
        words.push(format!("-X {}", request.method));
    }
    for (name, value) in request.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("x-request-id")) {
        let header = format!("{name}: {value}");
        // The shell puts the token in.
        words.push(if value.ends_with(TOKEN) { format!("-H \"{header}\"") } else { format!("-H {}", quoted(&header)) });
    }
    words.extend(request.body.as_ref().map(|body| format!("--data-raw {}", quoted(body))));
    words.join(" \\\n  ")
}

fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@%+,".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A command line, read: its origin and its request.
pub fn read(command: &str) -> Result<(String, Request), String> {
    let words = words(command)?;
    let mut words = words.into_iter();
    if words.next().as_deref() != Some("curl") {
        return Err("the command does not begin with curl".into());
    }
    let (mut url, mut request, mut method) = (None, Request::default(), None);
    let (mut data, mut in_query): (Vec<String>, bool) = (Vec::new(), false);
    while let Some(word) = words.next() {
        let (flag, attached) = taken_apart(&word);
        let mut value =
            || attached.clone().or_else(|| words.next()).ok_or_else(|| format!("{} has no value", brief(&flag)));
        match flag.as_str() {
            "-X" | "--request" => method = Some(value()?),
            "-H" | "--header" => {
                let header = value()?;
                let (name, text) =
                    header.split_once(':').ok_or_else(|| format!("{:?} is no header", brief(&header)))?;
                request.headers.push((name.trim().to_owned(), text.trim().to_owned()));
            }
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-ascii" => data.push(value()?),
            "--json" => {
                data.push(value()?);
                request.headers.push(("Content-Type".into(), "application/json".into()));
            }
            "--data-urlencode" => {
                let text = value()?;
                let (name, text) = text.split_once('=').unwrap_or(("", &text));
                let encoded = percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC);
                data.push(format!("{name}={encoded}"));
            }
            "-G" | "--get" => in_query = true,
            "-I" | "--head" => method = Some("HEAD".into()),
            "--url" => url = Some(value()?),
            "--oauth2-bearer" => request.headers.push(("Authorization".into(), format!("Bearer {}", value()?))),
            "-A" | "--user-agent" | "-e" | "--referer" | "-b" | "--cookie" | "-o" | "--output" | "-m"
            | "--max-time" | "--connect-timeout" | "--cacert" | "-w" | "--write-out" | "--retry" | "-x" | "--proxy" => {
                drop(value()?);
            }
            "-u" | "--user" => return Err("the API takes no user and password; log in, and send the token".into()),
            "-F" | "--form" => return Err("the API takes no forms; bodies are JSON".into()),
            flag if flag.starts_with('-') && flag.len() > 1 => {}
            _ => url = Some(word),
        }
    }
    let url = url.ok_or("the command names no URL")?;
    let (origin, mut target) = split_url(&url)?;
    if let Some(file) = data.iter().find(|text| text.starts_with('@')) {
        return Err(format!("put the text of {} into the command; files are not read", brief(file)));
    }
    if in_query && !data.is_empty() {
        target += if target.contains('?') { "&" } else { "?" };
        target += &data.join("&");
    } else if !data.is_empty() {
        request.body = Some(data.join("&"));
    }
    request.target = target;
    request.method =
        method.unwrap_or_else(|| if request.body.is_some() { "POST" } else { "GET" }.into()).to_uppercase();
    Ok((origin, request))
}

/// What is quoted of a text that does not fit: its beginning.
pub(crate) fn brief(text: &str) -> String {
    match text.char_indices().nth(64) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The origin of a URL, and the rest of it.
pub fn split_url(url: &str) -> Result<(String, String), String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    if !matches!(scheme, "http" | "https") {
        return Err(format!("{} is no address of a server", brief(url)));
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    if host.is_empty() {
        return Err(format!("{} names no host", brief(url)));
    }
    let path = path.split('#').next().unwrap_or_default();
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    Ok((format!("{scheme}://{host}"), path))
}

/// A flag, and the value that hangs on it: `-XPOST`, `--request=POST`.
fn taken_apart(word: &str) -> (String, Option<String>) {
    if let Some((flag, value)) = word.split_once('=').filter(|(flag, _)| flag.starts_with("--")) {
        return (flag.to_owned(), Some(value.to_owned()));
    }
    let takes_value = ["-X", "-H", "-d", "-u", "-A", "-b", "-e", "-o", "-m", "-w", "-x", "-F"];
    match takes_value.into_iter().find(|flag| word.len() > 2 && word.starts_with(flag) && !word.starts_with("--")) {
        Some(flag) => (flag.to_owned(), Some(word[2..].to_owned())),
        None => (word.to_owned(), None),
    }
}

/// The words of a command, as a shell reads them; variables are left as they are.
fn words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('\'') => break,
                        Some(letter) => word.push(letter),
                        None => return Err("a ' is not closed".into()),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('"') => break,
                        Some('\\') => match letters.next() {
                            Some('\n') => {}
                            Some(letter @ ('"' | '\\' | '$' | '`')) => word.push(letter),
                            Some(letter) => word.extend(['\\', letter]),
                            None => return Err("a \" is not closed".into()),
                        },
                        Some(letter) => word.push(letter),
                        None => return Err("a \" is not closed".into()),
                    }
                }
            }
            // What browsers copy: $'...' with escapes.
            '$' if word.is_none() && letters.peek() == Some(&'\'') => {
                letters.next();
                word = Some(escaped(&mut letters)?);
            }
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some('\r') => drop(letters.next_if_eq(&'\n')),
                Some(letter) => word.get_or_insert_default().push(letter),
            },
            letter if letter.is_whitespace() => words.extend(word.take()),
            '|' | ';' | '>' if word.is_none() => break,
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

fn escaped(letters: &mut impl Iterator<Item = char>) -> Result<String, String> {
    let mut text = String::new();
    loop {
        match letters.next() {
            Some('\'') => return Ok(text),
            Some('\\') => match letters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('u') => {
                    let code: String = letters.by_ref().take(4).collect();
                    let letter = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                    text.push(letter.ok_or_else(|| format!("\\u{code} is no letter"))?);
                }
                Some(letter) => text.push(letter),
                None => return Err("a $' is not closed".into()),
            },
            Some(letter) => text.push(letter),
            None => return Err("a $' is not closed".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_as_a_shell_reads_it() {
        let (origin, request) = read(
            "curl -s 'http://127.0.0.1:5000/b/api/parties?dryRun=true' \\\n  -H \"Authorization: Bearer $TOKEN\" -H 'X-Business-Id: b1' \\\n  -H 'Content-Type: application/json' -d '{\"name\":\"O'\\''Neill\"}' | jq .",
        )
        .unwrap();
        assert_eq!((origin.as_str(), request.method.as_str()), ("http://127.0.0.1:5000", "POST"));
        assert_eq!(request.target, "/b/api/parties?dryRun=true");
        assert_eq!(request.header("authorization"), Some("Bearer $TOKEN"));
        assert_eq!(request.body.as_deref(), Some(r#"{"name":"O'Neill"}"#));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let request = Request {
            method: "PUT".into(),
            target: "/b/api/parties/x?dryRun=true".into(),
            headers: vec![("Authorization".into(), format!("Bearer {TOKEN}")), ("If-Match".into(), "\"x-1\"".into())],
            body: Some("{\"name\":\"O'Neill & 'Co'\\n\"}".into()),
        };
        let (origin, again) = read(&written("https://books.example", &request)).unwrap();
        assert_eq!((origin.as_str(), again), ("https://books.example", request));
    }

    #[test]
    fn short_forms_are_known() {
        for command in [
            "curl -XDELETE localhost:5000/a/api/b/parties/p --compressed",
            "curl --request=DELETE --url http://localhost:5000/a/api/b/parties/p -k -sS",
            "curl -X delete -HAccept:text/plain http://localhost:5000/a/api/b/parties/p#x",
        ] {
            let (origin, request) = read(command).unwrap();
            assert_eq!((origin.as_str(), request.method.as_str()), ("http://localhost:5000", "DELETE"), "{command}");
            assert_eq!(request.target, "/a/api/b/parties/p");
        }
        let (_, request) = read("curl -G http://h/x --data-urlencode 'q=a b' -d page=2").unwrap();
        assert_eq!(request.target, "/x?q=a%20b&page=2");
        let (_, request) = read(r#"curl http://h/x --data-raw $'{"name":"d\u00e9j\u00e0\'s"}'"#).unwrap();
        assert_eq!(request.body.as_deref(), Some("{\"name\":\"déjà's\"}"));
    }

    #[test]
    fn what_cannot_be_read_is_quoted_briefly() {
        let long = "é".repeat(100_000);
        for command in [
            format!("curl ftp{long}://h/x"),
            format!("curl http://h/x -H {long}"),
            format!("curl http://h/x -d @{long}"),
            format!("curl http://?{long}"),
        ] {
            assert!(read(&command).unwrap_err().chars().count() < 150);
        }
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (command, why) in [
            ("wget http://h/x", "does not begin with curl"),
            ("curl -H 'X: y'", "names no URL"),
            ("curl 'http://h/x", "not closed"),
            ("curl http://h/x -d @body.json", "@body.json"),
            ("curl http://h/x -F a=b", "forms"),
            ("curl ftp://h/x", "no address"),
            ("curl -u a:b http://h/x", "log in"),
        ] {
            assert!(read(command).unwrap_err().contains(why), "{command}");
        }
    }
}
