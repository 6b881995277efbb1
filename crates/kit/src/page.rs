//! Pages of a list: where one stands among its siblings, or in a walk.

use crate::list::ListQuery;
use serde::Serialize;

/// A walk along a list, which goes on behind the last row and not after so many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Walk {
    Begins,
    /// By what the page before answered as `nextCursor`.
    Behind(String),
}

/// One page of records and how many there are in all.
#[derive(Debug)]
pub struct Page<V> {
    pub items: Vec<V>,
    pub total: Total,
    /// Where it stands in a walk, where it is one of one.
    pub walked: Option<Walked>,
}

/// A page of a walk: the how-many-th it is, and how it goes on, where there is more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walked {
    pub page: u64,
    pub next: Option<String>,
}

impl<V> Page<V> {
    pub fn of(items: Vec<V>, total: impl Into<Total>) -> Self {
        Self { items, total: total.into(), walked: None }
    }
}

/// How many records match: all of them, or as many as were counted before counting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    Exactly(u64),
    AtLeast(u64),
}

impl Total {
    pub const fn count(self) -> u64 {
        match self {
            Self::Exactly(count) | Self::AtLeast(count) => count,
        }
    }

    const fn is_lower_bound(self) -> bool {
        matches!(self, Self::AtLeast(_))
    }
}

impl From<u64> for Total {
    fn from(count: u64) -> Self {
        Self::Exactly(count)
    }
}

/// Where a page stands among its siblings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    /// Records that match, on all pages.
    pub total_count: u64,
    /// Pages at this page size.
    pub total_pages: u64,
    /// This page, from 1; of a walk by `cursor`, the how-many-th of it.
    pub current_page: u64,
    /// Whether counting ended before all were counted: then more match than `totalCount` says, there are more pages than
    /// `totalPages` says, and the later a page is, the more of them it tells of. Absent where all were counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub is_lower_bound: bool,
    /// What `cursor` says for the next page, null where there is none. Absent where `cursor` was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default)]
    pub next_cursor: Option<Option<String>>,
}

impl Pagination {
    pub fn of(query: &ListQuery, total: impl Into<Total>) -> Self {
        let total = total.into();
        Self {
            total_count: total.count(),
            total_pages: total.count().div_ceil(query.page_size),
            current_page: query.page,
            is_lower_bound: total.is_lower_bound(),
            next_cursor: None,
        }
    }

    pub fn of_page<V>(query: &ListQuery, page: &Page<V>) -> Self {
        let whole = Self::of(query, page.total);
        match &page.walked {
            Some(walked) => Self { current_page: walked.page, next_cursor: Some(walked.next.clone()), ..whole },
            None => whole,
        }
    }

    /// The only page of what is one record.
    pub const fn of_one() -> Self {
        Self { total_count: 1, total_pages: 1, current_page: 1, is_lower_bound: false, next_cursor: None }
    }
}
