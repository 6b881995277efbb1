//! What stands in the columns of a row: the members of a record for which no body is unpacked.
//!
//! Owns: when those are all that was asked for, and how they are answered then. A resource says which they are and how a row
//! tells them, once; `view=summary` shows all of them, and `fields` those that it names.

use crate::error::{Error, Result};
use crate::extra::Produced;
use crate::ids::RecordId;
use crate::list::ListQuery;
use crate::operation::Shown;
use books::cx::Cx;
use books::database::lane::BoxFuture;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};

type List = for<'c> fn(&'c Cx<'c>, &'c ListQuery) -> BoxFuture<'c, Result<Produced>>;
type Get = for<'c> fn(&'c Cx<'c>, RecordId, &'c ListQuery) -> BoxFuture<'c, Result<Shown>>;

/// How a resource is read where its columns say all that was asked for.
#[derive(Clone, Copy)]
pub struct Outline {
    /// The members that they say; those that its records do not have are none of it.
    pub members: &'static [&'static str],
    pub list: List,
    pub get: Get,
}

impl Outline {
    /// Whether a question asks for nothing else.
    pub fn suffices(&self, query: &ListQuery) -> bool {
        query.fields.as_ref().is_some_and(|fields| fields.names().all(|name| self.members.contains(&name)))
    }
}

/// A row that tells members of its record by their names.
pub trait Tells {
    fn tell<M: SerializeMap>(&self, name: &str, to: &mut M) -> Result<(), M::Error>;
}

/// Those of its members that were asked for.
pub struct Told<'n, T> {
    pub names: &'n [&'static str],
    pub by: T,
}

impl<T: Tells> Serialize for Told<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(self.names.len()))?;
        for name in self.names {
            self.by.tell(name, &mut members)?;
        }
        members.end()
    }
}

/// What tells no member of a name was asked for one.
pub fn tells_no<M: SerializeMap>(name: &str) -> Result<(), M::Error> {
    Err(M::Error::custom(format!("no column says {name}")))
}

/// Those of these members that a question asks for, in their order.
pub fn asked(query: &ListQuery, members: &'static [&'static str]) -> Result<Vec<&'static str>> {
    let fields = query.fields.as_ref().ok_or_else(|| Error::internal("the columns of a row say no whole record"))?;
    Ok(members.iter().copied().filter(|name| fields.names().any(|asked| asked == *name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Shape;
    use crate::list::Offer;
    use schemars::JsonSchema;

    #[derive(Serialize, JsonSchema)]
    struct Record {
        id: String,
        version: i64,
        number: String,
        lines: Vec<String>,
    }

    const OUTLINE: Outline = Outline {
        members: &["id", "version", "number", "total"],
        list: |_, _| Box::pin(async { Err(Error::NotFound) }),
        get: |_, _, _| Box::pin(async { Err(Error::NotFound) }),
    };

    fn query(name: &str, text: &str) -> ListQuery {
        let shape = Shape::of_record::<Record>();
        let offer = Offer { shows: Some(&shape), summary: OUTLINE.members, ..Offer::default() };
        let pairs: Vec<_> = [(name, text)].iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        ListQuery::parse(&offer, &pairs).unwrap()
    }

    struct Row;

    impl Tells for Row {
        fn tell<M: SerializeMap>(&self, name: &str, to: &mut M) -> Result<(), M::Error> {
            if name == "total" { tells_no::<M>(name) } else { to.serialize_entry(name, "said") }
        }
    }

    #[test]
    fn columns_suffice_where_nothing_else_is_asked_for() {
        for (name, text, suffices) in [
            ("view", "summary", true),
            ("view", "full", false),
            ("fields", "number", true),
            ("fields", "version,number,id", true),
            ("fields", "number,lines", false),
            ("fields", "lines", false),
        ] {
            assert_eq!(OUTLINE.suffices(&query(name, text)), suffices, "{name}={text}");
        }
    }

    #[test]
    fn what_was_asked_for_is_told_in_the_order_of_the_members() {
        let told = |query: &ListQuery| {
            let names = asked(query, OUTLINE.members).unwrap();
            serde_json::to_string(&Told { names: &names, by: Row }).unwrap()
        };
        let all = r#"{"id":"said","version":"said","number":"said"}"#;
        assert_eq!(told(&query("view", "summary")), all);
        assert_eq!(told(&query("fields", "number")), all);
        assert_eq!(told(&query("fields", "version")), r#"{"id":"said","version":"said"}"#);
        assert!(asked(&query("view", "full"), OUTLINE.members).is_err(), "a whole record");
        let unsaid = serde_json::to_string(&Told { names: &["total"], by: Row });
        assert!(unsaid.is_err(), "what no column says is an error, and not absent");
    }
}
