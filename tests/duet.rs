//! `duet`, under a name that the suites can find.

fn main() -> std::process::ExitCode {
    launcher::main()
}
