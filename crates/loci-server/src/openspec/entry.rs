//! Conversion between memories and OpenSpec entries.
//!
//! It is pure and symmetric: a field of an entry is stored in the field of the memory with the same meaning, or in the
//! metadata under the same name if there is none. All other metadata of a memory is `custom`.

use jiff::Timestamp;
use loci_engine::{NewMemory, Update};
use loci_types::{AccessPolicy, Error, Identifiers, Memory, MemoryId, Source};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::layer_view::{LayerSelector, target};

/// Names in the metadata of a memory that are separate fields of an entry.
const NAMED: [&str; 4] = ["title", "description", "language", "author"];
/// The name in the metadata under which the version of a source is stored.
const SOURCE_VERSION: &str = "sourceVersion";

/// An entry in a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecGivenEntry)]
pub(super) struct EntryInput {
    /// The text. Required for a new entry.
    pub(super) content: Option<String>,
    /// The metadata of the entry.
    pub(super) metadata: MetadataInput,
    /// The source of the entry.
    pub(super) source: Option<EntrySource>,
    /// Which callers within its layer may see the entry.
    pub(super) access_policy: Option<AccessPolicy>,
}

/// The metadata of an entry in a request. Fields that are absent stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = OpenSpecGivenMetadata)]
pub(super) struct MetadataInput {
    /// The title.
    title: Option<String>,
    /// A description.
    description: Option<String>,
    /// Free labels.
    tags: Option<Vec<String>>,
    /// The language of the text.
    language: Option<String>,
    /// The author.
    author: Option<String>,
    /// How sure the statement is, 0 to 1.
    #[schema(minimum = 0.0, maximum = 1.0)]
    confidence: Option<f64>,
    /// How important the entry is, 0 to 1.
    #[schema(minimum = 0.0, maximum = 1.0)]
    importance: Option<f64>,
    /// Further fields by name. In an update null removes a field.
    #[schema(value_type = Object)]
    custom: Map<String, Value>,
}

/// The source of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenSpecSource)]
pub(super) struct EntrySource {
    /// The type of the source: `manual, conversation, import, …`
    #[serde(rename = "type")]
    kind: String,
    /// The identifier of the entry in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identifier: Option<String>,
    /// The version of the entry in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = OpenSpecEntry)]
pub(super) struct Entry {
    /// The id of the entry.
    pub(super) id: MemoryId,
    /// The text, unless the request excludes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    /// The layer of the entry.
    layer: EntryLayer,
    /// The kind of the memory.
    kind: String,
    /// The metadata of the entry.
    pub(super) metadata: EntryMetadata,
    /// The source of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<EntrySource>,
    /// Which callers within its layer may see the entry.
    access_policy: AccessPolicy,
    /// When the entry was created.
    created_at: Timestamp,
    /// When the entry last changed.
    updated_at: Timestamp,
    /// The version, which grows by one with every change.
    pub(super) version: u64,
    /// The vector, if the request includes it and the entry has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) embedding: Option<Vec<f32>>,
}

/// The layer and the identifiers of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = OpenSpecEntryLayer)]
struct EntryLayer {
    /// One of the seven layers, or `pool`.
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    #[schema(inline)]
    identifiers: EntryIdentifiers,
}

/// The identifiers of an entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[schema(as = OpenSpecEntryWhose)]
struct EntryIdentifiers {
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    /// The user.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// The project.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<String>,
    /// The team.
    #[serde(skip_serializing_if = "Option::is_none")]
    team_id: Option<String>,
    /// The organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    org_id: Option<String>,
    /// The company.
    #[serde(skip_serializing_if = "Option::is_none")]
    company_id: Option<String>,
    /// The pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pool_id: Option<String>,
}

/// The metadata of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = OpenSpecMetadata)]
pub(super) struct EntryMetadata {
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// A description.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Free labels.
    tags: Vec<String>,
    /// The language of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    /// The author.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    /// How sure the statement is, 0 to 1.
    confidence: f64,
    /// How important the entry is, 0 to 1.
    importance: f64,
    /// Further fields by name.
    #[schema(value_type = Object)]
    custom: Map<String, Value>,
}

impl From<Memory> for Entry {
    fn from(memory: Memory) -> Self {
        let mut custom = memory.metadata;
        let version = text(&mut custom, SOURCE_VERSION);
        let source = memory.source.map(|source| (source.kind, source.reference));
        let source = source.map(|(kind, identifier)| EntrySource { kind, identifier, version });
        let metadata = EntryMetadata {
            title: text(&mut custom, NAMED[0]),
            description: text(&mut custom, NAMED[1]),
            tags: memory.tags,
            language: text(&mut custom, NAMED[2]),
            author: text(&mut custom, NAMED[3]),
            confidence: memory.confidence,
            importance: memory.importance,
            custom,
        };
        Self {
            id: memory.id,
            content: Some(memory.content),
            layer: EntryLayer { kind: memory.layer.name(), identifiers: entry_identifiers(memory.identifiers) },
            kind: memory.kind.name().to_owned(),
            metadata,
            source,
            access_policy: memory.access_policy,
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            version: memory.version,
            embedding: None,
        }
    }
}

/// Removes a text from the metadata. A value that is not a text stays and is custom.
fn text(metadata: &mut Map<String, Value>, name: &str) -> Option<String> {
    match metadata.remove(name) {
        Some(Value::String(text)) => Some(text),
        Some(other) => {
            metadata.insert(name.to_owned(), other);
            None
        }
        None => None,
    }
}

fn entry_identifiers(given: Identifiers) -> EntryIdentifiers {
    EntryIdentifiers {
        agent_id: given.agent_id,
        user_id: given.user_id,
        session_id: given.session_id,
        project_id: given.project_id,
        team_id: given.team_id,
        org_id: given.org_id,
        company_id: given.company_id,
        pool_id: given.pool_id,
    }
}

impl EntryInput {
    /// The new memory that this entry describes.
    pub(super) fn into_new(self, place: &LayerSelector, embed: bool) -> Result<NewMemory, Error> {
        let (layer, kind) = target(place)?;
        let mut metadata = self.memory_metadata()?;
        // A new entry has nothing to remove.
        metadata.retain(|_, value| !value.is_null());
        let content = self.content.ok_or_else(|| {
            Error::invalid("entry.content", "the entry has no content")
                .hint("set entry.content to the text to remember")
        })?;
        Ok(NewMemory {
            content,
            layer,
            kind: kind.map(str::to_owned),
            tags: self.metadata.tags.unwrap_or_default(),
            metadata,
            source: self.source.map(EntrySource::into_source),
            access_policy: self.access_policy,
            importance: self.metadata.importance,
            confidence: self.metadata.confidence,
            embed_later: !embed,
            ..NewMemory::default()
        })
    }

    /// The update that this entry describes. Fields that are absent stay unchanged.
    pub(super) fn into_update(self, version: Option<u64>) -> Result<Update, Error> {
        let metadata = self.memory_metadata()?;
        Ok(Update {
            version,
            content: self.content,
            tags: self.metadata.tags,
            metadata: (!metadata.is_empty()).then_some(metadata),
            source: self.source.map(EntrySource::into_source).map(Some),
            access_policy: self.access_policy,
            importance: self.metadata.importance,
            confidence: self.metadata.confidence,
            ..Update::default()
        })
    }

    /// The metadata of the memory. Null marks a field to remove.
    fn memory_metadata(&self) -> Result<Map<String, Value>, Error> {
        let given = &self.metadata;
        let mut metadata = given.custom.clone();
        if let Some(taken) = NAMED.iter().chain([&SOURCE_VERSION]).find(|name| metadata.contains_key(**name)) {
            return Err(Error::invalid("metadata.custom", format!("`{taken}` is a reserved field of an entry"))
                .hint("use that field, or choose another name"));
        }
        let named = [&given.title, &given.description, &given.language, &given.author];
        for (name, value) in NAMED.into_iter().zip(named) {
            if let Some(value) = value {
                metadata.insert(name.to_owned(), value.as_str().into());
            }
        }
        if let Some(source) = &self.source {
            let version = source.version.as_deref().map_or(Value::Null, Value::from);
            metadata.insert(SOURCE_VERSION.to_owned(), version);
        }
        Ok(metadata)
    }
}

impl EntrySource {
    fn into_source(self) -> Source {
        Source { kind: self.kind, role: None, reference: self.identifier }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(value: Value) -> EntryInput {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_is_given_is_kept_where_the_record_has_a_place() {
        let entry = given(json!({
            "content": "the gate opens at six",
            "metadata": {
                "title": "Gate", "tags": ["gate"], "language": "en", "author": "ann", "confidence": 0.9,
                "importance": 0.4, "custom": { "room": 7, "none": null }
            },
            "source": { "type": "manual", "identifier": "doc-1", "version": "3" },
            "access_policy": "organization"
        }));
        let new = entry.clone().into_new(&LayerSelector::default(), true).unwrap();
        assert_eq!(
            (new.importance, new.confidence, new.tags.as_slice()),
            (Some(0.4), Some(0.9), &["gate".to_owned()][..])
        );
        assert_eq!(
            Value::Object(new.metadata),
            json!({ "room": 7, "title": "Gate", "language": "en", "author": "ann", "sourceVersion": "3" })
        );
        assert_eq!(new.source.unwrap().reference.as_deref(), Some("doc-1"));
        assert_eq!(new.access_policy, Some(AccessPolicy::Organization));
        let update = entry.into_update(Some(4)).unwrap();
        assert_eq!((update.version, update.metadata.unwrap()["none"].is_null()), (Some(4), true));
    }

    #[test]
    fn a_memory_reads_as_the_entry_it_was_given_as() {
        let mut memory = loci_testkit::samples::memory(1, &loci_testkit::samples::user("ann"), "the gate opens at six");
        memory.metadata = serde_json::from_value(json!({
            "title": "Gate", "language": 5, "sourceVersion": "3", "room": 7
        }))
        .unwrap();
        memory.source = Some(Source { kind: "manual".into(), role: None, reference: Some("doc-1".into()) });
        let entry = serde_json::to_value(Entry::from(memory)).unwrap();
        assert_eq!(entry["metadata"]["title"], "Gate");
        assert_eq!(entry["metadata"]["custom"], json!({ "room": 7, "language": 5 }));
        assert_eq!(entry["source"], json!({ "type": "manual", "identifier": "doc-1", "version": "3" }));
        assert_eq!(entry["layer"], json!({ "type": "user", "user_id": "ann" }));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let field = |given: EntryInput| {
            given.into_new(&LayerSelector::default(), true).unwrap_err().field().unwrap().to_owned()
        };
        assert_eq!(field(given(json!({}))), "entry.content");
        assert_eq!(
            field(given(json!({ "content": "a", "metadata": { "custom": { "title": "b" } } }))),
            "metadata.custom"
        );
        assert!(serde_json::from_value::<EntryInput>(json!({ "content": "a", "extra": 1 })).is_err());
        assert!(serde_json::from_value::<EntryInput>(json!({ "content": "a", "metadata": { "titel": "b" } })).is_err());
        assert!(given(json!({})).into_update(None).unwrap().metadata.is_none());
    }
}
