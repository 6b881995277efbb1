//! Whether every row is what the server wrote last, and whether there are no others.

use crate::error::Result;
use ::books::cx::Cx;
use ::books::installation::{self, Sealed};
use ::books::seal::sums::{Sum, Sums};
use ::books::seal::{heads, proof as rows, writing};
use answers::Ask;
use proof::{Check, Findings};
use schema::business as businesses;
use schema::tables::books;
use std::collections::HashSet;

const ROWS: &str = "Every row is what was written last";

/// What the rows of tables come to, held against what was signed.
pub(super) fn rows(parts: rows::Parts, signed: Option<&Sums>) -> Check {
    let mut findings = Findings::default();
    if signed.is_none() {
        findings.add("where the books stand is not signed".into());
    }
    let nothing = Sums::default();
    let proof = match signed {
        Some(signed) => parts.hold(signed),
        None => parts.hold(&nothing),
    };
    check(proof, findings)
}

fn check(mut proof: rows::Proof, mut findings: Findings) -> Check {
    // Hands find them in any order.
    proof.findings.sort();
    for finding in proof.findings {
        findings.add(finding);
    }
    Check::of("V15", ROWS, proof.rows, proof.sealed, findings)
}

/// What the rows of the company in scope must come to, if that is signed.
pub(super) async fn signed(cx: &Cx<'_>) -> Result<Option<Sums>> {
    match books::Entity::find_by_id(cx.business_id()?).model(&cx.db).await? {
        Some(row) => heads::sums(cx.seals, &row),
        None => Ok(None),
    }
}

/// The rows that belong to no company, and that no company is gone.
pub(super) async fn of_installation(cx: &Cx<'_>) -> Result<Check> {
    let (connection, seals) = (&cx.db, cx.seals);
    let mut findings = Findings::default();
    let signed = match installation::seals(connection, seals).await? {
        Sealed::Signed(sums) => sums,
        Sealed::Not | Sealed::Spoilt => {
            findings.add("the installation is not signed".into());
            Sums::default()
        }
    };
    let left = writing::left(connection, seals).await?;
    if left.strange > 0 {
        findings.add(format!("touched: {} changes are noted that nobody of us made", left.strange));
    }
    if !left.signed.is_empty() {
        findings.add("touched: what migrations changed is not sealed yet; run duet migrate".into());
    }
    let there: HashSet<_> = businesses::Entity::find().all(connection).await?.into_iter().map(|row| row.id).collect();
    let mut companies = Sum::default();
    for row in books::Entity::find().all(connection).await? {
        companies.add(seals, installation::BOOKS, &row.business_id.to_string());
        let written = heads::sums(seals, &row)?.is_none_or(|sums| sums.of("businesses").count == 1);
        if written != there.contains(&row.business_id) {
            findings.add(format!("the company {} was taken out, or put in", row.business_id));
        }
    }
    if companies != signed.of(installation::BOOKS) {
        findings.add(format!(
            "{} companies have books, {} began them",
            companies.count,
            signed.of(installation::BOOKS).count
        ));
    }
    Ok(check(rows::run(cx, None, &signed).await?, findings))
}
