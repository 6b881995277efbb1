//! Reading the query of a list. Nothing is ignored: an unknown or malformed parameter is a fault.

use crate::body::Shape;
use crate::clock::Instant;
use crate::day::Day;
use crate::error::FieldErrors;
use crate::expand::{self, Path};
use crate::fields::Fields;
use crate::ids::RecordId;
use crate::money::Money;
pub use crate::page::{Page, Pagination, Total, Walk, Walked};
use crate::quoting::quoted;
use books::cx::Point;
use schema::aliases::Named;
use std::collections::HashSet;
use words::meant::meant;

pub const DEFAULT_PAGE_SIZE: u64 = 50;
pub const MOST_PAGE_SIZE: u64 = 500;
/// Further on there is nothing in any company.
pub const LAST_PAGE: u64 = 4_294_967_295;

/// Further on there is nothing in any company, and programs whose numbers are floats count no further.
pub const LAST_PLACE: i64 = 9_007_199_254_740_991;

/// The longest text that is searched for.
pub const MOST_TEXT: usize = 500;

fn too_long() -> String {
    format!("must be at most {MOST_TEXT} characters long")
}

/// A query parameter as it came, decoded.
pub type QueryPairs = [(String, String)];

/// How a parameter's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    Text,
    Flag,
    /// One or several of these, separated by commas or each given for itself.
    AnyOf(&'static [&'static str]),
    OneOf(&'static [&'static str]),
    /// What a dialect is called by. How many there are is known above.
    Letter,
    Day,
    Time,
    Amount,
    /// A whole number from the first of these to the second.
    Whole(i64, i64),
    /// The identifier of a record. One that names nothing matches nothing.
    Identifier,
    /// The identifier of a party, which may have become part of another since.
    Party,
}

impl Reads {
    /// A place among things that are numbered.
    pub const PLACE: Self = Self::Whole(0, LAST_PLACE);
}

/// What may be asked of whatever comes in pages, and what that says.
pub const PAGES: [(&str, &str); 2] =
    [("page", "The page, from 1; the first when absent."), ("pageSize", "Records on a page.")];

/// A filter that a resource offers.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    pub name: &'static str,
    pub about: &'static str,
    pub reads: Reads,
    pub required: bool,
}

impl Parameter {
    pub const fn new(name: &'static str, about: &'static str, reads: Reads) -> Self {
        Self { name, about, reads, required: false }
    }

    /// Nothing can be answered without it.
    pub const fn required(name: &'static str, about: &'static str, reads: Reads) -> Self {
        Self { name, about, reads, required: true }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterValue {
    Text(String),
    Flag(bool),
    AnyOf(Vec<String>),
    OneOf(String),
    Day(Day),
    Time(Instant),
    Amount(Money),
    Whole(i64),
    Identifier(RecordId),
    Party(Named),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// What may be asked of a list, or of another read.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is what may be asked for, by its own name")]
pub struct Offer<'o> {
    pub parameters: &'o [Parameter],
    /// Whether the answer comes in pages.
    pub paged: bool,
    /// Whether there is `sort` and `q`, and by what it sorts.
    pub sorts: Option<&'static [&'static str]>,
    /// Whether there is `cursor`.
    pub by_key: bool,
    /// Whether there is `updatedSince`: its records say when they were changed.
    pub dated: bool,
    /// Whether there is `asOf` and `knownAt`.
    pub in_time: bool,
    /// The records that are answered, where `fields` may name some of their members.
    pub shows: Option<&'o Shape>,
    /// What `view=summary` shows of them, where it can be asked for.
    pub summary: &'o [&'static str],
    /// The records that they name, which `expand` may ask for.
    pub expands: &'o [Path],
}

/// A list as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    pub page: u64,
    pub page_size: u64,
    pub sort: Vec<(&'static str, Direction)>,
    pub search: Option<String>,
    pub updated_since: Option<Instant>,
    pub filters: Vec<(&'static str, FilterValue)>,
    pub point: Point,
    /// What is answered of each record; all of it where nothing is said.
    pub fields: Option<Fields>,
    /// What is answered beside them.
    pub expand: Vec<Path>,
    /// How a walk from page to page goes on, where it is one.
    pub walk: Option<Walk>,
}

/// Longer than any cursor.
const LONGEST_CURSOR: usize = 8_000;

/// The words of `view`.
pub const VIEWS: [&str; 2] = ["full", "summary"];

impl ListQuery {
    pub fn parse(offer: &Offer<'_>, pairs: &QueryPairs) -> Result<Self, FieldErrors> {
        let pairs = &offer.gathered(pairs);
        let mut faults = repeated(pairs);
        let mut query = Self {
            page: 1,
            page_size: DEFAULT_PAGE_SIZE,
            sort: Vec::new(),
            search: None,
            updated_since: None,
            filters: Vec::new(),
            point: Point::default(),
            fields: None,
            expand: Vec::new(),
            walk: None,
        };
        for (name, text) in pairs {
            if !offer.knows(name) {
                faults.add(quoted(name), offer.unknown(name));
                continue;
            }
            match name.as_str() {
                "page" => match whole(text).filter(|page| (1..=LAST_PAGE).contains(page)) {
                    Some(page) => query.page = page,
                    None => faults.add("page", format!("must be a whole number from 1 to {LAST_PAGE}")),
                },
                "pageSize" => match whole(text).filter(|size| (1..=MOST_PAGE_SIZE).contains(size)) {
                    Some(size) => query.page_size = size,
                    None => faults.add("pageSize", format!("must be a whole number from 1 to {MOST_PAGE_SIZE}")),
                },
                "sort" => match sort(offer.sorts.unwrap_or_default(), text) {
                    Ok(sort) => query.sort = sort,
                    Err(why) => faults.add("sort", why),
                },
                "q" if text.chars().count() > MOST_TEXT => faults.add("q", too_long()),
                "q" => query.search = Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
                "updatedSince" => match Instant::parse(text) {
                    Some(at) => query.updated_since = Some(at),
                    None => faults.add("updatedSince", NOT_A_TIME),
                },
                "fields" | "view" if offer.shows.is_some() => query.choose(offer, name, text, &mut faults),
                "cursor" if text.is_empty() => query.walk = Some(Walk::Begins),
                "cursor" if text.len() > LONGEST_CURSOR => faults.add("cursor", "is longer than any cursor"),
                "cursor" => query.walk = Some(Walk::Behind(text.clone())),
                "expand" if !offer.expands.is_empty() => match expand::parse(text, offer.expands) {
                    Ok(paths) => query.expand = paths,
                    Err(why) => faults.add("expand", why),
                },
                "asOf" if offer.in_time => match text.parse() {
                    Ok(day) => query.point.as_of = Some(day),
                    Err(crate::day::NotADay) => faults.add("asOf", crate::day::NotADay.to_string()),
                },
                "knownAt" if offer.in_time => match Instant::parse(text) {
                    Some(at) => query.point.known_at = Some(at),
                    None => faults.add("knownAt", NOT_A_TIME),
                },
                _ => {
                    for parameter in offer.parameters.iter().filter(|parameter| parameter.name == name) {
                        match read(parameter.reads, text) {
                            Ok(value) => query.filters.push((parameter.name, value)),
                            Err(why) => faults.add(parameter.name, why),
                        }
                    }
                }
            }
        }
        for parameter in offer.parameters.iter().filter(|parameter| parameter.required) {
            if !pairs.iter().any(|(name, _)| name == parameter.name) {
                faults.add(parameter.name, "is required");
            }
        }
        if query.walk.is_some() && pairs.iter().any(|(name, _)| name == "page") {
            faults.add("page", "must not be given beside cursor");
        }
        if query.is_csv() {
            for (name, _) in
                PAGES.iter().filter(|(name, _)| offer.paged && pairs.iter().any(|(asked, _)| asked == name))
            {
                faults.add(*name, "must not be given: comma-separated values are answered whole");
            }
        }
        if let Some(why) = expand::unseen(&query.expand, query.fields.as_ref()) {
            faults.add("expand", why);
        }
        if faults.is_empty() { Ok(query) } else { Err(faults) }
    }

    /// What of each record is answered.
    fn choose(&mut self, offer: &Offer<'_>, name: &str, text: &str, faults: &mut FieldErrors) {
        let Some(shape) = offer.shows else { return };
        let asked = match name {
            "fields" => Fields::parse(text, shape).map(Some),
            _ => match VIEWS.iter().position(|view| *view == text) {
                Some(0) => Ok(None),
                Some(_) => Ok(Some(Fields::of(offer.summary, shape))),
                None => Err(format!("must be {}", VIEWS.join(" or "))),
            },
        };
        match asked {
            Ok(Some(_)) if self.fields.is_some() => {
                faults.add(name, "must not be given beside what else chooses fields");
            }
            Ok(Some(fields)) => self.fields = Some(fields),
            Ok(None) => {}
            Err(why) => faults.add(name, why),
        }
    }

    /// Whether nothing narrows it: every record is on one of its pages.
    pub fn is_of_all(&self) -> bool {
        self.search.is_none() && self.updated_since.is_none() && self.filters.is_empty()
    }

    /// Whether it is asked for as comma-separated values, which are answered whole.
    pub fn is_csv(&self) -> bool {
        matches!(self.filter("format"), Some(FilterValue::OneOf(form)) if form == "csv")
    }

    pub fn filter(&self, name: &str) -> Option<&FilterValue> {
        self.filters.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

const NOT_A_TIME: &str = "must be a time such as 2026-11-20T09:30:00Z";

impl Offer<'_> {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let paged = PAGES.iter().map(|(name, _)| *name).filter(|_| self.paged);
        let listed = ["sort", "q"].into_iter().filter(|_| self.sorts.is_some());
        let dated = ["updatedSince"].into_iter().filter(|_| self.dated);
        let in_time = ["asOf", "knownAt"].into_iter().filter(|_| self.in_time);
        let fields = self.shows.iter().map(|_| "fields");
        let view = ["view"].into_iter().filter(|_| !self.summary.is_empty());
        let cursor = ["cursor"].into_iter().filter(|_| self.by_key);
        let expand = ["expand"].into_iter().filter(|_| !self.expands.is_empty());
        paged
            .chain(listed)
            .chain(dated)
            .chain(in_time)
            .chain(fields)
            .chain(view)
            .chain(expand)
            .chain(cursor)
            .chain(self.parameters.iter().map(|parameter| parameter.name))
    }

    /// What may be said several times, said once: `status=a&status=b` is `status=a,b`. Most programs send lists so.
    fn gathered(&self, pairs: &QueryPairs) -> Vec<(String, String)> {
        let takes_several = |name: &str| {
            const LISTS: [&str; 3] = ["fields", "expand", "types"];
            let is_list = LISTS.contains(&name) && self.knows(name);
            is_list || self.parameters.iter().any(|known| known.name == name && matches!(known.reads, Reads::AnyOf(_)))
        };
        let mut gathered: Vec<(String, String)> = Vec::with_capacity(pairs.len());
        for (name, text) in pairs {
            match gathered.iter_mut().find(|(earlier, _)| earlier == name && takes_several(name)) {
                Some((_, texts)) => texts.extend([",", text.as_str()]),
                None => gathered.push((name.clone(), text.clone())),
            }
        }
        gathered
    }

    fn knows(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    fn unknown(&self, name: &str) -> String {
        match meant(name, self.names()) {
            Some(known) => format!("is not a known parameter; did you mean {known}?"),
            None => "is not a known parameter".into(),
        }
    }
}

/// A parameter that is given twice has no one meaning.
pub fn repeated(pairs: &QueryPairs) -> FieldErrors {
    let mut faults = FieldErrors::default();
    let mut seen = HashSet::new();
    for (name, text) in pairs {
        if !seen.insert(name) {
            faults.add(quoted(name), "must be given once");
        }
        if name.contains('\0') || text.contains('\0') {
            faults.add(quoted(&name.replace('\0', "")), "must not contain the character U+0000");
        }
    }
    faults
}

pub fn whole(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn sort(sorts: &'static [&'static str], text: &str) -> Result<Vec<(&'static str, Direction)>, String> {
    let mut order: Vec<(&'static str, Direction)> = Vec::new();
    for part in text.split(',') {
        let (name, direction) = match part.strip_prefix('-') {
            Some(name) => (name, Direction::Descending),
            None => (part, Direction::Ascending),
        };
        let Some(&known) = sorts.iter().find(|known| **known == name) else {
            return Err(format!("must name fields among {}, each with - for descending", sorts.join(", ")));
        };
        if order.iter().any(|(earlier, _)| *earlier == known) {
            return Err(format!("names {known} twice"));
        }
        order.push((known, direction));
    }
    Ok(order)
}

fn read(reads: Reads, text: &str) -> Result<FilterValue, String> {
    match reads {
        Reads::Text | Reads::Identifier | Reads::Party if text.is_empty() => Err("must not be empty".into()),
        Reads::Text if text.chars().count() > MOST_TEXT => Err(too_long()),
        Reads::Text => Ok(FilterValue::Text(text.to_owned())),
        Reads::Flag => match text {
            "true" => Ok(FilterValue::Flag(true)),
            "false" => Ok(FilterValue::Flag(false)),
            _ => Err("must be true or false".into()),
        },
        Reads::AnyOf(known) => {
            let chosen: Vec<String> = text.split(',').take(known.len() + 1).map(str::to_owned).collect();
            let once = |(index, choice): (usize, &String)| {
                known.contains(&choice.as_str()) && !chosen.iter().take(index).any(|earlier| earlier == choice)
            };
            if chosen.iter().enumerate().all(once) {
                return Ok(FilterValue::AnyOf(chosen));
            }
            Err(format!("must be one or more of {}, each once", known.join(", ")))
        }
        Reads::OneOf(known) if known.contains(&text) => Ok(FilterValue::OneOf(text.to_owned())),
        Reads::Letter => match text.as_bytes() {
            [b'A'..=b'Z'] => Ok(FilterValue::OneOf(text.to_owned())),
            _ => Err("must be a capital letter".into()),
        },
        Reads::OneOf(known) => Err(format!("must be one of {}", known.join(", "))),
        Reads::Day => text.parse().map(FilterValue::Day).map_err(|fault: crate::day::NotADay| fault.to_string()),
        Reads::Time => Instant::parse(text).map(FilterValue::Time).ok_or_else(|| NOT_A_TIME.into()),
        Reads::Amount => Money::parse(text).map(FilterValue::Amount).map_err(|fault| fault.to_string()),
        Reads::Whole(least, most) => {
            let number = text.parse().ok().filter(|number| (least..=most).contains(number));
            number.map(FilterValue::Whole).ok_or_else(|| format!("must be a whole number from {least} to {most}"))
        }
        Reads::Identifier => Ok(FilterValue::Identifier(identifier(text))),
        Reads::Party => Ok(FilterValue::Party(Named::of(identifier(text)))),
    }
}

/// What is no identifier names nothing.
fn identifier(text: &str) -> RecordId {
    RecordId::parse(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: &[Parameter] = &[
        Parameter::new("isCustomer", "", Reads::Flag),
        Parameter::new("status", "", Reads::AnyOf(&["active", "archived"])),
        Parameter::new("limit", "", Reads::Whole(1, 500)),
        Parameter::new("after", "", Reads::PLACE),
    ];

    fn parse(pairs: &[(&str, &str)]) -> Result<ListQuery, FieldErrors> {
        let pairs: Vec<_> = pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let sorts = Some(&["name", "createdAt"][..]);
        let offer = Offer { parameters: OFFERED, paged: true, sorts, dated: true, in_time: true, ..Offer::default() };
        ListQuery::parse(&offer, &pairs)
    }

    #[test]
    fn what_must_be_given_is_missed_beside_every_other_fault() {
        let offered = [Parameter::required("itemId", "", Reads::Identifier), Parameter::new("to", "", Reads::Day)];
        let offer = Offer { parameters: &offered, ..Offer::default() };
        let asked = |name: &str, text: &str| ListQuery::parse(&offer, &[(name.to_owned(), text.to_owned())]);
        let faults = asked("to", "soon").unwrap_err();
        let mut names: Vec<&str> = faults.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["itemId", "to"]);
        assert!(asked("itemId", "none").is_ok());
    }

    #[test]
    fn a_query_is_read_whole() {
        let query =
            parse(&[("page", "2"), ("pageSize", "500"), ("sort", "-createdAt,name"), ("status", "active,archived")]);
        let query = query.unwrap();
        assert_eq!((query.page, query.page_size), (2, 500));
        assert_eq!(query.sort, [("createdAt", Direction::Descending), ("name", Direction::Ascending)]);
        assert_eq!(query.filters, [("status", FilterValue::AnyOf(vec!["active".into(), "archived".into()]))]);
    }

    #[test]
    fn a_whole_number_is_taken_within_its_bounds_alone() {
        for (name, text, number) in [
            ("limit", "1", Some(1)),
            ("limit", "500", Some(500)),
            ("limit", "0", None),
            ("limit", "501", None),
            ("limit", "-1", None),
            ("after", "0", Some(0)),
            ("after", "9007199254740991", Some(LAST_PLACE)),
            ("after", "9007199254740992", None),
            ("after", "-1", None),
        ] {
            let filters = parse(&[(name, text)]).ok().map(|query| query.filters);
            assert_eq!(filters, number.map(|number| vec![(name, FilterValue::Whole(number))]), "{name}={text}");
        }
        let faults = parse(&[("limit", "501")]).unwrap_err();
        assert!(faults.iter().any(|(_, said)| *said == ["must be a whole number from 1 to 500"]), "{faults:?}");
    }

    #[test]
    fn several_words_are_said_in_one_parameter_or_in_several() {
        let both = [("status", FilterValue::AnyOf(vec!["active".into(), "archived".into()]))];
        for pairs in [
            &[("status", "active,archived")][..],
            &[("status", "active"), ("status", "archived")],
            &[("status", "active"), ("page", "2"), ("status", "archived")],
        ] {
            assert_eq!(parse(pairs).unwrap().filters, both, "{pairs:?}");
        }
        for pairs in [
            &[("status", "active"), ("status", "active")][..],
            &[("status", "active"), ("status", "")],
            &[("status", "active"), ("status", "paid")],
            &[("isCustomer", "true"), ("isCustomer", "true")],
        ] {
            let faults = parse(pairs).unwrap_err();
            assert_eq!(faults.iter().map(|(field, _)| field.as_str()).collect::<Vec<_>>(), [pairs[0].0], "{pairs:?}");
        }
    }

    #[test]
    fn what_says_not_when_it_was_changed_is_not_asked_for_what_was() {
        let offer = Offer { paged: true, sorts: Some(&["code"]), ..Offer::default() };
        let asked = [("updatedSince".to_owned(), "2026-11-20T09:30:00Z".to_owned())];
        let faults = ListQuery::parse(&offer, &asked).unwrap_err();
        assert_eq!(faults.iter().map(|(field, _)| field.as_str()).collect::<Vec<_>>(), ["updatedSince"]);
    }

    #[test]
    fn nothing_is_silently_ignored() {
        let refused = [
            ("page", "0"),
            ("page", "-1"),
            ("page", "1e1"),
            ("page", ""),
            ("pageSize", "501"),
            ("pageSize", "0"),
            ("sort", "colour"),
            ("sort", ""),
            ("sort", "name,-name"),
            ("updatedSince", "yesterday"),
            ("isCustomer", "yes"),
            ("status", "paid"),
            ("status", ""),
            ("status", "active,active"),
            ("q", &"long ".repeat(101)),
            ("asOf", "today"),
            ("knownAt", "2026-11-20"),
            ("pagesize", "5"),
            ("id; drop table", "1"),
        ];
        for (name, text) in refused {
            let faults = parse(&[(name, text)]).unwrap_err();
            assert_eq!(faults.iter().map(|(field, _)| field.as_str()).collect::<Vec<_>>(), [name], "{name}={text}");
        }
        assert!(parse(&[("page", "1"), ("page", "2")]).is_err());
    }
}
