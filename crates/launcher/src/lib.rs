//! The `duet` binary: command line, configuration, mounting, the server itself.
//!
//! A library, so that the black-box tests start the very same program as a second process.

/// Requests are made of many small pieces that one thread takes and another gives back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod admin;
mod anchor;
mod backup;
mod bar;
mod cli;
mod compare;
mod config;
mod console;
mod convert;
mod demo;
mod dialects;
mod doctor;
mod documents;
mod edge;
mod export;
mod front;
mod init;
mod log_lines;
mod logging;
mod memory;
mod mount;
mod new_days;
mod private;
mod reseal;
mod retirement;
mod serve;
mod sight;
mod telling;
mod tenants;
mod tls;
mod usage;
mod verify;

use std::process::ExitCode;

/// The command line as it is declared, for what is made of it: manuals, completions.
pub fn command() -> clap::Command {
    cli::command()
}

/// Runs the command line. 0: done, 1: failed, 2: wrong usage or configuration.
pub fn main() -> ExitCode {
    private::be_private();
    let command = match cli::parse() {
        Ok(command) => command,
        Err(code) => return code,
    };
    if matches!(command, cli::Command::Serve(_)) {
        memory::settle();
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.enable_all().thread_keep_alive(memory::IDLE).build() {
        Ok(runtime) => runtime,
        Err(error) => return console::failed(&format!("cannot start: {error}")),
    };
    let code = runtime.block_on(cli::run(command));
    // What still runs is waited for by nobody: it had its time.
    runtime.shutdown_background();
    code
}
