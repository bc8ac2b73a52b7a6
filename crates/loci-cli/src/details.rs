//! The fields of a memory besides its text, as flags of `remember`, `supersede` and `update`.

use clap::Args;
use loci_types::Error;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::arguments::{metadata, number};

/// Fields of a memory besides its text.
#[derive(Debug, Args, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Details {
    /// Kind: fact, preference, person, project, task, episodic, decision, … [default: chosen by the text]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Category
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// Tag; may be repeated
    #[arg(long, alias = "tag", value_name = "TAG")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// Importance, 0 to 1 [default: by the kind and the text]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    #[serde(skip_serializing_if = "Option::is_none")]
    importance: Option<Value>,
    /// Confidence, 0 to 1 [default: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<Value>,
    /// When it happened: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    event_time: Option<String>,
    /// Start of its validity
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_from: Option<String>,
    /// End of its validity
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_until: Option<String>,
    /// When it expires
    #[arg(long, alias = "expires", value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// Type of the source: conversation, manual, import, …
    #[arg(long, value_name = "TYPE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// Metadata field; may be repeated
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metadata: Vec<String>,
}

impl Details {
    /// The given fields, as the API takes them.
    pub(crate) fn fields(&self) -> Result<Map<String, Value>, Error> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else { return Ok(Map::new()) };
        if !self.metadata.is_empty() {
            fields.insert("metadata".to_owned(), Value::Object(metadata(&self.metadata)?));
        }
        if let Some(kind) = &self.source {
            fields.insert("source".to_owned(), json!({ "type": kind }));
        }
        Ok(fields)
    }
}
