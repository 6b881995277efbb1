//! What people install, made of one program: the file itself, a Debian package, the files of a container, manuals,
//! completions, a bill of materials, and the checksums of all of it.
//!
//! Owns: what lies where in a release. Refuses: a program that needs something of the machine, or is too large.

mod bill;
mod container;
mod elf;
mod package;
mod pages;
mod sums;

use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Result<T> = std::result::Result<T, String>;

/// What a release may weigh, in bytes: what it weighed last, and it goes down, not up. Forty million are wanted.
const MOST: u64 = 72_000_000;

/// What is set right when the program is loaded is packed.
const LINKED: &str = "-Clink-arg=-Wl,-z,pack-relative-relocs";

/// Make a release: everything that people install, in one folder
#[derive(Parser)]
#[command(name = "release", version)]
pub struct Asked {
    /// A folder that is not there yet
    to: PathBuf,
    /// For which machines; `rustup target add` brings the library, and Debian's musl-tools the C compiler
    #[arg(long, default_value = "x86_64-unknown-linux-musl")]
    target: String,
    /// Pack this program as it is, whatever it needs, instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

impl Asked {
    /// A release of a program that is there.
    pub fn of(to: &Path, binary: &Path) -> Self {
        Self { to: to.to_owned(), target: "x86_64-unknown-linux-musl".into(), binary: Some(binary.to_owned()) }
    }
}

/// The sources that are released.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a program to its end; what it prints.
fn ran(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|error| format!("cannot run {name}: {error}"))?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    Err(format!("{name} failed ({}): {}", done.status, String::from_utf8_lossy(&done.stderr).trim()))
}

fn written(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn copied(from: &Path, to: &Path) -> Result<()> {
    let copied = std::fs::copy(from, to);
    copied.map(drop).map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))
}

fn folder(path: PathBuf) -> Result<PathBuf> {
    std::fs::create_dir_all(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
    Ok(path)
}

/// A program that needs nothing of the machine it will run on.
fn built(target: &str) -> Result<PathBuf> {
    let sources = sources();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&sources).args(["build", "--release", "--locked", "--package", "launcher", "--target", target]);
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let own = format!("CARGO_TARGET_{}_RUSTFLAGS", target.replace('-', "_").to_uppercase());
    let own_flags = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", &own];
    if own_flags.iter().all(|name| std::env::var_os(name).is_none()) {
        cargo.env(own, LINKED);
    }
    let told = ran(&mut cargo)?;
    let executable = String::from_utf8_lossy(&told).lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    let binary = executable.ok_or("cargo built no program")?;
    let bytes = std::fs::read(&binary).map_err(|error| format!("cannot read {}: {error}", binary.display()))?;
    if let Some(loader) = elf::loader(&bytes)? {
        return Err(format!("{} is not static: it asks for {loader}", binary.display()));
    }
    match u64::try_from(bytes.len()) {
        Ok(size) if size <= MOST => Ok(binary),
        _ => Err(format!("{} has {} bytes; {MOST} are the most", binary.display(), bytes.len())),
    }
}

/// Makes the release. What was made is answered, each by its name in the folder.
///
/// # Errors
/// Says what could not be made, and why.
pub fn make(asked: &Asked) -> Result<Vec<String>> {
    if asked.to.exists() {
        return Err(format!("{} is there already; a release is made in a folder of its own", asked.to.display()));
    }
    let binary = match &asked.binary {
        Some(binary) => binary.clone(),
        None => built(&asked.target)?,
    };
    let to = folder(asked.to.clone())?;
    let version = env!("CARGO_PKG_VERSION");
    copied(&binary, &to.join("duet"))?;
    pages::write(&folder(to.join("man"))?, &folder(to.join("completions"))?)?;
    written(&to.join("duet.cdx.json"), bill::of(&asked.target)?)?;
    container::write(&folder(to.join("container"))?, &binary)?;
    package::make(&to, &asked.target, version)?;
    sums::write(&to)
}

/// Runs the command line.
pub fn main() -> ExitCode {
    match make(&Asked::parse()) {
        Ok(made) => {
            for name in made {
                said(&name);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _closed = std::io::Write::write_all(&mut std::io::stderr(), format!("error: {error}\n").as_bytes());
            ExitCode::from(1)
        }
    }
}

fn said(line: &str) {
    let _closed = std::io::Write::write_all(&mut std::io::stdout(), format!("{line}\n").as_bytes());
}
