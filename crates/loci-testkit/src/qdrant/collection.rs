//! The collections of the stand-in.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::filter::PointFilter;
use super::strict::{Rejection, bad, field, id, object, vector};

/// A collection.
pub(super) struct CollectionData {
    /// The request that created it.
    pub(super) asked: Value,
    pub(super) dimensions: usize,
    pub(super) distance: String,
    pub(super) indexes: BTreeMap<String, Value>,
    pub(super) points: BTreeMap<String, Point>,
}

/// A point.
pub(super) struct Point {
    vector: Vec<f32>,
    pub(super) payload: Value,
}

impl CollectionData {
    /// Creates a collection; fails if the request is invalid.
    pub(super) fn new(asked: &Value) -> Result<Self, Rejection> {
        let known = [
            "vectors",
            "hnsw_config",
            "optimizers_config",
            "quantization_config",
            "on_disk_payload",
            "strict_mode_config",
        ];
        let body = object(asked, "CreateCollection", &known)?;
        let vectors = object(field(body, "vectors")?, "vectors", &["size", "distance", "on_disk"])?;
        let distance = field(vectors, "distance")?.as_str().unwrap_or_default().to_owned();
        if !["Cosine", "Dot", "Euclid", "Manhattan"].contains(&distance.as_str()) {
            return Err(bad(format!(
                "Format error in JSON body: unknown variant `{distance}`, expected one of `Cosine`, `Euclid`, `Dot`, `Manhattan`"
            )));
        }
        let size = field(vectors, "size")?.as_u64().filter(|size| (1..=65_536).contains(size));
        let size = size.ok_or_else(|| bad("Validation error in JSON body: [vectors.size: value out of range]"))?;
        optional(body, "hnsw_config", &["m", "ef_construct", "full_scan_threshold", "on_disk"])?;
        optional(body, "optimizers_config", &["default_segment_number", "indexing_threshold", "memmap_threshold"])?;
        if let Some(quantization) = body.get("quantization_config") {
            let scalar = field(object(quantization, "quantization_config", &["scalar"])?, "scalar")?;
            let scalar = object(scalar, "scalar", &["type", "quantile", "always_ram"])?;
            if field(scalar, "type")? != "int8" {
                return Err(bad("Format error in JSON body: unknown variant, expected `int8`"));
            }
        }
        Ok(Self {
            asked: asked.clone(),
            dimensions: size as usize,
            distance,
            indexes: BTreeMap::new(),
            points: BTreeMap::new(),
        })
    }

    /// Removes all points.
    pub(super) fn empty(&mut self) {
        self.points.clear();
    }

    /// The description of the collection, as Qdrant returns it.
    pub(super) fn describe(&self) -> Value {
        let schema: Map<String, Value> =
            self.indexes.iter().map(|(name, kind)| (name.clone(), json!({ "data_type": kind, "points": 0 }))).collect();
        json!({
            "status": "green",
            "optimizer_status": "ok",
            "points_count": self.points.len(),
            "segments_count": 2,
            "config": { "params": { "vectors": { "size": self.dimensions, "distance": self.distance } } },
            "payload_schema": schema,
        })
    }

    /// Creates a payload index.
    pub(super) fn index(&mut self, body: &Value) -> Result<(), Rejection> {
        let body = object(body, "CreateFieldIndex", &["field_name", "field_schema"])?;
        let name = field(body, "field_name")?.as_str().unwrap_or_default();
        let schema = field(body, "field_schema")?;
        let kind = match schema {
            Value::Object(_) => field(object(schema, "field_schema", &["type", "is_tenant", "on_disk"])?, "type")?,
            plain => plain,
        };
        let known = ["keyword", "integer", "float", "geo", "text", "bool", "datetime", "uuid"];
        if name.is_empty() || !kind.as_str().is_some_and(|kind| known.contains(&kind)) {
            return Err(bad(
                "Format error in JSON body: data did not match any variant of untagged enum PayloadFieldSchema",
            ));
        }
        self.indexes.insert(name.to_owned(), schema.clone());
        Ok(())
    }

    /// Inserts or replaces points, all of them or none.
    pub(super) fn upsert(&mut self, body: &Value) -> Result<(), Rejection> {
        let body = object(body, "PointsList", &["points"])?;
        let mut read = Vec::new();
        for point in list(field(body, "points")?)? {
            let point = object(point, "point", &["id", "vector", "payload"])?;
            let payload = point.get("payload").cloned().unwrap_or_else(|| json!({}));
            if !payload.is_object() {
                return Err(bad("Format error in JSON body: payload is not an object"));
            }
            let vector = vector(field(point, "vector")?, self.dimensions)?;
            read.push((id(field(point, "id")?)?, Point { vector, payload }));
        }
        self.points.extend(read);
        Ok(())
    }

    /// Deletes points by their ids or by a filter.
    pub(super) fn delete(&mut self, body: &Value) -> Result<(), Rejection> {
        let body = object(body, "PointsSelector", &["points", "filter"])?;
        if body.contains_key("filter") {
            let filter = PointFilter::read(body.get("filter"), &self.indexes)?;
            self.points.retain(|id, point| !filter.passes(id, &point.payload));
            return Ok(());
        }
        for gone in list(field(body, "points")?)? {
            self.points.remove(&id(gone)?);
        }
        Ok(())
    }

    /// Returns points by their ids.
    pub(super) fn retrieve(&self, body: &Value) -> Result<Value, Rejection> {
        let body = object(body, "PointRequest", &["ids", "with_payload", "with_vector"])?;
        let mut found = Vec::new();
        for wanted in list(field(body, "ids")?)? {
            let wanted = id(wanted)?;
            if let Some(point) = self.points.get(&wanted) {
                found.push(json!({ "id": wanted, "payload": point.payload }));
            }
        }
        Ok(json!(found))
    }

    /// Returns the nearest points, by exact search.
    pub(super) fn query(&self, body: &Value) -> Result<Value, Rejection> {
        let known = ["query", "filter", "limit", "params", "with_payload", "with_vector"];
        let body = object(body, "QueryRequest", &known)?;
        let query = vector(field(body, "query")?, self.dimensions)?;
        let filter = PointFilter::read(body.get("filter"), &self.indexes)?;
        if let Some(params) = body.get("params") {
            let params = object(params, "params", &["hnsw_ef", "exact", "quantization"])?;
            optional(params, "quantization", &["ignore", "rescore", "oversampling"])?;
        }
        let limit = limit(body)?;
        let mut found: Vec<(f32, &String)> = (self.points.iter())
            .filter(|(id, point)| filter.passes(id, &point.payload))
            .map(|(id, point)| (self.similarity(&query, &point.vector), id))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let points: Vec<Value> = (found.into_iter().take(limit))
            .map(|(score, id)| json!({ "id": id, "version": 0, "score": score }))
            .collect();
        Ok(json!({ "points": points }))
    }

    fn similarity(&self, left: &[f32], right: &[f32]) -> f32 {
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let lengths = (product(left, left) * product(right, right)).sqrt();
        if lengths > 0.0 { product(left, right) / lengths } else { 0.0 }
    }

    /// Counts the points that match a filter.
    pub(super) fn count(&self, body: &Value) -> Result<Value, Rejection> {
        let body = object(body, "CountRequest", &["filter", "exact"])?;
        let filter = PointFilter::read(body.get("filter"), &self.indexes)?;
        let count = self.points.iter().filter(|(id, point)| filter.passes(id, &point.payload)).count();
        Ok(json!({ "count": count }))
    }

    /// Returns points in the order of their ids, starting at an id.
    pub(super) fn scroll(&self, body: &Value) -> Result<Value, Rejection> {
        let body = object(body, "ScrollRequest", &["filter", "limit", "offset", "with_payload", "with_vector"])?;
        let filter = PointFilter::read(body.get("filter"), &self.indexes)?;
        let from = body.get("offset").map(id).transpose()?.unwrap_or_default();
        let limit = limit(body)?;
        let mut found = self.points.range(from..).filter(|(id, point)| filter.passes(id, &point.payload));
        let points: Vec<Value> =
            found.by_ref().take(limit).map(|(id, point)| json!({ "id": id, "payload": point.payload })).collect();
        Ok(json!({ "points": points, "next_page_offset": found.next().map(|(id, _)| id) }))
    }
}

fn list(value: &Value) -> Result<&Vec<Value>, Rejection> {
    value.as_array().ok_or_else(|| bad("Format error in JSON body: points is not a list"))
}

fn limit(body: &Map<String, Value>) -> Result<usize, Rejection> {
    let limit = body.get("limit").map_or(Some(10), Value::as_u64).filter(|limit| *limit > 0);
    limit
        .map(|limit| limit as usize)
        .ok_or_else(|| bad("Validation error in JSON body: [limit: value 0 invalid, must be 1 or larger]"))
}

fn optional(body: &Map<String, Value>, name: &str, known: &[&str]) -> Result<(), Rejection> {
    body.get(name).map_or(Ok(()), |value| object(value, name, known).map(drop))
}
