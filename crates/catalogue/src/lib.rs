//! The catalogue of tenants: which there are, where the books of each are, and how they stand.
//!
//! Owns: what is kept of a tenant, and that nobody changes one who has not seen it as it is. It is a file of one machine,
//! or a database that the servers of many share: then whoever changes a tenant says so to all of them, and what callers
//! take of their minute counts at all of them. Refuses: to know what is in the books, and to open what is hidden.

mod cluster;
mod hold;
mod place;
mod store;

pub use cluster::{Cluster, Pattern};
pub use hold::Hold;
pub use place::{Place, State};

use postgres_kit::{Fault, Patience, hear, is_postgres};
use sea_orm::{DbErr, Value};
use store::Store;

/// What is known of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Under which it is asked for.
    pub host: String,
    pub place: Place,
    /// Its keys, and where its books are, if that is nobody's business; hidden.
    pub secrets: Option<String>,
    pub state: State,
    /// How often it was changed. Whoever changes it says which change they have seen.
    pub turn: i64,
    /// The release that its books were last served by.
    pub version: String,
}

/// What a caller is given of their minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// So many requests.
    pub granted: u64,
    /// So many more nobody has taken yet.
    pub beyond: u64,
    /// How many milliseconds are left of that minute.
    pub left: u64,
}

/// A way to the catalogue.
#[derive(Debug)]
pub struct Catalogue(Store);

/// Where changes are said.
const CHANNEL: &str = "duet_tenants";
const COLUMNS: &str = "host, place, secrets, state, turn, version";
/// Milliseconds of a caller's minute.
const WINDOW: i64 = 60_000;

type Kept = (String, String, Option<String>, String, i64, String);

fn tenant((host, place, secrets, state, turn, version): Kept) -> Result<Tenant, DbErr> {
    let strange =
        |what: &str| DbErr::Custom(format!("the catalogue says {what} of {host}, which this release does not know"));
    let place = Place::parse(&place).ok_or_else(|| strange(&place))?;
    let state = State::parse(&state).ok_or_else(|| strange(&state))?;
    Ok(Tenant { host, place, secrets, state, turn, version })
}

impl Catalogue {
    /// Opens it, and makes it where there is none.
    pub async fn open(url: &str, patience: Patience) -> Result<Self, DbErr> {
        Store::open(url, patience).await.map(Self)
    }

    /// Marks it by what its master key is known by, unless it was. The mark that it has is answered.
    pub async fn marked(&self, mark: &str) -> Result<String, DbErr> {
        let insert = "INSERT INTO about (one, mark) VALUES (1, ?1) ON CONFLICT (one) DO NOTHING RETURNING mark";
        self.0.write(insert, vec![mark.into()]).await?;
        let marks = self.0.ask("SELECT mark FROM about WHERE one = 1", Vec::new()).await?.column::<String>()?;
        marks.into_iter().next().ok_or_else(|| DbErr::Custom("the catalogue of tenants has no mark".into()))
    }

    /// Holds a tenant, whether there is one or not: nothing where somebody else does.
    pub async fn hold(&self, host: &str) -> Result<Option<Hold>, DbErr> {
        self.0.hold(host).await
    }

    /// Whether the servers of many machines share it.
    pub const fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// Whether a URL is one that many can share.
    pub fn would_be_shared(url: &str) -> bool {
        is_postgres(url)
    }

    pub async fn find(&self, host: &str) -> Result<Option<Tenant>, DbErr> {
        let asked = format!("SELECT {COLUMNS} FROM tenants WHERE host = ?1");
        let found = self.0.ask(&asked, vec![host.into()]).await?.read::<Kept>()?;
        found.into_iter().next().map(tenant).transpose()
    }

    /// All of them, by their hosts.
    pub async fn list(&self) -> Result<Vec<Tenant>, DbErr> {
        let asked = format!("SELECT {COLUMNS} FROM tenants ORDER BY host");
        self.0.ask(&asked, Vec::new()).await?.read::<Kept>()?.into_iter().map(tenant).collect()
    }

    /// Adds one. Whether there was none of its host is answered.
    pub async fn add(&self, new: &Tenant) -> Result<bool, DbErr> {
        let insert = "INSERT INTO tenants (host, place, secrets, state, turn, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                      ON CONFLICT (host) DO NOTHING RETURNING host";
        let Tenant { host, place, secrets, state, turn, version } = new;
        let values: Vec<Value> = vec![
            host.as_str().into(),
            place.to_string().into(),
            secrets.clone().into(),
            state.as_str().into(),
            (*turn).into(),
            version.as_str().into(),
        ];
        self.said(host, insert, values).await
    }

    /// Makes of a tenant as it was seen what it is to be. Nothing where somebody else has changed it since.
    pub async fn change(&self, seen: &Tenant, to: Tenant) -> Result<Option<Tenant>, DbErr> {
        let to = Tenant { host: seen.host.clone(), turn: seen.turn + 1, ..to };
        let update = "UPDATE tenants SET place = ?1, secrets = ?2, state = ?3, turn = ?4 WHERE host = ?5 AND turn = ?6 \
                      RETURNING host";
        let values: Vec<Value> = vec![
            to.place.to_string().into(),
            to.secrets.clone().into(),
            to.state.as_str().into(),
            to.turn.into(),
            seen.host.as_str().into(),
            seen.turn.into(),
        ];
        Ok(self.said(&seen.host, update, values).await?.then_some(to))
    }

    /// Takes out a tenant as it was seen. Whether it was still so is answered.
    pub async fn remove(&self, seen: &Tenant) -> Result<bool, DbErr> {
        let delete = "DELETE FROM tenants WHERE host = ?1 AND turn = ?2 RETURNING host";
        self.said(&seen.host, delete, vec![seen.host.as_str().into(), seen.turn.into()]).await
    }

    /// Notes by which release the books of a tenant are served. That changes nothing for anybody.
    pub async fn served_by(&self, host: &str, version: &str) -> Result<(), DbErr> {
        let update = "UPDATE tenants SET version = ?1 WHERE host = ?2 AND version <> ?1 RETURNING host";
        self.0.write(update, vec![version.into(), host.into()]).await.map(drop)
    }

    /// Writes, and says so to whoever hears. Whether anything was written is answered.
    async fn said(&self, host: &str, sql: &str, values: Vec<Value>) -> Result<bool, DbErr> {
        let done = !self.0.write(sql, values).await?.is_empty();
        // Nobody counts on hearing it: whoever does not looks again soon.
        if done && self.is_shared() {
            let _nobody_hears = self.0.write("SELECT pg_notify('duet_tenants', ?1)", vec![host.into()]).await;
        }
        Ok(done)
    }

    /// Hears of each change by its host until the connection ends, and of nothing once: then all may have changed.
    pub async fn hear(&self, heard: &(dyn Fn(Option<&str>) + Send + Sync)) -> Option<Fault> {
        let target = self.0.target()?;
        Some(hear(target, CHANNEL, heard).await)
    }

    /// Takes so many requests of a caller's minute, which all servers count together: as many as are left of it at most.
    pub async fn take(&self, tenant: &str, caller: &str, wanted: u64, limit: u64) -> Result<Taken, DbErr> {
        let sql = format!(
            "INSERT INTO taken AS t (tenant, caller, began, count) \
             VALUES (?1, ?2, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint), ?3) \
             ON CONFLICT (tenant, caller) DO UPDATE SET \
             count = CASE WHEN excluded.began - t.began >= {WINDOW} THEN excluded.count \
             ELSE LEAST(t.count + excluded.count, ?4 + excluded.count) END, \
             began = CASE WHEN excluded.began - t.began >= {WINDOW} THEN excluded.began ELSE t.began END \
             RETURNING count, CAST({WINDOW} - (CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) - began) AS bigint)"
        );
        let [wanted, most] = [wanted, limit].map(|count| i64::try_from(count).unwrap_or(i64::MAX / 4));
        let values: Vec<Value> = vec![tenant.into(), caller.into(), wanted.into(), most.into()];
        let (count, left) = self
            .0
            .write(&sql, values)
            .await?
            .read::<(i64, i64)>()?
            .pop()
            .ok_or_else(|| DbErr::Custom("nobody says what was taken".into()))?;
        // Before this one there were so many.
        let granted = (most - (count - wanted)).clamp(0, wanted);
        let [granted, beyond, left] = [granted, most - count, left].map(|count| u64::try_from(count).unwrap_or(0));
        Ok(Taken { granted, beyond, left })
    }

    /// Forgets minutes that are over.
    pub async fn forget_minutes(&self) -> Result<(), DbErr> {
        let delete = format!(
            "DELETE FROM taken WHERE began < CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint) - {WINDOW}"
        );
        self.0.write(&delete, Vec::new()).await.map(drop)
    }

    pub async fn close(&self) {
        self.0.close().await;
    }
}

#[cfg(test)]
mod tests;
