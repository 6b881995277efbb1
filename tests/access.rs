//! Every resource x verb x role x dialect. The rows come from the registry; what a role may do is written
//! down here once more, by hand, so that a slip in the table of roles does not go unseen.

use crate::harness::server::{DIALECTS, authorised};
use crate::harness::{Company, Dialect, Request, Server, on_both_engines};
use ledger_core::access::{Action, Role};
use ledger_core::resource::operation::{BodyNeed, Method, ResourceOperations, Verb};
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};

/// Whose work each is.
const WORK: &[(&str, &str)] = &[
    ("own", "profile session batch"),
    ("installation", "installationLog"),
    ("outward", "webhook"),
    ("people", "user permission apiKey dialectUsage"),
    ("company", "business"),
    ("selling", "salesOrder salesInvoice creditNote"),
    ("buying", "purchaseOrder purchaseInvoice debitNote"),
    ("goods", "deliveryNote receiptNote stockAdjustment"),
    ("money", "receipt payment contraEntry"),
    ("entering", "journal"),
    ("revaluing", "revaluation"),
    ("settling", "allocation"),
    ("names", "party item"),
    ("rates", "exchangeRate"),
    ("keeping", "taxCode paymentTerm account numberSeries fiscalYear"),
    ("locking", "lock"),
    ("log", "audit"),
    ("reading", "entry currency report verification event"),
];

/// Who may change what. Everybody may view everything but the people; nobody makes companies by a role.
fn may(role: Role, noun: &str, action: Action) -> bool {
    let known = WORK.iter().find(|(_, nouns)| nouns.split(' ').any(|known| known == noun));
    let (work, _) = known.unwrap_or_else(|| panic!("whose work {noun} is, is not written down here yet"));
    match *work {
        // One's own account needs nobody's leave.
        "own" => return true,
        // No role of a company reaches beyond it.
        "installation" => return false,
        // What leaves the company is the affair of who answers for it.
        "outward" => return matches!(role, Role::Owner | Role::Accountant),
        "people" => {
            let sees = matches!(role, Role::Accountant | Role::Auditor) && action == Action::View;
            return role == Role::Owner || sees;
        }
        _ => {}
    }
    let changes = match (*work, role) {
        ("company", Role::Accountant) => "edit",
        ("selling" | "buying" | "goods" | "money" | "entering" | "revaluing", Role::Owner | Role::Accountant) => {
            "create edit delete post void"
        }
        ("selling" | "buying" | "goods" | "money" | "entering", Role::Bookkeeper)
        | ("money", Role::Cashier)
        | ("selling", Role::Sales)
        | ("buying", Role::Purchasing)
        | ("goods", Role::Warehouse) => "create edit post",
        ("settling", Role::Owner | Role::Accountant | Role::Bookkeeper | Role::Cashier) => "create delete",
        ("locking", Role::Owner | Role::Accountant) => "create",
        ("log", Role::Owner | Role::Accountant | Role::Auditor) => "export",
        ("company", Role::Owner) | ("names" | "rates" | "keeping", Role::Owner | Role::Accountant) => {
            "create edit delete"
        }
        ("names", Role::Bookkeeper | Role::Sales | Role::Purchasing) | ("rates", Role::Bookkeeper) => "create edit",
        _ => "",
    };
    action == Action::View || changes.contains(action.as_str()) && !(noun == "business" && action == Action::Create)
}

const PASSWORD: &str = "a role with a password";

/// A member of the company, added by the command line.
pub fn member<'s>(company: &Company<'s>, role: &str) -> Company<'s> {
    let email = format!("{role}-{}@example.test", company.id).to_lowercase();
    let words = ["user", "add", "--email", &email, "--password-stdin", "--business", &company.id, "--role", role];
    let added = company.server.command(&words, PASSWORD);
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    Company { token: company.server.login(&email, PASSWORD), ..company.clone() }
}

fn status(company: &Company<'_>, dialect: Dialect, operations: &ResourceOperations, verb: Verb, one: &One) -> u16 {
    let method = match operations.method(verb) {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
    };
    let path = operations.path(verb).replace("{id}", &one.id);
    // A rehearsal is allowed to exactly those who may do it.
    let path = if operations.writes(verb) { format!("{path}?dryRun=true") } else { path };
    let body = Some(&one.body).filter(|_| operations.body_need(verb) == BodyNeed::Required);
    let request = company.request_for(dialect, method, operations, &path);
    let request = match body {
        Some(body) => request.json(body),
        None => request,
    };
    let answer = company.server.send(&request);
    let code = answer.header("x-error-code").map(str::to_owned);
    assert_eq!(answer.status == 403, code.as_deref() == Some("forbidden"));
    answer.status
}

/// A record of a resource, and a body for another.
struct One {
    id: String,
    body: Value,
}

fn one_of(company: &Company<'_>, operations: &ResourceOperations) -> One {
    let resource = operations.key.stem();
    match resource {
        "businesses" => One { id: company.id.clone(), body: json!({"name": "Renamed", "baseCurrency": "EUR"}) },
        "entries" | "auditLog" => {
            company.make("journals");
            let listed = company.ask(Dialect::B, "GET", resource, "", None).expect(200).data;
            One { id: listed["items"][0]["id"].as_str().unwrap().into(), body: Value::Null }
        }
        "verification" | "reports" | "events" | "currencies" | "dialectUsage" | "profile" | "sessions" | "batch" => {
            One { id: String::new(), body: Value::Null }
        }
        "installationLog" => One { id: company.id.clone(), body: Value::Null },
        "users" => {
            let mut made = company.make(resource);
            made["displayName"] = "Renamed".into();
            One { id: made["id"].as_str().unwrap().into(), body: made }
        }
        _ => {
            let id = company.make(resource)["id"].as_str().unwrap().to_owned();
            One { id, body: company.example(resource) }
        }
    }
}

fn matrix(server: &Server) {
    let company = server.company();
    let records: Vec<One> = registry().iter().map(|one| one_of(&company, one)).collect();
    for role in Role::ALL {
        let member = member(&company, role.as_str());
        for (operations, one) in registry().iter().zip(&records) {
            for verb in operations.verbs() {
                // Whoever ends their session asks nothing after it.
                let ends = operations.key.stem() == "sessions" || operations.operation_id(verb) == "profileLogOut";
                if ends {
                    continue;
                }
                let (key, action) = operations.needs(verb);
                let noun = key.permission_noun();
                let allowed = may(role, noun, action);
                let statuses = DIALECTS.map(|dialect| status(&member, dialect, operations, verb, one));
                assert_eq!(statuses[0], statuses[1], "{role} {noun} {verb:?}");
                assert_eq!(statuses[0] != 403, allowed, "{role} {noun} {verb:?}: {statuses:?}");
                // What is allowed may still be refused by the state of the books: the company has records, a
                // journal is posted already.
                // An action may want words that are not said here.
                let wants_words = statuses[0] == 400 && operations.extra(verb).is_some();
                assert!(
                    wants_words || matches!(statuses[0], 200 | 201 | 403 | 409),
                    "{role} {noun} {verb:?}: {statuses:?}"
                );
            }
        }
    }
}

on_both_engines! {
    fn a_role_may_do_what_is_written_and_nothing_else(server) {
        matrix(server);
    }

    fn whoever_is_no_member_finds_nothing(server) {
        let (company, elsewhere) = (server.company(), server.company());
        let stranger = Company { id: company.id.clone(), ..member(&elsewhere, "owner") };
        for operations in registry() {
            let resource = operations.key.stem();
            let one = one_of(&company, operations);
            for verb in operations.verbs() {
                let is_of_no_company = matches!(resource, "profile" | "sessions" | "installationLog");
                if is_of_no_company || resource == "businesses" && matches!(verb, Verb::List | Verb::Create) {
                    continue;
                }
                for dialect in DIALECTS {
                    assert_eq!(status(&stranger, dialect, operations, verb, &one), 404, "{resource} {verb:?}");
                }
            }
        }
        for dialect in DIALECTS {
            let seen = stranger.ask(dialect, "GET", "businesses", "", None).expect(200).data;
            assert_eq!(seen["pagination"]["totalCount"], 1);
            assert_eq!(seen["items"][0]["id"], elsewhere.id);
            let body = json!({"name": "x", "baseCurrency": "EUR"});
            let refused = stranger.ask(dialect, "POST", "businesses", "", Some(&body)).expect(403);
            assert_eq!(refused.title, "You need the permission business.create for this");
        }
    }

    fn a_token_ends_with_the_password_and_with_the_user(server) {
        let company = server.company();
        let member = member(&company, "bookkeeper");
        let email = format!("bookkeeper-{}@example.test", company.id);
        let works = |token: &str| {
            let request = authorised(Request::new("GET", "/a/api/Businesses"), token);
            server.send(&request).status
        };
        assert_eq!(works(&member.token), 200);
        assert!(server.command(&["user", "passwd", &email, "--password-stdin"], "another long password").status.success());
        assert_eq!(works(&member.token), 401);
        let token = server.login(&email, "another long password");
        assert_eq!(works(&token), 200);
        assert!(server.command(&["user", "disable", &email], "").status.success());
        assert_eq!(works(&token), 401);
        let login = json!({"email": email, "password": "another long password"});
        server.send(&Request::new("POST", "/b/api/auth/login").json(&login)).expect(401);
        assert!(server.command(&["user", "enable", &email], "").status.success());
        server.login(&email, "another long password");
    }

    fn a_role_that_changes_takes_effect_at_once(server) {
        let company = server.company();
        let member = member(&company, "auditor");
        let body = json!({"name": "x", "isCustomer": true});
        member.ask(Dialect::A, "POST", "parties", "", Some(&body)).expect(403);
        let email = format!("auditor-{}@example.test", company.id);
        let words = ["user", "role", &email, "--business", &company.id, "--role", "sales"];
        assert!(server.command(&words, "").status.success());
        member.ask(Dialect::A, "POST", "parties", "", Some(&body)).expect(201);
        let mine = member.ask(Dialect::B, "GET", "businesses", &format!("/{}", company.id), None).expect(200).data;
        assert_eq!(mine["role"], "sales");
        let may = |permission: &str| mine["permissions"].as_array().unwrap().contains(&json!(permission));
        assert!(may("business.view") && may("party.edit") && !may("party.delete") && !may("business.edit"), "{mine}");
    }
}
