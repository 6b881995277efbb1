//! One's own account: who one is, one's password, and the second factor. It needs nobody's leave.

mod second_factor;

use crate::clock::Instant;
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Faults, Field};
use crate::ids::{RecordId, UserId};
use crate::invitation::AcceptInvitation;
use crate::user::{MembershipView, memberships};
use books::auth::password::{Names, NewPassword};
use books::auth::user::{self as accounts, Revoking, UserStatus};
use books::auth::{SentPassword, recovery, session, sign_in};
use books::cx::Cx;
use books::database::lane::BoxFuture;
use books::security::AccountChange;
use kit::extra::{Act, Does, Extra, NoWords, On, Produced, Reading, action};
use kit::list::{ListQuery, Page, Parameter};
use kit::operation::{Confirmation, ResourceOperations, SecondFactor, Verb};
use kit::resource::{About, Record, Resource, Scope};
use kit::rows::read_only;
use schema::key::ResourceKey;
use schema::rights::Action;
use schemars::JsonSchema;
use second_factor::{BeginTotp, ConfirmTotp, RemoveTotp, RenewRecoveryCodes};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub struct Profile;

/// One's own account.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Profile")]
pub struct ProfileView {
    /// Identifier.
    id: RecordId,
    /// Rises with every change.
    version: i64,
    /// E-mail address.
    email: String,
    /// Another name to log in with.
    username: Option<String>,
    /// Name to show.
    display_name: String,
    /// Whether you may log in.
    status: UserStatus,
    /// Language and country.
    locale: Option<String>,
    /// Whether you must choose another password before anything else.
    must_change_password: bool,
    /// Whether you may make companies.
    is_system_admin: bool,
    /// Whether a code of your authenticator is asked of you.
    two_factor_enabled: bool,
    /// When you last logged in.
    last_login_at: Option<Instant>,
    /// What you may do in which company.
    memberships: Vec<MembershipView>,
    /// How many of your recovery codes are left.
    recovery_codes_left: u64,
    /// What your authenticator needs; only in the answer that makes it.
    authenticator: Option<Authenticator>,
    /// Codes that are each good once in place of one of your authenticator; only in the answer that makes them. Keep them
    /// where you find them without your device.
    recovery_codes: Option<Vec<String>>,
}

/// What an authenticator needs to make codes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Authenticator {
    /// The secret, to be typed in.
    secret: String,
    /// The same as an address, to be shown as a picture.
    uri: String,
}

impl Record for ProfileView {
    fn id(&self) -> RecordId {
        self.id
    }

    fn version(&self) -> i64 {
        self.version
    }
}

pub(crate) async fn own(cx: &Cx<'_>) -> Result<ProfileView> {
    let row = accounts::find(&cx.db, cx.user).await?.ok_or(Error::NotFound)?;
    let signed = sign_in::find(&cx.db, cx.user).await?;
    let mut memberships = memberships(cx, &[cx.user], None).await?.remove(&cx.user).unwrap_or_default();
    memberships.retain(|one| cx.only().is_none_or(|only| only == one.business_id));
    Ok(ProfileView {
        id: RecordId(row.id.0),
        version: row.version,
        email: row.email,
        username: row.username,
        display_name: row.display_name,
        status: row.status,
        locale: row.locale,
        must_change_password: row.must_change_password,
        is_system_admin: row.is_system_admin,
        two_factor_enabled: signed.as_ref().is_some_and(|signed| signed.totp_on),
        last_login_at: signed.and_then(|signed| signed.last_at),
        memberships,
        recovery_codes_left: recovery::left(&cx.db, cx.user).await?,
        authenticator: None,
        recovery_codes: None,
    })
}

fn read<'c>(cx: &'c Cx<'c>, _: Option<RecordId>, _: &'c ListQuery) -> BoxFuture<'c, Result<Produced>> {
    Box::pin(async move { Produced::json(&own(cx).await?) })
}

/// Only who logged in may change what they log in with.
pub(crate) fn check_logged_in(cx: &Cx<'_>) -> Result<()> {
    match cx.only() {
        Some(_) => Err(Error::not_allowed("An API key cannot do this; log in", FieldErrors::default())),
        None => Ok(()),
    }
}

// ── Password ──

struct ChangePassword;

/// What a client sends to change their password.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct PasswordInput {
    /// The password that you have.
    current_password: Field<SentPassword>,
    /// The one that you want, 12 to 256 characters, and hard to guess for whoever knows your names and those of your
    /// companies. Every session of yours ends.
    new_password: Field<SentPassword>,
}

struct Passwords {
    current: String,
    wanted: NewPassword,
}

impl Act for ChangePassword {
    type Resource = Profile;
    type Answers = Profile;
    type Input = PasswordInput;
    type Words = Passwords;
    const NAME: &'static str = "ChangePassword";
    const SEGMENT: &'static str = "password";
    const ACTION: Action = Action::Edit;
    const ON: On = On::Collection;
    const SUMMARY: &'static str = "Change your password";
    const DESCRIPTION: &'static str = "Every session of yours ends, this one too: log in again. API keys go on.";

    fn check(input: PasswordInput) -> Result<Passwords, FieldErrors> {
        let mut faults = Faults::default();
        let current = faults.required("currentPassword", input.current_password).into_inner();
        let wanted = faults.required("newPassword", input.new_password).into_inner();
        faults.finish(())?;
        if wanted == current {
            return Err(FieldErrors::one("newPassword", "must be another than the one that you have"));
        }
        Ok(Passwords { current, wanted: NewPassword::of("newPassword", wanted, Names::default())? })
    }

    fn example() -> Option<fn() -> serde_json::Value> {
        Some(|| json!({"currentPassword": "correct horse battery", "newPassword": "a ferry at first light"}))
    }

    fn confirmed_by(words: &Passwords) -> Option<Confirmation<'_>> {
        Some(Confirmation { password: &words.current, factor: SecondFactor::NotAsked })
    }

    fn new_password(words: &Passwords) -> Option<&NewPassword> {
        Some(&words.wanted)
    }

    async fn run(cx: &Cx<'_>, id: RecordId, words: &Passwords) -> Result<ProfileView> {
        check_logged_in(cx)?;
        let hash = words.wanted.hash()?.to_owned();
        accounts::revoke_with(&cx.db, UserId(id.0), Revoking::Password { hash, must_change: false }, cx.now).await?;
        cx.record_account(UserId(id.0), AccountChange::Password)?;
        own(cx).await
    }
}

// ── Second factor ──

/// The password, to confirm with.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct ConfirmedInput {
    /// The password that you have.
    current_password: Field<SentPassword>,
}

fn confirmed(input: ConfirmedInput) -> Result<String, FieldErrors> {
    let mut faults = Faults::default();
    let current = faults.required("currentPassword", input.current_password).into_inner();
    faults.finish(current)
}

// ── Log out ──

struct LogOut;

impl Act for LogOut {
    type Resource = Profile;
    type Answers = Profile;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "LogOut";
    const SEGMENT: &'static str = "logout";
    const ACTION: Action = Action::Edit;
    const ON: On = On::Collection;
    const SUMMARY: &'static str = "Log out";
    const DESCRIPTION: &'static str =
        "Ends the session of the token that this is asked with. The token is good no more.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<ProfileView> {
        check_logged_in(cx)?;
        if let Some(current) = cx.session() {
            session::end(&cx.db, UserId(id.0), session::Which::One(current), cx.now).await?;
        }
        own(cx).await
    }
}

/// Whether something may be done before a password is chosen that somebody else gave.
pub fn comes_before_the_password(resource: &ResourceOperations, verb: Verb) -> bool {
    let open = ["Get", ChangePassword::NAME, LogOut::NAME];
    resource.key == ResourceKey::Profile && resource.extra(verb).is_some_and(|extra| open.contains(&extra.name))
}

impl Resource for Profile {
    const KEY: ResourceKey = ResourceKey::Profile;
    const SCOPE: Scope = Scope::Installation;
    const SECRETS: &'static [&'static str] = &["authenticator", "recoveryCodes"];
    const CHANGES_PEOPLE: bool = true;
    const ABOUT: About = About {
        one: "your account",
        many: "your account",
        description: "Who you are here, and what you log in with. No permission is needed.",
        sorts: &[],
        searched: "",
    };
    const VERBS: &'static [Verb] = &[];
    type Input = NoWords;
    type Draft = ();
    type View = ProfileView;

    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    fn extras() -> Vec<Extra> {
        vec![
            Extra {
                name: "Get",
                segment: "",
                on: On::Collection,
                action: Action::View,
                answers: None,
                summary: "Get your account",
                description: "Who you are here, and in which companies.",
                does: Does::Reads(Reading::json::<ProfileView>(read, Self::example_view)),
            },
            action::<ChangePassword>(),
            action::<BeginTotp>(),
            action::<ConfirmTotp>(),
            action::<RemoveTotp>(),
            action::<RenewRecoveryCodes>(),
            action::<LogOut>(),
            action::<AcceptInvitation>(),
        ]
    }

    fn example() -> serde_json::Value {
        json!({})
    }

    fn example_view() -> serde_json::Value {
        json!({
            "id": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03", "version": 3, "email": "jo@harbour.example", "username": "jo",
            "displayName": "Jo Lindqvist", "status": "active", "locale": "de-DE", "mustChangePassword": false,
            "isSystemAdmin": false, "twoFactorEnabled": false, "lastLoginAt": "2026-11-20T09:30:00.000000Z",
            "memberships": [{
                "businessId": "019a9f6e-6c00-7a8e-9d1f-0a8f5f1c2b3d",
                "permissionId": "019a9f6e-6c00-7b2b-9a1a-f60738091b2b", "role": "owner"
            }],
            "recoveryCodesLeft": 0, "authenticator": null, "recoveryCodes": null
        })
    }

    async fn list(_: &Cx<'_>, _: &ListQuery) -> Result<Page<ProfileView>> {
        Err(Error::NotFound)
    }

    async fn get(_: &Cx<'_>, _: RecordId) -> Result<ProfileView> {
        Err(Error::NotFound)
    }

    read_only!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::said;
    use kit::operation::ResourceOperations;

    #[test]
    fn a_new_password_is_long_and_another() {
        let (current, wanted) = ("correct horse battery", "a ferry at first light");
        for (body, answer) in [
            (json!({"currentPassword": current, "newPassword": wanted}), "fine"),
            (json!({"newPassword": wanted}), "currentPassword: is required"),
            (json!({"currentPassword": current}), "newPassword: is required"),
            (
                json!({"currentPassword": current, "newPassword": current}),
                "newPassword: must be another than the one that you have",
            ),
            (json!({"currentPassword": current, "newPassword": "a ferry at"}), "newPassword: must be 12 to 256"),
            // What one has may be of any length: another rule held when it was chosen.
            (json!({"currentPassword": "short", "newPassword": wanted}), "fine"),
        ] {
            let found = said(ChangePassword::check(serde_json::from_value(body.clone()).unwrap()));
            assert!(found.starts_with(answer), "{body}: {found}");
        }
    }

    #[test]
    fn a_second_factor_is_proved_with_the_password_and_a_code() {
        let proof = |body: serde_json::Value| RemoveTotp::check(serde_json::from_value(body).unwrap());
        let given = proof(json!({"currentPassword": "correct horse battery", "code": "492039"})).unwrap();
        let confirmation = RemoveTotp::confirmed_by(&given).unwrap();
        assert_eq!(confirmation.password, "correct horse battery");
        assert!(matches!(confirmation.factor, SecondFactor::Asked(Some("492039"))));
        // Where it is left out, it is asked for all the same.
        let bare = proof(json!({"currentPassword": "correct horse battery"})).unwrap();
        assert!(matches!(RenewRecoveryCodes::confirmed_by(&bare).unwrap().factor, SecondFactor::Asked(None)));
        assert_eq!(said(proof(json!({"code": "492039"})).map(drop)), "currentPassword: is required");
        let code = |body: serde_json::Value| said(ConfirmTotp::check(serde_json::from_value(body).unwrap()));
        assert_eq!(code(json!({"code": "492039"})), "fine");
        assert_eq!(code(json!({})), "code: is required");
        let begun = BeginTotp::check(serde_json::from_value(json!({"currentPassword": "x"})).unwrap()).unwrap();
        assert!(matches!(BeginTotp::confirmed_by(&begun).unwrap().factor, SecondFactor::NotAsked));
    }

    #[test]
    fn before_a_password_is_chosen_one_sees_who_one_is_chooses_and_leaves() {
        let open = |of: &ResourceOperations| -> Vec<&str> {
            let extras = of.verbs().into_iter().filter(|verb| comes_before_the_password(of, *verb));
            extras.filter_map(|verb| of.extra(verb)).map(|extra| extra.name).collect()
        };
        assert_eq!(open(&ResourceOperations::of::<Profile>()), ["Get", "ChangePassword", "LogOut"]);
        assert_eq!(open(&ResourceOperations::of::<crate::session::Sessions>()), [""; 0]);
        assert_eq!(open(&ResourceOperations::of::<crate::party::Parties>()), [""; 0]);
    }
}
