//! The JSON of collections, points and queries.
//!
//! The text of a memory is never part of a payload.

use loci_types::{MemoryId, Shard, Space};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::outside::index::{Collection, Mark, PointFilter};
use crate::outside::point::VectorPoint;

/// Minimum search width (`ef`) of the HNSW graph.
const WIDE: usize = 128;

/// The value of the payload field `space`; none if the collection has one space. All user shards of a tenant are in the
/// collection of its `shared` space.
pub(super) fn space(space: &Space) -> Option<String> {
    matches!(space, Space::Shared | Space::Users(_)).then(|| space.name())
}

/// The condition that a point belongs to the space; empty if the collection has one space.
fn of_space(collection: &Collection) -> Vec<Value> {
    space(&collection.space).iter().map(|space| any("space", std::slice::from_ref(space))).collect()
}

fn any(key: &str, values: &[String]) -> Value {
    json!({ "key": key, "match": { "any": values } })
}

/// The id of the mark of a space.
pub(super) fn mark_id(space: &Space) -> Uuid {
    match space {
        Space::Users(shard) => Uuid::from_u128(1 + u128::from(shard.number())),
        _ => Uuid::nil(),
    }
}

/// The ids of all marks that the collection of a space may have.
pub(super) fn mark_ids(space: &Space) -> Vec<Uuid> {
    let shards = if self::space(space).is_some() { u128::from(Shard::COUNT) } else { 0 };
    (0..=shards).map(Uuid::from_u128).collect()
}

/// The request that creates a collection.
pub(super) fn collection(collection: &Collection) -> Value {
    json!({
        "vectors": { "size": collection.dimensions, "distance": "Cosine", "on_disk": false },
        "hnsw_config": { "m": 16, "ef_construct": 128, "full_scan_threshold": 10_000, "on_disk": false },
        "optimizers_config": {
            "default_segment_number": 2, "indexing_threshold": 20_000, "memmap_threshold": 50_000,
        },
        "quantization_config": { "scalar": { "type": "int8", "quantile": 0.99, "always_ram": true } },
        "on_disk_payload": false,
    })
}

/// The indexes of the fields in filters. A server in strict mode refuses a filter on a field without an index.
pub(super) fn payload_indexes(collection: &Collection) -> Vec<Value> {
    let mut fields = vec![
        ("userId", json!({ "type": "keyword", "is_tenant": true })),
        ("type", json!("keyword")),
        ("supersededById", json!("keyword")),
        ("tags", json!("keyword")),
        ("createdAt", json!("integer")),
        ("expiresAt", json!("integer")),
        ("scope", json!("keyword")),
        ("state", json!("keyword")),
    ];
    fields.extend(space(&collection.space).map(|_| ("space", json!("keyword"))));
    fields.into_iter().map(|(name, schema)| json!({ "field_name": name, "field_schema": schema })).collect()
}

/// Whether an existing collection can store these vectors.
pub(super) fn fits(found: &Value, collection: &Collection) -> bool {
    let vectors = &found["config"]["params"]["vectors"];
    vectors["size"].as_u64() == Some(collection.dimensions as u64) && vectors["distance"] == "Cosine"
}

/// A memory as a point; none if its vector has no direction.
pub(super) fn point(collection: &Collection, point: &VectorPoint) -> Option<Value> {
    let memory = &point.memory;
    let mut payload = json!({
        "scope": point.scope,
        "type": memory.kind.name(),
        "state": memory.state.name(),
        // Written even if null: `is_null` does not match a missing field.
        "supersededById": memory.superseded_by_id,
        "tags": memory.tags,
        "createdAt": memory.created_at.as_millisecond(),
        // As text, because JSON numbers are exact only up to 53 bits.
        "stamp": format!("{:016x}", point.stamp()),
    });
    if let Some(space) = space(&collection.space) {
        payload["space"] = json!(space);
    }
    if let Some(user) = &memory.identifiers.user_id {
        payload["userId"] = json!(user);
    }
    if let Some(expires) = memory.expires_at {
        payload["expiresAt"] = json!(expires.as_millisecond());
    }
    Some(json!({ "id": memory.id, "vector": point.direction()?, "payload": payload }))
}

/// The mark of a space as a point. It has no state, so no query finds it.
pub(super) fn mark(collection: &Collection, mark: Mark, store: &str) -> Value {
    let mut vector = vec![0.0_f32; collection.dimensions];
    if let Some(first) = vector.first_mut() {
        *first = 1.0;
    }
    let mut payload = json!({ "lociMark": mark.sequence, "lociMarkAt": mark.at, "model": collection.model });
    if !store.is_empty() {
        payload["lociStore"] = json!(store);
    }
    if let Some(space) = space(&collection.space) {
        payload["space"] = json!(space);
    }
    json!({ "id": mark_id(&collection.space), "vector": vector, "payload": payload })
}

/// The store that a mark names; none if it is of a version of Loci that did not name it.
pub(super) fn store_of(payload: &Value) -> Option<&str> {
    payload.get("lociStore").and_then(Value::as_str)
}

/// Whether a mark is of this model and has the field `space` exactly if the collection is shared by several spaces.
pub(super) fn is_mark_of(payload: &Value, collection: &Collection) -> bool {
    let model = payload.get("model").and_then(Value::as_str);
    model == Some(&collection.model) && payload.get("space").is_some() == space(&collection.space).is_some()
}

/// The mark in a payload; none if it belongs to another model.
pub(super) fn read_mark(payload: &Value, collection: &Collection) -> Option<Mark> {
    if !is_mark_of(payload, collection) {
        return None;
    }
    Some(Mark { sequence: payload.get("lociMark")?.as_i64()?, at: payload.get("lociMarkAt").and_then(Value::as_i64) })
}

/// Fields that every memory has that Loci writes. They are indexed, because strict mode refuses conditions on others.
const ALWAYS: [&str; 4] = ["scope", "state", "type", "createdAt"];

/// The filter for the memories of a space.
pub(super) fn memories(collection: &Collection) -> Value {
    let mut must_not = incomplete();
    must_not.push(json!({ "has_id": [mark_id(&collection.space)] }));
    json!({ "must": of_space(collection), "must_not": must_not })
}

/// The conditions of which a point that is a memory fulfils none.
fn incomplete() -> Vec<Value> {
    ALWAYS.iter().map(|key| json!({ "is_empty": { "key": key } })).collect()
}

/// The filter for all memories, of whichever space.
pub(super) fn own() -> Value {
    json!({ "must_not": incomplete() })
}

/// The filter for points that Loci did not write: they are neither memories nor marks.
pub(super) fn foreign(marks: &[Uuid]) -> Value {
    json!({ "should": incomplete(), "must_not": [{ "has_id": marks }] })
}

/// What a server in strict mode allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// The greatest search width.
    Width(usize),
    /// The number of points by which a page must be smaller.
    Page(usize),
}

/// The limit that an error message names, such as `Limit exceeded 300 > 256 for "hnsw_ef"`.
pub(super) fn exceeded(message: &str) -> Option<Limit> {
    let (_, rest) = message.split_once("Limit exceeded ")?;
    let (asked, rest) = rest.split_once(" > ")?;
    let (limit, name) = rest.split_once(" for ")?;
    let (asked, limit): (usize, usize) = (asked.trim().parse().ok()?, limit.trim().parse().ok()?);
    Some(if name.contains("hnsw_ef") { Limit::Width(limit) } else { Limit::Page(asked.saturating_sub(limit)) })
}

/// The filter for all points of a space, including its mark.
pub(super) fn points(collection: &Collection) -> Value {
    json!({ "must": of_space(collection) })
}

/// A nearest-neighbour query.
pub(super) fn query(
    collection: &Collection,
    wanted: &PointFilter,
    query: &[f32],
    limit: usize,
    widest: usize,
) -> Value {
    let states: Vec<String> = wanted.states.iter().map(|state| state.name().to_owned()).collect();
    let mut must = of_space(collection);
    must.push(any("state", &states));
    if let Some(scopes) = &wanted.scopes {
        must.push(any("scope", scopes));
    }
    if wanted.heads_only {
        must.push(json!({ "is_null": { "key": "supersededById" } }));
    }
    for (key, values) in [("type", &wanted.kinds), ("tags", &wanted.tags), ("userId", &wanted.users)] {
        if !values.is_empty() {
            must.push(any(key, values));
        }
    }
    json!({
        "query": query,
        "filter": { "must": must },
        "limit": limit,
        "params": { "hnsw_ef": limit.max(WIDE).min(widest), "quantization": { "rescore": true, "oversampling": 2.0 } },
        "with_payload": false,
        "with_vector": false,
    })
}

/// The memory id and the score of a result.
pub(super) fn read_hit(point: &Value) -> Option<(MemoryId, f32)> {
    Some((read_id(point)?, point.get("score")?.as_f64()? as f32))
}

/// The memory id and the stamp of a point.
pub(super) fn read_stamp(point: &Value) -> Option<(MemoryId, Option<u64>)> {
    let stamp = point.get("payload").and_then(|payload| payload.get("stamp")).and_then(Value::as_str);
    Some((read_id(point)?, stamp.and_then(|stamp| u64::from_str_radix(stamp, 16).ok())))
}

fn read_id(point: &Value) -> Option<MemoryId> {
    Uuid::try_parse(point.get("id")?.as_str()?).ok().map(MemoryId)
}

#[cfg(test)]
mod tests {
    use super::*;

    // qdrant D8.
    #[test]
    fn the_limits_of_strict_mode_are_read_from_the_error() {
        for (message, expect) in [
            ("it returned 400: Bad request: Limit exceeded 300 > 256 for hnsw_ef", Some(Limit::Width(256))),
            ("Limit exceeded 300 > 256 for \"hnsw_ef\". Help: Set it lower", Some(Limit::Width(256))),
            ("Limit exceeded 1002 > 1000 for \"limit\". Help: Reduce the limit", Some(Limit::Page(2))),
            ("Limit exceeded many > 1000 for \"limit\"", None),
            ("Wrong input: Vector dimension error", None),
        ] {
            assert_eq!(exceeded(message), expect, "{message}");
        }
    }
}
