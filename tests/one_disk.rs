//! What the disk of one tenant does to the others of a process.

use crate::faults::{Tracer, strace_works};
use crate::harness::http::connect;
use crate::harness::process::eventually;
use crate::harness::server::authorised;
use crate::harness::{Engine, Options, Request, Server};
use serde_json::json;

const PASSWORD: &str = "the first user of a tenant";

struct Tenant {
    host: String,
    token: String,
}

impl Tenant {
    fn add(server: &Server, host: &str) -> Self {
        let words = ["tenant", "add", host, "--email", "first@example.test", "--password-stdin"];
        let added = server.command(&words, PASSWORD);
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        let body = json!({"email": "first@example.test", "password": PASSWORD});
        let log_in = Request::new("POST", "/b/api/auth/login").header("Host", host).json(&body);
        let token = server.send(&log_in).expect(200).json()["token"].as_str().expect("a token").to_owned();
        Self { host: host.to_owned(), token }
    }

    fn request(&self, method: &str, path: &str) -> Request {
        authorised(Request::new(method, path).header("Host", &self.host), &self.token)
    }

    fn reads(&self, server: &Server) -> u16 {
        server.send(&self.request("GET", "/b/api/businesses")).status
    }
}

fn cloud(most: usize) -> Server {
    let custom = Some(format!(r#"{{"Edition": "Cloud", "Cloud": {{"MostOpen": {most}}}}}"#));
    Server::start(Engine::Sqlite, Options { custom, ..Options::default() }).expect("SQLite")
}

/// One whose disk confirms nothing is found when it is opened, before anything is written that would have to be confirmed.
#[test]
fn a_tenant_whose_disk_confirms_nothing_is_away_and_the_others_are_served() {
    if !strace_works() {
        return;
    }
    let server = cloud(1);
    let [broken, whole] = ["t0.example", "t1.example"].map(|host| Tenant::add(&server, host));
    assert_eq!(whole.reads(&server), 200, "the other one leaves");
    let file = server.folder.join("data/tenants/t0.example/duet.db-server");
    let file = file.canonicalize().expect("it was served").display().to_string();
    let tracer = Tracer::on(&server, &["-P", &file, "-e", "inject=fsync,fdatasync:error=EIO"]);
    assert_eq!([broken.reads(&server), whole.reads(&server), broken.reads(&server)], [503, 200, 503]);
    assert!(tracer.off() > 0);
    assert!(server.log().contains("the disk does not confirm what is written"), "{}", server.log());
    // It is tried again by itself.
    eventually("its disk is well", || (broken.reads(&server) == 200).then_some(()));
    // There is room for one alone: the other is let in once this one has left.
    eventually("the other one is served", || (whole.reads(&server) == 200).then_some(()));
}

/// A tenant is taken out while it is served: it is let go first, and nobody else hears of it.
#[test]
fn a_tenant_that_is_taken_out_while_it_is_served_ends_nothing_but_itself() {
    let server = cloud(8);
    let [gone, stays] = ["t0.example", "t1.example"].map(|host| Tenant::add(&server, host));
    for number in 0..20 {
        let company = json!({"name": format!("Company {number}"), "baseCurrency": "EUR"});
        server.send(&gone.request("POST", "/b/api/businesses").json(&company)).expect(201);
    }
    let removed = server.command(&["tenant", "remove", &gone.host], "");
    assert!(removed.status.success(), "{}", String::from_utf8_lossy(&removed.stderr));
    // Whatever it had left to write is written, without anybody asking for it, and the process goes on.
    assert!(!served(&server, &gone.host), "its files were moved while the server had them open");
    assert_ne!(gone.reads(&server), 200);
    assert!(connect(server.address).peer_addr().is_ok());
    assert_eq!(stays.reads(&server), 200, "{}", server.log());
    assert!(!server.log().contains("duet ends"), "{}", server.log());
}

/// Whether any file of a tenant is open in the server.
fn served(server: &Server, host: &str) -> bool {
    let handles = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).expect("it lives");
    handles
        .filter_map(|handle| std::fs::read_link(handle.ok()?.path()).ok())
        .any(|file| file.display().to_string().contains(host))
}
