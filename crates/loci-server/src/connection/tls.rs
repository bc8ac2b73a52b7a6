//! TLS at the door: the certificate of the server, which is read again when its files change.
//!
//! Open connections keep the certificate that they began with. New files that cannot be used are logged, and the last usable
//! certificate stays.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use loci_types::{Error, ErrorKind};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::refuse_plainly;

/// How often the files are compared with those that were read last.
const POLL: Duration = Duration::from_secs(2);

/// The first byte of a TLS connection.
const HANDSHAKE: u8 = 0x16;

/// The answer to a request in clear text.
const SPEAKS_HTTPS: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 76\r\n\
    Connection: close\r\n\r\nThis port speaks HTTPS: write the address with https:// instead of http://.\n";

/// The certificate and the key of the server.
pub(crate) struct Certificate {
    files: CertificateFiles,
    config: RwLock<Arc<ServerConfig>>,
}

/// Where the certificate and its key are, as PEM.
#[derive(Debug, Clone)]
struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
}

/// The bytes of both files.
#[derive(Clone, PartialEq, Eq)]
struct Pem {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Certificate").field(&self.files.certificate).finish()
    }
}

impl Certificate {
    /// Reads the certificate and its key. The key must belong to the certificate, and no other user may read its file.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self, Error> {
        let files = CertificateFiles { certificate: certificate.to_owned(), key: key.to_owned() };
        let config = files.config(&files.read()?)?;
        Ok(Self { files, config: RwLock::new(config) })
    }

    /// Makes a TLS connection within the deadline. A peer that speaks HTTP without TLS gets an answer that says so.
    pub(super) async fn accept(&self, stream: TcpStream, deadline: Duration) -> io::Result<TlsStream<TcpStream>> {
        let late = || io::Error::new(io::ErrorKind::TimedOut, "the peer did not complete the TLS handshake in time");
        let config = self.config.read().unwrap_or_else(PoisonError::into_inner).clone();
        let handshake = async {
            let mut first = [0];
            if stream.peek(&mut first).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if first[0] != HANDSHAKE {
                refuse_plainly(stream, SPEAKS_HTTPS).await?;
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the peer does not speak TLS"));
            }
            TlsAcceptor::from(config).accept(stream).await
        };
        tokio::time::timeout(deadline, handshake).await.map_err(|_| late())?
    }

    /// Reads the files again when they have changed and on SIGHUP, until `closed` becomes true.
    pub(crate) async fn follow(self: Arc<Self>, mut closed: watch::Receiver<bool>) {
        let mut hangup = Hangup::new();
        let mut seen = self.files.read().ok();
        loop {
            let asked = tokio::select! {
                () = tokio::time::sleep(POLL) => false,
                () = hangup.received() => true,
                _ = closed.wait_for(|closed| *closed) => return,
            };
            let files = self.files.clone();
            let read = tokio::task::spawn_blocking(move || files.read()).await;
            let Ok(read) = read else { continue };
            let found = read.as_ref().ok().cloned();
            if found == seen && !asked {
                continue;
            }
            seen = found;
            match read.and_then(|pem| self.files.config(&pem)) {
                Ok(config) => {
                    *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
                    tracing::info!(file = %self.files.certificate.display(), "the certificate was read again");
                }
                Err(error) => tracing::error!(%error, "the new certificate cannot be used; the earlier one stays"),
            }
        }
    }
}

impl CertificateFiles {
    fn read(&self) -> Result<Pem, Error> {
        let read = |field: &'static str, path: &Path| {
            std::fs::read(path).map_err(|error| wrong(field, format!("{}: {error}", path.display())))
        };
        private(&self.key)?;
        Ok(Pem { certificate: read(CERTIFICATE, &self.certificate)?, key: read(KEY, &self.key)? })
    }

    fn config(&self, pem: &Pem) -> Result<Arc<ServerConfig>, Error> {
        let of_certificate = |problem: String| wrong(CERTIFICATE, format!("{}: {problem}", self.certificate.display()));
        let of_key = |problem: String| wrong(KEY, format!("{}: {problem}", self.key.display()));
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&pem.certificate)
            .collect::<Result<_, _>>()
            .map_err(|error| of_certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(of_certificate("the file holds no certificate in PEM form".to_owned()));
        }
        // The parser's errors are not shown: they could quote the key.
        let key = PrivateKeyDer::from_pem_slice(&pem.key)
            .map_err(|_| of_key("the file holds no private key in PEM form".to_owned()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| of_certificate(error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| of_key(format!("it cannot be used with the certificate: {error}")))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

const CERTIFICATE: &str = "server.tls_cert";
const KEY: &str = "server.tls_key";

fn wrong(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Configuration, format!("{field} {message}")).at(field)
}

/// Refuses a key that all users of the machine can read or write.
#[cfg(unix)]
fn private(key: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(key).map_err(|error| wrong(KEY, format!("{}: {error}", key.display())))?;
    if found.permissions().mode() & 0o007 == 0 {
        return Ok(());
    }
    let problem = format!("{}: every user of this machine has access to the private key", key.display());
    Err(wrong(KEY, problem).hint(format!("run `chmod 600 {}`", key.display())))
}

#[cfg(not(unix))]
fn private(_: &Path) -> Result<(), Error> {
    Ok(())
}

/// The signal SIGHUP, where there is one.
struct Hangup {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangup {
    #[cfg(unix)]
    fn new() -> Self {
        Self { signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok() }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    async fn received(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}
