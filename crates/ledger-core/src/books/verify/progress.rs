//! How far a proof has got: rows that were read, of those that are there to be read.

use crate::error::{Error, Result};
use ::books::cx::Cx;
use ::books::seal::heads;
use ::books::seal::proof::tables;
use answers::Ask;
use async_trait::async_trait;
use schema::reader::Host;
use schema::tables::books;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How far a proof has got. Whoever shows it asks now and then.
#[derive(Debug, Default)]
pub struct Progress {
    read: AtomicUsize,
    whole: AtomicUsize,
}

#[async_trait]
impl Host for Progress {
    fn read(&self, rows: usize) {
        self.read.fetch_add(rows, Ordering::Relaxed);
    }
}

impl Progress {
    /// Of a hundred parts, so many are done; the last one is so when all is told.
    pub fn percent(&self) -> usize {
        let (read, whole) = (self.read.load(Ordering::Relaxed), self.whole.load(Ordering::Relaxed));
        // Of few rows a hundredth is nothing, and one counts as one.
        Ord::min(read / Ord::max(whole / 100, 1), 99)
    }

    /// A company is begun: what each part will read of it.
    pub(crate) async fn expects(&self, cx: &Cx<'_>) -> Result<()> {
        let Some(head) = books::Entity::find_by_id(cx.business_id()?).model(&cx.db).await? else { return Ok(()) };
        let Some(sums) = heads::sums(cx.seals, &head)? else { return Ok(()) };
        let sealed: i64 = tables(true).map(|table| sums.of(table.name).count).sum();
        // The ledger is walked along, and so are facts of tax; documents twice.
        let of = |table: &str| sums.of(table).count;
        let again = head.entry_number + head.audit_sequence + of("tax_facts") + 2 * of("documents");
        self.whole.fetch_add(usize::try_from(sealed + again).map_err(Error::internal)?, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_told_in_hundredths_and_never_as_all_of_it() {
        let progress = Progress::default();
        assert_eq!(progress.percent(), 0);
        progress.whole.store(400, Ordering::Relaxed);
        progress.read(100);
        assert_eq!(progress.percent(), 25);
        progress.read(900);
        assert_eq!(progress.percent(), 99);
    }
}
