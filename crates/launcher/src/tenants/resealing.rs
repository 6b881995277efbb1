//! The master key of a tenant where the catalogue has it: another one waits beside it until the books are under that.
//!
//! One that waits is never forgotten before it is in its place: whether what was written under it came to its end is not known to
//! whoever was cut off.

use super::known::{Known, Secrets, Working};
use super::normal_host;
use crate::config::Settings;
use catalogue::{State, Tenant};
use ledger_core::fault::said;
use std::sync::Arc;

/// Nobody else works on the tenant as long as this is kept.
pub(crate) struct KeyOfTenant {
    known: Arc<Known>,
    working: Working,
    seen: Tenant,
    secrets: Secrets,
}

impl KeyOfTenant {
    /// Of the tenant that a command is about; nothing where its key is in its folder, or nobody is named.
    pub(crate) async fn of(settings: &Settings) -> Result<Option<Self>, String> {
        let Some(host) = settings.tenant.as_deref().and_then(normal_host) else { return Ok(None) };
        let known = Known::open(settings).await?;
        match Self::held(&known, &host).await {
            Ok(Some((working, seen, secrets))) => Ok(Some(Self { known, working, seen, secrets })),
            Ok(None) => {
                known.close().await;
                Ok(None)
            }
            Err(why) => {
                known.close().await;
                Err(why)
            }
        }
    }

    async fn held(known: &Known, host: &str) -> Result<Option<(Working, Tenant, Secrets)>, String> {
        let working = known.hold(host).await?;
        let Some(seen) = known.catalogue.find(host).await.map_err(|error| said(&error))? else { return Ok(None) };
        let secrets = known.reveal(&seen)?;
        if secrets.master.is_none() {
            return Ok(None);
        }
        if seen.state != State::Suspended {
            return Err(format!(
                "{host} is {}: say duet tenant suspend {host} first, and resume it afterwards",
                seen.state.as_str()
            ));
        }
        Ok(Some((working, seen, secrets)))
    }

    pub(crate) fn host(&self) -> &str {
        &self.seen.host
    }

    pub(crate) fn begun(&self) -> Option<Vec<u8>> {
        self.secrets.next.clone()
    }

    pub(crate) fn has(&self, key: &[u8]) -> bool {
        self.secrets.master.as_deref() == Some(key)
    }

    pub(crate) async fn keep(&mut self, key: &[u8]) -> Result<(), String> {
        self.says(Secrets { next: Some(key.to_vec()), ..self.secrets.clone() }).await
    }

    pub(crate) async fn put_in_place(&mut self) -> Result<(), String> {
        let Some(key) = self.secrets.next.clone() else { return Ok(()) };
        self.says(Secrets { master: Some(key), next: None, ..self.secrets.clone() }).await
    }

    async fn says(&mut self, secrets: Secrets) -> Result<(), String> {
        self.working.still().await?;
        if secrets == self.secrets {
            return Ok(());
        }
        let hidden = self.known.hide(&self.seen.host, &secrets)?;
        self.seen = self.known.change(&self.seen, Tenant { secrets: hidden, ..self.seen.clone() }).await?;
        self.secrets = secrets;
        Ok(())
    }
}
