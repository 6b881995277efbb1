//! A package for Debian and what is made of it, by Debian's own `dpkg-deb`.

use crate::{Result, copied, folder, ran, sources, written};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What an administrator changes, and no upgrade writes over.
const CONFIGURATION: &str = "/etc/duet/appsettings.json\n/etc/duet/appsettings.Custom.json\n";

const ABOUT: &str = "Double-entry accounting as a server: one set of books, two ways to speak to it
 Duet keeps the books of many companies behind a REST API, which comes in two
 dialects side by side on the same records. SQLite is inside; PostgreSQL is
 taken where it is wanted. Amounts are exact to the last digit, the ledger is
 append-only, and 'duet verify' proves it.
";

/// What Debian calls the machines of a target.
fn machines(target: &str) -> Result<&'static str> {
    match target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        _ => Err(format!("there is no package for {target}")),
    }
}

fn permitted(path: &Path, mode: u32) -> Result<()> {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).map_err(|error| format!("cannot permit {}: {error}", path.display()))
}

/// Puts a file where it will lie.
fn laid(root: &Path, at: &str, from: &Path, mode: u32) -> Result<PathBuf> {
    let to = root.join(at);
    if let Some(above) = to.parent() {
        folder(above.to_owned())?;
    }
    copied(from, &to)?;
    permitted(&to, mode)?;
    Ok(to)
}

/// Makes the package of what lies in the folder of a release.
pub(crate) fn make(release: &Path, target: &str, version: &str) -> Result<()> {
    let (machines, sources) = (machines(target)?, sources());
    let root = folder(release.join(".package"))?;
    let zipped = |path: PathBuf| ran(Command::new("gzip").args(["-9", "-n", "-f"]).arg(path)).map(drop);

    laid(&root, "usr/bin/duet", &release.join("duet"), 0o755)?;
    laid(&root, "usr/lib/systemd/system/duet.service", &sources.join("config/systemd/duet.service"), 0o644)?;
    laid(&root, "etc/duet/appsettings.json", &sources.join("config/appsettings.json"), 0o644)?;
    laid(&root, "etc/duet/appsettings.Custom.json", &sources.join("config/debian/appsettings.Custom.json"), 0o644)?;
    laid(&root, "usr/share/doc/duet/copyright", &sources.join("LICENSE"), 0o644)?;
    laid(&root, "usr/share/doc/duet/duet.cdx.json", &release.join("duet.cdx.json"), 0o644)?;
    zipped(laid(&root, "usr/share/doc/duet/changelog", &sources.join("CHANGELOG.md"), 0o644)?)?;
    for (name, at) in [
        ("duet.bash", "usr/share/bash-completion/completions/duet"),
        ("_duet", "usr/share/zsh/vendor-completions/_duet"),
        ("duet.fish", "usr/share/fish/vendor_completions.d/duet.fish"),
    ] {
        laid(&root, at, &release.join("completions").join(name), 0o644)?;
    }
    let manuals = release.join("man");
    let unread = |error: std::io::Error| format!("cannot read {}: {error}", manuals.display());
    for manual in std::fs::read_dir(&manuals).map_err(unread)? {
        let manual = manual.map_err(unread)?;
        let at = format!("usr/share/man/man1/{}", manual.file_name().to_string_lossy());
        zipped(laid(&root, &at, &manual.path(), 0o644)?)?;
    }

    for script in ["postinst", "prerm", "postrm"] {
        laid(&root, &format!("DEBIAN/{script}"), &sources.join("config/debian").join(script), 0o755)?;
    }
    written(&root.join("DEBIAN/conffiles"), CONFIGURATION)?;
    let control = format!(
        "Package: duet\nVersion: {version}\nArchitecture: {machines}\nMaintainer: The makers of Duet <duet@localhost>\n\
         Section: database\nPriority: optional\nRecommends: systemd\nSuggests: postgresql-client\nDescription: {ABOUT}"
    );
    written(&root.join("DEBIAN/control"), control)?;
    for inner in folders(&root)? {
        permitted(&inner, 0o755)?;
    }

    let package = release.join(format!("duet_{version}_{machines}.deb"));
    ran(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&root).arg(&package))?;
    std::fs::remove_dir_all(&root).map_err(|error| format!("cannot remove {}: {error}", root.display()))
}

/// A folder and all below it. Whoever makes a release may keep what they make to themselves; a package is for everybody.
fn folders(of: &Path) -> Result<Vec<PathBuf>> {
    let unread = |error: std::io::Error| format!("cannot read {}: {error}", of.display());
    let mut found = vec![of.to_owned()];
    for entry in std::fs::read_dir(of).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.is_dir() {
            found.extend(folders(&path)?);
        }
    }
    Ok(found)
}
