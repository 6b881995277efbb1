//! How texts are read as addresses, durations, sizes, prefixes.
//!
//! Owns: what is expected of a value, and the words in which a bad one is refused. Knows no key's meaning.

use super::keys::{self, Shown};
use super::layers::{Merged, Place, Word};
use ledger_core::clock::Instant;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

const LONGEST: Duration = Duration::from_hours(24);
const LARGEST: usize = 1 << 30;

/// The first segments of pages that stand at the root whatever is mounted.
const TAKEN: &[&str] = &[
    "swagger",
    "redoc",
    "healthz",
    "readyz",
    "metrics",
    "favicon.ico",
    "favicon.svg",
    "assets",
    "docs",
    "errors",
    "about",
    "console",
];

/// A bad value, which is noted already.
#[derive(Debug)]
pub(super) struct Refused;

/// Reads values as what they should be, and notes what they are not.
pub(super) struct Reader<'m> {
    merged: &'m Merged,
    faults: Vec<String>,
}

impl<'m> Reader<'m> {
    pub(super) fn new(merged: &'m Merged) -> Self {
        Self { merged, faults: merged.faults.clone() }
    }

    pub(super) fn into_faults(self) -> Vec<String> {
        self.faults
    }

    /// Notes that the value of a key is not what was expected.
    pub(super) fn refuse(&mut self, name: &str, expected: &str) {
        let Some(said) = self.merged.value(name) else {
            return self.faults.push(format!("{name}: expected {expected}, got nothing"));
        };
        let got = match &said.word {
            Word::Null => "null".to_owned(),
            Word::One(text) => shown(name, text),
            Word::Many(_) => "a list".to_owned(),
        };
        self.faults.push(format!("{}: {name}: expected {expected}, got {got}", said.place));
    }

    fn refuse_element(&mut self, name: &str, place: &Place, expected: &str, got: &str) {
        self.faults.push(format!("{place}: {name}: expected {expected}, got {got:?}"));
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        match &self.merged.value(name)?.word {
            Word::One(text) if !text.is_empty() => Some(text.clone()),
            Word::One(_) | Word::Null | Word::Many(_) => None,
        }
    }

    fn parsed<T>(&mut self, name: &str, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = self.text(name).and_then(|text| parse(text.trim()));
        if value.is_none() {
            self.refuse(name, expected);
        }
        value
    }

    pub(super) fn number(&mut self, name: &str, least: u32, most: u32) -> Option<u32> {
        let expected = format!("a whole number from {least} to {most}");
        self.parsed(name, &expected, |text| text.parse().ok().filter(|number| (least..=most).contains(number)))
    }

    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        self.parsed(name, "true or false", |text| text.to_lowercase().parse().ok())
    }

    /// A day, which begins at midnight UTC, or a time.
    pub(super) fn moment(&mut self, name: &str) -> Option<Instant> {
        self.text(name)?;
        self.parsed(name, "a day such as 2027-06-30, or a time such as 2027-06-30T22:00:00Z", |text| {
            Instant::parse(text).or_else(|| Instant::parse(&format!("{text}T00:00:00Z")))
        })
    }

    pub(super) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let expected = format!("one of {}", choices.iter().map(|(text, _)| *text).collect::<Vec<_>>().join(", "));
        self.parsed(name, &expected, |text| {
            choices.iter().find(|(choice, _)| choice.eq_ignore_ascii_case(text)).map(|(_, value)| *value)
        })
    }

    pub(super) fn duration(&mut self, name: &str) -> Option<Duration> {
        self.parsed(name, A_TIME, time)
    }

    /// How often something is done that may never be: nothing means never. What makes no sense is told like all else.
    pub(super) fn duration_or_never(&mut self, name: &str) -> Option<Duration> {
        let often = self.parsed(name, A_TIME_OR_NEVER, |text| match text {
            "0" | "off" => Some(None),
            text => time(text).map(Some),
        });
        often.flatten()
    }

    /// Several of them, one after the other.
    pub(super) fn durations(&mut self, name: &str) -> Vec<Duration> {
        let mut times = Vec::new();
        for (text, place) in self.elements(name) {
            match time(text.trim()) {
                Some(time) => times.push(time),
                None => self.refuse_element(name, &place, A_TIME, &text),
            }
        }
        times
    }

    pub(super) fn size(&mut self, name: &str) -> Option<usize> {
        self.parsed(name, "a size such as 1MB, 512KB or 65536, at most 1GB", |text| {
            let (number, unit) = number_and_unit(text)?;
            let unit = match unit.to_ascii_uppercase().as_str() {
                "" | "B" => 1,
                "KB" => 1 << 10,
                "MB" => 1 << 20,
                "GB" => 1 << 30,
                _ => return None,
            };
            usize::try_from(number).ok()?.checked_mul(unit).filter(|size| (1..=LARGEST).contains(size))
        })
    }

    /// One address, with or without its scheme. Names other than localhost would need a resolver to be up already.
    pub(super) fn listen(&mut self, name: &str, scheme: &str) -> Option<SocketAddr> {
        self.parsed(name, &format!("one address and port such as {scheme}127.0.0.1:5000"), |text| {
            let address = text.strip_prefix(scheme).unwrap_or(text);
            let address = address.strip_suffix('/').unwrap_or(address);
            let (host, port) = address.rsplit_once(':')?;
            let host = match host {
                "*" | "+" => IpAddr::from(Ipv4Addr::UNSPECIFIED),
                "localhost" => IpAddr::from(Ipv4Addr::LOCALHOST),
                _ => match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
                    Some(host) => IpAddr::V6(host.parse().ok()?),
                    None => IpAddr::V4(host.parse().ok()?),
                },
            };
            Some(SocketAddr::new(host, port.parse().ok()?))
        })
    }

    /// `None` where the default goes by what else is served.
    pub(super) fn prefix(&mut self, name: &str) -> Result<Option<String>, Refused> {
        if self.text(name).is_none() {
            return Ok(None);
        }
        let expected =
            format!("a path such as /a/api, no / at its end, not beginning with one of /{}", TAKEN.join(" /"));
        self.parsed(name, &expected, |text| {
            let segments: Vec<&str> = text.strip_prefix('/')?.split('/').collect();
            // A client resolves . and .. away before it asks.
            let sane = |segment: &&str| {
                !matches!(*segment, "" | "." | "..")
                    && segment.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
            };
            let taken =
                TAKEN.iter().any(|taken| segments.first().is_some_and(|first| first.eq_ignore_ascii_case(taken)));
            (segments.iter().all(sane) && !taken).then(|| text.to_owned())
        })
        .map(Some)
        .ok_or(Refused)
    }

    /// Whether a layer over the defaults says `null` or nothing at all where there is a default.
    pub(super) fn is_turned_off(&self, name: &str) -> bool {
        self.merged.last(name).is_some_and(|said| said.word.is_empty())
    }

    /// Two prefixes of which neither may take the other's requests.
    pub(super) fn apart(&mut self, first: (&str, Option<&str>), second: (&str, Option<&str>)) {
        let ((first_key, Some(first)), (second_key, Some(second))) = (first, second) else { return };
        let (in_first, in_second) = (format!("{first}/"), format!("{second}/"));
        if in_first.starts_with(&in_second) || in_second.starts_with(&in_first) {
            let place = |key: &str| self.merged.value(key).map(|said| said.place.to_string()).unwrap_or_default();
            let fault = format!(
                "{}: {first_key} ({first}) and {second_key} ({second}, {}) must not be equal or nested",
                place(first_key),
                place(second_key)
            );
            self.faults.push(fault);
        }
    }

    fn elements(&self, name: &str) -> Vec<(String, Place)> {
        match self.merged.value(name).map(|said| &said.word) {
            Some(Word::Many(elements)) => elements.clone(),
            Some(Word::Null | Word::One(_)) | None => Vec::new(),
        }
    }

    pub(super) fn origins(&mut self, name: &str) -> Vec<String> {
        let elements = self.elements(name);
        for (text, place) in elements.iter().filter(|(text, _)| !is_origin(text)) {
            let expected =
                "scheme://host[:port] as a browser sends it: in small letters, no path, no default port, no *";
            self.refuse_element(name, place, expected, text);
        }
        elements.into_iter().map(|(text, _)| text).collect()
    }

    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        self.elements(name).into_iter().map(|(text, _)| text).collect()
    }

    pub(super) fn networks(&mut self, name: &str) -> Vec<ipnet::IpNet> {
        let mut networks = Vec::new();
        for (text, place) in self.elements(name) {
            match text.parse().or_else(|_| text.parse::<IpAddr>().map(ipnet::IpNet::from)) {
                Ok(network) => networks.push(network),
                Err(_) => {
                    self.refuse_element(name, &place, "an address or network such as 10.0.0.7 or 10.0.0.0/8", &text);
                }
            }
        }
        networks
    }
}

/// A value as a message may repeat it.
fn shown(name: &str, text: &str) -> String {
    match keys::find(name).map_or(Shown::Nothing, |key| key.shown) {
        Shown::All => format!("{text:?}"),
        Shown::WithoutPassword => format!("{:?}", super::without_password(text)),
        Shown::Nothing => format!("{} bytes", text.len()),
    }
}

const A_TIME: &str = "a time such as 30s, 500ms or 2m, at most 24h";
const A_TIME_OR_NEVER: &str = "a time such as 30s, 500ms or 2m, at most 24h, or off";

fn time(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let unit = match unit.to_ascii_lowercase().as_str() {
        "ms" => Duration::from_millis(1),
        "" | "s" => Duration::from_secs(1),
        "m" => Duration::from_mins(1),
        "h" => Duration::from_hours(1),
        _ => return None,
    };
    unit.checked_mul(number).filter(|time| !time.is_zero() && *time <= LONGEST)
}

fn number_and_unit(text: &str) -> Option<(u32, &str)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim_start()))
}

pub(super) fn is_connectable(url: &str) -> bool {
    let after = |scheme| url.strip_prefix(scheme).is_some_and(|rest: &str| !rest.is_empty());
    ["sqlite:", "postgres://", "postgresql://"].into_iter().any(after)
}

/// Exactly what a browser sends in `Origin`, or it would never match.
fn is_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else { return false };
    let small = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let sane_scheme = scheme.starts_with(|letter: char| letter.is_ascii_lowercase())
        && scheme.chars().all(|letter| small(letter) || "+-.".contains(letter));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, Some(port)),
        Some(_) | None => (authority, None),
    };
    let sane_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(|letter| small(letter) || "-._".contains(letter)),
    };
    let sane_port = port.is_none_or(|port| {
        port.parse::<u16>().is_ok_and(|number| number > 0 && number.to_string() == port)
            && !matches!((scheme, port), ("http", "80") | ("https", "443"))
    });
    sane_scheme && sane_host && sane_port
}
