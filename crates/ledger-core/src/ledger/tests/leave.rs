//! Whoever is put out after their request was judged, and before its turn in the lane.
#![cfg(test)]

use super::*;
use ::books::auth::UserStatus;

#[tokio::test(flavor = "multi_thread")]
async fn what_has_changed_by_the_turn_in_the_lane_is_judged_there() {
    let place = Place::new("leave");
    let ledger = place.open().await;
    let books = begin(&ledger).await;
    let write = async |principal: &Principal| {
        let body = r#"{"name": "Elbe Books", "isCustomer": true, "isSupplier": false}"#;
        create(&ledger, principal, operations::<Parties>(), (Some(books.company.clone()), None), body).await
    };
    let by_token = Principal { token_version: Some(1), ..books.principal.clone() };
    write(&by_token).await.unwrap();
    ledger.set_password(by_token.user, "another ferry at last light".into(), false).await.unwrap();
    assert!(matches!(write(&by_token).await, Err(Error::Unauthenticated(_))));
    // Whoever has no token has none that ended, and is a member still.
    write(&books.principal).await.unwrap();
    let ended = Principal { session: Some(RecordId(ledger.clock.identifier())), ..books.principal.clone() };
    assert!(matches!(write(&ended).await, Err(Error::Unauthenticated(_))));
    ledger.set_user_status(by_token.user, UserStatus::Disabled).await.unwrap();
    assert!(matches!(write(&books.principal).await, Err(Error::Unauthenticated(_))));
    ledger.close().await;
}
