//! The companies that `duet compare --twin` made: what they are called, and how they are removed.

use super::{CompareOptions, Stop, log_in, sides};
use crate::console::say;
use compare::declared::Declared;
use compare::neutral::Neutral;
use compare::pair::{MADE_BY_US, Pair, Relation};
use compare::report::{Report, Twin};
use serde_json::Value;

/// The companies of a run, as its report names them.
pub(super) fn made(pair: &Pair) -> Vec<Twin> {
    let of = |side: &'static str, id: &Option<String>, name: &str| {
        id.as_ref().map(|id| Twin { side, id: id.clone(), name: name.to_owned() })
    };
    let name = pair.name_of_twins();
    [of("left", &pair.left.business, name), of("right", &pair.right.business, name)].into_iter().flatten().collect()
}

/// Removes what earlier runs made, on the left and, where that is another server, on the right.
pub(super) async fn removed(options: &CompareOptions) -> Result<(), Stop> {
    let (left, right) = sides(options).await?;
    let names = [&left, &right].map(|side| side.transport.origin().to_owned());
    let mut pair = Pair::new(left, right, Relation::Same, Declared::default(), &ledger_core::ids::request_id());
    log_in(&mut pair, options, &mut Report::default()).await?;
    remove_of(&mut pair).await?;
    if names[0] != names[1] {
        std::mem::swap(&mut pair.left, &mut pair.right);
        remove_of(&mut pair).await?;
    }
    Ok(())
}

async fn remove_of(pair: &mut Pair) -> Result<(), Stop> {
    let origin = pair.left.transport.origin().to_owned();
    let mut found = Vec::new();
    for page in 1.. {
        let list = Neutral::of("businessesList").asking("tag", MADE_BY_US).asking("status", "active");
        let list = list.asking("pageSize", "500").asking("page", &page.to_string());
        let seen = pair.ask_left(&list).await?;
        let items = seen["items"].as_array().cloned().unwrap_or_default();
        let count = items.len();
        found.extend(items.into_iter().filter(is_ours));
        if count < 500 {
            break;
        }
    }
    if found.is_empty() {
        say(&format!("{origin}: no company of an earlier run is left"));
    }
    for company in found {
        let (id, name) = (company["id"].as_str().unwrap_or_default(), company["name"].as_str().unwrap_or_default());
        let done = if pair.ask_left(&Neutral::of("businessesDelete").on(id)).await.is_ok() {
            "deleted"
        } else {
            // It has books, and those stay.
            let mut archived = pair.ask_left(&Neutral::of("businessesGet").on(id)).await?;
            archived["status"] = "archived".into();
            pair.ask_left(&Neutral::of("businessesUpdate").on(id).with(archived)).await?;
            "archived"
        };
        say(&format!("{origin}: {done} {name} ({id})"));
    }
    Ok(())
}

/// Whether a company has the label of those that were made to be compared.
fn is_ours(company: &Value) -> bool {
    company["tags"].as_array().is_some_and(|labels| labels.contains(&MADE_BY_US.into()))
}
