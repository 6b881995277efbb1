//! People: accounts, how they sign in, and who may do what in which company.

use crate::table::{Table, flag, id, maybe, number, text, word};

pub(super) fn tables() -> Vec<Table> {
    vec![
        users(),
        sign_ins(),
        invitations(),
        sessions(),
        sign_in_places(),
        recovery_codes(),
        login_failures(),
        memberships(),
        permission_sets(),
        api_keys(),
    ]
}

const EVERY_CHANGE: &[(&str, &str)] = &[("insert", "INSERT"), ("update", "UPDATE"), ("delete", "DELETE")];

fn users() -> Table {
    let columns = [
        id("id"),
        text("email"),
        // As it is compared: whoever is asked for by any spelling is one.
        word("email_key"),
        maybe(text("username")),
        maybe(word("username_key")),
        text("display_name"),
        text("password_hash"),
        text("status"),
        // Raised by what ends every token that is out.
        number("token_version"),
        flag("is_system_admin"),
        // The company that they work in when they say none.
        maybe(id("home_id")),
        maybe(text("locale")),
        flag("must_change_password").or("false"),
        text("search").or("''"),
        number("version"),
        number("created_at"),
        // Nobody, where an account was made before anybody was there.
        maybe(id("created_by")),
        number("updated_at"),
        maybe(id("updated_by")),
    ];
    Table::of_all("users", &["id"], &columns)
        .sealed()
        .unique_everywhere("users_email", "email_key")
        .unique_everywhere("users_username", "username_key")
        .counted(EVERY_CHANGE)
}

/// What changes with a sign-in; apart from users, whose changes make everybody look again.
fn sign_ins() -> Table {
    let columns = [
        id("user_id"),
        maybe(number("last_at")),
        // In plain text, as it was kept once; hidden as soon as books of before are opened.
        maybe(text("totp_secret")),
        // The secret of the authenticator, under the master key.
        maybe(text("totp_hidden")),
        flag("totp_on"),
        // No code is good twice.
        number("totp_step"),
    ];
    Table::of_all("sign_ins", &["user_id"], &columns).sealed()
}

/// Somebody who was invited and has not accepted yet is a user without an account: their name to log in with is one that
/// nobody can give.
fn invitations() -> Table {
    let columns = [
        id("user_id"),
        id("business_id"),
        word("email_key"),
        // Of the code that was sent.
        word("digest"),
        number("expires_at"),
        number("created_at"),
        id("created_by"),
    ];
    Table::of_all("invitations", &["user_id"], &columns).sealed().unique_everywhere("invitations_digest", "digest")
}

/// A token is good as long as its session is.
fn sessions() -> Table {
    let columns = [
        id("id"),
        id("user_id"),
        number("made_at"),
        // Noted now and then, and nobody's right: no seal covers it.
        number("seen_at"),
        number("ends_at"),
        maybe(number("ended_at")),
        maybe(text("address")),
        maybe(text("agent")),
    ];
    Table::of_all("sessions", &["id"], &columns)
        .sealed()
        .found_by("sessions_by_user", "user_id")
        .found_by("sessions_by_end", "ends_at")
        // Whoever signs in makes nobody look again; whoever is signed out does.
        .counted(&[("end", "UPDATE OF ended_at")])
}

/// Networks that somebody signed in from, by a digest of each.
fn sign_in_places() -> Table {
    let columns = [id("user_id"), word("place"), number("last_at")];
    Table::of_all("sign_in_places", &["user_id", "place"], &columns).thin()
}

fn recovery_codes() -> Table {
    Table::of_all("recovery_codes", &["user_id", "digest"], &[id("user_id"), word("digest")]).thin().sealed()
}

/// Whose log-ins failed, by a digest: nothing that was typed as a name is kept.
fn login_failures() -> Table {
    Table::of_all("login_failures", &["id"], &[id("id"), word("subject"), number("failed_at")])
        .found_by("login_failures_by_subject", "subject, failed_at")
}

fn memberships() -> Table {
    Table::of_company("memberships", &["user_id"], &[id("user_id"), maybe(id("permission_id"))])
        .beside_people()
        .thin()
        .sealed()
        .refers("memberships_business", (&["business_id"], "businesses", &["id"]))
        .refers("memberships_user", (&["user_id"], "users", &["id"]))
        .guarded(BY_USER, BY_USER)
        .counted(EVERY_CHANGE)
}

/// The one index of a company's table that asks across companies: where somebody is a member.
const BY_USER: &[&str] = &["CREATE INDEX memberships_by_user ON memberships (user_id, business_id)"];

fn permission_sets() -> Table {
    let columns = [
        id("id"),
        text("name"),
        word("name_key"),
        maybe(text("description")),
        // The built-in set that it is.
        maybe(text("role")),
        text("grants"),
        maybe(number("max_document_amount")),
        maybe(number("backdate_days")),
        text("search"),
    ];
    Table::of_company("permission_sets", &["id"], &columns)
        .beside_people()
        .with_versions()
        .sealed()
        .counted(EVERY_CHANGE)
}

fn api_keys() -> Table {
    let columns = [
        id("id"),
        id("user_id"),
        text("name"),
        word("name_key"),
        // What is shown of a key that nobody sees twice.
        text("hint"),
        word("digest"),
        maybe(text("scopes")),
        text("allowed_addresses"),
        maybe(number("expires_at")),
        maybe(number("ended_at")),
        text("search"),
    ];
    Table::of_company("api_keys", &["id"], &columns)
        .beside_people()
        .with_versions()
        .sealed()
        .unique_everywhere("api_keys_digest", "digest")
        .counted(&[("insert", "INSERT"), ("delete", "DELETE"), ("end", "UPDATE OF ended_at")])
}
