//! One's own sessions: where one is logged in, and how to end that. It needs nobody's leave.

use crate::clock::Instant;
use crate::error::{Error, FieldErrors, Result};
use crate::ids::{RecordId, UserId};
use crate::profile::check_logged_in;
use books::auth::session::{self as kept, Which};
use books::cx::Cx;
use books::database::lane::BoxFuture;
use kit::extra::{Act, ActMethod, Does, Extra, NoWords, On, Produced, Reading, action};
use kit::list::{ListQuery, Page, Parameter};
use kit::operation::Verb;
use kit::resource::{About, Record, Resource, Scope};
use kit::rows::read_only;
use schema::key::ResourceKey;
use schema::rights::Action;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

pub struct Sessions;

/// A log-in that is still good.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Session")]
pub struct SessionView {
    /// Identifier.
    id: RecordId,
    /// Whether it is the one that this is asked with.
    current: bool,
    /// When you logged in.
    created_at: Instant,
    /// When it was last used, to within a few minutes.
    last_seen_at: Instant,
    /// When it ends by itself.
    expires_at: Instant,
    /// The address that you logged in from.
    address: Option<String>,
    /// The program that you logged in with, as it names itself.
    agent: Option<String>,
}

impl Record for SessionView {
    fn id(&self) -> RecordId {
        self.id
    }

    fn version(&self) -> i64 {
        1
    }
}

impl SessionView {
    fn of(cx: &Cx<'_>, row: kept::Model) -> Self {
        Self {
            id: row.id,
            current: cx.session() == Some(row.id),
            created_at: row.made_at,
            last_seen_at: row.seen_at,
            expires_at: row.ends_at,
            address: row.address,
            agent: row.agent,
        }
    }
}

/// Where you are logged in.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SessionList")]
struct SessionList {
    /// The last log-in first.
    items: Vec<SessionView>,
}

fn read<'c>(cx: &'c Cx<'c>, _: Option<RecordId>, _: &'c ListQuery) -> BoxFuture<'c, Result<Produced>> {
    Box::pin(async move {
        check_logged_in(cx)?;
        let rows = kept::of(&cx.db, cx.user, cx.now).await?;
        let items = rows.into_iter().map(|row| SessionView::of(cx, row)).collect();
        Produced::json(&SessionList { items })
    })
}

/// A session of the caller's that is good.
async fn own(cx: &Cx<'_>, id: RecordId) -> Result<SessionView> {
    let found = kept::find(&cx.db, id).await?;
    let found = found.filter(|session| session.is_good(cx.user, cx.now));
    found.map(|session| SessionView::of(cx, session)).ok_or(Error::NotFound)
}

struct EndSession;

impl Act for EndSession {
    type Resource = Sessions;
    type Answers = Sessions;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "End";
    const SEGMENT: &'static str = "";
    const ACTION: Action = Action::Delete;
    const METHOD: ActMethod = ActMethod::Delete;
    const SUMMARY: &'static str = "End a session of yours";
    const DESCRIPTION: &'static str = "Its token is good no more. Answers what it was.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<SessionView> {
        check_logged_in(cx)?;
        let ended = own(cx, id).await?;
        kept::end(&cx.db, cx.user, Which::One(id), cx.now).await?;
        Ok(ended)
    }
}

struct EndOthers;

impl Act for EndOthers {
    type Resource = Sessions;
    type Answers = Sessions;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "EndOthers";
    const SEGMENT: &'static str = "end-others";
    const ACTION: Action = Action::Delete;
    const ON: On = On::Collection;
    const SUMMARY: &'static str = "End all other sessions of yours";
    const DESCRIPTION: &'static str = "The tokens of all but this one are good no more. Answers this one.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<SessionView> {
        check_logged_in(cx)?;
        let current = cx.session().ok_or_else(|| Error::internal("a log-in has no session"))?;
        kept::end(&cx.db, UserId(id.0), Which::AllBut(current), cx.now).await?;
        own(cx, current).await
    }
}

impl Resource for Sessions {
    const KEY: ResourceKey = ResourceKey::Sessions;
    const SCOPE: Scope = Scope::Installation;
    const ABOUT: About = About {
        one: "a session",
        many: "sessions",
        description: "Where you are logged in. Each log-in makes a session, and its token is good until the session ends: \
                      by itself, when you log out or end it here, and with every other when your password changes. No \
                      permission is needed.",
        sorts: &[],
        searched: "",
    };
    const VERBS: &'static [Verb] = &[];
    type Input = NoWords;
    type Draft = ();
    type View = SessionView;

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
                summary: "See where you are logged in",
                description: "Your sessions that are good, the last log-in first.",
                does: Does::Reads(Reading::json::<SessionList>(read, || json!({"items": [Self::example_view()]}))),
            },
            action::<EndSession>(),
            action::<EndOthers>(),
        ]
    }

    fn example() -> serde_json::Value {
        json!({})
    }

    fn example_view() -> serde_json::Value {
        json!({
            "id": "019a9f6e-6c00-7e42-b3c1-5d7f9b1a3c05", "current": true, "createdAt": "2026-11-20T09:30:00.000000Z",
            "lastSeenAt": "2026-11-20T09:45:00.000000Z", "expiresAt": "2026-11-20T10:30:00.000000Z",
            "address": "203.0.113.7", "agent": "Mozilla/5.0"
        })
    }

    async fn list(_: &Cx<'_>, _: &ListQuery) -> Result<Page<SessionView>> {
        Err(Error::NotFound)
    }

    async fn get(_: &Cx<'_>, _: RecordId) -> Result<SessionView> {
        Err(Error::NotFound)
    }

    read_only!();
}
