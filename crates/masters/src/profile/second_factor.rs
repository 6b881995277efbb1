//! The second factor: an authenticator, and the codes for the day when it is lost.

use super::{Authenticator, ConfirmedInput, Profile, ProfileView, check_logged_in, confirmed, own};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Faults, Field, Maybe, Text};
use crate::ids::{RecordId, UserId};
use books::auth::{SentPassword, recovery, sign_in, totp};
use books::cx::Cx;
use books::keys::Purpose;
use books::security::AccountChange;
use kit::extra::{Act, ActMethod, On};
use kit::operation::{Confirmation, ReplyKind, SecondFactor};
use schema::address::text;
use schema::rights::Action;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(super) struct BeginTotp;

impl Act for BeginTotp {
    type Resource = Profile;
    type Answers = Profile;
    type Input = ConfirmedInput;
    type Words = String;
    const NAME: &'static str = "BeginTotp";
    const SEGMENT: &'static str = "totp";
    const ACTION: Action = Action::Edit;
    const ON: On = On::Collection;
    const SUMMARY: &'static str = "Begin to use an authenticator";
    const DESCRIPTION: &'static str =
        "Answers what your authenticator needs. Codes are asked for once you confirm one.";

    fn check(input: ConfirmedInput) -> Result<String, FieldErrors> {
        confirmed(input)
    }

    fn example() -> Option<fn() -> serde_json::Value> {
        Some(|| json!({"currentPassword": "correct horse battery"}))
    }

    fn confirmed_by(words: &String) -> Option<Confirmation<'_>> {
        Some(Confirmation { password: words, factor: SecondFactor::NotAsked })
    }

    async fn run(cx: &Cx<'_>, id: RecordId, _: &String) -> Result<ProfileView> {
        check_logged_in(cx)?;
        let view = own(cx).await?;
        if view.two_factor_enabled {
            return Err(Error::conflict(Code::InvalidState, "You have an authenticator already; remove it first"));
        }
        let secret = totp::secret()?;
        let user = UserId(id.0);
        let hidden = sign_in::hidden(cx.keys(), user, &secret)?;
        sign_in::set_totp(&cx.db, user, (Some(hidden), false, 0)).await?;
        let uri = totp::uri(&secret, &view.email);
        Ok(ProfileView { authenticator: Some(Authenticator { secret, uri }), ..view })
    }
}

pub(super) struct ConfirmTotp;

/// A code, to confirm with.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub(super) struct AuthenticatorCodeInput {
    /// The code that your authenticator shows.
    code: Field<Text<16>>,
}

impl Act for ConfirmTotp {
    type Resource = Profile;
    type Answers = Profile;
    type Input = AuthenticatorCodeInput;
    type Words = String;
    const NAME: &'static str = "ConfirmTotp";
    const SEGMENT: &'static str = "totp-confirmation";
    const ACTION: Action = Action::Edit;
    const ON: On = On::Collection;
    const SUMMARY: &'static str = "Confirm your authenticator";
    const DESCRIPTION: &'static str = "From now on a log-in needs a code of it as `totpCode`. Answers ten recovery codes, which \
                                       are shown only now: each is good once in place of such a code.";

    fn check(input: AuthenticatorCodeInput) -> Result<String, FieldErrors> {
        let mut faults = Faults::default();
        let code = faults.required("code", input.code).into_option().unwrap_or_default();
        faults.finish(code)
    }

    fn example() -> Option<fn() -> serde_json::Value> {
        Some(|| json!({"code": "492039"}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, code: &String) -> Result<ProfileView> {
        check_logged_in(cx)?;
        let signed = sign_in::find(&cx.db, cx.user).await?.filter(|signed| !signed.totp_on);
        let secret = signed.as_ref().map(|signed| signed.secret(cx.keys())).transpose()?.flatten();
        let Some(secret) = secret else {
            return Err(Error::conflict(Code::InvalidState, "No authenticator waits to be confirmed"));
        };
        let Some(step) = totp::step_of(&secret, code, cx.now, 0) else {
            return Err(Error::Conflict(Conflict {
                code: Code::InvalidState,
                title: "This is not the code of now".into(),
                errors: FieldErrors::one("code", "is not the code of now; does the clock of your device go right?"),
            }));
        };
        let user = UserId(id.0);
        let hidden = sign_in::hidden(cx.keys(), user, &secret)?;
        sign_in::set_totp(&cx.db, user, (Some(hidden), true, step)).await?;
        cx.record_account(user, AccountChange::SecondFactorOn)?;
        with_new_codes(cx, user).await
    }
}

/// One's account, with new recovery codes in place of those before.
async fn with_new_codes(cx: &Cx<'_>, user: UserId) -> Result<ProfileView> {
    let codes = recovery::renew(&cx.db, &cx.keys().signing(Purpose::SignIn)?, user).await?;
    Ok(ProfileView { recovery_codes: Some(codes), ..own(cx).await? })
}

/// The password, and the second factor.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub(super) struct ProvedInput {
    /// The password that you have.
    pub(super) current_password: Field<SentPassword>,
    /// A code of your authenticator, or one of your recovery codes, which is used up; needed once you confirmed the
    /// authenticator.
    code: Maybe<Text<32>>,
}

pub(super) struct Proof {
    pub(super) password: String,
    code: Option<String>,
}

impl Proof {
    fn confirmation(&self) -> Confirmation<'_> {
        Confirmation { password: &self.password, factor: SecondFactor::Asked(self.code.as_deref()) }
    }
}

fn proved(input: ProvedInput) -> Result<Proof, FieldErrors> {
    let mut faults = Faults::default();
    let password = faults.required("currentPassword", input.current_password).into_inner();
    let code = text(&mut faults, "code", input.code);
    faults.finish(Proof { password, code })
}

pub(super) struct RenewRecoveryCodes;

impl Act for RenewRecoveryCodes {
    type Resource = Profile;
    type Answers = Profile;
    type Input = ProvedInput;
    type Words = Proof;
    const NAME: &'static str = "RenewRecoveryCodes";
    const SEGMENT: &'static str = "recovery-codes";
    const ACTION: Action = Action::Edit;
    const ON: On = On::Collection;
    const SUMMARY: &'static str = "Make new recovery codes";
    const DESCRIPTION: &'static str = "Ten, which are shown only now. Those that you had are void. It takes a code of your authenticator, or one of those.";

    fn check(input: ProvedInput) -> Result<Proof, FieldErrors> {
        proved(input)
    }

    fn example() -> Option<fn() -> serde_json::Value> {
        Some(|| json!({"currentPassword": "correct horse battery", "code": "492039"}))
    }

    fn confirmed_by(words: &Proof) -> Option<Confirmation<'_>> {
        Some(words.confirmation())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, _: &Proof) -> Result<ProfileView> {
        check_logged_in(cx)?;
        if !own(cx).await?.two_factor_enabled {
            return Err(Error::conflict(Code::InvalidState, "You have no authenticator; the codes stand in for one"));
        }
        cx.record_account(UserId(id.0), AccountChange::RecoveryCodes)?;
        with_new_codes(cx, UserId(id.0)).await
    }
}

pub(super) struct RemoveTotp;

impl Act for RemoveTotp {
    type Resource = Profile;
    type Answers = Profile;
    type Input = ProvedInput;
    type Words = Proof;
    const NAME: &'static str = "RemoveTotp";
    const SEGMENT: &'static str = "totp-removal";
    const ACTION: Action = Action::Edit;
    const ON: On = On::Collection;
    const METHOD: ActMethod = ActMethod::Post;
    const KIND: ReplyKind = ReplyKind::Updated;
    const SUMMARY: &'static str = "Remove your authenticator";
    const DESCRIPTION: &'static str =
        "From now on a log-in needs the password alone. It takes a code of the authenticator, or a recovery code.";

    fn check(input: ProvedInput) -> Result<Proof, FieldErrors> {
        proved(input)
    }

    fn example() -> Option<fn() -> serde_json::Value> {
        Some(|| json!({"currentPassword": "correct horse battery", "code": "492039"}))
    }

    fn confirmed_by(words: &Proof) -> Option<Confirmation<'_>> {
        Some(words.confirmation())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, _: &Proof) -> Result<ProfileView> {
        check_logged_in(cx)?;
        sign_in::set_totp(&cx.db, UserId(id.0), (None, false, 0)).await?;
        recovery::forget(&cx.db, UserId(id.0)).await?;
        cx.record_account(UserId(id.0), AccountChange::SecondFactorOff)?;
        own(cx).await
    }
}
