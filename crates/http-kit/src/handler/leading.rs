//! Where an answer leads: to the record that was made, and to the sibling pages.

use ledger_core::ids::RecordId;
use ledger_core::resource::list::Pagination;

/// Where a new record is: below its collection, also when it was made by an action on a record, which may be of another.
pub(super) fn location(path: &str, id: RecordId, made_in: Option<&str>) -> String {
    let collection = path.trim_end_matches('/');
    let above = |path: &str| path.rsplit_once('/').map_or(String::new(), |(above, _)| above.to_owned());
    match made_in.and_then(|collection| collection.rsplit('/').next()) {
        Some(segment) => format!("{}/{segment}/{id}", above(&above(&above(collection)))),
        None => format!("{collection}/{id}"),
    }
}

/// The sibling pages, RFC 8288, with the rest of the query as the client wrote it.
pub(super) fn links(path: &str, query: &str, page_size: Option<&str>, pagination: &Pagination) -> String {
    let rest: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !matches!(pair.split('=').next(), Some("page" | "pageSize" | "cursor")))
        .collect();
    let link_to = |relation: &str, which: String| {
        let mut query = vec![which];
        query.extend(page_size.map(|size| format!("pageSize={size}")));
        query.extend(rest.iter().map(ToString::to_string));
        format!("<{path}?{}>; rel=\"{relation}\"", query.join("&"))
    };
    if let Some(next) = &pagination.next_cursor {
        // Nobody walks back, and where it ends is known at its end.
        let next = next.as_ref().map(|cursor| link_to("next", format!("cursor={cursor}")));
        return [link_to("first", "cursor=".into())].into_iter().chain(next).collect::<Vec<_>>().join(", ");
    }
    let link = |relation: &str, page: u64| link_to(relation, format!("page={page}"));
    let last = pagination.total_pages.max(1);
    let mut links = vec![link("first", 1)];
    if pagination.current_page > 1 {
        links.push(link("prev", (pagination.current_page - 1).min(last)));
    }
    if pagination.current_page < last {
        links.push(link("next", pagination.current_page + 1));
    }
    if !pagination.is_lower_bound {
        links.push(link("last", last));
    }
    links.join(", ")
}
