//! Whoever is put out after their request was judged, and before its turn in the lane.
#![cfg(test)]

use super::*;
use ::books::auth::{Credentials, LoginName, UserStatus};

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

const PASSWORD: &str = "a ferry at first light";

/// Signs in, and is known as whoever asks for something in the company.
async fn signed_in(ledger: &Arc<Ledger>, company: &str) -> (String, BusinessId) {
    let credentials = Credentials { name: "jo@harbour.example".into(), password: PASSWORD.into(), totp_code: None };
    let session = ledger.login(LoginName::Email, credentials, &Origin::default(), None).await.unwrap();
    let principal = ledger.authenticate(&session.token, Some(company), None).await.unwrap();
    let id = BusinessId::parse(company).unwrap();
    ledger.proved(&principal, Some(id)).await;
    (session.token, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_remembered_writes_without_a_question_until_something_changes() {
    let place = Place::new("recognised");
    let ledger = place.open().await;
    let books = begin(&ledger).await;
    let company = books.company.clone();
    let party = || {
        let body = r#"{"name": "Elbe Books", "isCustomer": true, "isSupplier": false}"#;
        making(operations::<Parties>(), (Some(company.clone()), None), body)
    };
    let (token, id) = signed_in(&ledger, &company).await;
    let asked = ledger.remembered.questions();
    for _ in 0..3 {
        let known = ledger.recognise(&token, id, None).unwrap();
        assert!(ledger.write_recognised(&known, party()).await.unwrap().is_some());
    }
    assert_eq!(ledger.remembered.questions(), asked, "somebody asked who they are");
    // Another company is not remembered, and another token is none.
    assert!(ledger.recognise(&token, BusinessId(ledger.clock.identifier()), None).is_none());
    assert!(ledger.recognise("e30.e30.e30", id, None).is_none());
    // What is refused by what is remembered may be allowed by now, and is not refused unasked.
    let known = ledger.recognise(&token, id, None).unwrap();
    let asked_for_another = Principal { must_change_password: true, ..known.clone() };
    assert!(ledger.write_recognised(&asked_for_another, party()).await.unwrap().is_none());
    // They are out by the time that it comes to the lane: nothing is done, and whoever comes next is asked for.
    ledger.set_user_status(books.principal.user, UserStatus::Disabled).await.unwrap();
    assert!(ledger.write_recognised(&known, party()).await.unwrap().is_none());
    assert!(ledger.recognise(&token, id, None).is_none());
    let asks = async |token: &str| ledger.authenticate(token, Some(&company), None).await;
    assert!(matches!(asks(&token).await, Err(Error::Unauthenticated(_))));
    assert!(ledger.recognise(&token, id, None).is_none());
    // In again, and remembered as that.
    ledger.set_user_status(books.principal.user, UserStatus::Active).await.unwrap();
    let (token, id) = signed_in(&ledger, &company).await;
    let known = ledger.recognise(&token, id, None).unwrap();
    assert!(ledger.write_recognised(&known, party()).await.unwrap().is_some());
    assert_eq!(schema::party::Entity::find().count(&ledger.database.read).await.unwrap(), 4, "some are there twice");
    ledger.close().await;
}
