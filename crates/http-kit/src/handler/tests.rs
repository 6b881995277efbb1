#![cfg(test)]

use super::*;
use ledger_core::error::Code;
use ledger_core::resource::list::Pagination;

#[tokio::test]
async fn a_panic_is_a_failure_of_its_request_alone() {
    let work = async { if true { panic!("on purpose") } else { Ok(()) } };
    let failure = unhurried(Duration::from_mins(1), Unavailable::Overloaded, work).await.unwrap_err();
    assert_eq!((failure.status, failure.code), (StatusCode::INTERNAL_SERVER_ERROR, Code::Internal));
    assert!(!failure.title.contains("purpose") && failure.detail.is_some());
}

#[tokio::test]
async fn work_goes_on_when_its_client_no_longer_waits() {
    let (done, is_done) = tokio::sync::oneshot::channel();
    let (go, may_go) = tokio::sync::oneshot::channel();
    let work = async move {
        may_go.await.map_err(Error::internal)?;
        done.send(()).map_err(|()| Error::internal("nobody asked"))
    };
    let failure = unhurried(Duration::ZERO, Unavailable::CommitOutcomeUnknown, work).await.unwrap_err();
    // It had sent nothing to be committed, and will send nothing.
    assert_eq!(failure.code, Code::Overloaded);
    go.send(()).unwrap();
    is_done.await.unwrap();
}

#[test]
fn links_keep_the_rest_of_the_query() {
    let pagination =
        Pagination { total_count: 120, total_pages: 3, current_page: 2, is_lower_bound: false, next_cursor: None };
    assert_eq!(
        links("/b/api/parties", "q=a%20b&page=2&pageSize=50", Some("50"), &pagination),
        "</b/api/parties?page=1&pageSize=50&q=a%20b>; rel=\"first\", \
         </b/api/parties?page=1&pageSize=50&q=a%20b>; rel=\"prev\", \
         </b/api/parties?page=3&pageSize=50&q=a%20b>; rel=\"next\", \
         </b/api/parties?page=3&pageSize=50&q=a%20b>; rel=\"last\""
    );
}

#[test]
fn an_empty_list_links_to_itself_alone() {
    let pagination =
        Pagination { total_count: 0, total_pages: 0, current_page: 1, is_lower_bound: false, next_cursor: None };
    assert_eq!(links("/x", "", None, &pagination), "</x?page=1>; rel=\"first\", </x?page=1>; rel=\"last\"");
}

#[test]
fn nobody_is_sent_to_the_end_of_what_was_not_counted() {
    let pagination =
        Pagination { total_count: 120, total_pages: 3, current_page: 2, is_lower_bound: true, next_cursor: None };
    assert_eq!(
        links("/x", "", None, &pagination),
        "</x?page=1>; rel=\"first\", </x?page=1>; rel=\"prev\", </x?page=3>; rel=\"next\""
    );
}
