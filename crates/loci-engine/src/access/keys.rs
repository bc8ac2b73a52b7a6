//! API keys: creation, rotation, revocation and verification.
//!
//! A key is `loci_ID_SECRET`: it is found by its id and verified by its secret. The secret is shown once and stored
//! only as a hash, which is compared in constant time.

use data_encoding::BASE32_NOPAD;
use jiff::{SignedDuration, Timestamp};
use loci_store::{CatalogueChange, KeyQuery};
use loci_types::{Error, ErrorKind, Grant, Key, Tenant};
use serde::Serialize;

use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// What every key begins with, so that leaks can be searched for.
const PREFIX: &str = "loci_";

/// The longest name of a key, in bytes.
const NAME_BYTES: usize = 128;

/// A key to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// What it is for.
    pub name: String,
    /// What it allows; the tenant is the caller's own.
    pub grant: Grant,
    /// When the key expires.
    pub expires_at: Option<Timestamp>,
}

/// A key that was just made, with the secret that nobody sees again.
#[derive(Clone)]
pub struct IssuedKey {
    /// The key.
    pub key: Key,
    /// What its bearer presents.
    pub secret: String,
    /// Whether it is the first key of the store: servers ask for a credential from now on.
    pub first: bool,
}

/// A key as it is shown: without its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// The id, which is the public part of the key.
    pub id: String,
    /// What the key is for.
    pub name: String,
    /// What it allows.
    #[serde(flatten)]
    pub grant: Grant,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires; null: never.
    #[cfg_attr(feature = "schema", schema(required))]
    pub expires_at: Option<Timestamp>,
    /// From when on it is refused; null: it is not revoked.
    #[cfg_attr(feature = "schema", schema(required))]
    pub revoked_at: Option<Timestamp>,
    /// Whether it is accepted now: neither expired nor revoked.
    pub active: bool,
}

impl ApiKey {
    /// How a key is shown at a time.
    pub fn new(key: Key, now: Timestamp) -> Self {
        let active = key.holds(now);
        let Key { id, name, hash: _, grant, created_at, expires_at, revoked_at } = key;
        Self { id, name, grant, created_at, expires_at, revoked_at, active }
    }
}

/// A key that was just made, as it is shown this once.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ApiKeyWithSecret {
    /// The key.
    #[serde(flatten)]
    pub key: ApiKey,
    /// What its bearer presents. It cannot be read again.
    pub secret: String,
    /// With the first key of the store: that requests without a credential are refused from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub note: Option<String>,
}

/// What is said with the first key.
const FIRST: &str = "This is the first key: servers on this store refuse requests without a credential from now on. Keep \
    the secret; an admin's key made with `loci key create` on the data folder gives you access again.";

impl From<IssuedKey> for ApiKeyWithSecret {
    fn from(made: IssuedKey) -> Self {
        let now = made.key.created_at;
        let note = made.first.then(|| FIRST.to_owned());
        Self { key: ApiKey::new(made.key, now), secret: made.secret, note }
    }
}

impl Engine {
    /// Makes a key. The operator of the store may make one for any tenant, an admin for their own.
    pub async fn create_key(&self, caller: &Caller, new: NewKey) -> Result<IssuedKey> {
        policy::require_operator(caller, "manage keys")?;
        // As it is stored: times are kept to the microsecond.
        let now = Timestamp::from_microsecond(self.now().as_microsecond()).unwrap_or_else(|_| self.now());
        check_name(&new.name)?;
        new.grant.validate()?;
        if new.expires_at.is_some_and(|at| at <= now) {
            return Err(Error::invalid("expiresAt", "expiresAt is in the past").into());
        }
        if new.grant.tenant != caller.tenant && caller.credential.is_some() {
            return Err(Error::new(ErrorKind::Unauthorized, "an admin can only create keys for their own tenant")
                .at("tenant")
                .into());
        }
        self.check_tenant(&new.grant.tenant).await?;
        let first = !self.has_keys().await?;
        let id = random::<8>()?;
        let secret = random::<32>()?;
        let hash = *blake3::hash(secret.as_bytes()).as_bytes();
        let (name, grant, expires_at) = (new.name, new.grant, new.expires_at);
        let key = Key { id, name, hash, grant, created_at: now, expires_at, revoked_at: None };
        self.store.change_catalogue(&key.grant.tenant.clone(), CatalogueChange::PutKey(key.clone())).await?;
        let secret = format!("{PREFIX}{}_{secret}", key.id);
        Ok(IssuedKey { key, secret, first })
    }

    /// The keys of the caller's tenant, oldest first.
    pub async fn keys(&self, caller: &Caller) -> Result<Vec<Key>> {
        policy::require_operator(caller, "manage keys")?;
        Ok(self.store.keys(KeyQuery::Tenant(&caller.tenant)).await?)
    }

    /// Reads a key of the caller's tenant.
    pub async fn key(&self, caller: &Caller, id: &str) -> Result<Key> {
        let id = bare(id);
        self.keys(caller).await?.into_iter().find(|key| key.id == id).ok_or_else(|| unknown(id))
    }

    /// Refuses a key from now on.
    pub async fn revoke_key(&self, caller: &Caller, id: &str) -> Result<()> {
        policy::require_operator(caller, "manage keys")?;
        let id = bare(id);
        match self
            .store
            .change_catalogue(&caller.tenant, CatalogueChange::RevokeKey { id: id.to_owned(), at: self.now() })
            .await?
        {
            0 => Err(unknown(id)),
            _ => Ok(()),
        }
    }

    /// Makes a key that allows the same, and refuses the old one when the grace is over.
    pub async fn rotate_key(&self, caller: &Caller, id: &str, grace: SignedDuration) -> Result<IssuedKey> {
        let (now, id) = (self.now(), bare(id));
        let old = self.key(caller, id).await?;
        if !old.holds(now) {
            return Err(Error::invalid("id", format!("the key `{id}` is revoked or expired"))
                .hint("make a new one instead")
                .into());
        }
        let made =
            self.create_key(caller, NewKey { name: old.name, grant: old.grant, expires_at: old.expires_at }).await?;
        let until = now.saturating_add(grace).unwrap_or(now);
        self.store
            .change_catalogue(&caller.tenant, CatalogueChange::RevokeKey { id: id.to_owned(), at: until })
            .await?;
        Ok(made)
    }

    /// The key that this text is, if it is one and counts. Why it does not is nobody's business.
    pub async fn authenticate(&self, presented: &str) -> Result<Option<Key>> {
        let parts = presented.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_'));
        let Some((id, secret)) = parts else { return Ok(None) };
        let known = self.store.keys(KeyQuery::Id(id)).await?.pop();
        // A hash is made and compared whether or not the id is known.
        let expect = known.as_ref().map_or([0; 32], |key| key.hash);
        let proved = blake3::hash(secret.as_bytes()) == blake3::Hash::from_bytes(expect);
        Ok(known.filter(|key| proved && key.holds(self.now())))
    }

    /// The tenants of the store, for background work.
    pub async fn tenants(&self, caller: &Caller) -> Result<Vec<Tenant>> {
        policy::require_operator(caller, "list tenants")?;
        Ok(self.store.tenants().await?)
    }

    /// Whether callers must show who they are: someone has made a key here.
    pub async fn has_keys(&self) -> Result<bool> {
        Ok(!self.store.keys(KeyQuery::Any).await?.is_empty())
    }
}

/// The id of a key, also if the whole key was given: the secret must not be repeated in a response.
fn bare(given: &str) -> &str {
    given.strip_prefix(PREFIX).map_or(given, |rest| rest.split('_').next().unwrap_or_default())
}

fn check_name(name: &str) -> Result<()> {
    if name.trim().is_empty() || name.len() > NAME_BYTES || name.chars().any(char::is_control) {
        return Err(Error::invalid("name", "a key's name has 1 to 128 bytes and no control characters")
            .hint("name its purpose, such as `planner in production`")
            .into());
    }
    Ok(())
}

fn unknown(id: &str) -> crate::Error {
    Error::new(ErrorKind::NotFound, format!("unknown key `{id}`")).at("id").hint("`loci key list` shows them").into()
}

/// Returns this number of random bytes, as letters and digits.
pub(crate) fn random<const BYTES: usize>() -> Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("random numbers are not available: {error}")))?;
    Ok(BASE32_NOPAD.encode(&bytes).to_ascii_lowercase())
}
