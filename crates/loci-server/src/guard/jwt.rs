//! Is this token someone's word that we believe?
//!
//! A token counts if it is signed by a key that is set for its own sort of signature, made for us,
//! not expired, and says what it allows. Why one does not count goes to the log, not to the caller.

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use loci_types::{Error, ErrorKind, Grant};
use serde_json::{Map, Value};

use crate::options::JwtOptions;

/// What tokens are proved with.
pub(crate) struct Jwt {
    secret: Option<DecodingKey>,
    keys: Vec<(Option<String>, Algorithm, DecodingKey)>,
    issuer: Option<String>,
    audience: String,
    claim: String,
}

/// Seconds by which two clocks may differ.
const LEEWAY: u64 = 30;

/// The shortest shared secret, in bytes.
const SECRET_BYTES: usize = 32;

impl Jwt {
    /// Reads the keys that are set. `secret` is the value of the variable that the options name.
    pub(crate) fn read(options: &JwtOptions, secret: Option<&str>) -> Result<Self, Error> {
        let wrong = |field: &'static str, message: String| Error::new(ErrorKind::Configuration, message).at(field);
        if options.audience.is_empty() {
            return Err(wrong("auth.jwt.audience", "auth.jwt.audience is empty".to_owned())
                .hint("say for whom tokens must be made, such as `loci`"));
        }
        if options.secret_env.is_some() && secret.is_none_or(|secret| secret.len() < SECRET_BYTES) {
            let message = format!("the variable that auth.jwt.secret_env names must hold {SECRET_BYTES} bytes or more");
            return Err(wrong("auth.jwt.secret_env", message));
        }
        let keys = match &options.jwks_file {
            None => Vec::new(),
            Some(path) => {
                let unreadable = |problem: String| {
                    wrong("auth.jwt.jwks_file", format!("{} cannot be read: {problem}", path.display()))
                };
                let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
                public_keys(&text).map_err(unreadable)?
            }
        };
        if secret.is_none() && keys.is_empty() {
            return Err(wrong("auth.jwt", "auth.jwt has neither a secret nor public keys".to_owned())
                .hint("set auth.jwt.secret_env or auth.jwt.jwks_file"));
        }
        Ok(Self {
            secret: secret.map(|secret| DecodingKey::from_secret(secret.as_bytes())),
            keys,
            issuer: options.issuer.clone(),
            audience: options.audience.clone(),
            claim: options.claim.clone().unwrap_or_else(|| "loci".to_owned()),
        })
    }

    /// The subject of a token and what it allows, if it counts.
    pub(crate) fn prove(&self, token: &str) -> Option<(String, Grant)> {
        let proved = self.claims(token).and_then(|claims| self.grant(&claims));
        proved.inspect_err(|problem| tracing::info!(target: "loci::audit", problem, "a token does not count")).ok()
    }

    fn claims(&self, token: &str) -> Result<Map<String, Value>, String> {
        let header = decode_header(token).map_err(|error| error.to_string())?;
        let key = match header.alg {
            Algorithm::HS256 => self.secret.as_ref(),
            Algorithm::RS256 | Algorithm::EdDSA => self.public_key(header.alg, header.kid.as_deref()),
            _ => None,
        };
        let key = key.ok_or("no key is set for its signature")?;
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "aud"]);
        if let Some(issuer) = &self.issuer {
            validation.set_issuer(&[issuer]);
            validation.set_required_spec_claims(&["exp", "aud", "iss"]);
        }
        decode::<Map<String, Value>>(token, key, &validation)
            .map(|token| token.claims)
            .map_err(|error| error.to_string())
    }

    /// The key that the token names, or the only one of its sort.
    fn public_key(&self, algorithm: Algorithm, id: Option<&str>) -> Option<&DecodingKey> {
        let mut fitting = self.keys.iter().filter(|(_, sort, _)| *sort == algorithm);
        match id {
            Some(id) => fitting.find(|(known, _, _)| known.as_deref() == Some(id)).map(|(_, _, key)| key),
            None => fitting.next().filter(|_| fitting.next().is_none()).map(|(_, _, key)| key),
        }
    }

    fn grant(&self, claims: &Map<String, Value>) -> Result<(String, Grant), String> {
        let allows = claims.get(&self.claim).ok_or("it does not say what it allows")?;
        let grant: Grant = serde_json::from_value(allows.clone()).map_err(|error| error.to_string())?;
        grant.validate().map_err(|error| error.to_string())?;
        let subject = claims.get("sub").and_then(Value::as_str).unwrap_or("nobody");
        Ok((subject.chars().filter(|c| !c.is_control()).take(128).collect(), grant))
    }
}

fn public_keys(text: &str) -> Result<Vec<(Option<String>, Algorithm, DecodingKey)>, String> {
    let set: JwkSet = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut keys = Vec::new();
    for jwk in &set.keys {
        use jsonwebtoken::jwk::AlgorithmParameters;
        let algorithm = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => Algorithm::RS256,
            AlgorithmParameters::OctetKeyPair(_) => Algorithm::EdDSA,
            // Shared secrets do not belong into a file of public keys, and other curves are not ours.
            _ => continue,
        };
        let key = DecodingKey::from_jwk(jwk).map_err(|error| error.to_string())?;
        keys.push((jwk.common.key_id.clone(), algorithm, key));
    }
    match keys.is_empty() {
        true => Err("it holds no RSA and no Ed25519 key".to_owned()),
        false => Ok(keys),
    }
}
