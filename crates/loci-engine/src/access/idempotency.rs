//! Idempotency keys: stores the answer to a request and returns it when the request is repeated.
//!
//! A client that does not know whether a request arrived repeats it with the same key and receives the first answer,
//! without a second effect. A key belongs to a credential and to one request; with another request it is refused.
//! Answers are kept for a day, if they are not larger than the size limit.

use data_encoding::HEXLOWER;
use jiff::SignedDuration;
use loci_types::{Action, Batch, Bookkeeping, Error, Identifiers, Layer, NoteValue, Role, Scope, Space};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// The header with the key.
const FIELD: &str = "Idempotency-Key";
/// Maximum length of a key, in characters.
const MAX_KEY_CHARACTERS: usize = 255;
/// Maximum size of a stored body, in bytes.
const MAX_BODY_BYTES: usize = 64 << 10;
/// How long an answer is stored.
const RETENTION: SignedDuration = SignedDuration::from_hours(24);

/// The stored answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredAnswer {
    /// The status.
    pub status: u16,
    /// The body, without texts of memories.
    pub body: Value,
    /// The path of the created resource, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// The stored form of an answer, with the fingerprint of its request.
#[derive(Debug, Serialize, Deserialize)]
struct AnswerRecord {
    fingerprint: String,
    #[serde(flatten)]
    answer: StoredAnswer,
}

impl Engine {
    /// Returns the stored answer to this request under this key, or `None` if the request is new.
    pub async fn answered(&self, caller: &Caller, key: &str, fingerprint: &[u8; 32]) -> Result<Option<StoredAnswer>> {
        let name = name(caller, key)?;
        let visible = policy::visible_tenant(&caller.tenant);
        let space = whose(caller).map_or(Space::Shared, |scope| scope.space());
        let notes = self.store.notes(&visible, &space, &[name], self.now()).await?;
        // One that cannot be read was written by a later version, and is as good as none.
        let kept = notes.into_iter().find_map(|(_, value)| serde_json::from_value::<AnswerRecord>(value).ok());
        match kept {
            Some(kept) if kept.fingerprint != HEXLOWER.encode(fingerprint) => {
                Err(Error::invalid(FIELD, format!("{FIELD} `{key}` was used for another request"))
                    .hint("use a new key for each request, and the same only to send one again")
                    .into())
            }
            kept => Ok(kept.map(|kept| kept.answer)),
        }
    }

    /// Stores an answer for a day. Returns false if it is too large, or the caller may not write: then a repeated
    /// request is executed again.
    pub async fn keep_answer(
        &self,
        caller: &Caller,
        key: &str,
        fingerprint: &[u8; 32],
        answer: StoredAnswer,
    ) -> Result<bool> {
        let key = name(caller, key)?;
        if caller.role < Role::Writer || answer.body.to_string().len() > MAX_BODY_BYTES {
            return Ok(false);
        }
        let kept = AnswerRecord { fingerprint: HEXLOWER.encode(fingerprint), answer };
        let value = NoteValue::Set(serde_json::to_value(kept).unwrap_or_default());
        let until = self.now().saturating_add(RETENTION).ok();
        let scope = whose(caller);
        let space = scope.as_ref().map_or(Space::Shared, Scope::space);
        let note = Action::Bookkeeping(Bookkeeping::Note { scope, key, value, until });
        let changes = vec![self.change(caller, "hotpath", "an answer, should the request come again", note)];
        self.store.apply(Batch { tenant: caller.tenant.clone(), space, changes }).await?;
        Ok(true)
    }
}

/// The scope of the user of the answer, so that it is erased with the user. A credential of several users has none;
/// its answers are erased with the memories they name.
fn whose(caller: &Caller) -> Option<Scope> {
    let user_id = caller.identifiers.user_id.clone();
    Scope::new(Layer::User, &Identifiers { user_id, ..Identifiers::default() }).ok()
}

/// The key of a stored answer. Idempotency keys have no control characters, so NUL separates the parts.
fn name(caller: &Caller, key: &str) -> Result<String, Error> {
    if key.is_empty() || key.len() > MAX_KEY_CHARACTERS || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::invalid(
            FIELD,
            format!("{FIELD} must have 1 to {MAX_KEY_CHARACTERS} visible ASCII characters"),
        )
        .hint("a random UUID will do"));
    }
    let credential = caller.credential.as_deref().unwrap_or_default();
    let hash = blake3::hash(format!("{credential}\0{key}").as_bytes());
    Ok(format!("answer {}", hash.to_hex()))
}
