//! `--demo`: sample companies in a database that is thrown away, entered like any other data.

use crate::bar;
use ::demo::{Order, Size};
use clap::ValueEnum;
use ledger_core::auth::{Credentials, LoginName, NewUser};
use ledger_core::books::audit::Origin;
use ledger_core::day::Day;
use ledger_core::error::Result;
use ledger_core::ledger::Ledger;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(crate) const EMAIL: &str = "demo@duet.example";
pub(crate) const PASSWORD: &str = "two voices, one book";

/// How far the company that is farthest west is behind the clock of the world.
const BEHIND: Duration = Duration::from_hours(5);

/// What loading may take of a minute: as long as it takes.
pub(crate) const LONG: Duration = Duration::from_hours(24);

/// How much there is to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Demo {
    /// A quarter of a year
    Small,
    /// Two years
    Normal,
    /// Two years of a hundred thousand documents
    Large,
}

/// What is loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) demo: Demo,
    pub(crate) seed: u64,
    /// The last day that anything is entered for; today where it is not said.
    pub(crate) day: Option<Day>,
}

/// A folder that lives as long as the demo.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn make() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("duet-demo-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// The demo's own data folder, and nobody's database but the one in it.
    pub(crate) fn overrides(&self, said: &[(String, String)]) -> Vec<(String, String)> {
        let database = format!("sqlite:{}/demo.db", self.0.display());
        // Standbys are of the database that is not looked at.
        let own = [
            ("Data", self.0.display().to_string()),
            ("ConnectionStrings:Default", database),
            ("Database:Replicas", String::new()),
        ];
        own.into_iter()
            .filter(|(key, _)| !said.iter().any(|(named, _)| named == key))
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

/// Loads the sample companies; a database that has users already is left as it is.
pub(crate) async fn load(ledger: &Arc<Ledger>, sample: Sample) -> Result<()> {
    let user = NewUser {
        email: EMAIL.into(),
        username: Some("demo".into()),
        display_name: "Demo".into(),
        password: String::new(),
        must_change_password: false,
        is_system_admin: true,
    };
    if ledger.bootstrap(user, Some(PASSWORD.into())).await?.is_none() {
        return Ok(());
    }
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let credentials = Credentials { name: EMAIL.into(), password: PASSWORD.into(), totp_code: None };
    let origin = Origin { address: Some(here), ..Origin::default() };
    let session = ledger.login(LoginName::Email, credentials, &origin, None).await?;
    let principal = ledger.authenticate(&session.token, None, None).await?;
    let size = match sample.demo {
        Demo::Small => Size::Small,
        Demo::Normal => Size::Normal,
        Demo::Large => Size::Large,
    };
    // A day that has begun wherever one of the companies is.
    let begun = ledger.now().minus(BEHIND).utc().date_naive();
    let today = sample.day.unwrap_or(Day::of(begun));
    let done = Arc::new(AtomicU64::new(0));
    let seen = done.clone();
    let _bar = bar::show(move || usize::try_from(seen.load(Ordering::Relaxed) / 10).unwrap_or(0));
    let order = Order { size, seed: sample.seed, today };
    ::demo::load(ledger, &principal, order, &|permille| done.store(permille, Ordering::Relaxed)).await
}
