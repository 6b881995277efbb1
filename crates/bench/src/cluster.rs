//! A PostgreSQL of the run's own, as durable as it is by default.

use crate::Result;
use crate::place::say;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) struct Cluster {
    server: Child,
    folder: PathBuf,
    port: u16,
}

/// Where the newest that is installed is.
fn programs() -> Option<PathBuf> {
    let told = Command::new("pg_config").arg("--bindir").output().ok();
    let told = told.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    versions.into_iter().rev().chain(told).find(|folder| folder.join("initdb").is_file())
}

/// It refuses to run as root; then it runs as the user whom its package made.
fn unprivileged() -> &'static [&'static str] {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if root { &["runuser", "-u", "postgres", "--"] } else { &[] }
}

fn command(program: PathBuf) -> Command {
    match unprivileged() {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    }
}

impl Cluster {
    /// One that is new, or nothing where none is installed.
    pub(crate) async fn start(under: &std::path::Path) -> Result<Option<Self>> {
        let Some(programs) = programs() else {
            say("no PostgreSQL is installed: its half is left out");
            return Ok(None);
        };
        let folder = under.join(format!("duet_cluster_{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        if !unprivileged().is_empty() && !Command::new("chown").arg("postgres").arg(&folder).status()?.success() {
            return Err("its folder cannot be given to postgres".into());
        }
        let data = folder.join("data");
        let mut initdb = command(programs.join("initdb"));
        initdb.arg("-D").arg(&data).args(["-U", "postgres", "-A", "trust", "-E", "UTF8"]).current_dir(&folder);
        if !initdb.stdout(Stdio::null()).status()?.success() {
            return Err("initdb failed".into());
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut server = command(programs.join("postgres"));
        server.arg("-D").arg(&data).args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        server.args(["-c", "unix_socket_directories=", "-c", "max_connections=300"]).current_dir(&folder);
        let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let cluster = Self { server, folder, port };
        for _ in 0..200 {
            if tokio_postgres::connect(&cluster.url(), tokio_postgres::NoTls).await.is_ok() {
                return Ok(Some(cluster));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err("PostgreSQL did not start".into())
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The first process of it, which is not the one that was started where it runs as somebody else.
        let first = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap_or_default();
        if let Some(first) = first.lines().next() {
            let _asked = Command::new("kill").args(["-INT", first]).status();
        }
        let _ended = self.server.wait();
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}
