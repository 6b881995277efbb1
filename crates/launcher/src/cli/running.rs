//! What each command does.

use super::{Command, ConfigCommand, DialectChoice, TenantCommand, UserCommand};
use crate::compare::{self, translate};
use crate::config::{self, Edition, Settings, Source};
use crate::console::{failed, say};
use crate::tenants::making::Where;
use crate::tenants::moving::To;
use crate::tenants::{KeyOfTenant, Known, api, making, moving};
use crate::{admin, backup, convert, doctor, documents, export, init, reseal, serve, usage, verify};
use http_kit::openapi::{as_30, pretty};
use ledger_core::database::Purpose;
use std::cell::Cell;
use std::process::ExitCode;

pub(crate) async fn run(command: Command) -> ExitCode {
    match command {
        Command::Init(options) => init::run(options).await,
        Command::Serve(options) => serve::run(options).await,
        Command::Health { common, ready } => health(&common.source(Vec::new()), ready).await,
        Command::Migrate { common, seal_old_books, distribute } => {
            let new = Cell::new(None);
            let made = &new;
            let migrate = |ledger: std::sync::Arc<ledger_core::ledger::Ledger>, _| async move {
                let pending = ledger.pending_migrations().await.map_err(|error| admin::explain(&error))?;
                let done = if seal_old_books { ledger.migrate_and_seal().await } else { ledger.migrate().await };
                done.map_err(|error| admin::explain(&error))?;
                let of = made.take().map_or_else(String::new, |file| format!("made new books at {file}; "));
                let ran = format!("{of}ran {pending} migrations; the schema is up to date");
                if !distribute {
                    return Ok(ran);
                }
                let distributed = ledger.distribute().await.map_err(|error| admin::explain(&error))?;
                Ok(format!("{ran}; {distributed}"))
            };
            let by = |url: &str| {
                made.set(admin::missing(url).map(|file| file.display().to_string()));
                Ok(reseal::named(url).filter(|_| distribute))
            };
            serve::with_ledger_at(&common.source(Vec::new()), by, Purpose::Writing, migrate).await
        }
        Command::Convert { common, old, new, old_key, seal_old_books } => {
            let asked = convert::Asked { old, new, old_key, seal_old_books };
            convert::run(&common.source(Vec::new()), asked).await
        }
        Command::CopyDatabase { common, from, to } => convert::copy(&common.source(Vec::new()), (from, to)).await,
        Command::Backup { common, to, verify } => {
            backup::make(&common.source(Vec::new()), backup::Making { to, verify }).await
        }
        Command::Restore { common, from, key, replace, verify } => {
            let asked = backup::Restoring { from, key, replace, verify };
            backup::restore(&common.source(Vec::new()), &asked).await
        }
        Command::Openapi { dialect, latest } => openapi(dialect, latest),
        Command::User { common, command } => {
            let purpose = match command {
                UserCommand::List => Purpose::Reading,
                _ => Purpose::Writing,
            };
            serve::with_ledger(&common.source(Vec::new()), purpose, |ledger, _| admin::user(ledger, command)).await
        }
        Command::Doctor { common, json } => doctor::run(&common.source(Vec::new()), json).await,
        Command::Verify { common, business, anchor, since, head, json, hands } => {
            let hands = hands.map(usize::from);
            let asked = verify::Asked { business, anchor, head, since, json, hands };
            let verify =
                |ledger, settings: Settings| async move { verify::run(ledger, asked, Some(&settings.data)).await };
            serve::with_ledger(&common.source(Vec::new()), Purpose::Reading, verify).await
        }
        Command::Reseal { common, new_key_stdin } => {
            let source = common.source(Vec::new());
            let of_tenant = match config::load(&source) {
                Ok(loaded) => KeyOfTenant::of(&loaded.settings).await,
                Err(error) => return crate::console::misused(&error.to_string()),
            };
            let of_tenant = match of_tenant {
                Ok(of_tenant) => of_tenant,
                Err(why) => return failed(&why),
            };
            let reseal =
                |ledger, settings| async move { reseal::run(ledger, &settings, of_tenant, new_key_stdin).await };
            serve::with_ledger_at(
                &source,
                |url| admin::must_be_there(url).map(|()| reseal::named(url)),
                Purpose::Serving,
                reseal,
            )
            .await
        }
        Command::Log { common } => {
            serve::with_ledger(&common.source(Vec::new()), Purpose::Reading, |ledger, _| admin::log(ledger)).await
        }
        Command::Usage { common, json } => {
            let usage = |ledger, _| async move { usage::run(ledger, json).await };
            serve::with_ledger(&common.source(Vec::new()), Purpose::Reading, usage).await
        }
        Command::Compare(options) => compare::run(*options).await,
        Command::Translate(options) => translate::run(&options),
        Command::Export { common, business, format, out } => {
            let export = |ledger, _| async move { export::run(ledger, business, format.into(), out).await };
            serve::with_ledger(&common.source(Vec::new()), Purpose::Reading, export).await
        }
        Command::Tenant { common, command } => tenant(&common.source(Vec::new()), command).await,
        Command::Config { common, command } => configuration(&common.source(Vec::new()), &command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut super::command(), "duet", &mut script);
            say(&String::from_utf8_lossy(&script));
            ExitCode::SUCCESS
        }
    }
}

fn openapi(dialect: DialectChoice, latest: bool) -> ExitCode {
    // As a default installation serves them.
    let source = Source::default();
    let dialects = match config::load(&source) {
        Ok(loaded) => loaded.settings.dialects,
        Err(error) => return failed(&error.to_string()),
    };
    let document = match dialect {
        DialectChoice::One(dialect) => (dialect.document)(&dialects.base_of(dialect)),
        DialectChoice::Both => documents::of_all(&dialects),
    };
    let document = if latest { document } else { as_30(document) };
    say(pretty(&document).trim_end());
    ExitCode::SUCCESS
}

pub(super) async fn tenant(source: &Source, command: TenantCommand) -> ExitCode {
    let settings = match config::load(source) {
        Ok(loaded) => loaded.settings,
        Err(error) => return crate::console::misused(&error.to_string()),
    };
    if settings.edition == Edition::Server {
        return crate::console::misused(
            "there are no tenants in the server edition; say \"Edition\": \"Cloud\" in the configuration first",
        );
    }
    let known = match Known::open(&settings).await {
        Ok(known) => known,
        Err(why) => return failed(&why),
    };
    let done = done_of_tenant(&settings, &known, command).await;
    known.close().await;
    match done {
        Ok(text) => {
            say(&text);
            ExitCode::SUCCESS
        }
        Err(why) => failed(&why),
    }
}

async fn done_of_tenant(settings: &Settings, known: &Known, command: TenantCommand) -> Result<String, String> {
    match command {
        TenantCommand::Add { host, tenant_database, cluster, email, password_stdin } => {
            let password = if password_stdin { Some(admin::password(true)?.0) } else { None };
            let place = match (tenant_database, cluster) {
                (Some(url), _) => Where::Address(url),
                (None, Some(cluster)) => Where::Cluster(cluster),
                (None, None) => Where::Folder,
            };
            let new = making::NewTenant { host: host.clone(), place, email: email.clone(), password };
            let made = making::add(settings, known, new).await?;
            let shown = made.map_or(String::new(), |made| admin::shown(&made, true));
            Ok(format!("added {host}; its first user is {email}{shown}"))
        }
        TenantCommand::List { json } => {
            let all = known.list().await?;
            if json {
                let told: Vec<_> = all.iter().map(api::told).collect();
                return Ok(serde_json::json!({"tenants": told}).to_string());
            }
            Ok(all.into_iter().map(|tenant| tenant.host).collect::<Vec<_>>().join("\n"))
        }
        TenantCommand::Move { host, to } => {
            moving::move_to(settings, known, &host, &To::parse(&to), &convert::shows()).await
        }
        TenantCommand::Suspend { host } => making::set_suspended(settings, known, &host, true).await,
        TenantCommand::Resume { host } => making::set_suspended(settings, known, &host, false).await,
        TenantCommand::Remove { host } => {
            let aside = making::remove(settings, known, &host).await?;
            Ok(format!("removed {host}; what it had is kept in {}", aside.display()))
        }
        TenantCommand::PutBack { host } => {
            making::put_back(settings, known, &host).await.map(|()| format!("{host} is served again"))
        }
    }
}

fn configuration(source: &Source, command: &ConfigCommand) -> ExitCode {
    match command {
        ConfigCommand::Check => {
            let checked = config::check(source);
            say(&checked.report);
            if checked.errors == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) }
        }
        ConfigCommand::Show { json } => match config::load(source) {
            Ok(loaded) => {
                say(&if *json { loaded.show_json() } else { loaded.show() });
                ExitCode::SUCCESS
            }
            Err(error) => crate::console::misused(&error.to_string()),
        },
    }
}

async fn health(source: &Source, ready: bool) -> ExitCode {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let settings = match config::load(source) {
        Ok(loaded) => loaded.settings,
        Err(error) => return crate::console::misused(&error.to_string()),
    };
    let path = if ready { "/readyz" } else { "/healthz" };
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(settings.listen).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", settings.listen);
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    match tokio::time::timeout(std::time::Duration::from_secs(5), ask).await {
        Ok(Ok(answer)) if answer.starts_with("HTTP/1.1 200") => {
            say(answer.rsplit("\r\n").next().unwrap_or_default());
            ExitCode::SUCCESS
        }
        Ok(Ok(answer)) => failed(answer.rsplit("\r\n").next().unwrap_or("the server is not well")),
        Ok(Err(error)) => failed(&format!("{}: {error}", settings.listen)),
        Err(_) => failed(&format!("{} does not answer", settings.listen)),
    }
}
