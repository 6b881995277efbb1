//! Child processes that never outlive the tests, however these end.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A process behind a shell that ends it as soon as our end of the pipe is gone.
pub struct Kept {
    pub child: Child,
}

/// Tells the process's number, then waits for it; the end of our pipe is its end too.
const WATCH: &str = "exec 3<&0; \"$@\" </dev/null 3<&- & p=$!; echo \"pid $p\"; \
                     (read _ <&3; kill -TERM $p 2>/dev/null) >/dev/null 2>&1 & wait $p";

impl Kept {
    /// Starts `program args`; `wrap` is put before it, such as a command that changes the user.
    pub fn start(wrap: &[&str], command: &[String], change: impl FnOnce(&mut Command)) -> Self {
        let mut words: Vec<String> = wrap.iter().map(ToString::to_string).collect();
        words.extend(["sh", "-c", WATCH, "sh"].map(str::to_owned));
        words.extend(command.iter().cloned());
        let mut shell = Command::new(&words[0]);
        shell.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        change(&mut shell);
        Self { child: shell.spawn().unwrap_or_else(|error| panic!("cannot start {words:?}: {error}")) }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _gone = self.child.wait();
    }
}

/// A folder of its own for each caller.
pub fn fresh_folder(purpose: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("duet-test-{purpose}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let _old = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a temporary folder");
    path
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Asks again and again until there is an answer, for as long as a slow machine may need.
pub fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_mins(1) {
        if let Some(answer) = ask() {
            return answer;
        }
        std::thread::yield_now();
    }
    panic!("{what} did not happen within a minute");
}
