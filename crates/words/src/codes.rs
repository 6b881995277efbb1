//! The words that rows say again and again, and the letters that they are kept as.
//!
//! A word has the same letters wherever it is kept, and no letters are of two words or are a word themselves, so that what
//! stands in a column is told by itself. Books keep them for ever: a word that comes later gets letters of its own, and
//! those of a word that goes stay unused. What rows are asked for most has one letter.

/// The words and their letters.
pub const CODES: &[(&str, &str)] = &[
    // Kinds of documents.
    ("journal", "J"),
    ("contraEntry", "C"),
    ("salesInvoice", "I"),
    ("creditNote", "N"),
    ("purchaseInvoice", "B"),
    ("debitNote", "D"),
    ("receipt", "R"),
    ("payment", "P"),
    ("stockAdjustment", "A"),
    ("revaluation", "V"),
    ("salesOrder", "S"),
    ("purchaseOrder", "O"),
    ("deliveryNote", "L"),
    ("receiptNote", "G"),
    // Where documents stand.
    ("draft", "d"),
    ("posted", "p"),
    ("void", "v"),
    ("open", "o"),
    ("partial", "h"),
    ("done", "f"),
    ("closed", "c"),
    // Kinds of entries.
    ("normal", "n"),
    ("opening", "b"),
    ("yearEnd", "y"),
    ("reversal", "r"),
    ("autoReversal", "a"),
    ("fxRevaluation", "x"),
    ("allocation", "l"),
    ("fxAdjustment", "e"),
    ("taxAdjustment", "t"),
    // What happens to stock.
    ("issue", "i"),
    ("return", "u"),
    ("cost", "k"),
    ("customerReturn", "cr"),
    ("supplierReturn", "sr"),
    ("costChange", "cc"),
    ("bill", "bi"),
    ("invoice", "in"),
    ("credit", "cd"),
    ("standard", "s"),
    ("cancellation", "ca"),
    ("document", "m"),
    ("waits", "w"),
    // What a document does to the one that it follows.
    ("fulfils", "F"),
    ("bills", "M"),
    ("returns", "T"),
    ("credits", "K"),
    // What facts of tax say.
    ("sale", "z"),
    ("purchase", "Z"),
    ("owed", "g"),
    ("claimed", "q"),
    ("withheldFromUs", "wf"),
    ("withheldByUs", "wb"),
    ("none", "j"),
    ("discount", "di"),
    ("writeOff", "wo"),
    ("credited", "ct"),
    ("carry", "ry"),
    ("withholding", "wh"),
    ("reverseCharge", "rc"),
    ("exempt", "ex"),
    ("zero", "ze"),
    ("outside", "ou"),
    ("fixedPerUnit", "fu"),
    // What is done to records, and which ones most of the log is about.
    ("created", "E"),
    ("updated", "U"),
    ("deleted", "X"),
    ("voided", "Y"),
    ("touched", "H"),
    ("settled", "HS"),
    ("overdue", "HO"),
    ("low", "HL"),
    ("sealed", "W"),
    ("salesInvoices", "SI"),
    ("creditNotes", "CN"),
    ("purchaseInvoices", "PI"),
    ("debitNotes", "DN"),
    ("receipts", "RC"),
    ("payments", "PM"),
    ("allocations", "AL"),
    ("journals", "JV"),
    ("contraEntries", "CE"),
    ("stockAdjustments", "SA"),
    ("revaluations", "RV"),
    ("salesOrders", "SO"),
    ("purchaseOrders", "PO"),
    ("deliveryNotes", "DE"),
    ("receiptNotes", "GR"),
];

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at == left.len() && at == right.len()
}

/// The letters of a word.
#[must_use]
pub const fn code_of(word: &str) -> Option<&'static str> {
    let mut at = 0;
    while at < CODES.len() {
        if same(CODES[at].0, word) {
            return Some(CODES[at].1);
        }
        at += 1;
    }
    None
}

/// The word of letters.
#[must_use]
pub fn word_of(code: &str) -> Option<&'static str> {
    CODES.iter().find(|(_, known)| *known == code).map(|(word, _)| *word)
}

/// All letters, in the order of the words that they stand for: the order in which lists show them.
#[must_use]
pub fn by_word() -> Vec<&'static str> {
    let mut codes = CODES.to_vec();
    codes.sort_unstable();
    codes.into_iter().map(|(_, code)| code).collect()
}

/// The letters of a word that is known to have some: who names another is not compiled.
#[must_use]
pub const fn known(word: &str) -> &'static str {
    match code_of(word) {
        Some(code) => code,
        None => panic!("a word has no letters that it is kept as"),
    }
}

/// How an enumeration is kept whose words have letters. Books of before have the words.
#[macro_export]
macro_rules! kept_as_letters {
    ($name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $name {
            /// The letters that it is kept as.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => const { $crate::codes::known($text) }),+ }
            }

            /// What is kept so; nothing where that is none of these.
            pub fn kept_as(kept: &str) -> Option<Self> {
                [$(Self::$variant),+].into_iter().find(|one| one.code() == kept || one.as_str() == kept)
            }
        }

        impl From<$name> for sea_orm::Value {
            fn from(one: $name) -> Self {
                one.code().into()
            }
        }

        impl sea_orm::TryGetable for $name {
            fn try_get_by<I: sea_orm::ColIdx>(
                row: &sea_orm::QueryResult,
                index: I,
            ) -> Result<Self, sea_orm::TryGetError> {
                let kept = String::try_get_by(row, index)?;
                let unreadable = || sea_orm::DbErr::Type(format!("{kept} is no {}", stringify!($name)));
                Self::kept_as(&kept).ok_or_else(|| sea_orm::TryGetError::DbErr(unreadable()))
            }
        }

        impl sea_orm::sea_query::ValueType for $name {
            fn try_from(value: sea_orm::Value) -> Result<Self, sea_orm::sea_query::ValueTypeErr> {
                let kept = <String as sea_orm::sea_query::ValueType>::try_from(value)?;
                Self::kept_as(&kept).ok_or(sea_orm::sea_query::ValueTypeErr)
            }

            fn type_name() -> String {
                stringify!($name).into()
            }

            fn array_type() -> sea_orm::sea_query::ArrayType {
                sea_orm::sea_query::ArrayType::String
            }

            // What no text has: whoever compares a column with a word that somebody says is told by it.
            fn column_type() -> sea_orm::ColumnType {
                $crate::codes::KEPT_AS
            }
        }

        // What an entity's key must be able to refuse: a number is no word.
        impl sea_orm::TryFromU64 for $name {
            fn try_from_u64(number: u64) -> Result<Self, sea_orm::DbErr> {
                Err(sea_orm::DbErr::Type(format!("{number} is no {}", stringify!($name))))
            }
        }

        impl sea_orm::sea_query::Nullable for $name {
            fn null() -> sea_orm::Value {
                sea_orm::Value::String(None)
            }
        }
    };
}

/// A word of a list that grows: as letters where it has some, and in full where it has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word(String);

impl Word {
    #[must_use]
    pub fn into_inner(self) -> String {
        self.0
    }

    fn read(kept: String) -> Self {
        Self(word_of(&kept).map_or(kept, str::to_owned))
    }
}

impl std::ops::Deref for Word {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Word {
    fn from(word: &str) -> Self {
        Self(word.to_owned())
    }
}

impl From<Word> for sea_orm::Value {
    fn from(word: Word) -> Self {
        kept_in(&KEPT_AS, &word).into()
    }
}

impl sea_orm::TryGetable for Word {
    fn try_get_by<I: sea_orm::ColIdx>(row: &sea_orm::QueryResult, index: I) -> Result<Self, sea_orm::TryGetError> {
        String::try_get_by(row, index).map(Self::read)
    }
}

impl sea_orm::sea_query::ValueType for Word {
    fn try_from(value: sea_orm::Value) -> Result<Self, sea_orm::sea_query::ValueTypeErr> {
        <String as sea_orm::sea_query::ValueType>::try_from(value).map(Self::read)
    }

    fn type_name() -> String {
        "Word".into()
    }

    fn array_type() -> sea_orm::sea_query::ArrayType {
        sea_orm::sea_query::ArrayType::String
    }

    fn column_type() -> sea_orm::ColumnType {
        KEPT_AS
    }
}

/// Of what type columns are whose words are kept as letters.
pub const KEPT_AS: sea_orm::ColumnType = sea_orm::ColumnType::Char(None);

/// Whether words are kept as letters in columns of a type.
#[must_use]
pub fn keeps_letters(column: &sea_orm::ColumnType) -> bool {
    *column == KEPT_AS
}

/// What is kept of a word in a column of a type.
#[must_use]
pub fn kept_in<'w>(column: &sea_orm::ColumnType, word: &'w str) -> &'w str {
    if keeps_letters(column) { code_of(word).unwrap_or(word) } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire_enum;
    use std::collections::HashSet;

    #[test]
    fn letters_are_of_one_word_and_no_word_themselves() {
        let words: HashSet<&str> = CODES.iter().map(|(word, _)| *word).collect();
        let letters: HashSet<&str> = CODES.iter().map(|(_, code)| *code).collect();
        assert_eq!((words.len(), letters.len()), (CODES.len(), CODES.len()));
        assert!(words.is_disjoint(&letters));
        assert!(
            letters
                .iter()
                .all(|code| (1..=2).contains(&code.len()) && code.bytes().all(|one| one.is_ascii_alphabetic()))
        );
        for (word, code) in CODES {
            assert_eq!((code_of(word), word_of(code)), (Some(*code), Some(*word)));
        }
        assert_eq!(
            (code_of("salesInvoice "), code_of("sales"), word_of(""), word_of("open")),
            (None, None, None, None)
        );
    }

    wire_enum! {
        kept enum Stands {
            #[default]
            Open = "open",
            Void = "void",
        }
    }

    #[test]
    fn what_is_kept_as_letters_comes_back_and_words_of_before_as_well() {
        for kept in ["v", "void"] {
            let read = <Stands as sea_orm::sea_query::ValueType>::try_from(kept.into());
            assert_eq!(read.ok(), Some(Stands::Void), "{kept}");
        }
        assert_eq!(sea_orm::Value::from(Stands::Open), "o".into());
        for other in ["", "V", "done", "f"] {
            assert_eq!(Stands::kept_as(other), None, "{other}");
        }
        for word in ["salesInvoices", "parties", ""] {
            let kept = sea_orm::Value::from(Word::from(word));
            assert_eq!(<Word as sea_orm::sea_query::ValueType>::try_from(kept).ok(), Some(Word::from(word)));
        }
        assert_eq!(sea_orm::Value::from(Word::from("salesInvoices")), "SI".into());
        let column = <Stands as sea_orm::sea_query::ValueType>::column_type();
        assert_eq!((kept_in(&column, "void"), kept_in(&sea_orm::ColumnType::Text, "void")), ("v", "void"));
    }
}
