//! The JSON form of a checkpoint.
//!
//! Data in JSON format is embedded as it is; other bytes are base64 under the name of their format. The form can be
//! stored again and gives the same bytes.

use data_encoding::BASE64;
use jiff::Timestamp;
use loci_store::KeptCheckpoint;
use loci_types::{Error, Identifiers, JSON, Layer, PendingWrite};
use serde::Serialize;
use serde_json::{Map, Value};

/// A checkpoint in its JSON form.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SavedCheckpoint {
    /// The layer of the checkpoint.
    pub layer: Layer,
    /// The identifiers of its scope.
    pub identifiers: Identifiers,
    /// The thread.
    pub thread_id: String,
    /// The part of the program; empty: the whole.
    pub namespace: String,
    /// Its id within thread and namespace.
    pub id: String,
    /// The checkpoint it came from.
    #[cfg_attr(feature = "schema", schema(required))]
    pub parent_id: Option<String>,
    /// The label of the serializer that made the data, as it was given. `data` of `json` is JSON, of any other label
    /// base64.
    pub format: String,
    /// JSON as it is, other bytes as base64; absent if they were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// How many bytes they are.
    pub bytes: u64,
    /// Metadata of the program.
    pub metadata: Map<String, Value>,
    /// When it was put.
    pub created_at: Timestamp,
    /// What tasks wrote beside it; empty if data were not asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<SavedWrite>,
}

/// A pending write of a task, in its JSON form.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SavedWrite {
    /// The task.
    pub task_id: String,
    /// Its place among what the task wrote.
    pub position: i64,
    /// Where the task stands in the program.
    pub task_path: String,
    /// Where it was written to.
    pub channel: String,
    /// The label of the serializer that made the data, as it was given.
    pub format: String,
    /// JSON as it is, other bytes as base64.
    pub data: Value,
}

impl From<KeptCheckpoint> for SavedCheckpoint {
    fn from((kept, writes): KeptCheckpoint) -> Self {
        Self {
            layer: kept.scope.layer(),
            identifiers: kept.scope.identifiers(),
            thread_id: kept.thread_id,
            namespace: kept.namespace,
            id: kept.id,
            parent_id: kept.parent_id,
            data: kept.data.map(|data| to_json(&kept.format, &data)),
            format: kept.format,
            bytes: kept.bytes,
            metadata: kept.metadata,
            created_at: kept.created_at,
            writes: writes.into_iter().map(SavedWrite::from).collect(),
        }
    }
}

impl From<PendingWrite> for SavedWrite {
    fn from(write: PendingWrite) -> Self {
        Self {
            task_id: write.task_id,
            position: write.position,
            task_path: write.task_path,
            channel: write.channel,
            data: to_json(&write.format, &write.data),
            format: write.format,
        }
    }
}

fn to_json(format: &str, data: &[u8]) -> Value {
    // Data in JSON format was validated when it was stored.
    let json = (format == JSON).then(|| serde_json::from_slice(data).ok()).flatten();
    json.unwrap_or_else(|| BASE64.encode(data).into())
}

/// The bytes of data in its JSON form.
pub fn payload(format: &str, data: &Value) -> Result<Vec<u8>, Error> {
    if format == JSON || format.is_empty() {
        return serde_json::to_vec(data).map_err(|error| Error::invalid("data", error.to_string()));
    }
    let wrong = || {
        Error::invalid("data", format!("data of the format `{format}` must be text in base64"))
            .hint("leave the format out for data that are JSON")
    };
    let text = data.as_str().ok_or_else(wrong)?;
    BASE64.decode(text.as_bytes()).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_json_form_can_be_stored_again() {
        for (format, data) in
            [("json", json!({ "a": [1, null] })), ("json", json!("text")), ("msgpack", json!("AP+A")), ("x", json!(""))]
        {
            assert_eq!(to_json(format, &payload(format, &data).unwrap()), data, "{format}");
        }
        for (format, data) in [("x", json!(1)), ("x", json!("not base64")), ("x", json!("AP+")), ("x", json!(null))] {
            assert_eq!(payload(format, &data).unwrap_err().field(), Some("data"), "{format} {data}");
        }
    }
}
