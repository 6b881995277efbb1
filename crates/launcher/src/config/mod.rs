//! The configuration: ASP.NET's conventions, since the deployments that exist use them.
//!
//! Owns: which keys there are, where their values come from, what they must be, what is wrong with them. Later layers
//! win: defaults, `appsettings.json`, `appsettings.Custom.json`, environment, command line. Prints and watches nothing.

mod json;
mod keys;
mod layers;
mod report;
mod settings;
#[cfg(test)]
mod tests;
mod values;
mod weak;

pub use layers::Source;
pub(crate) use layers::{CUSTOM, HERE};
pub use report::check;
pub use settings::{
    AfterSunset, Dialects, Edition, Key, LogFormat, Retiring, Secret, Settings, Telemetry, Telling, headers_in,
    restart_needed,
};

use layers::{Merged, merge};

/// The settings and how they came about.
pub struct Loaded {
    pub settings: Settings,
    pub warnings: Vec<String>,
    merged: Merged,
}

/// Without the merged view, in which secrets are plain texts.
impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Loaded");
        shown.field("settings", &self.settings).field("warnings", &self.warnings).finish_non_exhaustive()
    }
}

impl AsRef<Settings> for Loaded {
    fn as_ref(&self) -> &Settings {
        &self.settings
    }
}

/// All that is wrong with a configuration, a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(Vec<String>);

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

/// The settings, or everything that is wrong with them at once.
pub fn load(source: &Source) -> Result<Loaded, ConfigError> {
    let merged = merge(source);
    let settings = settings::read(&merged).map_err(ConfigError)?;
    let warnings = merged.warnings.iter().chain(&merged.unknown).cloned().collect();
    Ok(Loaded { settings, warnings, merged })
}

/// A database URL that may be shown.
pub fn without_password(url: &str) -> String {
    let (scheme, rest) =
        url.split_once("://").map_or(("", url), |(scheme, _)| url.split_at(scheme.len() + "://".len()));
    let shown = match rest.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, _)) => format!("{scheme}{user}:***@{host}"),
            None => url.to_owned(),
        },
        None => url.to_owned(),
    };
    let Some((address, query)) = shown.split_once('?') else { return shown };
    let masked = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if name.to_ascii_lowercase().contains("pass") => format!("{name}=***"),
        Some(_) | None => pair.to_owned(),
    });
    format!("{address}?{}", masked.collect::<Vec<_>>().join("&"))
}
