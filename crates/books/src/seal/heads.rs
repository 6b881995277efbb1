//! Heads: where the books of a company stand, under a signature.
//!
//! The row in `books` is signed with all that it says, the sums of the seals included. A head that is kept elsewhere, as
//! it is answered by `audit-log/head` or kept by `duet verify --anchor`, proves later that nothing was set back.

use super::sums::Sums;
use super::{Seals, same};
use crate::audit;
use crate::cx::Cx;
use crate::error::{Code, Error, Result};
use crate::ids::BusinessId;
use answers::Ask;
use schema::tables::books;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde::{Deserialize, Serialize};

/// Where the audit log of a company stands, signed. Kept elsewhere, it proves later that nothing was cut off since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignedHead {
    /// The company.
    pub business_id: BusinessId,
    /// The newest record's place in the chain.
    pub sequence: i64,
    /// Its hash.
    pub hash: String,
    /// The newest entry of the ledger.
    pub entry_number: i64,
    /// HMAC-SHA-256 over the rest, by a key that is not in the database.
    pub signature: String,
}

impl SignedHead {
    fn signed(seals: &Seals, row: &books::Model) -> Self {
        let head = Self {
            business_id: row.business_id,
            sequence: row.audit_sequence,
            hash: row.audit_hash.0.clone(),
            entry_number: row.entry_number,
            signature: String::new(),
        };
        Self { signature: head.signature(seals), ..head }
    }

    fn signature(&self, seals: &Seals) -> String {
        let mut signing = seals.sign("head 1");
        signing.feed(Some(&self.business_id.to_string()));
        signing.feed(Some(&self.sequence.to_string()));
        signing.feed(Some(&self.hash));
        signing.feed(Some(&self.entry_number.to_string()));
        signing.finish()
    }

    pub fn is_ours(&self, eras: &[Seals]) -> bool {
        eras.iter().any(|seals| same(&self.signature(seals), &self.signature))
    }
}

/// Where the books of the company in scope stand. Entries and audit records are numbered from 1 without a gap: so many there
/// are of them.
pub async fn stands(cx: &Cx<'_>) -> Result<Option<books::Model>> {
    Ok(books::Entity::find_by_id(cx.business_id()?).model(&cx.db).await?)
}

/// What the row of a company's books is signed with.
pub fn signature(seals: &Seals, row: &books::Model) -> String {
    let mut signing = seals.sign("books 1");
    signing.feed(Some(&row.business_id.to_string()));
    for number in [row.version, row.entry_number, row.recorded_at.micros(), row.audit_sequence] {
        signing.feed(Some(&number.to_string()));
    }
    signing.feed(Some(&row.audit_hash));
    signing.feed(Some(&row.sums));
    signing.finish()
}

pub fn is_signed(seals: &Seals, row: &books::Model) -> bool {
    same(&signature(seals, row), &row.signature)
}

/// Writes where the books of a company stand from now on. Whether they stood right before that is answered.
pub async fn write(connection: &impl ConnectionTrait, row: books::Model) -> Result<bool> {
    let update = books::Entity::update_many()
        .col_expr(books::Column::Version, row.version.into())
        .col_expr(books::Column::EntryNumber, row.entry_number.into())
        .col_expr(books::Column::RecordedAt, row.recorded_at.into())
        .col_expr(books::Column::AuditSequence, row.audit_sequence.into())
        .col_expr(books::Column::AuditHash, row.audit_hash.into())
        .col_expr(books::Column::Sums, row.sums.into())
        .col_expr(books::Column::Signature, row.signature.into())
        .filter(books::Column::BusinessId.eq(row.business_id))
        .filter(books::Column::Version.eq(row.version - 1));
    Ok(update.exec(connection).await?.rows_affected == 1)
}

/// The sums that the books of a company carry, if what they carry is signed.
pub fn sums(seals: &Seals, row: &books::Model) -> Result<Option<Sums>> {
    if !is_signed(seals, row) {
        return Ok(None);
    }
    Sums::parse(&row.sums).map(Some)
}

/// The head of a company's books.
pub async fn head(connection: &impl ConnectionTrait, seals: &Seals, of: BusinessId) -> Result<SignedHead> {
    let row = books::Entity::find_by_id(of).one(connection).await?.ok_or(Error::NotFound)?;
    if !is_signed(seals, &row) {
        // Signed now, it would prove what nobody wrote.
        return Err(Error::conflict(
            Code::InvalidState,
            "The books are not as they were signed; duet verify tells more",
        ));
    }
    Ok(SignedHead::signed(seals, &row))
}

/// What is wrong with books that a head was kept of.
pub async fn compare(connection: &impl ConnectionTrait, seals: &Seals, kept: &SignedHead) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let at = kept.sequence;
    if !kept.is_ours(&seals.eras()?) {
        findings.push(format!("the head that was kept of record {at} was not signed under this master key"));
    }
    let Some(row) = books::Entity::find_by_id(kept.business_id).one(connection).await? else {
        findings.push("the books of the company are gone".into());
        return Ok(findings);
    };
    if row.audit_sequence < at {
        findings.push(format!("the audit log went back from record {at} to record {}", row.audit_sequence));
    }
    if row.entry_number < kept.entry_number {
        findings.push(format!("the ledger went back from entry {} to entry {}", kept.entry_number, row.entry_number));
    }
    if at > 0 {
        match audit::hash_at(connection, kept.business_id, at).await? {
            None => findings.push(format!("record {at} of the audit log is gone")),
            Some(found) if found != kept.hash => {
                findings.push(format!("record {at} of the audit log is another than it was"));
            }
            Some(_) => {}
        }
    }
    Ok(findings)
}
