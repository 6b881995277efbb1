//! A PostgreSQL of our own, from the binaries that are installed.

use super::process::{Kept, eventually, free_port, fresh_folder, say_loudly};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The server's first process, which ends at once when it is dropped, whoever is connected: else a test that failed in the
/// middle would wait for its own connections.
struct Postmaster {
    kept: Kept,
    data: PathBuf,
}

impl Drop for Postmaster {
    fn drop(&mut self) {
        // Once it has ended, its number may be somebody else's.
        if !matches!(self.kept.child.try_wait(), Ok(None)) {
            return;
        }
        let file = std::fs::read_to_string(self.data.join("postmaster.pid")).unwrap_or_default();
        if let Some(first) = file.lines().next() {
            let _sent = Command::new("kill").args(["-INT", first]).stderr(Stdio::null()).status();
        }
    }
}

pub struct Cluster {
    _server: Postmaster,
    programs: PathBuf,
    data: PathBuf,
    port: u16,
}

/// The URL of a fresh database, or nothing where there is no PostgreSQL.
pub fn fresh_database() -> Option<String> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    Some(CLUSTER.get_or_init(Cluster::start).as_ref()?.fresh_database())
}

fn start(more: &[&str]) -> Option<Cluster> {
    let Some(programs) = programs() else {
        let required = std::env::var("DUET_TEST_POSTGRES").is_ok_and(|value| value == "required");
        assert!(!required, "DUET_TEST_POSTGRES=required, and there is no PostgreSQL (initdb, postgres) here");
        say_loudly("NO POSTGRESQL FOUND: the PostgreSQL half of every suite is SKIPPED");
        return None;
    };
    let folder = fresh_folder("postgres");
    let wrap = unprivileged();
    if !wrap.is_empty() {
        let owned = Command::new("chown").arg("postgres").arg(&folder).status();
        assert!(owned.is_ok_and(|status| status.success()), "the cluster's folder can be given to postgres");
    }
    let data = folder.join("data");
    let words = ["-D", &data.display().to_string(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"];
    make(&programs.join("initdb"), &words, &folder);
    Some(serve(programs, data, free_port(), more))
}

/// Runs a program that makes a folder for a server.
fn make(program: &Path, words: &[&str], folder: &Path) {
    let mut command: Vec<String> = unprivileged().iter().map(ToString::to_string).collect();
    command.push(program.display().to_string());
    command.extend(words.iter().map(ToString::to_string));
    let made = Command::new(&command[0]).args(&command[1..]).current_dir(folder).stdout(Stdio::null()).status();
    assert!(made.is_ok_and(|status| status.success()), "{} works", program.display());
}

/// Serves what is in a folder.
fn serve(programs: PathBuf, data: PathBuf, port: u16, more: &[&str]) -> Cluster {
    let mut postgres = vec![programs.join("postgres").display().to_string(), "-D".into(), data.display().to_string()];
    // Hundreds of databases that live for one test each: what would bring one back is not kept long.
    let settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=400", "fsync=off"];
    for setting in settings.into_iter().chain(["max_wal_size=128MB", "min_wal_size=32MB"]).chain(more.iter().copied()) {
        postgres.extend(["-c".to_owned(), setting.to_owned()]);
    }
    postgres.extend(["-p".to_owned(), port.to_string()]);
    let server = Kept::start(&unprivileged(), &postgres, |command| {
        command.current_dir(data.parent().expect("a folder")).stdout(Stdio::null()).stderr(Stdio::null());
    });
    let server = Postmaster { kept: server, data: data.clone() };
    let cluster = Cluster { _server: server, programs, data, port };
    eventually("PostgreSQL's start", || cluster.psql("SELECT 1").then_some(()));
    cluster
}

impl Cluster {
    /// A cluster of one's own, to be treated badly.
    pub fn start() -> Option<Self> {
        start(&[])
    }

    /// One that has very many databases: it would look at each of them once a minute, by a process each time.
    pub fn of_many() -> Option<Self> {
        start(&["autovacuum_naptime=15min"])
    }

    /// A streaming standby of it.
    pub fn standby(&self) -> Self {
        let (there, here) = (self.port.to_string(), free_port());
        let (folder, data) = (self.data.parent().expect("a folder"), format!("standby-{here}"));
        let words = ["-h", "127.0.0.1", "-p", &there, "-U", "postgres", "-D", &data, "-R", "-c", "fast", "--no-sync"];
        make(&self.programs.join("pg_basebackup"), &words, folder);
        serve(self.programs.clone(), folder.join(data), here, &[])
    }

    /// The same once more, after its end.
    pub fn started_again(self) -> Self {
        let Self { _server: server, programs, data, port } = self;
        drop(server);
        serve(programs, data, port, &[])
    }

    /// The same once more, as a standby that nobody tells anything.
    pub fn started_behind(self) -> Self {
        std::fs::write(self.data.join("standby.signal"), "").expect("a file");
        self.started_again()
    }

    /// Where a database is that is here as well as elsewhere.
    pub fn has(&self, url: &str) -> String {
        let name = url.rsplit('/').next().expect("a name");
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }

    pub fn fresh_database(&self) -> String {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("duet_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        assert!(self.psql(&format!("CREATE DATABASE {name}")), "a database can be created");
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }

    /// Sends a signal to its first process and to all that it made.
    pub fn signal_all(&self, name: &str) {
        let file = std::fs::read_to_string(self.data.join("postmaster.pid")).expect("its number");
        let first = file.lines().next().expect("a line");
        let children = Command::new("ps").args(["-o", "pid=", "--ppid", first]).output().expect("ps").stdout;
        let mut all = vec![format!("-{name}"), first.to_owned()];
        all.extend(String::from_utf8_lossy(&children).split_whitespace().map(str::to_owned));
        // One may have ended meanwhile.
        let _sent = Command::new("kill").args(all).stderr(Stdio::null()).status().expect("kill");
    }

    pub fn psql(&self, statement: &str) -> bool {
        let port = self.port.to_string();
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-d", "postgres", "-qc", statement]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }
}

/// Where initdb, postgres and psql are.
pub fn programs() -> Option<PathBuf> {
    let told = Command::new("pg_config").arg("--bindir").output().ok();
    let told = told.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let versions =
        std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let complete = |folder: &PathBuf| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = std::iter::once(PathBuf::from("/usr/local/bin")).chain(std::env::split_paths(&path));
    told.into_iter().chain(versions).chain(usual).find(complete)
}

/// PostgreSQL refuses to run as root; then it runs as the user its package made.
fn unprivileged() -> Vec<&'static str> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if root && Path::new("/usr/sbin/runuser").exists() {
        vec!["/usr/sbin/runuser", "-u", "postgres", "--"]
    } else {
        Vec::new()
    }
}
