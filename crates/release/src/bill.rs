//! The bill of materials: every crate that is in the program, as `CycloneDX` has it.

use crate::{Result, ran, sources};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Of the program as it is built for these machines. Cargo's tree is asked, and not its metadata, which names whatever
/// somebody in the workspace might turn on.
pub(crate) fn of(target: &str) -> Result<String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(sources()).args(["tree", "--locked", "--package", "launcher", "--target", target]);
    // What tests need is in no program.
    let tree = ran(cargo.args(["--edges", "normal,build", "--prefix", "depth", "--format", " {p}|{l}"]))?;
    let lock = std::fs::read_to_string(sources().join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    let bill = bill(&String::from_utf8_lossy(&tree), &checksums(&lock)).ok_or("cargo says nothing of the program")?;
    serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())
}

/// What each crate of others comes to, by its name and version.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    fn said<'b>(block: &'b str, key: &str) -> Option<&'b str> {
        block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
    }
    let of_block = |block| Some(((said(block, "name")?, said(block, "version")?), said(block, "checksum")?));
    lock.split("[[package]]").filter_map(of_block).collect()
}

/// A crate, as the tree names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Crate<'t> {
    name: &'t str,
    version: &'t str,
}

impl Crate<'_> {
    fn purl(self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// What the tree says: how deep a crate stands, which it is, and its licence.
fn line(text: &str) -> Option<(usize, Crate<'_>, &str)> {
    let (depth, rest) = text.split_once(' ')?;
    let (about, license) = rest.rsplit_once('|')?;
    let mut words = about.split(' ');
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    // A crate that was drawn before is marked behind its licence, and its needs are not drawn again.
    Some((depth.parse().ok()?, Crate { name, version }, license.trim_end_matches(" (*)")))
}

fn bill(tree: &str, checksums: &BTreeMap<(&str, &str), &str>) -> Option<Value> {
    let mut licenses = BTreeMap::new();
    let mut needs: BTreeMap<Crate<'_>, BTreeSet<String>> = BTreeMap::new();
    let mut above: Vec<Crate<'_>> = Vec::new();
    for text in tree.lines() {
        let (depth, one, license) = line(text)?;
        above.truncate(depth);
        if let Some(who) = above.last() {
            needs.entry(*who).or_default().insert(one.purl());
        }
        needs.entry(one).or_default();
        licenses.insert(one, license);
        above.push(one);
    }
    let program = *above.first()?;
    let component = |one: &Crate<'_>| {
        let purl = one.purl();
        let mut component =
            json!({"type": "library", "bom-ref": purl, "name": one.name, "version": one.version, "purl": purl});
        if let Some(license) = licenses.get(one).filter(|license| !license.is_empty()) {
            component["licenses"] = json!([{"expression": license.replace('/', " OR ")}]);
        }
        if let Some(sum) = checksums.get(&(one.name, one.version)) {
            component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
        }
        component
    };
    let own = program.purl();
    Some(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": own, "name": "duet", "version": program.version, "purl": own
        }},
        "components": needs.keys().filter(|one| **one != program).map(component).collect::<Vec<_>>(),
        "dependencies": needs.iter().map(|(one, on)| json!({"ref": one.purl(), "dependsOn": on})).collect::<Vec<_>>(),
    }))
}
