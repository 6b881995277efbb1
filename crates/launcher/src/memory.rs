//! What the allocators keep of memory that was given back: the system's, which the engine of `SQLite` allocates through,
//! and our own.
//!
//! Left alone the system's keeps an arena for each thread, none of which gives back what lies below what is still in use, and
//! takes larger and larger pieces for small ones. Our own gives back a second after it was asked for anything nearby, so
//! that a server at rest keeps whatever it last needed, two hundred megabytes after the page about moving. Both read how they
//! are to do before any program begins, and at no other time. So a server begins once more, as the same process, when nobody
//! has said how.

use std::env::VarError;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

/// Where the system's allocator reads how it is to do.
const SYSTEM: &str = "GLIBC_TUNABLES";
/// One arena for all, who wait for the engine's own locks anyway; and what is large is given back as soon as it is free.
const HOW: &str = "glibc.malloc.arena_max=1:glibc.malloc.mmap_threshold=131072:glibc.malloc.trim_threshold=131072";
/// After how many milliseconds our own gives back what is free.
const OWN: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "10");

/// How long a thread that helped out waits for more. Once it ends, nobody keeps what it needed and has given back: pages that
/// are long to make need tens of megabytes, once.
pub(crate) const IDLE: Duration = Duration::from_millis(500);

/// What is to be said, beside what was said of other things; nothing of what somebody has said.
fn asked(said: impl Fn(&str) -> Result<String, VarError>) -> Vec<(&'static str, String)> {
    let system = match said(SYSTEM) {
        Ok(said) if said.contains("glibc.malloc.") => None,
        Ok(said) if !said.is_empty() => Some(format!("{said}:{HOW}")),
        Ok(_) | Err(VarError::NotPresent) => Some(HOW.to_owned()),
        Err(VarError::NotUnicode(_)) => None,
    };
    let own = (said(OWN.0) == Err(VarError::NotPresent)).then(|| (OWN.0, OWN.1.to_owned()));
    system.map(|how| (SYSTEM, how)).into_iter().chain(own).collect()
}

/// Begins the process once more, where the allocators were not told. Nothing has been done yet.
pub(crate) fn settle() {
    let asked = asked(|name| std::env::var(name));
    let Ok(program) = std::env::current_exe() else { return };
    if asked.is_empty() {
        return;
    }
    let mut arguments = std::env::args_os();
    let mut again = Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // It comes back only where it could not begin: then it serves as it is.
    let _could_not = again.args(arguments).envs(asked).exec();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn whoever_says_how_memory_is_kept_is_heard() {
        let asked = |said: &[(&str, &str)]| {
            let said: BTreeMap<_, _> = said.iter().copied().collect();
            asked(|name| said.get(name).map(ToString::to_string).ok_or(VarError::NotPresent))
        };
        let own = (OWN.0, OWN.1.to_owned());
        assert_eq!(asked(&[]), [(SYSTEM, HOW.to_owned()), own.clone()]);
        assert_eq!(asked(&[(SYSTEM, "")]), [(SYSTEM, HOW.to_owned()), own.clone()]);
        assert_eq!(asked(&[(SYSTEM, HOW), OWN]), [], "it begins once more, and not twice");
        assert_eq!(asked(&[(SYSTEM, "glibc.malloc.arena_max=8")]), std::slice::from_ref(&own));
        assert_eq!(asked(&[(SYSTEM, "glibc.malloc.arena_max=8"), (OWN.0, "1000")]), []);
        assert_eq!(asked(&[(SYSTEM, "glibc.pthread.rseq=0")])[0].1, format!("glibc.pthread.rseq=0:{HOW}"));
    }
}
