//! Documents that a command moves without writing them: something was allocated to them, or made of them.
//!
//! Owns: that a command gives such a document one new version, whatever it does to it, and that the audit log tells of that
//! version once it is whole.

use crate::ids::RecordId;
use schema::tables::DocumentKind;
use std::sync::{Mutex, PoisonError};

/// A document, the version that it had, the one that it has now, and what moved it: JSON, one for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    pub kind: DocumentKind,
    pub id: RecordId,
    pub from: i64,
    pub to: i64,
    pub notes: Vec<String>,
}

/// Those that the command moved and the log does not tell of yet, in their order.
#[derive(Default)]
pub struct Touched(Mutex<Vec<Touch>>);

impl Touched {
    /// Notes what moved a document of this version. Whether it gets another one by that is answered: a second thing that moves
    /// it makes no further one.
    pub fn note(&self, (kind, id): (DocumentKind, RecordId), version: i64, note: String) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.iter_mut().find(|known| known.id == id) {
            known.notes.push(note);
            let is_first = known.from == known.to;
            known.to = known.from + 1;
            return is_first;
        }
        all.push(Touch { kind, id, from: version, to: version + 1, notes: vec![note] });
        true
    }

    /// A document that settles something by itself as it comes into the books: it is another then than was noted, and has the
    /// version that it had.
    pub fn settles(&self, (kind, id): (DocumentKind, RecordId), version: i64, note: String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.iter_mut().find(|known| known.id == id) {
            Some(known) => known.notes.push(note),
            None => all.push(Touch { kind, id, from: version, to: version, notes: vec![note] }),
        }
    }

    /// What is known of one, which is about to be written.
    pub fn take_of(&self, id: RecordId) -> Option<Touch> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|known| known.id == id)?;
        Some(all.remove(place))
    }

    pub fn take(&self) -> Vec<Touch> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_moves_has_one_version_more_however_often_it_is_moved() {
        let (touched, id) = (Touched::default(), |number| RecordId(uuid::Uuid::from_u128(number)));
        let of = |number| (DocumentKind::SalesInvoice, id(number));
        assert!(touched.note(of(1), 4, "1".into()));
        // By then its row may have the next one already.
        assert!(!touched.note(of(1), 5, "2".into()));
        touched.settles(of(1), 5, "3".into());
        touched.settles(of(2), 1, "4".into());
        assert!(touched.note(of(2), 1, "5".into()));
        assert!(!touched.note(of(2), 2, "6".into()));
        touched.settles(of(3), 1, "7".into());
        let told = |touch: Touch| (touch.id, touch.from, touch.to, touch.notes.concat());
        assert_eq!(touched.take_of(id(2)).map(told), Some((id(2), 1, 2, "456".to_owned())));
        assert_eq!(touched.take_of(id(2)), None);
        let rest: Vec<_> = touched.take().into_iter().map(told).collect();
        assert_eq!(rest, [(id(1), 4, 5, "123".to_owned()), (id(3), 1, 1, "7".to_owned())]);
        assert_eq!(touched.take(), []);
    }
}
