//! Fields of the record that a caller gives inside the metadata.
//!
//! The memory system specification keeps tags, source, knowledge pointer, relevance and decay factor in `metadata`; here they
//! are fields of their own, by which memories are filtered. A metadata field of such a name and shape is moved there,
//! unless the caller gives the field itself. A value of another shape is the caller's own and stays where it is.

use loci_types::{KnowledgePointer, Source, unit};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::update::Update;
use crate::NewMemory;
use crate::access::bounds;

const TAGS: &str = "tags";
const SOURCE: &str = "source";
const POINTER: &str = "knowledgePointer";
const RELEVANCE: &str = "relevance";
const DECAY: &str = "decayFactor";

impl NewMemory {
    /// Moves what the metadata says of the record to its fields.
    pub(crate) fn lift_metadata(&mut self) {
        let metadata = &mut self.metadata;
        if self.tags.is_empty()
            && let Some(tags) = take(metadata, TAGS, |_: &Vec<String>| true)
        {
            self.tags = tags;
        }
        if self.source.is_none() {
            self.source = take(metadata, SOURCE, |source: &Source| bounds::source(Some(source)).is_ok());
        }
        if self.knowledge_pointer.is_none() {
            self.knowledge_pointer = take(metadata, POINTER, is_pointer);
        }
        if self.relevance.is_none() {
            self.relevance = take(metadata, RELEVANCE, is_unit);
        }
        if self.decay_rate.is_none() {
            self.decay_rate = take(metadata, DECAY, is_unit);
        }
    }
}

impl Update {
    /// Moves what the metadata says of the record to its fields.
    pub(crate) fn lift_metadata(&mut self) {
        let Some(metadata) = self.metadata.as_mut().filter(|metadata| !metadata.is_empty()) else { return };
        if self.tags.is_none() {
            self.tags = take(metadata, TAGS, |_: &Vec<String>| true);
        }
        if self.source.is_none() {
            self.source = take(metadata, SOURCE, |source: &Source| bounds::source(Some(source)).is_ok()).map(Some);
        }
        if self.knowledge_pointer.is_none() {
            self.knowledge_pointer = take(metadata, POINTER, is_pointer).map(Some);
        }
        if self.decay_rate.is_none() {
            self.decay_rate = take(metadata, DECAY, is_unit);
        }
        if metadata.is_empty() {
            self.metadata = None;
        }
    }
}

fn is_pointer(pointer: &KnowledgePointer) -> bool {
    bounds::pointer(Some(pointer)).is_ok()
}

fn is_unit(value: &f64) -> bool {
    unit(RELEVANCE, *value).is_ok()
}

/// Takes a metadata field that has this shape.
fn take<T: DeserializeOwned>(metadata: &mut Map<String, Value>, name: &str, good: impl Fn(&T) -> bool) -> Option<T> {
    let found = serde_json::from_value::<T>(metadata.get(name)?.clone()).ok().filter(good)?;
    metadata.remove(name);
    Some(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(metadata: Value) -> NewMemory {
        let mut new = NewMemory { metadata: metadata.as_object().unwrap().clone(), ..NewMemory::default() };
        new.lift_metadata();
        new
    }

    // Coverage: S2.30.
    #[test]
    fn what_has_the_shape_of_a_field_becomes_the_field() {
        let new = with(json!({
            "tags": ["database", "architecture"],
            "source": { "type": "knowledge_sync" },
            "knowledgePointer": {
                "sourceType": "adr", "sourceId": "adr-042-database-selection", "contentHash": "sha256:abc123def456...",
                "syncedAt": "2025-01-07T09:00:00Z"
            },
            "relevance": 0.4, "decayFactor": 0.2, "room": 7
        }));
        assert_eq!(Value::Object(new.metadata), json!({ "room": 7 }));
        assert_eq!((new.tags.len(), new.source.unwrap().kind.as_str()), (2, "knowledge_sync"));
        assert_eq!(new.knowledge_pointer.unwrap().source_type, "adr");
        assert_eq!((new.relevance, new.decay_rate), (Some(0.4), Some(0.2)));
    }

    #[test]
    fn what_has_another_shape_is_the_callers_own() {
        for metadata in [
            json!({ "tags": "one" }),
            json!({ "tags": [1] }),
            json!({ "source": "page.html" }),
            json!({ "source": { "type": "banana" } }),
            json!({ "source": { "type": "manual", "page": 3 } }),
            json!({ "knowledgePointer": { "sourceType": "adr" } }),
            json!({ "relevance": 7 }),
            json!({ "relevance": "high" }),
        ] {
            assert_eq!(Value::Object(with(metadata.clone()).metadata), metadata);
        }
        let mut given = NewMemory { tags: vec!["own".into()], ..NewMemory::default() };
        given.metadata.insert("tags".into(), json!(["other"]));
        given.lift_metadata();
        assert_eq!((given.tags.as_slice(), given.metadata.len()), (&["own".to_owned()][..], 1));
    }
}
