//! Redis over TLS, with a certificate of a private authority.

use std::time::Duration;

use loci_store::tier::{RedisTier, Tier, TierOptions};
use loci_testkit::certificates::{Authority, Validity};
use loci_testkit::servers::PrivateRedis;

fn tier(url: &str, authority: &Authority) -> RedisTier {
    let options = TierOptions { deadline: Duration::from_secs(5), ..TierOptions::default() };
    RedisTier::with_authorities(url, Some(authority.pem().into_bytes()), options).unwrap()
}

fn port(redis: &PrivateRedis) -> String {
    redis.address().rsplit_once(':').unwrap().1.to_owned()
}

async fn refused(url: &str, authority: &Authority) -> String {
    tier(url, authority).health().await.err().unwrap_or_else(|| panic!("{url} was believed")).to_string()
}

// doors H4
#[tokio::test]
async fn a_server_is_believed_if_the_private_authority_has_issued_its_certificate() {
    let (authority, folder) = (Authority::new("Loci test"), tempfile::tempdir().unwrap());
    let issued = authority.issue(&["localhost"], Validity::Now);
    let Some(redis) = PrivateRedis::start_with_tls(issued.write(folder.path())) else { return };
    let url = format!("rediss://localhost:{}", port(&redis));
    tier(&url, &authority).health().await.unwrap();
    // The certificate is for the name and not for the number.
    let number = format!("rediss://127.0.0.1:{}", port(&redis));
    let error = refused(&number, &authority).await;
    assert!(error.contains("not valid for name"), "{error}");
    let error = refused(&url, &Authority::new("Other")).await;
    assert!(error.contains("certificate"), "{error}");
    // Without the private authority, those of the system are asked.
    let system = RedisTier::new(&url, TierOptions::default()).unwrap();
    assert!(system.health().await.is_err());
    let plain =
        RedisTier::with_authorities("redis://localhost:1", Some(authority.pem().into()), TierOptions::default());
    assert!(plain.err().unwrap().to_string().contains("rediss://"));
}

// doors H4
#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let (authority, folder) = (Authority::new("Loci test"), tempfile::tempdir().unwrap());
    let issued = authority.issue(&["localhost"], Validity::Expired);
    let Some(redis) = PrivateRedis::start_with_tls(issued.write(folder.path())) else { return };
    let error = refused(&format!("rediss://localhost:{}", port(&redis)), &authority).await;
    assert!(error.contains("expired"), "{error}");
}

// doors H4
#[tokio::test]
async fn a_server_in_clear_text_is_refused_with_the_reason() {
    let Some(redis) = PrivateRedis::start() else { return };
    let error = refused(&format!("rediss://localhost:{}", port(&redis)), &Authority::new("Loci test")).await;
    assert!(error.contains("rediss:// asks for TLS"), "{error}");
}
