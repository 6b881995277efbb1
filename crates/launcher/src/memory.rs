//! The system's allocator, which the engine of `SQLite` allocates through: what it keeps of memory that was given back.
//!
//! Left alone it keeps an arena for each thread, none of which gives back what lies below what is still in use, and takes
//! larger and larger pieces for small ones. It reads how it is to do before any program begins, and at no other time. So a
//! server begins once more, as the same process, when nobody has said how.

use std::env::VarError;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Where the system's allocator reads how it is to do.
const SAID: &str = "GLIBC_TUNABLES";
/// One arena for all, who wait for the engine's own locks anyway; and what is large is given back as soon as it is free.
const HOW: &str = "glibc.malloc.arena_max=1:glibc.malloc.mmap_threshold=131072:glibc.malloc.trim_threshold=131072";

/// How it is to do, with what was said of other things; nothing where somebody has said it.
fn asked(said: &str) -> Option<String> {
    match said {
        "" => Some(HOW.to_owned()),
        said if said.contains("glibc.malloc.") => None,
        said => Some(format!("{said}:{HOW}")),
    }
}

/// Begins the process once more, where the allocator was not told. Nothing has been done yet.
pub(crate) fn settle() {
    let said = match std::env::var(SAID) {
        Ok(said) => said,
        Err(VarError::NotPresent) => String::new(),
        Err(VarError::NotUnicode(_)) => return,
    };
    let (Some(how), Ok(program)) = (asked(&said), std::env::current_exe()) else { return };
    let mut arguments = std::env::args_os();
    let mut again = Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // It comes back only where it could not begin: then it serves as it is.
    let _could_not = again.args(arguments).env(SAID, how).exec();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_says_how_memory_is_kept_is_heard() {
        assert_eq!(asked("").as_deref(), Some(HOW));
        assert_eq!(asked(HOW), None, "it begins once more, and not twice");
        assert_eq!(asked("glibc.malloc.arena_max=8"), None);
        assert_eq!(asked("glibc.pthread.rseq=0"), Some(format!("glibc.pthread.rseq=0:{HOW}")));
    }
}
