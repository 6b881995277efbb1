//! No figure stands in silence for one that is missing or too large: where money, quantities, rates and days are, what
//! has no value says so. Read from the syntax of the sources, so that no way of writing hides it.

use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// What the books are made of: figures are made, posted, kept and reported in all of it.
const HOUSE: &[&str] = &[
    "crates/words/src",
    "crates/rules/src",
    "crates/schema/src",
    "crates/books/src",
    "crates/kit/src",
    "crates/masters/src",
    "crates/documents/src",
    "crates/reports/src",
    "crates/proof/src",
    "crates/ledger-core/src",
];

/// But for these rooms, each with what it holds instead.
const BESIDE: &[(&str, &str)] = &[
    ("crates/books/src/auth", "people: names, passwords, and how long somebody waits who guesses"),
    ("crates/books/src/client.rs", "whether somebody waits for an answer"),
    ("crates/books/src/database", "connections, counters of files and times that were spent"),
    ("crates/books/src/fair", "times that were spent, which end at the longest one"),
    ("crates/books/src/running.rs", "how long the books were served"),
    ("crates/books/src/strength.rs", "passwords"),
    ("crates/ledger-core/src/fingerprint.rs", "what a request is known by"),
    ("crates/ledger-core/src/ledger/caller.rs", "who comes, from where, and until when"),
    ("crates/ledger-core/src/ledger/elsewhere.rs", "how much of the books a standby must have to answer"),
    ("crates/ledger-core/src/ledger/joining.rs", "names of people"),
    ("crates/ledger-core/src/resource/named.rs", "what the records of examples are called"),
    ("crates/ledger-core/src/resource/registry.rs", "the places of keys"),
    ("crates/masters/src/audit_log.rs", "places in a log"),
    ("crates/masters/src/currency_list.rs", "pages of a list"),
    ("crates/masters/src/dialect_usage.rs", "calls, and when they were made"),
    ("crates/masters/src/permission.rs", "rights, and how many hold them"),
    ("crates/masters/src/profile", "people"),
    ("crates/masters/src/user", "people"),
    ("crates/schema/src/rights.rs", "rights, a bit each"),
    ("crates/words/src/clock.rs", "instants, which end with the calendar"),
    ("crates/words/src/ids.rs", "names of requests"),
];

/// What may: the place, what it says, and why no figure is lost by it.
const EXCEPT: &[(&str, &str, &str)] = &[
    (
        "crates/books/src/seal/",
        "",
        "digests and counts of rows: their sums wrap by design, and no figure is among them",
    ),
    ("crates/proof/src/live.rs", "", "sums of digests, which wrap by design: no figure is among them"),
    (
        "crates/proof/src/taxes/anew.rs",
        "told.remove(&key).unwrap_or_default()",
        "a tax that is not told comes to nothing, and is held against what must be told",
    ),
    (
        "crates/schema/src/standing.rs",
        "left.units().saturating_sub(right.units())",
        "both are parts of one quantity: their difference is in its range",
    ),
    (
        "crates/documents/src/document/mod.rs",
        "live.remove(&row.id).unwrap_or_default()",
        "what a kind has beside its own row, which may be nothing",
    ),
    (
        "crates/schema/src/tax_code.rs",
        "Percent::PLACES).to_string()).unwrap_or_default()",
        "each rate is at most 1 000 %, so their sum can be kept",
    ),
    ("crates/words/src/digits.rs", " as usize", "how many decimals a scale has"),
    (
        "crates/words/src/stored.rs",
        "serde_json::to_string(&stored.0)",
        "texts and lists of them, which can always be written",
    ),
    (
        "crates/words/src/sums.rs",
        "self.remove(key).unwrap_or_default()",
        "what these sums are for: said by their names",
    ),
    ("crates/words/src/texts.rs", "parts.next().unwrap_or_default()", "the name of a language"),
    ("crates/kit/src/list.rs", "offer.sorts.unwrap_or_default()", "by which fields nobody sorts what is not sorted"),
    ("crates/kit/src/list.rs", "RecordId::parse(text).unwrap_or_default()", "what names nothing finds nothing"),
    ("crates/kit/src/rows.rs", "total.count().saturating_sub(end)", "how many rows come after a page"),
    ("crates/masters/src/account/mod.rs", "drafted.", "what is filled in before an account is judged"),
    (
        "crates/masters/src/business/settings.rs",
        "coins.map(Tolerance)",
        "its own default, which its documentation says",
    ),
    (
        "crates/masters/src/business/settings.rs",
        "held.unwrap_or_default().0",
        "the accounts of a company that is not there",
    ),
    ("crates/masters/src/lock.rs", "reason.as_deref()", "words that a lock is found by"),
    (
        "crates/masters/src/number_series.rs",
        "map_or(0, |(_, count)| *count)",
        "how many numbers were given, which may be none",
    ),
    (
        "crates/masters/src/party.rs",
        "remove(&row.id).unwrap_or_default()",
        "what is open with a party, which may be nothing",
    ),
    ("crates/masters/src/party/relations.rs", "named.get(&row.document_id)", "what a document is called"),
    (
        "crates/masters/src/party/relations.rs",
        "map_or(0, |due| today.days_since(due))",
        "what is not overdue is so by no day",
    ),
];

/// Suites beside what they are of.
const TESTS: &[&str] = &["/tests.rs", "cases.rs", "/laws.rs"];

/// What one place does that hides a figure.
#[derive(Debug)]
pub struct Found {
    pub line: usize,
    pub what: String,
}

#[derive(Default)]
struct Silent {
    found: Vec<Found>,
}

/// What tells that there is none, or that it is too large.
fn tells(method: &str) -> bool {
    method.starts_with("checked_")
        || method.starts_with("try_")
        || ["parse", "plus", "minus", "from_value", "round", "part", "sum"].contains(&method)
}

/// The method or function that an expression ends with.
fn last(of: &syn::Expr) -> Option<String> {
    match of {
        syn::Expr::MethodCall(call) => Some(call.method.to_string()),
        syn::Expr::Call(call) => match &*call.func {
            syn::Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an expression is a figure that stands for none: 0, the least or the most.
fn is_nothing(of: &syn::Expr) -> bool {
    match of {
        syn::Expr::Lit(literal) => {
            matches!(&literal.lit, syn::Lit::Int(number) if number.base10_digits() == "0")
        }
        syn::Expr::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| ["ZERO", "MAX", "MIN", "ONE", "EPOCH"].contains(&last.ident.to_string().as_str())),
        syn::Expr::Call(call) => {
            matches!(last(of).as_deref(), Some("default" | "from_units")) && call.args.iter().all(is_nothing)
        }
        syn::Expr::Array(array) => array.elems.iter().any(is_nothing),
        syn::Expr::Repeat(repeat) => is_nothing(&repeat.expr),
        syn::Expr::Tuple(tuple) => tuple.elems.iter().any(is_nothing),
        syn::Expr::Closure(closure) => is_nothing(&closure.body),
        syn::Expr::Paren(inner) => is_nothing(&inner.expr),
        syn::Expr::Reference(inner) => is_nothing(&inner.expr),
        _ => false,
    }
}

fn is_number(of: &syn::Type) -> bool {
    const NUMBERS: [&str; 12] =
        ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];
    match of {
        syn::Type::Path(path) => path.path.get_ident().is_some_and(|name| NUMBERS.contains(&name.to_string().as_str())),
        _ => false,
    }
}

pub fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|one| {
        one.path().is_ident("test")
            || (one.path().is_ident("cfg")
                && matches!(&one.meta, syn::Meta::List(list) if list.tokens.to_string() == "test"))
    })
}

impl Silent {
    fn tell(&mut self, at: impl Spanned, what: impl Into<String>) {
        self.found.push(Found { line: at.span().start().line, what: what.into() });
    }
}

impl<'a> Visit<'a> for Silent {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_expr_cast(&mut self, cast: &'a syn::ExprCast) {
        // How many there are in memory is told by any number.
        if is_number(&cast.ty) && last(&cast.expr).as_deref() != Some("len") {
            self.tell(cast.as_token, "as");
        }
        visit::visit_expr_cast(self, cast);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        let method = call.method.to_string();
        let hides = match method.as_str() {
            // What a body or a question leaves unsaid is as its documentation says; a fault of it is told.
            "unwrap_or_default" => !matches!(last(&call.receiver).as_deref(), Some("optional" | "choice")),
            "unwrap_or" | "unwrap_or_else" | "map_or" | "map_or_else" => {
                call.args.first().is_some_and(is_nothing)
                    || (method.starts_with("unwrap") && last(&call.receiver).is_some_and(|last| tells(&last)))
            }
            method => ["saturating_", "wrapping_", "overflowing_"].iter().any(|way| method.starts_with(way)),
        };
        if hides {
            self.tell(&call.method, method);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        // Named and not called: `fold(0, i64::saturating_add)`, `map_or_else(Money::default, …)`.
        for segment in &path.segments {
            let name = segment.ident.to_string();
            if ["saturating_", "wrapping_", "overflowing_"].iter().any(|way| name.starts_with(way))
                || name == "unwrap_or_default"
            {
                self.tell(&segment.ident, name);
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'a syn::Macro) {
        use syn::parse::Parser;
        use syn::punctuated::Punctuated;
        // What macros are given is syntax where it can be read as such.
        let some = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(given) = some.parse2(called.tokens.clone()) {
            let given: Vec<syn::Expr> = given.into_iter().collect();
            let mut within = Self::default();
            for one in &given {
                within.visit_expr(one);
            }
            self.found.append(&mut within.found);
        }
        visit::visit_macro(self, called);
    }
}

/// What a source hides.
pub fn hidden(text: &str) -> Vec<Found> {
    let file = syn::parse_file(text).unwrap();
    let mut silent = Silent::default();
    silent.visit_file(&file);
    silent.found
}

pub fn sources(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = HOUSE.iter().map(|room| root.join(room)).collect();
    while let Some(path) = waiting.pop() {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !TESTS.iter().any(|suite| name.ends_with(suite))
            && !BESIDE.iter().any(|(room, _)| name.starts_with(room))
        {
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn no_figure_is_silently_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (sources, mut used) = (sources(&root), vec![false; EXCEPT.len()]);
    let gone: Vec<&str> = BESIDE.iter().map(|(room, _)| *room).filter(|room| !root.join(room).exists()).collect();
    assert!(gone.is_empty(), "a room is gone: {gone:?}");
    let mut found = Vec::new();
    for (name, text) in &sources {
        let lines: Vec<&str> = text.lines().collect();
        for one in hidden(text) {
            let line = lines[one.line - 1].trim();
            let except = EXCEPT.iter().position(|(place, says, _)| name.starts_with(place) && line.contains(says));
            match except {
                Some(except) => used[except] = true,
                None => found.push(format!("{name}:{}: {} in {line}", one.line, one.what)),
            }
        }
    }
    assert!(found.is_empty(), "what is missing or too large is to say so:\n{}", found.join("\n"));
    let idle: Vec<&str> = EXCEPT.iter().zip(used).filter(|(_, used)| !used).map(|((place, ..), _)| *place).collect();
    assert!(idle.is_empty(), "no longer there: {idle:?}");
}

/// The rule itself: what it sees, and what it lets pass.
#[test]
fn the_ways_to_hide_a_figure_are_known() {
    let seen = |body: &str| {
        let found = hidden(&format!("fn one() {{ {body} }}"));
        found.into_iter().map(|one| one.what).collect::<Vec<_>>()
    };
    for (body, what) in [
        ("sum.checked_add(one).unwrap_or_default();", "unwrap_or_default"),
        ("known.unwrap_or(0);", "unwrap_or"),
        ("known.unwrap_or(Money::ZERO);", "unwrap_or"),
        ("known.unwrap_or((Quantity::ZERO, Money::ZERO));", "unwrap_or"),
        ("known.unwrap_or_else(|| Money::from_units(0));", "unwrap_or_else"),
        ("known.map_or(Decimal::ZERO, rate);", "map_or"),
        ("known.map_or([0; 5], figures);", "map_or"),
        ("i64::try_from(units).unwrap_or(i64::MAX);", "unwrap_or"),
        ("line.quantity.checked_add(extra).unwrap_or(line.quantity);", "unwrap_or"),
        ("Money::parse(text).unwrap_or(amount);", "unwrap_or"),
        ("left.saturating_sub(right);", "saturating_sub"),
        ("all.fold(0, i64::saturating_add);", "saturating_add"),
        ("i64::wrapping_add(left, right);", "wrapping_add"),
        ("units as i64;", "as"),
        ("format!(\"{}\", known.unwrap_or_default());", "unwrap_or_default"),
    ] {
        assert_eq!(seen(body), [what], "{body}");
    }
    for body in [
        "sums.sum_of(&key);",
        "faults.optional(name, field).unwrap_or_default();",
        "name.unwrap_or(\"\");",
        "head.tax_date.unwrap_or(head.date);",
        "rows.len() as u64;",
        "entry.or_default();",
    ] {
        assert_eq!(seen(body), Vec::<String>::new(), "{body}");
    }
    assert!(hidden("#[cfg(test)] mod tests { fn one() { known.unwrap_or(0); } }").is_empty());
}
