//! Who may be at the other end of a connection by TLS.

use crate::fault::Fault;
use std::sync::Arc;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, SignatureVerificationAlgorithm, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use x509_cert::der::asn1::AnyRef;
use x509_cert::der::{Decode, Encode};
use x509_cert::{Certificate, Version};

/// What is verified of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verified {
    Nothing,
    Issuer,
    IssuerAndName,
}

pub(crate) fn config(verified: Verified, root: Option<&str>) -> Result<ClientConfig, Fault> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::ours(format!("TLS cannot be spoken: {error}")))?;
    let verifier: Arc<dyn ServerCertVerifier> = match verified {
        Verified::Nothing => Arc::new(Judge { chain: None, provider }),
        Verified::Issuer | Verified::IssuerAndName => {
            let roots = Arc::new(roots(root)?);
            let chain = WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
                .build()
                .map_err(|error| Fault::ours(format!("the server's certificate could not be verified: {error}")))?;
            match verified {
                Verified::IssuerAndName => chain,
                _ => Arc::new(Judge { chain: Some(chain), provider }),
            }
        }
    };
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// The certificates that are trusted: those of a file, else those of the machine.
fn roots(file: Option<&str>) -> Result<RootCertStore, Fault> {
    let mut roots = RootCertStore::empty();
    let Some(file) = file.filter(|file| *file != "system") else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(Fault::ours("this machine trusts no certificates; name a file of them with sslrootcert"));
        }
        return Ok(roots);
    };
    let cannot = |why: String| Fault::ours(format!("the certificates in {file} (sslrootcert) cannot be used: {why}"));
    let read = CertificateDer::pem_file_iter(file).map_err(|error| cannot(error.to_string()))?;
    for certificate in read {
        let certificate = certificate.map_err(|error| cannot(error.to_string()))?;
        roots.add(certificate).map_err(|error| cannot(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(cannot("there are none".into()));
    }
    Ok(roots)
}

/// Verifies who issued the certificate but not whose name it bears, or nothing at all: what `verify-ca` and `require`
/// stand for everywhere else too.
#[derive(Debug)]
struct Judge {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Judge {
    /// Whether who speaks has the key of their certificate. rustls reads no certificate of version 1, as Citus makes one for
    /// itself: where nothing else is verified, the key is taken from it here. What a password is bound to (`channel_binding`)
    /// is this certificate, so nobody else may show it.
    fn judged(
        &self,
        (message, certificate, signed): (&[u8], &CertificateDer<'_>, &DigitallySignedStruct),
        judgement: Result<HandshakeSignatureValid, Error>,
    ) -> Result<HandshakeSignatureValid, Error> {
        match judgement {
            Err(Error::InvalidCertificate(CertificateError::Other(_))) if self.chain.is_none() => {}
            other => return other,
        }
        let bad = |why: CertificateError| Error::InvalidCertificate(why);
        let read = Certificate::from_der(certificate).map_err(|_| bad(CertificateError::BadEncoding))?;
        if read.tbs_certificate.version != Version::V1 {
            return judgement;
        }
        let key = read.tbs_certificate.subject_public_key_info;
        let kind = key.algorithm.to_der().map_err(|_| bad(CertificateError::BadEncoding))?;
        let kind = AnyRef::from_der(&kind).map_err(|_| bad(CertificateError::BadEncoding))?.value();
        let known = &self.provider.signature_verification_algorithms.mapping;
        let mut algorithms =
            known.iter().filter(|(scheme, _)| *scheme == signed.scheme).flat_map(|(_, some)| some.iter().copied());
        let is_signed = |one: &'static dyn SignatureVerificationAlgorithm| {
            let bits = key.subject_public_key.raw_bytes();
            one.public_key_alg_id().as_ref() == kind && one.verify_signature(bits, message, signed.signature()).is_ok()
        };
        if algorithms.any(is_signed) {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(bad(CertificateError::BadSignature))
        }
    }
}

impl ServerCertVerifier for Judge {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(certificate, between, name, ocsp, now) {
            // The name is looked at last, once all else was found right.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        self.judged((message, certificate, signed), verify_tls12_signature(message, certificate, signed, known))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        self.judged((message, certificate, signed), verify_tls13_signature(message, certificate, signed, known))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
