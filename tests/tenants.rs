//! The cloud edition: many tenants in one process, none of whom sees another.

use crate::backups::AS_OF_0_2_0;
use crate::harness::books::connected;
use crate::harness::http::Answer;
use crate::harness::process::eventually;
use crate::harness::server::{Said, authorised};
use crate::harness::{Dialect, Engine, Options, Request, Server, on_both_engines, postgres};
use sea_orm::ConnectionTrait;
use serde_json::json;
use std::path::PathBuf;

const PASSWORD: &str = "the first user of a tenant";

/// A server of the cloud edition, with more settings as JSON members.
fn cloud(engine: Engine, more: &str) -> Server {
    let custom = Some(format!(r#"{{"Edition": "Cloud", "TrustedProxies": ["192.0.2.0/24"]{more}}}"#));
    Server::start(engine, Options { custom, ..Options::default() }).expect("an engine")
}

fn add(server: &Server, host: &str) {
    let mut words = vec!["tenant", "add", host, "--email", "first@example.test", "--password-stdin"];
    let database = match server.engine {
        Engine::Postgres => postgres::fresh_database(),
        Engine::Sqlite => None,
    };
    if let Some(database) = &database {
        words.extend(["--tenant-database", database]);
    }
    let added = server.command(&words, PASSWORD);
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
}

fn at(host: &str, request: Request) -> Request {
    request.header("Host", host)
}

fn log_in(server: &Server, host: &str) -> Answer {
    let body = json!({"email": "first@example.test", "password": PASSWORD});
    server.send(&at(host, Request::new("POST", "/b/api/auth/login").json(&body)))
}

fn token(server: &Server, host: &str) -> String {
    log_in(server, host).expect(200).json()["token"].as_str().unwrap().to_owned()
}

fn companies(server: &Server, host: &str, token: &str) -> Answer {
    server.send(&at(host, authorised(Request::new("GET", "/b/api/businesses"), token)))
}

on_both_engines! {
    fn an_invitation_opens_its_own_tenant_and_no_other(server) {
        let server = cloud(server.engine, "");
        add(&server, "one.example");
        add(&server, "two.example");
        let owner = token(&server, "one.example");
        let ask = |host: &str, token: &str, path: &str, business: &str, body: &serde_json::Value| {
            let request = authorised(Request::new("POST", path).json(body), token);
            server.send(&at(host, if business.is_empty() { request } else { request.header("X-Business-Id", business) }))
        };
        let company = ask("one.example", &owner, "/b/api/businesses", "", &json!({"name": "One", "baseCurrency": "EUR"})).expect(201).json();
        let business = company["id"].as_str().unwrap();
        // The first user of the other tenant has this address there, which is nothing here.
        let invite = json!({"email": "second@example.test", "displayName": "Second", "memberships": [{"permissionId": company["permissionId"]}]});
        let code = ask("one.example", &owner, "/b/api/users", business, &invite).expect(201).json()["invitationCode"].clone();
        let accept = |host: &str| {
            let body = json!({"password": "the second user of a tenant"});
            let request = authorised(Request::new("POST", "/a/api/Users/accept-invitation"), code.as_str().unwrap());
            server.send(&at(host, request.json(&body))).status
        };
        assert_eq!(["two.example", "one.example", "one.example"].map(accept), [401, 200, 401]);
        // Each tenant has an installation's log of its own.
        let log = |host: &str| {
            let request = authorised(Request::new("GET", "/b/api/installation-log?pageSize=100"), &token(&server, host));
            server.send(&at(host, request)).expect(200).text
        };
        assert!(log("one.example").contains("second@example.test") && !log("two.example").contains("second@example.test"));
        assert!(log("two.example").contains("\"tenant\":\"two.example\""));
    }

    fn a_host_is_a_tenant_and_no_other(server) {
        let server = cloud(server.engine, "");
        // Before there is anybody, nobody is known; the process is well all the same.
        for path in ["/b/api/businesses", "/a/api/Businesses", "/swagger", "/", "/b/api/auth/login"] {
            let answer = server.send(&Request::new("GET", path));
            assert_eq!((answer.status, answer.header("x-error-code")), (421, Some("unknown_host")), "{path}");
        }
        let wrapped = server.send(&Request::new("GET", "/a/api/Businesses")).json();
        assert_eq!((&wrapped["success"], &wrapped["message"]), (&json!(false), &json!("Nobody keeps books here under this host name")));
        for path in ["/healthz", "/readyz"] {
            assert_eq!(server.send(&Request::new("GET", path)).status, 200);
        }
        add(&server, "acme.example");
        add(&server, "Beta.Example");
        assert_eq!(String::from_utf8_lossy(&server.command(&["tenant", "list"], "").stdout).trim(), "acme.example\nbeta.example");
        assert!(!server.command(&["tenant", "add", "acme.example", "--email", "x@example.test"], "").status.success());
        assert!(!server.command(&["tenant", "add", "../acme", "--email", "x@example.test"], "").status.success());
        let (acme, beta) = (token(&server, "acme.example"), token(&server, "beta.example"));
        let body = json!({"name": "Acme", "baseCurrency": "EUR"});
        let made = server.send(&at("acme.example", authorised(Request::new("POST", "/b/api/businesses").json(&body), &acme))).expect(201).json();
        // However the name is written.
        for host in ["acme.example", "ACME.example:8080", "acme.example."] {
            assert_eq!(companies(&server, host, &acme).expect(200).json()["pagination"]["totalCount"], 1, "{host}");
        }
        assert_eq!(companies(&server, "beta.example", &beta).expect(200).json()["pagination"]["totalCount"], 0);
        // A token of one is worth nothing at another, and neither is an identifier.
        for (host, foreign) in [("beta.example", &acme), ("acme.example", &beta)] {
            assert_eq!(companies(&server, host, foreign).status, 401);
        }
        let id = made["id"].as_str().unwrap();
        let foreign = Request::new("GET", "/b/api/parties").header("X-Business-Id", id);
        assert_eq!(server.send(&at("beta.example", authorised(foreign, &beta))).status, 404);
        let foreign = Request::new("GET", &format!("/a/api/{id}/parties"));
        assert_eq!(server.send(&at("beta.example", authorised(foreign, &beta))).status, 404);
        for host in ["gamma.example", "", "..", "acme.example/..", "acme.example@beta.example"] {
            assert_eq!(companies(&server, host, &acme).status, 421, "{host}");
        }
        // Only a proxy of ours says which host was meant.
        let forwarded = at("gamma.example", authorised(Request::new("GET", "/b/api/businesses"), &acme)).header("X-Forwarded-Host", "acme.example");
        assert_eq!(server.send(&forwarded).status, 421);
        let twice = at("acme.example", Request::new("GET", "/b/api/businesses")).header("host", "beta.example");
        assert_eq!(server.send(&twice).status, 400);
        // People are managed by tenant.
        let listed = server.command(&["user", "list", "--tenant", "acme.example"], "");
        assert!(String::from_utf8_lossy(&listed.stdout).contains("first@example.test"));
        assert_eq!(server.command(&["user", "list"], "").status.code(), Some(2));
        assert_eq!(server.command(&["verify", "--tenant", "gamma.example"], "").status.code(), Some(2));
        let proved = server.command(&["verify", "--tenant", "acme.example"], "");
        assert_eq!(proved.status.code(), Some(0), "{}", String::from_utf8_lossy(&proved.stderr));
        // Gone with the next request, and kept.
        let removed = server.command(&["tenant", "remove", "acme.example"], "");
        let said = String::from_utf8_lossy(&removed.stdout).into_owned();
        assert!(removed.status.success(), "{said}");
        assert_eq!(companies(&server, "acme.example", &acme).status, 421);
        let kept = PathBuf::from(said.trim().rsplit(' ').next().unwrap());
        assert!(kept.join("tenant.json").is_file());
        assert_eq!(companies(&server, "beta.example", &beta).status, 200);
    }

    fn a_proxy_of_ours_says_which_host_was_meant(server) {
        let custom = Some(r#"{"Edition": "Cloud", "TrustedProxies": ["127.0.0.1"]}"#.to_owned());
        let server = Server::start(server.engine, Options { custom, ..Options::default() }).unwrap();
        add(&server, "acme.example");
        let acme = token(&server, "acme.example");
        let asked = |hosts: &[&str]| {
            let mut request = at("10.0.0.7", authorised(Request::new("GET", "/b/api/businesses"), &acme));
            for host in hosts {
                request = request.header("X-Forwarded-Host", host);
            }
            server.send(&request).status
        };
        assert_eq!([asked(&["acme.example"]), asked(&["beta.example"]), asked(&[]), asked(&["acme.example", "acme.example"])], [200, 421, 421, 421]);
    }
}

#[test]
fn a_tenant_whose_schema_is_of_before_waits_for_its_migration_where_that_is_somebodys_work() {
    let server = cloud(Engine::Sqlite, r#", "Database": {"AutoMigrate": false}"#);
    add(&server, "acme.example");
    let books = format!("sqlite:{}", server.folder.join("data/tenants/acme.example/duet.db").display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = connected(&books).await.unwrap();
        for statement in AS_OF_0_2_0 {
            database.execute_unprepared(statement).await.unwrap();
        }
        database.close().await.unwrap();
    });
    assert_eq!(log_in(&server, "acme.example").status, 503);
    let told = server.log();
    assert!(told.contains("run duet migrate --tenant acme.example"), "{told}");
    let migrated = server.command(&["migrate", "--tenant", "acme.example"], "");
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    eventually("the tenant", || (log_in(&server, "acme.example").status == 200).then_some(()));
}

/// What the process has open and holds in memory.
fn footprint(server: &Server) -> (usize, u64) {
    let process = format!("/proc/{}", server.pid());
    let open = std::fs::read_dir(format!("{process}/fd")).unwrap().flatten();
    let databases =
        open.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|path| path.to_string_lossy().contains("duet.db")));
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    (databases.count(), resident.trim().split(' ').next().unwrap().parse().unwrap())
}

/// So many at a time, so that not all lie on the disk at once.
const ROUND: usize = 80;

#[test]
fn hundreds_of_tenants_pass_through_one_process() {
    const MOST: usize = 40;
    let server = cloud(Engine::Sqlite, &format!(r#", "Cloud": {{"MostOpen": {MOST}, "Idle": "2s"}}"#));
    add(&server, "t0.example");
    let first = token(&server, "t0.example");
    let send = |host: &str, request: Request, token: &str| {
        Said::of(Dialect::B, server.send(&at(host, authorised(request, token))))
    };
    let company = send(
        "t0.example",
        Request::new("POST", "/b/api/businesses").json(&json!({"name": "Each", "baseCurrency": "EUR"})),
        &first,
    )
    .expect(201)
    .id();
    let of_company = |method: &str, path: &str| Request::new(method, path).header("X-Business-Id", &company);
    let key = send("t0.example", of_company("POST", "/b/api/api-keys").json(&json!({"name": "Key"})), &first)
        .expect(201)
        .data["secret"]
        .as_str()
        .unwrap()
        .to_owned();
    // The others are copies of the first, its key included.
    let folder = server.folder.join("data/tenants");
    eventually("the first tenant's rest", || (footprint(&server).0 == 0).then_some(()));
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        std::fs::create_dir(to).unwrap();
        std::fs::copy(from.join("duet.db"), to.join("duet.db")).unwrap();
        std::fs::write(to.join("tenant.json"), "{}").unwrap();
    };
    let of = |number: usize| folder.join(format!("t{number}.example"));
    let kept = server.folder.join("as it was");
    copy(&of(0), &kept);
    let visit = |numbers: std::ops::Range<usize>| {
        for number in numbers {
            let host = format!("t{number}.example");
            let party = of_company("POST", "/b/api/parties").json(&json!({"name": host, "isCustomer": true}));
            send(&host, party, &key).expect(201);
            let seen = send(&host, of_company("GET", "/b/api/parties"), &key).expect(200).data;
            assert_eq!((&seen["pagination"]["totalCount"], &seen["items"][0]["name"]), (&json!(1), &json!(host)));
        }
    };
    let all = |from: usize, to: usize| {
        std::thread::scope(|scope| {
            let share = (to - from) / 4;
            for place in 0..4 {
                scope.spawn(move || visit(from + place * share..from + (place + 1) * share));
            }
        });
    };
    let mut seen = Vec::new();
    for round in 0..5 {
        let from = round * ROUND;
        (from.max(1)..from + ROUND).for_each(|number| copy(&kept, &of(number)));
        // Folders that say what they are become tenants.
        assert!(server.command(&["tenant", "list"], "").status.success());
        all(from, from + ROUND);
        seen.push(footprint(&server));
        eventually("the rest of a round", || (footprint(&server).0 == 0).then_some(()));
        for number in from.max(2)..from + ROUND {
            std::fs::remove_dir_all(of(number)).unwrap();
        }
    }
    let (early, (open, late)) = (seen[0].1.max(seen[1].1), seen[4]);
    // The one that writes, the one that sees its commits, the door and those that read, each with its log, and the claim:
    // no more than so many for each that may be open.
    assert!(open <= MOST * 12, "{open} files of tenants are open");
    assert!(late < early * 9 / 8, "{early} kB after 160 tenants, {late} kB after 400");
    assert_eq!(
        send("t0.example", Request::new("GET", "/b/api/businesses"), &first).expect(200).data["pagination"]["totalCount"],
        1
    );
    // A token of one is worth nothing at its copy.
    send("t1.example", Request::new("GET", "/b/api/businesses"), &first).expect(401);
    eventually("the rest of all tenants", || (footprint(&server).0 == 0).then_some(()));
}
