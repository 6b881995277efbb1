//! Child processes that never outlive the tests, however these end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
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
    let path = root().join(format!("{purpose}-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    std::fs::create_dir_all(&path).expect("a temporary folder");
    path
}

/// Removes the folder of a test process after its end, unless a test failed: then its logs are wanted. Our servers
/// get a moment to end first, and may still write while it is removed.
const SWEEP: &str = "read _; sleep 1; [ -e \"$1/failed\" ] && exit; \
                     for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf \"$1\" && break; sleep 1; done";

/// The folder of all folders of this test process.
fn root() -> &'static Path {
    static ROOT: OnceLock<(PathBuf, Child)> = OnceLock::new();
    let (path, _sweeper) = ROOT.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("duet-test-{}", std::process::id()));
        let _old = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        // PostgreSQL may run as another user than we do.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, open).expect("a folder that others may enter");
        let failed = path.join("failed");
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            told(panic);
            let _kept = std::fs::File::create(&failed);
        }));
        let mut sweeper = Command::new("sh");
        sweeper.args(["-c", SWEEP, "sh"]).arg(&path).current_dir("/").stdin(Stdio::piped());
        sweeper.stdout(Stdio::null()).stderr(Stdio::null());
        let sweeper = sweeper.spawn().expect("sh");
        (path, sweeper)
    });
    path
}

/// Says something past libtest, which keeps to itself whatever a passing test prints.
pub fn say_loudly(text: &str) {
    let _told = writeln!(std::io::stderr(), "\n*** {text} ***\n");
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// As long as a slow machine may need for anything.
pub const PATIENCE: Duration = Duration::from_mins(3);

/// Asks again and again until there is an answer.
pub fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(answer) = ask() {
            return answer;
        }
        // Whoever waits leaves the machine to what it waits for.
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("{what} did not happen within {PATIENCE:?}");
}

/// What a program makes of a text; nothing where it is not installed.
pub fn piped(program: &str, arguments: &[&str], text: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let mut input = child.stdin.take().expect("an input");
    let text = text.to_owned();
    // It may answer before it has read all.
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let done = child.wait_with_output().expect("an output");
    writer.join().expect("a writer").expect("the program reads all");
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8(done.stdout).expect("text"))
}
