//! Verifies JSON Web Tokens of an external issuer.
//!
//! A token is valid if it is signed by a configured key of its own algorithm, has the required audience and issuer, has not
//! expired and contains a valid grant. The reason for a refusal goes to the log, never to the caller.

use data_encoding::BASE64URL_NOPAD;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use loci_types::{Error, ErrorKind, Grant};
use serde_json::{Map, Value};

use super::jwks::{self, PublicKey, RemoteKeys};
use crate::options::JwtOptions;

/// The keys and requirements by which tokens are verified.
pub(crate) struct Jwt {
    secret: Option<DecodingKey>,
    keys: Vec<PublicKey>,
    remote: Option<RemoteKeys>,
    max_lifetime: u64,
    issuer: Option<String>,
    audience: String,
    claim: String,
}

/// Tolerance for differing clocks, in seconds.
const LEEWAY: u64 = 30;

/// Default of the maximum lifetime of a token, in seconds.
const MAX_LIFETIME: u64 = 24 * 3_600;

/// Maximum length of a subject, in bytes.
const SUBJECT_BYTES: usize = 128;

/// Minimum length of a shared secret, in bytes.
const SECRET_BYTES: usize = 32;

impl Jwt {
    /// Reads the configured keys. `secret` is the value of the variable that the options name.
    pub(crate) fn read(options: &JwtOptions, secret: Option<&str>) -> Result<Self, Error> {
        let wrong = |field: &'static str, message: String| Error::new(ErrorKind::Configuration, message).at(field);
        if options.audience.is_empty() {
            return Err(wrong("auth.jwt.audience", "auth.jwt.audience is empty".to_owned())
                .hint("set it to the audience of the tokens, such as `loci`"));
        }
        let named = options.secret_env.is_some() || options.secret_file.is_some();
        if named && secret.is_none_or(|secret| secret.len() < SECRET_BYTES) {
            let message = format!(
                "the variable that auth.jwt.secret_env names, or the file auth.jwt.secret_file, must hold {SECRET_BYTES} \
                 bytes or more"
            );
            return Err(wrong("auth.jwt.secret_env", message));
        }
        let keys = match &options.jwks_file {
            None => Vec::new(),
            Some(path) => {
                let unreadable = |problem: String| {
                    wrong("auth.jwt.jwks_file", format!("{} cannot be read: {problem}", path.display()))
                };
                let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
                jwks::parse(&text).map_err(unreadable)?
            }
        };
        let remote = match &options.jwks_url {
            None => None,
            Some(url) => Some(RemoteKeys::new(url).map_err(|problem| {
                wrong("auth.jwt.jwks_url", format!("auth.jwt.jwks_url cannot be used: {problem}"))
                    .hint("write an address such as https://id.example.com/.well-known/jwks.json")
            })?),
        };
        if secret.is_none() && keys.is_empty() && remote.is_none() {
            return Err(wrong("auth.jwt", "auth.jwt has neither a secret nor public keys".to_owned())
                .hint("set auth.jwt.jwks_url, auth.jwt.jwks_file or auth.jwt.secret_env"));
        }
        if options.max_lifetime_seconds.is_some_and(|seconds| !(60..=365 * 24 * 3_600).contains(&seconds)) {
            let message = "auth.jwt.max_lifetime_seconds must be between 60 and 31536000".to_owned();
            return Err(wrong("auth.jwt.max_lifetime_seconds", message).hint("leave it out for a day"));
        }
        Ok(Self {
            secret: secret.map(|secret| DecodingKey::from_secret(secret.as_bytes())),
            keys,
            remote,
            max_lifetime: options.max_lifetime_seconds.unwrap_or(MAX_LIFETIME),
            issuer: options.issuer.clone(),
            audience: options.audience.clone(),
            claim: options.claim.clone().unwrap_or_else(|| "loci".to_owned()),
        })
    }

    /// Asks the issuer for its keys again if the token names one that is not known.
    pub(crate) async fn refresh_for(&self, token: &str) {
        let Some(remote) = &self.remote else { return };
        if let Ok(header) = decode_header(token)
            && PUBLIC.contains(&header.alg)
            && jwks::find(&self.keys, header.alg, header.kid.as_deref()).is_none()
        {
            remote.refresh_for(header.alg, header.kid.as_deref()).await;
        }
    }

    /// The subject and the grant of a valid token.
    pub(crate) fn verify(&self, token: &str) -> Option<(String, Grant)> {
        let verified = self.claims(token).and_then(|claims| self.grant(&claims));
        verified.inspect_err(|problem| tracing::info!(target: "loci::audit", problem, "invalid token")).ok()
    }

    fn claims(&self, token: &str) -> Result<Map<String, Value>, String> {
        let header = decode_header(token).map_err(|error| error.to_string())?;
        if has_critical_extensions(token) {
            return Err("its header has `crit`, an extension that Loci does not support".to_owned());
        }
        let remote = self.remote.as_ref().map(RemoteKeys::keys).unwrap_or_default();
        let key = match header.alg {
            Algorithm::HS256 => self.secret.as_ref(),
            algorithm if PUBLIC.contains(&algorithm) => {
                let find = |keys| jwks::find(keys, algorithm, header.kid.as_deref());
                find(&self.keys).or_else(|| find(&remote)).map(|found| &found.key)
            }
            _ => None,
        };
        let key = key.ok_or("no key is configured for its signature")?;
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "aud"]);
        if let Some(issuer) = &self.issuer {
            validation.set_issuer(&[issuer]);
            validation.set_required_spec_claims(&["exp", "aud", "iss"]);
        }
        let claims = decode::<Map<String, Value>>(token, key, &validation).map_err(|error| error.to_string())?.claims;
        self.check_lifetime(&claims)?;
        Ok(claims)
    }

    /// Refuses a token that was made for longer than is allowed, or that is still valid for longer than that.
    fn check_lifetime(&self, claims: &Map<String, Value>) -> Result<(), String> {
        let second = |name: &str| claims.get(name).and_then(Value::as_f64);
        let now = jsonwebtoken::get_current_timestamp() as f64;
        let begin = second("iat").unwrap_or(now).min(now);
        match second("exp") {
            Some(end) if end - begin <= (self.max_lifetime + LEEWAY) as f64 => Ok(()),
            _ => Err(format!("it is valid for longer than auth.jwt.max_lifetime_seconds ({})", self.max_lifetime)),
        }
    }

    fn grant(&self, claims: &Map<String, Value>) -> Result<(String, Grant), String> {
        let allows = claims.get(&self.claim).ok_or("it has no claim with the rights")?;
        let grant: Grant = serde_json::from_value(allows.clone()).map_err(|error| error.to_string())?;
        grant.validate().map_err(|error| error.to_string())?;
        let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
        if subject.is_empty() || subject.len() > SUBJECT_BYTES || subject.chars().any(char::is_control) {
            return Err("its subject is missing, too long, or unprintable".to_owned());
        }
        // The same subject in different tenants is a different person.
        Ok((format!("{}/{subject}", grant.tenant.name()), grant))
    }
}

/// The algorithms of public keys.
const PUBLIC: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

/// Whether the header names extensions that a verifier must understand (RFC 7515, 4.1.11). This one understands none.
fn has_critical_extensions(token: &str) -> bool {
    let header = token.split('.').next().unwrap_or_default();
    let read = BASE64URL_NOPAD.decode(header.as_bytes()).ok();
    let header: Option<Map<String, Value>> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    header.is_none_or(|header| header.contains_key("crit"))
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::AsDer;
    use aws_lc_rs::signature::KeyPair;
    use jsonwebtoken::{EncodingKey, Header, encode};
    use serde_json::json;

    use super::*;

    const SECRET: &str = "a secret of thirty-two bytes or more";

    fn options() -> JwtOptions {
        JwtOptions { audience: "loci".to_owned(), secret_env: Some("JWT_SECRET".to_owned()), ..JwtOptions::default() }
    }

    fn soon() -> u64 {
        jsonwebtoken::get_current_timestamp() + 600
    }

    fn claims() -> Value {
        let allows = json!({ "tenant": "acme", "role": "writer", "bounds": { "users": ["ann"] } });
        json!({ "sub": "ann", "aud": "loci", "exp": soon(), "loci": allows })
    }

    fn signed(claims: &Value) -> String {
        encode(&Header::default(), claims, &EncodingKey::from_secret(SECRET.as_bytes())).unwrap()
    }

    // Coverage: SPEC-4.2.
    #[test]
    fn a_token_counts_only_if_everything_is_right() {
        let jwt = Jwt::read(&options(), Some(SECRET)).unwrap();
        let (subject, grant) = jwt.verify(&signed(&claims())).unwrap();
        assert_eq!((subject.as_str(), grant.tenant.name()), ("acme/ann", "acme"));
        let check = |change: fn(&mut Value)| {
            let mut wrong = claims();
            change(&mut wrong);
            assert!(jwt.verify(&signed(&wrong)).is_none(), "{wrong}");
        };
        check(|claims| claims["exp"] = (soon() - 3_600).into());
        check(|claims| drop(claims.as_object_mut().unwrap().remove("exp")));
        check(|claims| claims["aud"] = "another".into());
        check(|claims| drop(claims.as_object_mut().unwrap().remove("aud")));
        check(|claims| claims["nbf"] = soon().into());
        check(|claims| drop(claims.as_object_mut().unwrap().remove("loci")));
        check(|claims| drop(claims.as_object_mut().unwrap().remove("sub")));
        check(|claims| claims["sub"] = "a".repeat(129).into());
        check(|claims| claims["loci"]["role"] = "king".into());
        check(|claims| claims["loci"]["tenant"] = "../acme".into());
        check(|claims| claims["loci"]["users"] = json!(["ann"]));
        check(|claims| claims["loci"]["role"] = "admin".into());
        check(|claims| claims["loci"]["rights"] = json!(["everything"]));
        // doors H11: there was no bound of a lifetime.
        check(|claims| claims["exp"] = (soon() + 24 * 3_600).into());
        check(|claims| claims["iat"] = (soon() - 25 * 3_600).into());
    }

    /// attack B18: tokens with an unknown `crit` were taken.
    #[test]
    fn an_extension_that_must_be_understood_is_refused() {
        let jwt = Jwt::read(&options(), Some(SECRET)).unwrap();
        let text = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let sign = |header: Value| {
            let signed = format!("{}.{}", text(header), text(claims()));
            let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, SECRET.as_bytes());
            let tag = aws_lc_rs::hmac::sign(&key, signed.as_bytes());
            format!("{signed}.{}", BASE64URL_NOPAD.encode(tag.as_ref()))
        };
        assert!(jwt.verify(&sign(json!({ "alg": "HS256", "typ": "JWT" }))).is_some());
        assert!(jwt.verify(&sign(json!({ "alg": "HS256", "typ": "JWT", "crit": ["exp"] }))).is_none());
        assert!(jwt.verify(&sign(json!({ "alg": "HS256", "typ": "JWT", "crit": [] }))).is_none());
    }

    #[test]
    fn a_signature_must_be_of_the_sort_that_is_set() {
        let jwt = Jwt::read(&options(), Some(SECRET)).unwrap();
        let plain = |text: Value| data_encoding::BASE64URL_NOPAD.encode(text.to_string().as_bytes());
        let none = format!("{}.{}.", plain(json!({ "alg": "none", "typ": "JWT" })), plain(claims()));
        let other = encode(&Header::default(), &claims(), &EncodingKey::from_secret(b"another secret")).unwrap();
        let longer = encode(&Header::new(Algorithm::HS512), &claims(), &EncodingKey::from_secret(SECRET.as_bytes()));
        let good = signed(&claims());
        let cut = good[..good.len() - 4].to_owned();
        let changed = good.replacen('.', ".A", 1);
        for wrong in [none, other, longer.unwrap(), cut, changed, String::new(), "a.b.c".to_owned(), "..".to_owned()] {
            assert!(jwt.verify(&wrong).is_none(), "{wrong}");
        }
    }

    // Coverage: SPEC-4.2.
    #[test]
    fn public_keys_prove_tokens_of_their_own_sort() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jwks.json");
        let ed = aws_lc_rs::signature::Ed25519KeyPair::generate().unwrap();
        let rsa = aws_lc_rs::rsa::KeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap();
        let text = |bytes: &[u8]| data_encoding::BASE64URL_NOPAD.encode(bytes);
        let public = rsa.public_key();
        let modulus = text(public.modulus().big_endian_without_leading_zero());
        let exponent = text(public.exponent().big_endian_without_leading_zero());
        let ec = aws_lc_rs::signature::EcdsaKeyPair::generate(&aws_lc_rs::signature::ECDSA_P256_SHA256_FIXED_SIGNING);
        let ec = ec.unwrap();
        let point = ec.public_key().as_ref();
        let set = json!({ "keys": [
            { "kty": "EC", "crv": "P-256", "kid": "three", "x": text(&point[1..33]), "y": text(&point[33..]) },
            { "kty": "OKP", "crv": "Ed25519", "kid": "one", "alg": "EdDSA", "x": text(ed.public_key().as_ref()) },
            { "kty": "RSA", "kid": "two", "alg": "RS256", "n": modulus, "e": exponent },
        ] });
        std::fs::write(&path, set.to_string()).unwrap();
        let options = JwtOptions {
            jwks_file: Some(path),
            issuer: Some("https://id.example".to_owned()),
            audience: "loci".to_owned(),
            ..JwtOptions::default()
        };
        let jwt = Jwt::read(&options, None).unwrap();
        let mut claims = claims();
        claims["iss"] = "https://id.example".into();
        let header = |algorithm, id: Option<&str>| Header { kid: id.map(str::to_owned), ..Header::new(algorithm) };
        let ed_key = EncodingKey::from_ed_der(ed.to_pkcs8().unwrap().as_ref());
        let pkcs8: aws_lc_rs::encoding::Pkcs8V1Der<'_> = rsa.as_der().unwrap();
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
            data_encoding::BASE64.encode(pkcs8.as_ref())
        );
        let rsa_key = EncodingKey::from_rsa_pem(pem.as_bytes()).unwrap();
        let sign = |header: &Header, key: &EncodingKey, claims: &Value| encode(header, claims, key).unwrap();
        let ec_key = EncodingKey::from_ec_der(ec.to_pkcs8v1().unwrap().as_ref());
        for (header, key) in [
            (header(Algorithm::ES256, Some("three")), &ec_key),
            (header(Algorithm::EdDSA, Some("one")), &ed_key),
            (header(Algorithm::EdDSA, None), &ed_key),
            (header(Algorithm::RS256, Some("two")), &rsa_key),
        ] {
            assert!(jwt.verify(&sign(&header, key, &claims)).is_some(), "{header:?}");
        }
        assert!(jwt.verify(&sign(&header(Algorithm::EdDSA, Some("two")), &ed_key, &claims)).is_none());
        // The public key must not pass for a shared secret.
        let forged = EncodingKey::from_secret(modulus.as_bytes());
        assert!(jwt.verify(&sign(&header(Algorithm::HS256, Some("two")), &forged, &claims)).is_none());
        claims["iss"] = "https://evil.example".into();
        assert!(jwt.verify(&sign(&header(Algorithm::EdDSA, Some("one")), &ed_key, &claims)).is_none());
    }

    #[test]
    fn settings_that_prove_nothing_are_refused() {
        let check = |options: JwtOptions, secret: Option<&str>, field: &str| {
            assert_eq!(Jwt::read(&options, secret).err().and_then(|error| error.field()), Some(field));
        };
        check(JwtOptions { audience: String::new(), ..options() }, Some(SECRET), "auth.jwt.audience");
        check(options(), None, "auth.jwt.secret_env");
        check(options(), Some("short"), "auth.jwt.secret_env");
        check(JwtOptions { secret_env: None, ..options() }, None, "auth.jwt");
        let missing = JwtOptions { secret_env: None, jwks_file: Some("no such file".into()), ..options() };
        check(missing, None, "auth.jwt.jwks_file");
        let plain = JwtOptions { jwks_url: Some("http://id.example/keys".to_owned()), ..options() };
        check(plain, Some(SECRET), "auth.jwt.jwks_url");
        let endless = JwtOptions { max_lifetime_seconds: Some(u64::MAX), ..options() };
        check(endless, Some(SECRET), "auth.jwt.max_lifetime_seconds");
    }
}
