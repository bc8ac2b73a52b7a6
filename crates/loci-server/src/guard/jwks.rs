//! The public keys of an issuer of tokens: a JSON Web Key Set from a file, or from an address that is asked again when a token
//! names a key that is not known.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde::Deserialize;

/// Minimum time between two requests for the keys, also after one that failed: strangers can name unknown keys as often as
/// they like.
const MIN_INTERVAL: Duration = Duration::from_secs(30);

/// Time after which the keys are asked for again, so that a key that the issuer removed is refused.
const MAX_AGE: Duration = Duration::from_secs(3_600);

/// Maximum duration of a request for the keys.
const DEADLINE: Duration = Duration::from_secs(5);

/// Maximum size of a set of keys, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// A key that verifies tokens of one algorithm.
pub(super) struct PublicKey {
    pub(super) id: Option<String>,
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

/// The key that a token names, or the only one of its algorithm.
pub(super) fn find<'k>(keys: &'k [PublicKey], algorithm: Algorithm, id: Option<&str>) -> Option<&'k PublicKey> {
    let mut fitting = keys.iter().filter(|one| one.algorithm == algorithm);
    match id {
        Some(id) => fitting.find(|one| one.id.as_deref() == Some(id)),
        None => fitting.next().filter(|_| fitting.next().is_none()),
    }
}

/// Reads a set of keys. Those that do not verify signatures, or by no algorithm that is accepted, are passed over.
pub(super) fn parse(text: &str) -> Result<Vec<PublicKey>, String> {
    #[derive(Deserialize)]
    struct KeySet {
        keys: Vec<serde_json::Value>,
    }
    let set: KeySet = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let known = set.keys.into_iter().filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
    let keys: Vec<PublicKey> = known.filter_map(|jwk| verifying(&jwk)).collect();
    match keys.is_empty() {
        true => Err("it holds no key of RS256, ES256 or EdDSA that verifies signatures".to_owned()),
        false => Ok(keys),
    }
}

/// The key, if it is one for signatures of an algorithm that is accepted. Shared secrets do not belong into a public set.
fn verifying(jwk: &Jwk) -> Option<PublicKey> {
    let (algorithm, declared) = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::OctetKeyPair(_) => (Algorithm::EdDSA, KeyAlgorithm::EdDSA),
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        _ => return None,
    };
    let common = &jwk.common;
    let signs = common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
    let verifies = common.key_operations.as_ref().is_none_or(|all| all.contains(&KeyOperations::Verify));
    let fits = common.key_algorithm.is_none_or(|own| own == declared);
    if !(signs && verifies && fits) {
        return None;
    }
    let key = DecodingKey::from_jwk(jwk).ok()?;
    Some(PublicKey { id: common.key_id.clone(), algorithm, key })
}

/// The keys at an address.
pub(super) struct RemoteKeys {
    url: Url,
    client: Client,
    min_interval: Duration,
    keys: RwLock<Arc<Vec<PublicKey>>>,
    /// When the keys were last asked for, and when they were last received. Held while they are asked for, so that one
    /// request serves all that wait.
    asked: tokio::sync::Mutex<(Option<Instant>, Option<Instant>)>,
}

impl RemoteKeys {
    /// The keys at this address, which must be HTTPS, or on this machine. Nothing is asked for yet.
    pub(super) fn new(url: &str) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|one| one.is_loopback());
        if url.scheme() != "https" && !(url.scheme() == "http" && here) {
            return Err("it is neither https:// nor on this machine".to_owned());
        }
        let client = Client::builder().redirect(Policy::none()).timeout(DEADLINE).build();
        Ok(Self {
            url,
            client: client.map_err(|error| error.to_string())?,
            min_interval: MIN_INTERVAL,
            keys: RwLock::default(),
            asked: tokio::sync::Mutex::default(),
        })
    }

    /// The keys that are known now.
    pub(super) fn keys(&self) -> Arc<Vec<PublicKey>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks for the keys again if the token names none that is known, or if they are old. Known keys stay when the address
    /// does not answer.
    pub(super) async fn refresh_for(&self, algorithm: Algorithm, id: Option<&str>) {
        // A token whose key is known never waits for the issuer: what is old is renewed by whoever finds nobody at it.
        let known = find(&self.keys(), algorithm, id).is_some();
        let mut asked = match known {
            true => match self.asked.try_lock() {
                Ok(asked) => asked,
                Err(_) => return,
            },
            false => self.asked.lock().await,
        };
        let age = |at: Option<Instant>| at.map(|at| at.elapsed());
        let old = age(asked.1).is_none_or(|age| age >= MAX_AGE);
        let unknown = find(&self.keys(), algorithm, id).is_none();
        if !(old || unknown) || age(asked.0).is_some_and(|age| age < self.min_interval) {
            return;
        }
        asked.0 = Some(Instant::now());
        match self.fetch().await {
            Ok(keys) => {
                *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
                asked.1 = Some(Instant::now());
            }
            Err(problem) => tracing::warn!(problem, "the keys of the issuer of tokens cannot be read"),
        }
    }

    async fn fetch(&self) -> Result<Vec<PublicKey>, String> {
        let wrong = |error: reqwest::Error| error.without_url().to_string();
        let mut response = self.client.get(self.url.clone()).send().await.map_err(wrong)?;
        if !response.status().is_success() {
            return Err(format!("the address answers {}", response.status()));
        }
        let mut text = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(wrong)? {
            text.extend_from_slice(&piece);
            if text.len() > MAX_BYTES {
                return Err(format!("the set of keys is larger than {MAX_BYTES} bytes"));
            }
        }
        parse(&String::from_utf8(text).map_err(|error| error.to_string())?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use aws_lc_rs::signature::KeyPair;
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn key(id: &str) -> Value {
        let pair = aws_lc_rs::signature::Ed25519KeyPair::generate().unwrap();
        let x = data_encoding::BASE64URL_NOPAD.encode(pair.public_key().as_ref());
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": x })
    }

    /// doors H11: `use` and `alg` of a key were ignored.
    #[test]
    fn a_key_counts_only_for_what_it_is_for() {
        let check = |change: Value, good: bool| {
            let mut one = key("one");
            one.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            assert_eq!(parse(&json!({ "keys": [one] }).to_string()).is_ok(), good, "{change}");
        };
        check(json!({}), true);
        check(json!({ "use": "sig", "alg": "EdDSA", "key_ops": ["verify"] }), true);
        check(json!({ "use": "enc" }), false);
        check(json!({ "alg": "RS256" }), false);
        check(json!({ "key_ops": ["encrypt"] }), false);
        check(json!({ "kty": "oct", "k": "c2VjcmV0" }), false);
        let strange = json!({ "keys": [{ "kty": "quantum" }, key("two")] });
        assert_eq!(parse(&strange.to_string()).unwrap().len(), 1, "keys that are not known do no harm");
    }

    #[test]
    fn keys_come_over_https_or_from_this_machine() {
        for good in ["https://id.example/keys", "http://127.0.0.1:1/keys", "http://localhost/keys", "http://[::1]/"] {
            assert!(RemoteKeys::new(good).is_ok(), "{good}");
        }
        for bad in ["http://id.example/keys", "http://127.0.0.1.example/", "ftp://127.0.0.1/", "file:///keys", "keys"] {
            assert!(RemoteKeys::new(bad).is_err(), "{bad}");
        }
    }

    /// doors H11: keys were read once, from a file.
    #[tokio::test]
    async fn a_rotated_key_is_found_and_strangers_do_not_make_us_ask() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let (text, asked) = (Arc::new(Mutex::new(String::new())), Arc::new(AtomicUsize::new(0)));
        let (sent, count) = (text.clone(), asked.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 4_096];
                drop(stream.read(&mut head).await);
                count.fetch_add(1, Ordering::SeqCst);
                let body = sent.lock().unwrap().clone();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                drop(stream.write_all(format!("{head}{body}").as_bytes()).await);
            }
        });
        let publish = |ids: &[&str]| {
            let keys: Vec<Value> = ids.iter().map(|id| key(id)).collect();
            *text.lock().unwrap() = json!({ "keys": keys }).to_string();
        };
        let mut remote = RemoteKeys::new(&url).unwrap();
        let knows = async |remote: &RemoteKeys, id: &str| {
            remote.refresh_for(Algorithm::EdDSA, Some(id)).await;
            find(&remote.keys(), Algorithm::EdDSA, Some(id)).is_some()
        };
        publish(&["one"]);
        assert!(knows(&remote, "one").await);
        publish(&["two"]);
        for _ in 0..50 {
            assert!(!knows(&remote, "two").await, "asked again too soon");
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        remote.min_interval = Duration::ZERO;
        assert!(knows(&remote, "two").await && !knows(&remote, "one").await, "rotated");
        *text.lock().unwrap() = "nonsense".to_owned();
        assert!(!knows(&remote, "three").await && knows(&remote, "two").await, "what is known stays");
    }
}
