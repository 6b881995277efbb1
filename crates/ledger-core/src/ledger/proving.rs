//! What can be said of the books as a whole, and kept elsewhere.

use super::Ledger;
use crate::books::verify::{Check, Verdict};
use crate::error::Result;
use crate::ids::BusinessId;
use ::books::seal::heads::{self, SignedHead};
use serde::Serialize;

/// What the proof of one company came to.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    pub business_id: BusinessId,
    pub name: String,
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Ledger {
    /// What the engine itself says of its file, where it has such a check, and whether the schema is what it should be.
    pub async fn verify_engine(&self) -> Result<Vec<Check>> {
        let mut checks = Vec::new();
        checks.extend(self.database.check_file().await?.map(Check::of_engine));
        checks.push(Check::of_schema(self.database.check_schema().await?));
        Ok(checks)
    }

    /// The signed heads of these companies, to be kept elsewhere.
    pub async fn heads(&self, of: &[BusinessId]) -> Result<Vec<SignedHead>> {
        self.installation().await?;
        let mut found = Vec::new();
        for business in of {
            found.push(heads::head(&self.database.read, &self.seals, *business).await?);
        }
        Ok(found)
    }

    /// What is wrong with books that this head was kept of.
    pub async fn verify_head(&self, kept: &SignedHead) -> Result<Vec<String>> {
        self.installation().await?;
        heads::compare(&self.database.read, &self.seals, kept).await
    }
}
