//! An amount of a document and one of the books are two types, and an exchange takes one to the other. Where one is the other,
//! in the company's own currency, a place says so: these are the places. Read from the syntax of the sources.

use crate::silent::{is_test, sources};
use std::path::Path;
use syn::visit::{self, Visit};

/// The place, what its line says, and why the one figure is the other there.
const NAMED: &[(&str, &str, &str)] = &[
    ("crates/rules/src/exchange.rs", "", "what is in the company's currency alone, or in a document that is in it"),
    ("crates/rules/src/left/mod.rs", "at_par", "a line that is worth what it states, and every part of it"),
    ("crates/masters/src/account/figures.rs", "sum.base.at_par()", "an account in the company's currency, or a group"),
    (
        "crates/documents/src/contra_entry/posting.rs",
        "(amount.at_par()",
        "what leaves an account in the company's currency",
    ),
    (
        "crates/documents/src/contra_entry/posting.rs",
        "to_amount.at_par()",
        "what reaches an account in the company's currency",
    ),
    ("crates/ledger-core/src/resource/copying.rs", "sum.negated().at_par()", "equity is in the company's currency"),
    ("crates/ledger-core/src/resource/copying.rs", "side(to, base.at_par())", "a line in the company's currency"),
    ("crates/ledger-core/src/resource/copying.rs", "sum.at_par()", "a balance of an account in the company's currency"),
    ("crates/documents/src/stock_adjustment/", "value.at_par()", "an adjustment is in the company's currency"),
    ("crates/documents/src/revaluation/mod.rs", "figures.gain.at_par()", "a revaluation is in the company's currency"),
    ("crates/documents/src/journal/mod.rs", "amount: amount.at_par()", "what closes a year names no currency"),
    (
        "crates/documents/src/journal/posting.rs",
        "base_debit.at_par()",
        "of several currencies the totals are in the company's",
    ),
    ("crates/documents/src/journal/posting.rs", "line.amount.at_par()", "a line in the company's currency"),
    ("crates/documents/src/parts/settlement/relief.rs", "taken.withheld.at_par()", "a debt in the company's currency"),
    ("crates/documents/src/parts/posting.rs", "value.at_par()", "a document in the company's currency"),
    (
        "crates/documents/src/parts/lefts.rs",
        "stated.at_par()",
        "a document without a rate, which is in the company's currency",
    ),
    (
        "crates/documents/src/parts/work_out.rs",
        "BookMoney::at_par",
        "a document in the company's currency is paid in its coins",
    ),
    (
        "crates/documents/src/parts/shares.rs",
        "wanted.units() - taken.units()",
        "what is left to be taken, in one currency",
    ),
    ("crates/documents/src/parts/note.rs", "one.source_amount.units()", "a sum in the note's currency"),
    ("crates/documents/src/parts/note.rs", "one.amount.units()", "a sum in the note's currency"),
    ("crates/documents/src/parts/invoice.rs", "of(one).units()", "a sum in the invoice's currency"),
    ("crates/documents/src/stock_adjustment/mod.rs", "cost.units()", "a sum of the books"),
    ("crates/words/src/money.rs", "home.at_par()", "what is the same figure in both currencies is kept once"),
    ("crates/books/src/export.rs", "Money::smallest", "half a coin, which is a tolerance and no amount"),
];

#[derive(Default)]
struct Crossings {
    lines: Vec<usize>,
}

/// Whether the units of another figure stand in it.
fn has_units(of: &syn::Expr) -> bool {
    struct Units(bool);
    impl<'a> Visit<'a> for Units {
        fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
            self.0 |= call.method == "units";
            visit::visit_expr_method_call(self, call);
        }
    }
    let mut found = Units(false);
    found.visit_expr(of);
    found.0
}

fn ends_with(path: &syn::Path, of: &[&str], what: &str) -> bool {
    let names: Vec<String> = path.segments.iter().rev().take(2).map(|one| one.ident.to_string()).collect();
    matches!(names.as_slice(), [last, of_type] if last == what && of.contains(&of_type.as_str()))
}

impl<'a> Visit<'a> for Crossings {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if call.method == "at_par" {
            self.lines.push(call.method.span().start().line);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && ends_with(&path.path, &["Money", "BookMoney"], "from_units")
            && let Some(told) = call.args.first().filter(|argument| has_units(argument))
        {
            self.lines.push(syn::spanned::Spanned::span(told).start().line);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
        if ends_with(&path.path, &["Money", "BookMoney", "Parts"], "at_par") {
            self.lines.push(syn::spanned::Spanned::span(path).start().line);
        }
        visit::visit_expr_path(self, path);
    }
}

fn crossings(text: &str) -> Vec<usize> {
    let mut found = Crossings::default();
    found.visit_file(&syn::parse_file(text).unwrap());
    found.lines
}

#[test]
fn an_amount_goes_from_one_currency_to_the_other_in_named_places() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut found, mut used) = (Vec::new(), vec![false; NAMED.len()]);
    for (name, text) in sources(&root) {
        let lines: Vec<&str> = text.lines().collect();
        for number in crossings(&text) {
            let line = lines[number - 1].trim();
            match NAMED.iter().position(|(place, says, _)| name.starts_with(place) && line.contains(says)) {
                Some(place) => used[place] = true,
                None => found.push(format!("{name}:{number}: {line}")),
            }
        }
    }
    assert!(found.is_empty(), "an exchange says what an amount is worth; else say here why:\n{}", found.join("\n"));
    let idle: Vec<_> =
        NAMED.iter().zip(used).filter(|(_, used)| !used).map(|((place, says, _), _)| (place, says)).collect();
    assert!(idle.is_empty(), "no longer there: {idle:?}");
}

/// The rule itself: what it sees, and what it lets pass.
#[test]
fn the_ways_from_one_currency_to_the_other_are_known() {
    let seen = |body: &str| crossings(&format!("fn one() {{ {body} }}")).len();
    for body in [
        "own.at_par();",
        "own.map(Money::at_par);",
        "BookMoney::from_units(own.units());",
        "Money::from_units(-base.units());",
    ] {
        assert_eq!(seen(body), 1, "{body}");
    }
    for body in
        ["Money::from_units(units);", "Quantity::from_units(own.units());", "exchange.one(own);", "base.shown(2);"]
    {
        assert_eq!(seen(body), 0, "{body}");
    }
}
