//! `duet doctor`: what an operator should know of an installation, and what to do about each.
//!
//! It only looks, beside whoever serves the books. Owns: what is looked at, and how grave it is. Refuses: to mend anything.

mod books;
mod machine;
mod replicas;

use crate::config::{self, Edition, Settings, Source};
use crate::console::{misused, say};
use crate::tenants::{Known, patience};
use catalogue::{Cluster, Place};
use futures_util::{StreamExt, stream};
use ledger_core::fault::said;
use serde::Serialize;
use std::collections::HashMap;
use std::process::ExitCode;

/// So many tenants are looked at beside one another: each is waited for most of its time.
const BESIDE: usize = 8;
/// So many tenants are named of whom the same is found.
const NAMED: usize = 3;

/// How grave it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Severity {
    /// It was looked at, and is well.
    Good,
    /// It should be mended.
    Warning,
    /// Books or service are at stake.
    Critical,
}

impl Severity {
    const fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warning => "warning",
            Self::Critical => "CRITICAL",
        }
    }

    /// 1 and 2 say that it could not look.
    const fn exit_code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Warning => 3,
            Self::Critical => 4,
        }
    }
}

/// What was looked at and found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) severity: Severity,
    /// What it is about: a word for programs.
    pub(super) about: &'static str,
    /// The tenant, where there are many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tenant: Option<String>,
    pub(super) found: String,
    /// What to do; nothing where all is well.
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    pub(super) todo: Option<String>,
}

impl Finding {
    pub(super) fn good(about: &'static str, found: impl Into<String>) -> Self {
        Self { severity: Severity::Good, about, tenant: None, found: found.into(), todo: None }
    }

    pub(super) fn warning(about: &'static str, found: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, todo: Some(todo.into()), ..Self::good(about, found) }
    }

    pub(super) fn critical(about: &'static str, found: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { severity: Severity::Critical, todo: Some(todo.into()), ..Self::good(about, found) }
    }

    fn line(&self, whose: &str) -> String {
        let todo = self.todo.as_ref().map_or(String::new(), |todo| format!("\n                         {todo}"));
        format!("{:<9}  {:<12}  {whose}{}{todo}", self.severity.word(), self.about, self.found)
    }
}

/// What people read: what is found of several tenants is told once.
fn lines(findings: &[Finding]) -> Vec<String> {
    let mut told: Vec<(&Finding, Vec<&str>)> = Vec::new();
    let mut places: HashMap<_, usize> = HashMap::new();
    for finding in findings {
        let host = finding.tenant.as_deref();
        let what = (host.is_some(), finding.severity, finding.about, &finding.found, &finding.todo);
        let place = *places.entry(what).or_insert(told.len());
        if place == told.len() {
            told.push((finding, Vec::new()));
        }
        told[place].1.extend(host);
    }
    told.into_iter().map(|(finding, hosts)| finding.line(&whose(&hosts))).collect()
}

/// Whose it is, as a line begins.
fn whose(hosts: &[&str]) -> String {
    match hosts {
        [] => String::new(),
        _ if hosts.len() <= NAMED => format!("{}: ", hosts.join(", ")),
        _ => format!("{} and {} more: ", hosts[..NAMED].join(", "), hosts.len() - NAMED),
    }
}

pub(crate) async fn run(source: &Source, as_json: bool) -> ExitCode {
    let settings = match config::load(source) {
        Ok(loaded) => loaded.settings,
        Err(error) => return misused(&error.to_string()),
    };
    let mut findings = vec![Finding::good("version", format!("duet {}", env!("CARGO_PKG_VERSION")))];
    findings.extend(of_settings(source));
    findings.extend(machine::found(&settings));
    findings.extend(of_books(&settings).await);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let worst = findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Good);
    say(&if as_json {
        serde_json::json!({"worst": worst, "findings": findings}).to_string()
    } else {
        lines(&findings).join("\n")
    });
    ExitCode::from(worst.exit_code())
}

/// Settings that work and are weak, as `config check` has them.
fn of_settings(source: &Source) -> Vec<Finding> {
    let report = config::check(source).report;
    let weak = report.lines().filter_map(|line| line.strip_prefix("warning: "));
    let weak: Vec<Finding> = weak
        .map(|line| match line.rsplit_once("; ") {
            Some((found, todo)) => Finding::warning("settings", found, todo),
            None => Finding::warning("settings", line, "see config/appsettings.json on that key"),
        })
        .collect();
    if weak.is_empty() { vec![Finding::good("settings", "none is weak")] } else { weak }
}

/// The books of an installation, of one tenant, or of all that there are.
async fn of_books(settings: &Settings) -> Vec<Finding> {
    if (settings.edition, &settings.tenant) == (Edition::Server, &None) {
        return books::found(settings).await;
    }
    let todo =
        "see that it is reached by Cloud:Catalogue, and that Security:MasterKey is the one that it was made under";
    let known = match Known::open(settings).await {
        Ok(known) => known,
        Err(why) => return vec![Finding::critical("catalogue", why, todo)],
    };
    let all = of_tenants(settings, &known).await;
    known.close().await;
    all.unwrap_or_else(|why| vec![Finding::critical("catalogue", why, todo)])
}

async fn of_tenants(settings: &Settings, known: &Known) -> Result<Vec<Finding>, String> {
    let hosts = match &settings.tenant {
        Some(host) => vec![host.clone()],
        None => known.list().await?.into_iter().map(|tenant| tenant.host).collect(),
    };
    let looked = stream::iter(hosts).map(|host| of_tenant(settings, known, host)).buffered(BESIDE);
    let mut all: Vec<Finding> = looked.collect::<Vec<_>>().await.into_iter().flatten().collect();
    if settings.tenant.is_none() {
        for cluster in &settings.cloud.clusters {
            all.push(of_cluster(settings, known, cluster).await?);
        }
    }
    Ok(all)
}

async fn of_tenant(settings: &Settings, known: &Known, host: String) -> Vec<Finding> {
    let found = match known.settings_of(settings, &host).await {
        Ok(Some(own)) => books::found(&own).await,
        Ok(None) => {
            let todo = "see duet tenant list, and name one of these";
            vec![Finding::critical("database", "there is no such tenant", todo)]
        }
        Err(why) => vec![Finding::critical("database", why, "see Cloud:Clusters and Security:MasterKey")],
    };
    found.into_iter().map(|finding| Finding { tenant: Some(host.clone()), ..finding }).collect()
}

/// What there is in a cluster that no tenant has: left by moves, by what was cut off, and by who was taken out.
async fn of_cluster(settings: &Settings, known: &Known, cluster: &Cluster) -> Result<Finding, String> {
    let name = cluster.name();
    // What a command makes meanwhile is named by its tenant sooner than this asks who has what.
    let there = match cluster.databases(patience(settings)).await {
        Ok(there) => there,
        Err(error) => {
            let why = format!("{name} does not answer: {}", said(&error));
            return Ok(Finding::critical("cluster", why, "see that it is reached as Cloud:Clusters says"));
        }
    };
    let had: Vec<String> = known
        .list()
        .await?
        .into_iter()
        .filter_map(|tenant| match tenant.place {
            Place::Cluster { cluster, database } if cluster == name => Some(database),
            _ => None,
        })
        .collect();
    let left: Vec<&str> = there.iter().filter(|one| !had.contains(one)).map(String::as_str).collect();
    if left.is_empty() {
        return Ok(Finding::good("cluster", format!("{name} has what its tenants have, and no more")));
    }
    let found = format!("{name} has databases that are no tenant's: {}", left.join(", "));
    let todo = "once no move or addition is under way, and nobody is to be put back: drop what you are sure of";
    Ok(Finding::warning("cluster", found, todo))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_of_several_tenants_is_told_once() {
        let of = |host: Option<&str>, finding: Finding| Finding { tenant: host.map(str::to_owned), ..finding };
        let copy = || Finding::warning("backup", "no copy was ever made", "make one");
        let good = |about| Finding::good(about, "it is well");
        let mut all = vec![of(None, copy())];
        all.extend(["a", "b", "c", "d", "e"].map(|host| of(Some(host), copy())));
        all.extend([of(Some("a"), Finding::warning("backup", "the last copy is old", "make one"))]);
        all.extend(["a", "b", "c"].map(|host| of(Some(host), good("schema"))));
        all.extend([of(Some("a"), good("clock")), of(None, good("clock"))]);
        let indented = "\n                         make one";
        let told = [
            format!("warning    backup        no copy was ever made{indented}"),
            format!("warning    backup        a, b, c and 2 more: no copy was ever made{indented}"),
            format!("warning    backup        a: the last copy is old{indented}"),
            "ok         schema        a, b, c: it is well".into(),
            "ok         clock         a: it is well".into(),
            "ok         clock         it is well".into(),
        ];
        assert_eq!(lines(&all), told);
    }
}
