//! The statements that the server of a connection knows already.

use std::collections::HashMap;
use tokio_postgres::Statement;
use tokio_postgres::types::Type;

/// So many statements stay prepared on each connection.
const PREPARED: usize = 256;

#[derive(Default)]
pub(crate) struct Prepared {
    known: HashMap<(String, Vec<Type>), (Statement, u64)>,
    uses: u64,
}

impl Prepared {
    pub(crate) fn find(&mut self, key: &(String, Vec<Type>)) -> Option<Statement> {
        self.uses += 1;
        let (statement, used) = self.known.get_mut(key)?;
        *used = self.uses;
        Some(statement.clone())
    }

    pub(crate) fn keep(&mut self, key: (String, Vec<Type>), statement: Statement) {
        if self.known.len() >= PREPARED
            && let Some(eldest) = self.known.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone())
        {
            self.known.remove(&eldest);
        }
        self.known.insert(key, (statement, self.uses));
    }

    /// None of them is good any more.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}
