//! Whether every row is what the server wrote last, and whether there are no others.

use super::{Check, Findings};
use crate::books::audit;
use crate::books::seal::sums::{Sum, Sums};
use crate::books::seal::{Seals, heads, proof};
use crate::books::tables::books;
use crate::cx::Cx;
use crate::error::Result;
use crate::ids::BusinessId;
use crate::installation::{self, Sealed};
use crate::resource::business::table as businesses;
use sea_orm::{ConnectionTrait, EntityTrait};
use std::collections::HashSet;

const ROWS: &str = "Every row is what was written last";

fn check(proof: proof::Proof, mut findings: Findings) -> Check {
    for finding in proof.findings {
        findings.add(finding);
    }
    Check::of("V15", ROWS, proof.rows, proof.sealed, findings)
}

/// The rows of the company in scope.
pub(super) async fn of_company(cx: &Cx<'_>) -> Result<Check> {
    let business = cx.business_id()?;
    let mut findings = Findings::default();
    let signed = match books::Entity::find_by_id(business).one(&cx.db).await? {
        Some(row) => heads::sums(cx.seals, &row)?,
        None => None,
    };
    if signed.is_none() {
        findings.add("where the books stand is not signed".into());
    }
    let proof = proof::run(&cx.db, cx.seals, Some(business), &signed.unwrap_or_default()).await?;
    Ok(check(proof, findings))
}

/// The rows that belong to no company, and that no company is gone.
pub(crate) async fn installation(connection: &impl ConnectionTrait, seals: &Seals) -> Result<Check> {
    let mut findings = Findings::default();
    let signed = match installation::seals(connection, seals).await? {
        Sealed::Signed(sums) => sums,
        Sealed::Not | Sealed::Spoilt => {
            findings.add("the installation is not signed".into());
            Sums::default()
        }
    };
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
    for problem in audit::verify(connection, seals, BusinessId::default()).await?.problems {
        findings.add(format!("record {} of the installation's audit log {}", problem.sequence, problem.problem));
    }
    Ok(check(proof::run(connection, seals, None, &signed).await?, findings))
}
