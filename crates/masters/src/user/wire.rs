//! A user, as it is sent and shown.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::field::{Each, Field, Label, Maybe, Text};
use crate::ids::{BusinessId, RecordId};
use books::audit::{AuditAction, Change};
use books::auth::user::{Model, UserStatus};
use books::auth::{SentPassword, invitation};
use kit::master::RecordKeeping;
use kit::resource::Record;
use schema::key::ResourceKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a client sends to create or replace a user.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct UserInput {
    /// E-mail address that the invitation is made for, and what they log in with. It is never changed here.
    pub(super) email: Field<Label<254>>,
    /// Another name to log in with; unique. Everybody chooses their own: whoever invites leaves it out.
    pub(super) username: Maybe<Text<100>>,
    /// Name to show. Until they accept it is the inviter's word for them, from then on theirs to change.
    pub(super) display_name: Field<Label<200>>,
    /// Left out by everybody but the operator: whoever is invited chooses their own when they accept, and changes it in
    /// their account. An administrator of the installation may open a new account with its first password, as the command
    /// `duet user add` does.
    pub(super) password: Maybe<SentPassword>,
    /// Whether they may log in: `active` or `disabled`; as it is when absent, and `invited` until they accept. Ends every
    /// token the user holds.
    pub(super) status: Maybe<UserStatus>,
    /// Language and country, such as `de-AT`; everybody's own.
    pub(super) locale: Maybe<Text<35>>,
    /// What they may do: a permission set in this company. Those in other companies are changed there. As they are when
    /// absent; a new user needs one.
    pub(super) memberships: Each<MembershipInput>,
}

/// What a user may do in a company.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct MembershipInput {
    /// The company; this one when absent.
    pub(super) business_id: Maybe<RecordId>,
    /// The permission set that they hold there.
    pub(super) permission_id: Field<RecordId>,
}

/// A member of the company, or somebody who was invited to be one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "User")]
pub struct UserView {
    #[serde(flatten)]
    pub(crate) keeping: RecordKeeping,
    /// E-mail address.
    pub(super) email: String,
    /// Another name to log in with.
    pub(super) username: Option<String>,
    /// Name to show.
    pub(super) display_name: String,
    /// Whether they may log in; `invited` until they accept.
    pub(super) status: UserStatus,
    /// Language and country.
    pub(super) locale: Option<String>,
    /// Whether they are to choose another password. This and the three after it are null until they accept, and where
    /// they are in companies whose people you do not see as well.
    pub(super) must_change_password: Option<bool>,
    /// Whether they may make companies.
    pub(super) is_system_admin: Option<bool>,
    /// Whether a code of an authenticator is asked of them.
    pub(super) two_factor_enabled: Option<bool>,
    /// When they last logged in.
    pub(super) last_login_at: Option<Instant>,
    /// When the invitation ends that they have not accepted yet.
    pub(super) invitation_expires_at: Option<Instant>,
    /// The code by which they accept; give it to them. Only in the answer that makes it.
    pub(crate) invitation_code: Option<String>,
    /// What they may do, in the companies whose people you see.
    pub(super) memberships: Vec<MembershipView>,
}

/// What a user may do in a company.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Membership")]
pub struct MembershipView {
    /// The company.
    pub business_id: BusinessId,
    /// The permission set that they hold there.
    pub permission_id: RecordId,
    /// A built-in role, or what the company calls its set.
    pub role: String,
}

impl AsRef<RecordKeeping> for UserView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

impl UserView {
    /// As the company's log has it: nothing of what depends on who looks, nor of where else somebody is.
    fn audited(&self, business: BusinessId) -> Result<String> {
        let mut view = serde_json::to_value(self).map_err(Error::internal)?;
        if let Some(memberships) = view["memberships"].as_array_mut() {
            memberships.retain(|one| one["businessId"] == business.to_string());
        }
        for name in OF_THE_ACCOUNT {
            view[name] = serde_json::Value::Null;
        }
        Ok(view.to_string())
    }

    /// A member as a company's log has them, whoever looks.
    pub fn of_member(row: Model, member: MembershipView, ends: Option<Instant>) -> Self {
        let waits = invitation::waits(&row);
        Self {
            memberships: vec![member],
            must_change_password: Some(row.must_change_password).filter(|_| !waits),
            is_system_admin: Some(row.is_system_admin).filter(|_| !waits),
            two_factor_enabled: None,
            last_login_at: None,
            invitation_expires_at: ends,
            invitation_code: None,
            keeping: RecordKeeping {
                id: RecordId(row.id.0),
                version: row.version,
                created_at: row.created_at,
                created_by: row.created_by,
                updated_at: row.updated_at,
                updated_by: row.updated_by,
            },
            email: row.email,
            username: row.username,
            display_name: row.display_name,
            status: row.status,
            locale: row.locale,
        }
    }

    /// As it is answered once, to whoever hands the code over.
    pub(crate) fn with_code(self, code: String) -> Self {
        Self { invitation_code: Some(code), ..self }
    }

    /// What it says to the log of a company.
    pub fn change(action: AuditAction, business: BusinessId, states: [Option<&Self>; 2]) -> Result<Change> {
        let [before, after] = states;
        let json = |view: &Self| view.audited(business);
        Ok(Change {
            action,
            resource: ResourceKey::Users,
            id: after.or(before).map(Record::id).unwrap_or_default(),
            version_from: before.map(Record::version),
            version_to: after.map(Record::version),
            before: before.map(json).transpose()?,
            after: after.map(json).transpose()?,
            note: None,
        })
    }
}

/// What an account is beyond the company.
const OF_THE_ACCOUNT: [&str; 5] =
    ["mustChangePassword", "isSystemAdmin", "twoFactorEnabled", "lastLoginAt", "invitationCode"];
