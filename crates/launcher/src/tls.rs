//! The certificate that this server shows, read again when its files change.

use crate::config::Settings;
use ledger_core::clock::Instant;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_cert::der::Decode;

/// Where a certificate and its key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// The certificate as it is now. Connections that are open keep the one they began with.
pub(crate) struct Certificate {
    files: Files,
    seen: RwLock<Stamps>,
    current: RwLock<Arc<ServerConfig>>,
}

type Stamps = [Option<(SystemTime, u64)>; 2];

impl Files {
    /// Nothing where the server speaks plain HTTP alone.
    pub(crate) fn of(settings: &Settings) -> Option<Self> {
        let (certificate, key) = settings.tls_certificate.clone().zip(settings.tls_key.clone())?;
        Some(Self { certificate, key })
    }

    /// Until when the first certificate of the chain is good, which is the server's own.
    pub(crate) fn last_day(&self) -> Result<Instant, String> {
        let cannot = |why: &dyn std::fmt::Display| format!("cannot use {}: {why}", self.certificate.display());
        let own = CertificateDer::from_pem_file(&self.certificate).map_err(|error| cannot(&error))?;
        let own = x509_cert::Certificate::from_der(&own).map_err(|error| cannot(&error))?;
        Ok(Instant::from_micros(0).plus(own.tbs_certificate.validity.not_after.to_unix_duration()))
    }

    fn stamps(&self) -> Stamps {
        let stamp = |path: &Path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        [stamp(&self.certificate), stamp(&self.key)]
    }

    fn read(&self) -> Result<ServerConfig, String> {
        let cannot = |path: &Path, why: &dyn std::fmt::Display| format!("cannot use {}: {why}", path.display());
        let chain: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_file_iter(&self.certificate).and_then(Iterator::collect);
        let chain = chain.map_err(|error| cannot(&self.certificate, &error))?;
        if chain.is_empty() {
            return Err(cannot(&self.certificate, &"there is no certificate in it"));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| cannot(&self.key, &error))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| cannot(&self.certificate, &error))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl Certificate {
    pub(crate) fn read(files: Files) -> Result<Self, String> {
        let seen = RwLock::new(files.stamps());
        let current = RwLock::new(Arc::new(files.read()?));
        Ok(Self { files, seen, current })
    }

    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files again where they changed. A bad one is told, and changes nothing.
    pub(crate) fn look_again(&self) {
        let now = self.files.stamps();
        {
            let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
            if *seen == now {
                return;
            }
            *seen = now;
        }
        match self.files.read() {
            Ok(config) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                tracing::info!("the certificate was read again");
            }
            Err(error) => tracing::error!(code = "certificate_reload_failed", error, "the certificate stays as it was"),
        }
    }
}
