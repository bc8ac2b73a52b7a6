//! HTTPS at the door, with certificates of a private authority.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_engine::Config;
use loci_server::{Options, ServerOptions};
use loci_testkit::certificates::{Authority, Issued, Validity};
use reqwest::{Certificate, Client};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::TestServer;

/// A server that shows this certificate, whose files are in the folder, and waits this long for the head of a request.
async fn serve(issued: &Issued, folder: &Path, header_seconds: u64) -> TestServer {
    let (certificate, key) = issued.write(folder);
    let (tls_cert, tls_key) = (Some(certificate), Some(key));
    let server = ServerOptions { tls_cert, tls_key, header_seconds, ..ServerOptions::default() };
    TestServer::with(Options { server, ..Options::default() }, Config::default()).await
}

fn trusting(authority: &Authority) -> Client {
    let authority = Certificate::from_pem(authority.pem().as_bytes()).unwrap();
    Client::builder().no_proxy().tls_certs_only([authority]).pool_max_idle_per_host(0).build().unwrap()
}

fn address(server: &TestServer) -> &str {
    server.address.rsplit_once('/').unwrap().1
}

async fn healthy(client: &Client, server: &TestServer) -> Result<reqwest::Response, reqwest::Error> {
    client.get(format!("https://{}/healthz", address(server))).send().await
}

/// The protocols that the server chooses, of clients that speak one each.
async fn offered(authority: &Authority, server: &TestServer) -> Vec<Vec<u8>> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let mut chosen = Vec::new();
    for protocol in ["h2", "http/1.1"] {
        let mut config = config.clone();
        config.alpn_protocols = vec![protocol.into()];
        let stream = TcpStream::connect(address(server)).await.unwrap();
        let name = "127.0.0.1".try_into().unwrap();
        let stream = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        chosen.extend(stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec));
    }
    chosen
}

// doors H4: there was no TLS at the door.
#[tokio::test(flavor = "multi_thread")]
async fn requests_go_over_tls() {
    let (authority, folder) = (Authority::new("Loci test"), tempfile::tempdir().unwrap());
    let server = serve(&authority.issue(&["127.0.0.1"], Validity::Now), folder.path(), 2).await;
    let answer = healthy(&trusting(&authority), &server).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(offered(&authority, &server).await, [b"h2".to_vec(), b"http/1.1".to_vec()]);
    // A client that does not know the authority refuses the server.
    assert!(healthy(&trusting(&Authority::new("Other")), &server).await.is_err());
    server.close().await;
}

// doors H4
#[tokio::test(flavor = "multi_thread")]
async fn clear_text_is_refused_and_a_silent_peer_is_cut() {
    let (authority, folder) = (Authority::new("Loci test"), tempfile::tempdir().unwrap());
    let server = serve(&authority.issue(&["127.0.0.1"], Validity::Now), folder.path(), 2).await;
    let answer = reqwest::get(format!("http://{}/healthz", address(&server))).await.unwrap();
    assert_eq!(answer.status(), 400);
    assert_eq!(
        answer.text().await.unwrap(),
        "This port speaks HTTPS: write the address with https:// instead of http://.\n"
    );
    // Neither silence nor half a handshake keeps a connection open.
    for sent in [&b""[..], &[0x16, 3, 1]] {
        let mut stream = TcpStream::connect(address(&server)).await.unwrap();
        stream.write_all(sent).await.unwrap();
        let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut Vec::new())).await;
        drop(read.expect("the server hangs up"));
    }
    server.close().await;
}

// doors H4: the certificate is read again while the server runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_certificate_is_shown_and_a_broken_one_is_not() {
    let (authority, folder) = (Authority::new("Loci test"), tempfile::tempdir().unwrap());
    let server = serve(&authority.issue(&["127.0.0.1"], Validity::Now), folder.path(), 60).await;
    let other = Authority::new("Another");
    // A connection that was made before goes on.
    let kept = Certificate::from_pem(authority.pem().as_bytes()).unwrap();
    let kept = Client::builder().no_proxy().tls_certs_only([kept]).build().unwrap();
    healthy(&kept, &server).await.unwrap();
    std::fs::write(folder.path().join("server.pem"), "nothing").unwrap();
    // Longer than the interval at which the files are read.
    tokio::time::sleep(Duration::from_secs(3)).await;
    healthy(&trusting(&authority), &server).await.expect("the earlier certificate stays");
    other.issue(&["127.0.0.1"], Validity::Now).write(folder.path());
    let started = Instant::now();
    while healthy(&trusting(&other), &server).await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(20), "the new certificate is not shown");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(healthy(&trusting(&authority), &server).await.is_err(), "the earlier certificate is still shown");
    healthy(&kept, &server).await.expect("the open connection goes on");
    server.close().await;
}

#[test]
fn files_that_cannot_be_used_are_refused_by_their_setting() {
    let (authority, folder) = (Authority::new("Loci test"), tempfile::tempdir().unwrap());
    let issued = authority.issue(&["localhost"], Validity::Now);
    let (certificate, key) = issued.write(folder.path());
    let refused = |certificate: Option<&Path>, key: Option<&Path>| {
        let (tls_cert, tls_key) = (certificate.map(Path::to_owned), key.map(Path::to_owned));
        let server = ServerOptions { tls_cert, tls_key, ..ServerOptions::default() };
        Options { server, ..Options::default() }.validate().err().map(|error| error.to_string())
    };
    let check = |certificate: Option<&Path>, key: Option<&Path>, expect: &str| {
        let error = refused(certificate, key).expect(expect);
        assert!(error.contains(expect), "{error}");
    };
    assert_eq!(refused(Some(&certificate), Some(&key)), None);
    check(Some(&certificate), None, "server.tls_key is missing");
    check(None, Some(&key), "server.tls_cert is missing");
    check(Some(&key), Some(&key), "no certificate");
    check(Some(&certificate), Some(&certificate.with_extension("none")), "server.tls_key");
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let (_, wrong_key) = authority.issue(&["localhost"], Validity::Now).write(&other);
    check(Some(&certificate), Some(&wrong_key), "cannot be used with the certificate");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        check(Some(&certificate), Some(&key), "every user of this machine");
    }
}
