//! TLS beside plain HTTP, with a certificate that may be renewed while the server runs.

use crate::harness::http::connect;
use crate::harness::process::{eventually, fresh_folder};
use crate::harness::server::run_with;
use crate::harness::{Engine, Options, Request, Server};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// A new certificate for localhost in a folder, as it is shown.
fn renew(folder: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    std::fs::write(folder.join("certificate.pem"), made.cert.pem()).unwrap();
    made.cert.der().clone()
}

/// The answer to a request over TLS, to somebody who trusts this certificate alone.
fn ask(address: SocketAddr, trusted: &CertificateDer<'static>, path: &str) -> Result<String, String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream =
            TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| error.to_string())?;
        stream.write_all(&Request::new("GET", path).bytes("close")).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.map_err(|error| error.to_string())?;
        Ok(text)
    })
}

/// A server that speaks TLS too, by the certificate in a folder, and where.
fn started(folder: &Path) -> (Server, SocketAddr) {
    let file = |name: &str| folder.join(name).display().to_string();
    let settings = [
        format!("Server:Tls:Certificate={}", file("certificate.pem")),
        format!("Server:Tls:Key={}", file("key.pem")),
        "Server:Tls:Url=https://127.0.0.1:0".into(),
    ];
    let arguments = settings.iter().flat_map(|setting| ["--set".to_owned(), setting.clone()]).collect();
    let server = Server::start(Engine::Sqlite, Options { arguments, ..Options::default() }).unwrap();
    let line = server.greeting.iter().find(|line| line.contains("https://")).expect("where TLS is spoken");
    let secure: SocketAddr = line.rsplit("https://").next().unwrap().parse().unwrap();
    (server, secure)
}

/// `duet compare` asks servers over TLS, and trusts whom the machine trusts.
#[test]
fn both_dialects_are_compared_over_tls() {
    let folder = fresh_folder("tls");
    renew(&folder);
    let (server, secure) = started(&folder);
    let words = ["compare", "businessesList", "--server", &format!("https://localhost:{}", secure.port())];
    let words = words.map(str::to_owned);
    let certificate = folder.join("certificate.pem").display().to_string();
    let token = ("DUET_COMPARE_TOKEN", server.token());
    let output = run_with(&words, "", &[token, ("SSL_CERT_FILE", &certificate)]);
    let (told, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && told.contains("equal  businessesList"), "{told}{said}");
    let output = run_with(&words, "", &[token]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("certificate"), "{said}");
}

#[test]
fn a_certificate_is_renewed_without_a_connection_dropped() {
    let folder = fresh_folder("tls");
    let first = renew(&folder);
    let (server, secure) = started(&folder);
    let answer = ask(secure, &first, "/healthz").unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
    assert!(answer.contains("strict-transport-security: max-age=63072000"), "{answer}");
    let answer = ask(secure, &first, "/b/api/businesses").unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    let plain = server.send(&Request::new("GET", "/healthz")).expect(200);
    assert_eq!(plain.header("strict-transport-security"), None);
    // Who does not speak TLS there is not understood.
    let mut rude = connect(secure);
    std::io::Write::write_all(&mut rude, &Request::new("GET", "/healthz").bytes("close")).unwrap();
    let mut heard = Vec::new();
    let _closed = std::io::Read::read_to_end(&mut rude, &mut heard);
    assert!(!String::from_utf8_lossy(&heard).contains("HTTP/1.1"), "{heard:?}");

    // A bad file changes nothing.
    std::fs::write(folder.join("certificate.pem"), "no certificate").unwrap();
    eventually("a word about the bad file", || server.log().contains("certificate_reload_failed").then_some(()));
    assert!(ask(secure, &first, "/healthz").is_ok());
    let second = renew(&folder);
    eventually("the new certificate", || ask(secure, &second, "/healthz").ok());
    assert!(ask(secure, &first, "/healthz").is_err());
    assert_eq!(server.send(&Request::new("GET", "/healthz")).status, 200);
}

#[test]
fn a_certificate_without_its_key_stops_the_start() {
    let folder = fresh_folder("tls");
    std::fs::write(folder.join("c.pem"), "no certificate").unwrap();
    let data = folder.join("data").display().to_string();
    let start = |settings: &[String]| {
        let mut words: Vec<String> = ["serve", "--listen", "127.0.0.1:0", "--data", &data].map(str::to_owned).to_vec();
        words.extend(settings.iter().flat_map(|setting| ["--set".to_owned(), setting.clone()]));
        let output = crate::harness::server::run(&words, "");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let certificate = format!("Server:Tls:Certificate={}", folder.join("c.pem").display());
    let (code, said) = start(std::slice::from_ref(&certificate));
    assert!(code == Some(2) && said.contains("Server:Tls:Key"), "{code:?} {said}");
    let (code, said) = start(&[certificate, format!("Server:Tls:Key={}", folder.join("c.pem").display())]);
    assert!(code == Some(1) && said.contains("c.pem"), "{code:?} {said}");
}
