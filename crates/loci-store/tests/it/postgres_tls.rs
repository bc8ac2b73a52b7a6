//! Connections to PostgreSQL are encrypted, and the certificate of the server is verified.
//!
//! The server for tests is reached over TLS at `localhost`, with a certificate for that name by an authority of its own, and
//! without TLS at its own address.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loci_store::prelude::*;
use loci_store::{Error, PostgresOptions, PostgresStore};
use loci_testkit::certificates::{Authority, Issued, Validity};
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_testkit::servers::{Schema, postgres_tls};
use loci_types::Tenant;

/// The address without what it says about TLS, and the certificate of the authority.
fn encrypted() -> Option<(String, String)> {
    let url = postgres_tls()?;
    let (address, roots) =
        url.split_once("?sslmode=verify-full&sslrootcert=").expect("the server for tests names its authority");
    Some((address.to_owned(), roots.to_owned()))
}

fn options(schema: &Schema) -> PostgresOptions {
    let timeout = Duration::from_secs(5);
    PostgresOptions { schema: schema.name.clone(), partitions: 2, timeout, ..PostgresOptions::default() }
}

async fn open(url: &str, schema: &Schema) -> Result<PostgresStore, Error> {
    PostgresStore::open(url, options(schema)).await
}

/// Reading, writing, leases and notifications all work, and nothing of it goes past TLS: the server answers nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn everything_goes_over_tls() {
    let (Some((address, roots)), Some(schema)) = (encrypted(), Schema::new()) else { return };
    assert!(open(&format!("{address}?sslmode=disable"), &schema).await.is_err(), "the server takes clear text");
    for mode in [
        String::new(),
        "?sslmode=prefer".to_owned(),
        "?sslmode=require".to_owned(),
        format!("?sslmode=require&sslrootcert={roots}"),
        format!("?sslmode=verify-ca&sslrootcert={roots}"),
        format!("?sslmode=verify-full&sslrootcert={roots}"),
    ] {
        let store = open(&format!("{address}{mode}"), &schema).await.unwrap_or_else(|error| panic!("{mode}: {error}"));
        let mut moved = store.change_signal().unwrap();
        // The first word says that someone listens.
        tokio::time::timeout(Duration::from_secs(5), moved.changed()).await.unwrap().unwrap();
        moved.mark_unchanged();
        let id = Driver::from(&store, u64::try_from(mode.len()).unwrap() * 10)
            .remember(&user("anna"), &format!("lantern {mode}"))
            .await;
        assert_eq!(good(store.fetch(&whole(), &[id]).await).len(), 1);
        tokio::time::timeout(Duration::from_secs(5), moved.changed()).await.unwrap().unwrap();
        let lease = Duration::from_secs(60);
        assert!(good(store.lease(&Tenant::default(), "maintenance", "one", at(0), lease).await));
        good(store.lease(&Tenant::default(), "maintenance", "one", at(0), Duration::ZERO).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_is_refused() {
    let (Some((address, roots)), Some(schema)) = (encrypted(), Schema::new()) else { return };
    // The certificate is for the name and not for the number.
    let number = address.replace("@localhost:", "@127.0.0.1:");
    for (url, problem) in [
        (format!("{number}?sslmode=verify-full&sslrootcert={roots}"), "not valid for name"),
        // No authority of the system has issued it.
        (format!("{address}?sslmode=verify-ca&sslrootcert=system"), "certificate"),
        (format!("{address}?sslmode=verify-full"), "certificate"),
    ] {
        let error = open(&url, &schema).await.err().unwrap_or_else(|| panic!("{url} was believed")).to_string();
        assert!(error.contains(problem), "{url}: {error}");
    }
    good(open(&format!("{number}?sslmode=verify-ca&sslrootcert={roots}"), &schema).await);
    // Another authority of the same form is not believed.
    let other = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(other.path(), OTHER_AUTHORITY).unwrap();
    for mode in ["prefer", "require", "verify-ca", "verify-full"] {
        let url = format!("{address}?sslmode={mode}&sslrootcert={}", other.path().display());
        let error = open(&url, &schema).await.err().unwrap_or_else(|| panic!("{mode}: believed")).to_string();
        assert!(error.contains("UnknownIssuer"), "{mode}: {error}");
    }
}

/// Lines of the log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A server without TLS: `require` refuses it, and `prefer` says that it goes on in clear text, once.
#[tokio::test(flavor = "multi_thread")]
async fn clear_text_is_refused_or_said() {
    let Some(schema) = Schema::new() else { return };
    if !schema
        .ask("SHOW ssl")
        .iter()
        .any(|message| matches!(message, tokio_postgres::SimpleQueryMessage::Row(row) if row.get(0) == Some("off")))
    {
        return;
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let error = open(&format!("{}?sslmode={mode}", schema.url), &schema).await.err().unwrap();
        assert!(error.to_string().contains("does not support TLS"), "{mode}: {error}");
    }
    let log = Log::default();
    let kept = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || kept.clone()).with_ansi(false).finish();
    // For this thread, which makes the first connection of each store.
    let _logs = tracing::subscriber::set_default(subscriber);
    let said = || String::from_utf8_lossy(&log.0.lock().unwrap()).matches("in clear text").count();
    good(open(&format!("{}?sslmode=disable", schema.url), &schema).await);
    assert_eq!(said(), 0, "it was asked for");
    let store = good(open(&schema.url, &schema).await);
    Driver::on(&store).remember(&user("anna"), "lantern").await;
    assert_eq!(said(), 1);
}

/// A server that agrees to TLS as PostgreSQL does, shows this certificate and then hangs up. Clients that refuse the
/// certificate do so before anything of PostgreSQL is sent, so no more is needed.
async fn shows(issued: Issued) -> u16 {
    use rustls::pki_types::pem::PemObject;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let certificate = rustls::pki_types::CertificateDer::from_pem_slice(issued.certificate.as_bytes()).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::from_pem_slice(issued.key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut question = [0; 8];
            drop(stream.read_exact(&mut question).await);
            drop(stream.write_all(b"S").await);
            drop(acceptor.accept(stream).await);
        }
    });
    port
}

// doors H4: needs no server for tests.
#[tokio::test(flavor = "multi_thread")]
async fn expired_certificates_and_those_of_other_names_are_refused() {
    let (authority, folder) = (Authority::new("Loci test"), tempfile::tempdir().unwrap());
    let roots = authority.write(folder.path()).display().to_string();
    let check = async |names: &[&str], validity: Validity, mode: &str, expect: Option<&str>| {
        let port = shows(authority.issue(names, validity)).await;
        let url = format!("postgres://a@localhost:{port}/d?sslmode={mode}&sslrootcert={roots}");
        let options = PostgresOptions { timeout: Duration::from_secs(5), ..PostgresOptions::default() };
        let error = PostgresStore::open(&url, options).await.err().unwrap().to_string();
        match expect {
            Some(problem) => assert!(error.contains(problem), "{mode} {names:?}: {error}"),
            None => assert!(!error.contains("certificate"), "{mode} {names:?}: {error}"),
        }
    };
    check(&["localhost"], Validity::Now, "verify-full", None).await;
    check(&["db.example"], Validity::Now, "verify-full", Some("not valid for name")).await;
    check(&["db.example"], Validity::Now, "verify-ca", None).await;
    for mode in ["prefer", "require", "verify-ca", "verify-full"] {
        check(&["localhost"], Validity::Expired, mode, Some("expired")).await;
    }
}

/// The certificate of an authority whose key was thrown away.
const OTHER_AUTHORITY: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIBeTCCAR+gAwIBAgIUcFvwEgf4hly5hWYjxgw8YvEgyEwwCgYIKoZIzj0EAwIw\n\
    ETEPMA0GA1UEAwwGTm9ib2R5MCAXDTI2MTExODAwNDcwNVoYDzIxMjYxMDI1MDA0\n\
    NzA1WjARMQ8wDQYDVQQDDAZOb2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC\n\
    AARi9++M/2DjjN658lDZ37Pfi9E297gGlv6Xxr7k6nkv1trBqvhfOcQUDy5x2jmD\n\
    FlmxTBcJMEy5fBJiFPYtTTQco1MwUTAdBgNVHQ4EFgQUd9BagV0D7TR6vyDwrk9u\n\
    aOyrQ10wHwYDVR0jBBgwFoAUd9BagV0D7TR6vyDwrk9uaOyrQ10wDwYDVR0TAQH/\n\
    BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAQRABdZW/2dBdMMsotkd9afn6qSk3y\n\
    n9ym9ZvJsKD7uAIhAPonx7/bag/Ds3Tq+y+cPGOGolt6fJ/FIzOJ7l/VnSow\n\
    -----END CERTIFICATE-----";
