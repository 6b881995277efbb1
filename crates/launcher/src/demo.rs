//! `--demo`: a sample company in a database that is thrown away, entered like any other data.

use ledger_core::auth::{LoginName, NewUser};
use ledger_core::books::audit::Origin;
use ledger_core::cx::Expectation;
use ledger_core::error::{Error, Result};
use ledger_core::ledger::{Call, Ledger};
use ledger_core::resource::Resource;
use ledger_core::resource::business::Businesses;
use ledger_core::resource::operation::{Verb, operations};
use ledger_core::resource::party::Parties;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const EMAIL: &str = "demo@duet.example";
pub(crate) const PASSWORD: &str = "two voices, one book";

/// A folder that lives as long as the demo.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn make() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("duet-demo-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// The demo's own data folder, and nobody's database but the one in it.
    pub(crate) fn overrides(&self, said: &[(String, String)]) -> Vec<(String, String)> {
        let database = format!("sqlite:{}/demo.db", self.0.display());
        [("Data", self.0.display().to_string()), ("ConnectionStrings:Default", database)]
            .into_iter()
            .filter(|(key, _)| !said.iter().any(|(named, _)| named == key))
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

/// Loads the sample company; a database that has users already is left as it is.
pub(crate) async fn load(ledger: &Arc<Ledger>) -> Result<()> {
    let user = NewUser {
        email: EMAIL.into(),
        username: Some("demo".into()),
        display_name: "Demo".into(),
        password: String::new(),
        is_system_admin: true,
    };
    if ledger.bootstrap(user, Some(PASSWORD.into())).await?.is_none() {
        return Ok(());
    }
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let session = ledger.login(LoginName::Email, EMAIL, PASSWORD.into(), here).await?;
    let principal = ledger.authenticate(&session.token).await?;
    let company = create::<Businesses>(ledger, &principal, None, &Businesses::example()).await?;
    for party in parties() {
        create::<Parties>(ledger, &principal, Some(company.clone()), &party).await?;
    }
    Ok(())
}

async fn create<R: Resource>(
    ledger: &Arc<Ledger>,
    principal: &ledger_core::access::Principal,
    business: Option<String>,
    body: &Value,
) -> Result<String> {
    let call = Call {
        resource: operations::<R>(),
        verb: Verb::Create,
        business,
        id: None,
        query: Vec::new(),
        body: body.to_string().into_bytes(),
        expectation: Expectation::Unsaid,
        idempotency_key: None,
        origin: Origin::default(),
    };
    let reply = ledger.execute(principal, call).await?;
    reply.record.map(|(id, _)| id.to_string()).ok_or_else(|| Error::internal("a created record has no identifier"))
}

fn parties() -> Vec<Value> {
    let customers = ["Alsterblick Hotel", "Bergmann & Söhne", "Café Morgenrot", "Deichgraf Events", "Fährhaus Kantine"];
    let suppliers = ["Kaffeerösterei Speicherstadt", "Papier Thomsen", "Stadtwerke Nord", "Zenith Logistics"];
    let party = |(index, name): (usize, &&str), prefix: &str, is_customer: bool| {
        json!({
            "name": name,
            "code": format!("{prefix}-{:04}", 1002 + index),
            "isCustomer": is_customer,
            "isSupplier": !is_customer,
            "currency": "EUR",
            "paymentTermDays": if is_customer { 14 } else { 30 },
            "billingAddress": { "city": "Hamburg", "country": "DE" }
        })
    };
    let mut all = vec![Parties::example()];
    all.extend(customers.iter().enumerate().map(|one| party(one, "C", true)));
    all.extend(suppliers.iter().enumerate().map(|one| party(one, "S", false)));
    all
}
