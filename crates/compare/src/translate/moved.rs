//! A request that is written somewhere, moved to another dialect: which of its letters change.

use super::letters::{Edits, Letter, Part, filled, map, parts, said, variables};
use super::readers::Places as Reads;
use super::{Base, Translator, changes};
use crate::dialect::{CompanyIn, Dialect, LOGIN, Operation};
use crate::neutral::Neutral;
use crate::wire::Request;
use percent_encoding::percent_decode_str;

/// A request as it is written.
pub(super) struct Asked<'l> {
    pub method: String,
    pub url: &'l [Letter],
    /// What its header says of the company.
    pub company: Option<&'l [Letter]>,
    pub body: Option<&'l [Letter]>,
    pub headers: Vec<(String, String)>,
}

/// What becomes of the header that names the company.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Header {
    Same,
    Add(Vec<Part>),
    Remove,
}

/// What is to be told of a request that was moved.
pub(super) struct Moved<'d> {
    pub from: &'d Dialect,
    pub to: &'d Dialect,
    pub neutral: Neutral,
    pub header: Header,
    pub notes: Vec<String>,
    /// What somebody has to look at.
    pub warnings: Vec<String>,
}

impl Moved<'_> {
    pub fn is_login(&self) -> bool {
        self.neutral.operation == LOGIN
    }

    /// Where things are in its answer, before and after.
    pub fn places(&self) -> Reads {
        let mut places = Reads::of(self.from, self.to, &self.neutral.operation);
        // A table has nothing around it.
        places.is_bare |= self.neutral.query.0.iter().any(|(name, value)| name == "format" && value == "csv");
        places
    }
}

/// Why a request stays as it is.
pub(super) enum Stays {
    /// It is of the wanted dialect already.
    Already,
    /// It is of none, or nobody can tell.
    Unknown(String),
}

impl Translator {
    /// Moves a request to a dialect; `variable` is how one is written there.
    pub(super) fn moved(
        &self,
        asked: &Asked<'_>,
        text: &str,
        to: &mut Option<usize>,
        variable: &str,
        edits: &mut Edits,
    ) -> Result<Moved<'_>, Stays> {
        let (from_letter, until_letter) = path_of(asked.url, text).map_err(Stays::Unknown)?;
        let path = &asked.url[from_letter..until_letter];
        let mut request = Request {
            // What is asked for the head alone is asked as the whole is.
            method: if asked.method == "HEAD" { "GET".into() } else { asked.method.clone() },
            target: said(&asked.url[from_letter..]).split('#').next().unwrap_or_default().to_owned(),
            headers: asked.headers.clone(),
            body: asked.body.map(said),
        };
        if asked.company.is_none() {
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("x-business-id"));
        }
        let (place, base, neutral) = self.recognised(&request).map_err(|_| {
            let shown = shown(&asked.url[from_letter..until_letter], text);
            Stays::Unknown(format!("{} {shown} is an operation of neither dialect", asked.method))
        })?;
        let target = *to.get_or_insert_with(|| usize::from(place == 0));
        if target == place {
            return Err(Stays::Already);
        }
        let (from, other) = (&*self.dialects[place], &*self.dialects[target]);
        let [known, wanted] =
            [from, other].map(|dialect| dialect.operation(&neutral.operation).map_err(Stays::Unknown));
        let (known, wanted) = (known?, wanted?);
        let (old_base, new_base) = match &base {
            Base::Own => (from.base.as_str(), other.base.as_str()),
            Base::Shared(base) | Base::Foreign(base) => (base.as_str(), base.as_str()),
        };
        let mut moved = Moved {
            from,
            to: other,
            header: Header::Same,
            notes: changes(from, other, known, wanted, &neutral),
            warnings: Vec::new(),
            neutral: in_words(&neutral, asked, text),
        };
        let places = Places::of(known, old_base, path);
        let company = places.company(known, path, text, asked, wanted, variable, &mut moved, edits);
        places.edit(known, wanted, new_base, path, company, edits);
        let is_elsewhere =
            matches!(&base, Base::Foreign(_)) && asked.url[..from_letter].iter().any(|one| one.is_opaque());
        if is_elsewhere {
            let address = shown(&asked.url[..from_letter], text);
            moved.warnings.push(format!("{address} must lead to where {} is: {} here", other.name, other.base));
        }
        if known.method != wanted.method {
            moved.warnings.push(format!("the method is {} there", wanted.method));
        }
        Ok(moved)
    }
}

/// Where in a path its parts stand, counted in letters.
struct Places {
    /// The segment that names the company.
    business: Option<(usize, usize)>,
    /// The one that names the record, or the end of the path.
    id: Option<(usize, usize)>,
    /// Where the path ends, without slashes that say nothing.
    end: usize,
}

impl Places {
    fn of(known: &Operation, base: &str, path: &[Letter]) -> Self {
        let end = path.len() - path.iter().rev().take_while(|letter| letter.is('/')).count();
        let mut found = Self { business: None, id: None, end };
        let mut from = base.chars().count() + 1;
        for segment in known.path.split('/').skip(1) {
            let length = path[from.min(end)..end].iter().take_while(|letter| !letter.is('/')).count();
            let here = Some((from, from + length));
            match segment {
                "{businessId}" => found.business = here,
                "{id}" => found.id = here,
                _ => {}
            }
            from += length + 1;
        }
        found
    }

    /// What names the company in the new request, where that is in its path; and what becomes of the header.
    #[allow(clippy::too_many_arguments, reason = "each is a part of one request")]
    fn company(
        &self,
        known: &Operation,
        path: &[Letter],
        text: &str,
        asked: &Asked<'_>,
        wanted: &Operation,
        variable: &str,
        moved: &mut Moved<'_>,
        edits: &mut Edits,
    ) -> Vec<Part> {
        let said = match (self.business, asked.company) {
            (Some((from, until)), _) => Some(map(parts(&path[from..until], text), |words| {
                percent_decode_str(words).decode_utf8_lossy().into_owned()
            })),
            (None, Some(company)) => Some(parts(company, text)),
            (None, None) => None,
        };
        if wanted.company == CompanyIn::Nowhere {
            return Vec::new();
        }
        let company = said.unwrap_or_else(|| {
            moved.warnings.push(format!("it names no company: put its identifier for {variable}"));
            vec![Part::Variable(variable.to_owned())]
        });
        match (known.company, wanted.company) {
            (CompanyIn::Path, CompanyIn::Header) => match asked.company.filter(|named| !named.is_empty()) {
                // A header that nobody read until now: two of them are refused.
                Some(named) if parts(named, text) == company => {}
                Some(named) => {
                    let shown = shown(named, text);
                    moved.warnings.push(format!(
                        "its header named the company {shown} and its path another one, which counted: the header says that now"
                    ));
                    edits.replace(named, &company);
                }
                None => moved.header = Header::Add(company.clone()),
            },
            (CompanyIn::Header, CompanyIn::Path) if asked.company.is_some() => moved.header = Header::Remove,
            _ => {}
        }
        company
    }

    fn edit(
        &self,
        known: &Operation,
        wanted: &Operation,
        base: &str,
        path: &[Letter],
        company: Vec<Part>,
        edits: &mut Edits,
    ) {
        let halves = |operation: &Operation| {
            let (before, after) = operation.path.split_once("{id}").unwrap_or((&operation.path, ""));
            (before.to_owned(), after.to_owned())
        };
        let ((_, old_after), (before, after)) = (halves(known), halves(wanted));
        let mut new = vec![Part::Words(base.to_owned())];
        match before.split_once("{businessId}") {
            Some((first, rest)) => {
                new.push(Part::Words(first.to_owned()));
                new.extend(map(company, crate::dialect::segment));
                new.push(Part::Words(rest.to_owned()));
            }
            None => new.push(Part::Words(before)),
        }
        let (from, until) = self.id.unwrap_or((self.end, self.end));
        edits.replace(&path[..from], &new);
        if self.id.is_some() && old_after != after {
            match path.get(until..self.end).filter(|rest| !rest.is_empty()) {
                Some(rest) => edits.replace(rest, &[Part::Words(after)]),
                None => edits.put(path[until - 1].to..path[until - 1].to, after),
            }
        }
    }
}

/// Where the path of an address is: behind the host, or behind the variable that stands for it.
pub(super) fn path_of(url: &[Letter], text: &str) -> Result<(usize, usize), String> {
    let words = said(url);
    let host = words.find("://").map_or(0, |at| words[..at].chars().count() + 3);
    if host > 0 && !words.starts_with("http") && !url[0].is_opaque() {
        return Err(format!("{} is no address of a server", shown(url, text)));
    }
    let is_end = |letter: &Letter| letter.is('?') || letter.is('#');
    let end = url.iter().position(is_end).unwrap_or(url.len());
    let from = url[host.min(end)..end].iter().position(|letter| letter.is('/')).map(|at| host + at);
    match from {
        Some(from) => Ok((from, end)),
        None => Err(format!("{} does not show its path", shown(url, text))),
    }
}

/// Letters as they are written, with no word left out.
pub(super) fn in_full(letters: &[Letter], text: &str) -> String {
    filled(&said(letters), &variables(&[letters], text))
}

/// Letters as they are written.
pub(super) fn shown(letters: &[Letter], text: &str) -> String {
    let of = |part: Part| match part {
        Part::Words(words) | Part::Variable(words) => words,
    };
    crate::curl::brief(&parts(letters, text).into_iter().map(of).collect::<String>())
}

/// A request without a dialect, with its variables as they are written.
fn in_words(neutral: &Neutral, asked: &Asked<'_>, text: &str) -> Neutral {
    let all = [asked.url, asked.company.unwrap_or_default(), asked.body.unwrap_or_default()];
    let variables = variables(&all, text);
    neutral.map(&mut |words| filled(words, &variables))
}
