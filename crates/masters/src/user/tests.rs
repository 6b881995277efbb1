//! Who may be invited, changed and managed, and what the logs tell of them.

#![cfg(test)]

use super::*;
use crate::ids::{BusinessId, UserId};
use crate::samples::{id, said};
use kit::samples::{checked, hold};
use sea_orm::prelude::Uuid;

pub(super) fn business(number: u128) -> BusinessId {
    BusinessId(Uuid::from_u128(number))
}

/// What a changed example says; the example of a membership is of the first company.
pub(super) fn said_of(changes: &[(&str, serde_json::Value)]) -> Draft {
    let here = json!([{"businessId": business(1), "permissionId": id(11)}]);
    let changes: Vec<_> = [("/memberships", here)].into_iter().chain(changes.iter().cloned()).collect();
    checked::<Users>(None, &changes).ok().unwrap()
}

/// Somebody as the books have them.
pub(crate) fn person(status: UserStatus) -> Model {
    Model {
        id: UserId(Uuid::from_u128(5)),
        email: "mira@harbour.example".into(),
        email_key: "mira@harbour.example".into(),
        username: None,
        username_key: None,
        display_name: "Mira Sandoval".into(),
        password_hash: if status == UserStatus::Invited { String::new() } else { "hash".into() },
        status,
        token_version: 1,
        is_system_admin: false,
        locale: None,
        must_change_password: false,
        home_id: Some(business(1)),
        search: String::new(),
        version: 3,
        created_at: crate::clock::Instant::from_micros(0),
        created_by: UserId::default(),
        updated_at: crate::clock::Instant::from_micros(0),
        updated_by: UserId::default(),
    }
}

#[test]
fn somebody_has_an_address_a_name_and_a_place() {
    hold::<Users>(&[
        (&[("/email", json!(null))], &["email: is required"]),
        (&[("/email", json!("mira"))], &["email: must be an e-mail address"]),
        (&[("/displayName", json!(null))], &["displayName: is required"]),
        (&[("/username", json!("mira.s_1-2"))], &[]),
        (&[("/username", json!("mira@harbour"))], &["username: must be 1 to 100 letters"]),
        (&[("/locale", json!("de-AT"))], &[]),
        (&[("/locale", json!("German"))], &["locale: must be a language"]),
        (&[("/password", json!("too short"))], &["password: must be 12 to 256"]),
        (&[("/status", json!("away"))], &["status: must be"]),
        (&[("/memberships", json!(null))], &[]),
        (&[("/memberships", json!([{}]))], &["memberships[0].permissionId: is required"]),
        (
            &[("/memberships", json!([{"businessId": "here", "permissionId": id(1)}]))],
            &["memberships[0].businessId: must be"],
        ),
    ]);
}

#[test]
fn a_body_names_the_set_of_this_company_once_or_not_at_all() {
    let member = |of: Option<u128>, set: u128| json!({"businessId": of.map(business), "permissionId": id(set)});
    let own = |memberships: serde_json::Value| said_of(&[("/memberships", memberships)]).own_set(business(1));
    for (memberships, set) in [
        (json!([member(Some(1), 11)]), Some(11)),
        // To name no company is to mean this one.
        (json!([member(None, 11)]), Some(11)),
        (json!([member(Some(2), 12), member(Some(1), 11)]), Some(11)),
        (json!([member(Some(2), 12)]), None),
        (json!([]), None),
        (json!(null), None),
    ] {
        assert_eq!(own(memberships.clone()).unwrap(), set.map(id), "{memberships}");
    }
    for twice in [json!([member(Some(1), 11), member(Some(1), 11)]), json!([member(None, 11), member(Some(1), 12)])] {
        assert_eq!(said(own(twice)), "memberships: names the company twice");
    }
}

/// In the log of a company stands what it knows of somebody, whoever looked when it was written.
#[test]
fn the_log_of_a_company_tells_nothing_of_others() {
    let member =
        |of: u128| MembershipView { business_id: business(of), permission_id: id(of + 10), role: "sales".into() };
    let mut view = UserView::of_member(person(UserStatus::Active), member(1), None).with_code("join_k7m2".into());
    assert_eq!((view.must_change_password, view.is_system_admin), (Some(false), Some(false)));
    view.memberships.push(member(2));
    view.two_factor_enabled = Some(true);
    view.last_login_at = Some(crate::clock::Instant::from_micros(1));
    let change = UserView::change(AuditAction::Updated, business(1), [None, Some(&view)]).unwrap();
    assert_eq!((change.version_from, change.version_to, change.before), (None, Some(3), None));
    let after: serde_json::Value = serde_json::from_str(&change.after.unwrap()).unwrap();
    assert_eq!(after["memberships"], json!([{"businessId": business(1), "permissionId": id(11), "role": "sales"}]));
    assert_eq!(after["email"], "mira@harbour.example");
    for name in ["mustChangePassword", "isSystemAdmin", "twoFactorEnabled", "lastLoginAt", "invitationCode"] {
        assert_eq!(after[name], json!(null), "{name}");
    }
    // Of who waits nothing of an account is told: whether there is one is nobody's business.
    let waiting = UserView::of_member(person(UserStatus::Invited), member(1), None);
    assert_eq!((waiting.must_change_password, waiting.is_system_admin), (None, None));
}
