//! The log of security: what happened to accounts, rights and secrets, one event each.
//!
//! Owns: which events there are, and that none is written without who it was and where it came from. What changes people
//! is told from the same change that the audit log keeps, after its commit; what is refused, where it is refused. Refuses:
//! to be turned off, and to hold anything that somebody sent as a secret or as a name.

use crate::audit::{AuditAction, Change, Origin};
use crate::auth::UserStatus;
use crate::ids::{BusinessId, RecordId, UserId};
use schema::key::ResourceKey;
use serde_json::{Value, json};

/// The target of its lines, which is on at every level.
pub const TARGET: &str = "security";

/// Who did something, or tried to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    User(UserId),
    /// A key that speaks for a user.
    Key {
        key: RecordId,
        user: UserId,
    },
    /// Whoever sits at the command line, or the program itself at its start.
    Operator,
    /// Nobody known.
    Stranger,
}

impl Who {
    /// Who asked for a change.
    pub fn of(origin: &Origin) -> Self {
        match (origin.user, origin.key) {
            (Some(user), Some(key)) => Self::Key { key, user },
            (Some(user), None) => Self::User(user),
            (None, _) => Self::Operator,
        }
    }
}

/// Something that whoever watches over the installation must be able to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    LoggedIn,
    /// Whose account was tried, where there is one.
    LogInFailed {
        account: Option<UserId>,
    },
    /// There were too many guesses.
    LogInHeldUp,
    /// There were too many keys that nobody has.
    KeysHeldUp,
    /// A password that should have confirmed something was wrong.
    ConfirmationFailed,
    /// A token or a key that is good for nothing, or no longer.
    TokenRefused {
        operation: String,
        why: String,
    },
    /// A key that was used from where it must not be.
    KeyMisused {
        key: RecordId,
    },
    /// Somebody who is signed in lacks a right.
    Denied {
        operation: String,
        why: String,
    },
    /// Somebody asks too much.
    Throttled {
        operation: String,
    },
    InvitationMade {
        user: RecordId,
    },
    InvitationChanged {
        user: RecordId,
    },
    InvitationAccepted {
        user: RecordId,
    },
    InvitationWithdrawn {
        user: RecordId,
    },
    /// A code that opens nothing.
    InvitationRefused,
    MemberJoined {
        user: RecordId,
    },
    MemberChanged {
        user: RecordId,
    },
    MemberRemoved {
        user: RecordId,
    },
    PermissionsChanged {
        set: RecordId,
        action: AuditAction,
    },
    KeyMade {
        key: RecordId,
    },
    KeyEnded {
        key: RecordId,
    },
    CompanyChanged {
        action: AuditAction,
    },
    AccountChanged {
        account: RecordId,
        what: String,
    },
    /// Records left the system as a file.
    Exported {
        operation: String,
    },
}

/// What is written of an event beside who and where.
#[derive(Default)]
struct Written {
    record: Option<String>,
    operation: Option<String>,
    why: Option<String>,
}

impl Event {
    const fn name(&self) -> &'static str {
        match self {
            Self::LoggedIn => "logged_in",
            Self::LogInFailed { .. } => "log_in_failed",
            Self::LogInHeldUp => "log_in_held_up",
            Self::KeysHeldUp => "keys_held_up",
            Self::ConfirmationFailed => "confirmation_failed",
            Self::TokenRefused { .. } => "token_refused",
            Self::KeyMisused { .. } => "key_misused",
            Self::Denied { .. } => "denied",
            Self::Throttled { .. } => "throttled",
            Self::InvitationMade { .. } => "invitation_made",
            Self::InvitationChanged { .. } => "invitation_changed",
            Self::InvitationAccepted { .. } => "invitation_accepted",
            Self::InvitationWithdrawn { .. } => "invitation_withdrawn",
            Self::InvitationRefused => "invitation_refused",
            Self::MemberJoined { .. } => "member_joined",
            Self::MemberChanged { .. } => "member_changed",
            Self::MemberRemoved { .. } => "member_removed",
            Self::PermissionsChanged { .. } => "permissions_changed",
            Self::KeyMade { .. } => "key_made",
            Self::KeyEnded { .. } => "key_ended",
            Self::CompanyChanged { .. } => "company_changed",
            Self::AccountChanged { .. } => "account_changed",
            Self::Exported { .. } => "exported",
        }
    }

    fn written(self) -> Written {
        let of = |record: RecordId| Written { record: Some(record.to_string()), ..Written::default() };
        match self {
            Self::LoggedIn
            | Self::LogInHeldUp
            | Self::KeysHeldUp
            | Self::ConfirmationFailed
            | Self::InvitationRefused => Written::default(),
            Self::LogInFailed { account } => {
                Written { record: account.map(|account| account.to_string()), ..Written::default() }
            }
            Self::TokenRefused { operation, why } | Self::Denied { operation, why } => {
                Written { operation: Some(operation), why: Some(why), ..Written::default() }
            }
            Self::Throttled { operation } | Self::Exported { operation } => {
                Written { operation: Some(operation), ..Written::default() }
            }
            Self::InvitationMade { user }
            | Self::InvitationChanged { user }
            | Self::InvitationAccepted { user }
            | Self::InvitationWithdrawn { user }
            | Self::MemberJoined { user }
            | Self::MemberChanged { user }
            | Self::MemberRemoved { user } => of(user),
            Self::KeyMisused { key } | Self::KeyMade { key } | Self::KeyEnded { key } => of(key),
            Self::PermissionsChanged { set, action } => Written { why: Some(action.to_string()), ..of(set) },
            Self::CompanyChanged { action } => Written { why: Some(action.to_string()), ..Written::default() },
            Self::AccountChanged { account, what } => Written { why: Some(what), ..of(account) },
        }
    }

    /// Writes it down.
    pub fn tell(self, who: Who, business: Option<BusinessId>, origin: &Origin) {
        let event = self.name();
        let Written { record, operation, why } = self.written();
        let (kind, user, key) = match who {
            Who::User(user) => ("user", Some(user.to_string()), None),
            Who::Key { key, user } => ("key", Some(user.to_string()), Some(key.to_string())),
            Who::Operator => ("operator", None, None),
            Who::Stranger => ("stranger", None, None),
        };
        let address = origin.address.map(|address| address.to_string());
        let business = business.map(|business| business.to_string());
        tracing::info!(
            target: TARGET,
            event,
            who = kind,
            user = user.as_deref(),
            key = key.as_deref(),
            business = business.as_deref(),
            record = record.as_deref(),
            operation = operation.as_deref(),
            why = why.as_deref(),
            address = address.as_deref(),
            dialect = origin.dialect,
            request_id = origin.request_id.as_deref(),
            clientRequestId = origin.client_request_id.as_deref(),
            "security"
        );
    }

    /// Whose changes mean something here. A record that is none of these is not even read.
    const fn is_told_of(resource: ResourceKey) -> bool {
        use ResourceKey::{ApiKeys, Businesses, Permissions, Profile, Users};
        matches!(resource, Users | ApiKeys | Permissions | Businesses | Profile)
    }

    /// What a change of people means. Other changes are the books' own business.
    pub fn of(change: &Change) -> Option<Self> {
        let (record, action) = (change.id, change.action);
        if !Self::is_told_of(change.resource) {
            return None;
        }
        let invited = |json: Option<&str>| {
            let state: Option<Value> = json.and_then(|json| serde_json::from_str(json).ok());
            state.is_some_and(|state| state["status"] == UserStatus::Invited.as_str())
        };
        let (was, is) = (invited(change.before.as_deref()), invited(change.after.as_deref()));
        Some(match (change.resource, action) {
            (ResourceKey::Users, AuditAction::Created) if is => Self::InvitationMade { user: record },
            (ResourceKey::Users, AuditAction::Created) => Self::MemberJoined { user: record },
            (ResourceKey::Users, AuditAction::Deleted) if was => Self::InvitationWithdrawn { user: record },
            (ResourceKey::Users, AuditAction::Deleted) => Self::MemberRemoved { user: record },
            (ResourceKey::Users, _) if was && is => Self::InvitationChanged { user: record },
            (ResourceKey::Users, _) if was => Self::InvitationAccepted { user: record },
            (ResourceKey::Users, _) => Self::MemberChanged { user: record },
            (ResourceKey::ApiKeys, AuditAction::Deleted) => Self::KeyEnded { key: record },
            (ResourceKey::ApiKeys, _) => Self::KeyMade { key: record },
            (ResourceKey::Permissions, action) => Self::PermissionsChanged { set: record, action },
            (ResourceKey::Businesses, action @ (AuditAction::Created | AuditAction::Deleted)) => {
                Self::CompanyChanged { action }
            }
            (ResourceKey::Profile, _) => {
                let said: Value = serde_json::from_str(change.after.as_deref()?).ok()?;
                Self::AccountChanged { account: record, what: said["changed"].as_str().unwrap_or("made").to_owned() }
            }
            _ => return None,
        })
    }
}

/// Says that something is not as the server wrote it. Who did it, and from where, nobody knows.
pub fn tampered(business: Option<BusinessId>, why: &str) {
    let business = business.map(|business| business.to_string());
    tracing::error!(
        target: TARGET,
        event = "tampered",
        who = "stranger",
        business = business.as_deref(),
        why,
        "run duet verify"
    );
}

/// An event that waits for the commit of what it tells.
#[derive(Debug, Clone)]
pub struct Told {
    event: Event,
    business: Option<BusinessId>,
    origin: Origin,
}

impl Told {
    pub fn of(business: BusinessId, origin: &Origin, change: &Change) -> Option<Self> {
        let business = Some(business).filter(|business| *business != BusinessId::INSTALLATION);
        Event::of(change).map(|event| Self { event, business, origin: origin.clone() })
    }

    pub fn tell(self) {
        self.event.tell(Who::of(&self.origin), self.business, &self.origin);
    }
}

/// What happened to an account itself, as the installation's log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountChange {
    Made {
        email: String,
        is_system_admin: bool,
    },
    Password,
    SecondFactorOn,
    SecondFactorOff,
    /// By the operator, for who lost theirs.
    SecondFactorReset,
    Status(UserStatus),
    SessionsEnded,
    /// Made anew.
    RecoveryCodes,
}

impl AccountChange {
    pub fn of(self, account: UserId) -> Change {
        let made = matches!(self, Self::Made { .. });
        let after = match self {
            Self::Made { email, is_system_admin } => json!({"email": email, "isSystemAdmin": is_system_admin}),
            Self::Password => json!({"changed": "password"}),
            Self::SecondFactorOn => json!({"changed": "twoFactorOn", "twoFactorEnabled": true}),
            Self::SecondFactorOff => json!({"changed": "twoFactorOff", "twoFactorEnabled": false}),
            Self::SecondFactorReset => json!({"changed": "twoFactorReset", "twoFactorEnabled": false}),
            Self::SessionsEnded => json!({"changed": "sessionsEnded"}),
            Self::RecoveryCodes => json!({"changed": "recoveryCodes"}),
            Self::Status(status) => json!({"changed": "status", "status": status.as_str()}),
        };
        Change {
            action: if made { AuditAction::Created } else { AuditAction::Updated },
            resource: ResourceKey::Profile,
            id: RecordId(account.0),
            version_from: None,
            version_to: None,
            before: None,
            after: Some(after.to_string()),
            note: None,
        }
    }
}
