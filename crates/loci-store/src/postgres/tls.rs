//! Encrypts connections to PostgreSQL.
//!
//! The address configures it with `sslmode` and `sslrootcert`, as for libpq. The driver supports neither verification
//! nor root certificates, so both are removed from the address before the driver parses it.
//!
//! | sslmode | encrypted | certificate |
//! |---|---|---|
//! | `disable` | never | |
//! | `prefer`, the default | if the server can | checked if `sslrootcert` is given |
//! | `require` | always | checked if `sslrootcert` is given |
//! | `verify-ca` | always | must be issued by a known authority |
//! | `verify-full` | always | must also be issued for the host of the address |
//!
//! Channel binding is not offered: it needs a certificate parser, and `verify-full` protects from the same attack.

use std::borrow::Cow;
use std::fmt::Debug;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

use crate::{Error, Result};

/// How the connections to a server are encrypted.
#[derive(Clone)]
pub(super) struct Tls {
    pub(super) mode: SslMode,
    config: Arc<ClientConfig>,
    /// Whether the warning about clear text was already logged.
    warned: Arc<AtomicBool>,
}

impl Tls {
    /// Reads the TLS parameters of an address. Returns the address without them.
    pub(super) fn read(address: &str) -> Result<(Cow<'_, str>, Self)> {
        let (address, mut said) = take_out(address, &["sslmode", "sslrootcert"]);
        let (roots, mode) = (said.pop().flatten(), said.pop().flatten());
        let (mode, verifies, named) = match mode.as_deref() {
            None | Some("prefer") => (SslMode::Prefer, false, false),
            Some("disable") => (SslMode::Disable, false, false),
            Some("require") => (SslMode::Require, false, false),
            Some("verify-ca") => (SslMode::Require, true, false),
            Some("verify-full") => (SslMode::Require, true, true),
            Some(other) => {
                let expected = "expected one of disable, prefer, require, verify-ca, verify-full";
                return Err(invalid(format!("unknown sslmode {other:?}: {expected}")));
            }
        };
        let provider = Arc::new(aws_lc_rs::default_provider());
        let roots = match roots {
            Some(path) if path != "system" => Some(roots_of_file(&path)?),
            None if !verifies => None,
            _ => Some(roots_of_system()?),
        };
        let authority = match roots {
            Some(roots) => Some(
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                    .build()
                    .map_err(|error| invalid(format!("the root certificates cannot be used: {error}")))?,
            ),
            None => None,
        };
        let verifier = Verifier { authority, named, provider: provider.clone() };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| invalid(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok((address, Self { mode, config: Arc::new(config), warned: Arc::default() }))
    }

    /// A connector for one connection.
    pub(super) fn connector(&self) -> Connector {
        Connector { config: self.config.clone(), private: Arc::default() }
    }

    /// Logs a warning once if a connection that could be encrypted is not.
    pub(super) fn note(&self, connector: &Connector) {
        let clear = self.mode == SslMode::Prefer && !connector.private.load(Ordering::Relaxed);
        if clear && !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the connection to PostgreSQL is in clear text, because the server offers no TLS; sslmode=require refuses \
                 this, sslmode=disable expects it"
            );
        }
    }
}

fn invalid(problem: String) -> Error {
    loci_types::Error::invalid("postgres.url", problem).into()
}

fn roots_of_file(path: &str) -> Result<RootCertStore> {
    let refused = |problem: String| invalid(format!("sslrootcert {path}: {problem}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))? {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        roots.add(certificate).map_err(|error| refused(error.to_string()))?;
    }
    if roots.is_empty() { Err(refused("the file holds no certificate".to_owned())) } else { Ok(roots) }
}

fn roots_of_system() -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    match roots.is_empty() {
        true => Err(invalid("the system has no root certificates; name a file with sslrootcert=".to_owned())),
        false => Ok(roots),
    }
}

/// Removes parameters from a URL or from `key=value` pairs. Returns the address without them, and their values.
fn take_out<'a>(address: &'a str, keys: &[&str]) -> (Cow<'a, str>, Vec<Option<String>>) {
    let mut values = vec![None; keys.len()];
    let mut rest = String::new();
    let is_url = address.starts_with("postgres://") || address.starts_with("postgresql://");
    // A password may contain a question mark; parameters come after the host.
    let place = address.find('@').filter(|_| is_url).unwrap_or(0);
    let pairs: Vec<&str> = match address[place..].find('?') {
        Some(query) if is_url => {
            rest.push_str(&address[..place + query]);
            address[place + query + 1..].split('&').collect()
        }
        _ if is_url => return (address.into(), values),
        _ => pairs(address),
    };
    let mut separator = if is_url { '?' } else { ' ' };
    for pair in pairs {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match keys.iter().position(|wanted| *wanted == key.trim()) {
            Some(index) if is_url => {
                values[index] = Some(percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned());
            }
            Some(index) => values[index] = Some(unquoted(value.trim())),
            None => {
                rest.push(separator);
                rest.push_str(pair);
                separator = if is_url { '&' } else { ' ' };
            }
        }
    }
    (rest.into(), values)
}

/// Splits `key=value` pairs at the white space outside of quotes.
fn pairs(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' => quoted = !quoted,
            _ if letter.is_whitespace() && !quoted => {
                found.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found.retain(|pair| !pair.is_empty());
    found
}

/// Removes the quotes and escapes of a value.
fn unquoted(value: &str) -> String {
    let value = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value);
    let mut letters = value.chars();
    let mut plain = String::new();
    while let Some(letter) = letters.next() {
        plain.push(if letter == '\\' { letters.next().unwrap_or(letter) } else { letter });
    }
    plain
}

/// Checks the certificate of a server as far as the address requires it.
#[derive(Debug)]
struct Verifier {
    /// `None` accepts every certificate, which protects only from passive listeners.
    authority: Option<Arc<WebPkiServerVerifier>>,
    /// Whether the certificate must be issued for the host.
    named: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        match authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is checked last, after the issuer was verified.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) if !self.named => {
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Encrypts one connection.
#[derive(Clone)]
pub(super) struct Connector {
    config: Arc<ClientConfig>,
    /// Whether the connection is encrypted or local.
    private: Arc<AtomicBool>,
}

impl MakeTlsConnect<Socket> for Connector {
    type Stream = Encrypted;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Handshake, InvalidDnsNameError> {
        let mut name = domain;
        if domain.is_empty() {
            // A Unix socket has no host name and needs no encryption.
            self.private.store(true, Ordering::Relaxed);
            name = "localhost";
        }
        Ok(Handshake { connector: self.clone(), name: ServerName::try_from(name)?.to_owned() })
    }
}

pub(super) struct Handshake {
    connector: Connector,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        let Self { connector, name } = self;
        Box::pin(async move {
            let stream = tokio_rustls::TlsConnector::from(connector.config).connect(name, stream).await?;
            connector.private.store(true, Ordering::Relaxed);
            Ok(Encrypted(stream))
        })
    }
}

/// An encrypted stream for the driver.
pub(super) struct Encrypted(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_says_about_tls_is_taken_out() {
        for (address, rest, mode, roots) in [
            ("postgres://a@h/d", "postgres://a@h/d", None, None),
            ("postgres://a:p?x@h/d?sslmode=require", "postgres://a:p?x@h/d", Some("require"), None),
            (
                "postgresql://a@h/d?sslmode=verify-ca&application_name=x&sslrootcert=%2Fa%20b.pem&connect_timeout=3",
                "postgresql://a@h/d?application_name=x&connect_timeout=3",
                Some("verify-ca"),
                Some("/a b.pem"),
            ),
            ("host=h  user=a sslmode=prefer", " host=h user=a", Some("prefer"), None),
            (
                r"host=h sslrootcert='/it\'s here.pem' password='a sslmode=x' sslmode='disable'",
                " host=h password='a sslmode=x'",
                Some("disable"),
                Some("/it's here.pem"),
            ),
        ] {
            let (found, values) = take_out(address, &["sslmode", "sslrootcert"]);
            assert_eq!(found, rest);
            assert_eq!(values, [mode.map(str::to_owned), roots.map(str::to_owned)], "{address}");
        }
    }

    #[test]
    fn invalid_values_are_refused() {
        for (address, problem) in [
            ("host=h sslmode=allow", "unknown sslmode \"allow\""),
            ("host=h sslmode=verify-full sslrootcert=/nowhere.pem", "sslrootcert /nowhere.pem"),
            ("host=h sslmode=verify-full sslrootcert=/dev/null", "no certificate"),
        ] {
            let error = Tls::read(address).err().unwrap().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
