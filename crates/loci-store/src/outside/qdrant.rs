//! Qdrant as external vector index, over its REST interface.
//!
//! There is one collection per space and model. The user shards of a tenant share the collection of its `shared` space,
//! because a collection costs the server much more than a payload field. A point is a memory and has its id, so writing
//! it twice is idempotent. One further point per space, the mark, stores how far the ledger of the space was applied. A
//! collection that is lost loses its marks as well, so it is filled again.
//!
//! Queries are sent once, because recall does not wait; writes are retried as [`Retry`] says.

mod http;
pub(super) mod naming;
mod shape;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use loci_types::{MemoryId, Space};
use serde_json::{Value, json};

use self::http::{Http, HttpReply};
use super::index::{Collection, Mark, PointFilter, VectorIndex};
use super::point::VectorPoint;
use crate::{Error, Result, Retry};

/// Maximum number of points in one request.
const BATCH: usize = 256;

/// The address and settings of a Qdrant server.
#[derive(Clone)]
pub struct QdrantConfig {
    /// The address, such as `http://127.0.0.1:6333`.
    pub url: String,
    /// The API key, if the server requires one.
    pub api_key: Option<String>,
    /// Prefix of the names of all collections.
    pub prefix: String,
    /// The model whose name is left out of collection names: `agent_memory_SLUG`.
    pub usual_model: Option<String>,
    /// Timeout of one request.
    pub timeout: Duration,
    /// How writes are retried.
    pub retry: Retry,
}

impl QdrantConfig {
    /// A server at this address, with default settings.
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            api_key: None,
            prefix: String::new(),
            usual_model: None,
            timeout: Duration::from_secs(2),
            retry: Retry::default(),
        }
    }
}

impl fmt::Debug for QdrantConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither the key nor the address, which may contain a password, is printed.
        formatter.debug_struct("QdrantConfig").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// A client of a Qdrant server.
pub struct Qdrant {
    http: Http,
    prefix: String,
    usual_model: Option<String>,
}

impl Qdrant {
    /// Creates a client. It sends no request, so the server need not be reachable.
    pub fn new(config: QdrantConfig) -> Result<Self> {
        let QdrantConfig { url, api_key, prefix, usual_model, timeout, retry } = config;
        naming::check(&prefix)?;
        Ok(Self { http: Http::new(&url, api_key.as_deref(), timeout, retry)?, prefix, usual_model })
    }

    fn path(&self, collection: &Collection, rest: &str) -> String {
        format!("/collections/{}{rest}", self.collection_name(collection))
    }

    /// The payloads of the marks with these ids.
    async fn marks(&self, collection: &Collection, ids: &[uuid::Uuid]) -> Result<Vec<Value>> {
        let body = json!({ "ids": ids, "with_payload": true, "with_vector": false });
        let found = self.http.ask("POST", &self.path(collection, "/points"), Some(&body)).await?;
        let points = found.as_ref().and_then(Value::as_array).into_iter().flatten();
        let payloads = points.filter_map(|point| point.get("payload")).filter(|it| it.get("lociMark").is_some());
        Ok(payloads.cloned().collect())
    }

    /// Deletes an existing collection that does not fit; fails if Loci did not write it. Returns whether one fits.
    async fn make_way(&self, collection: &Collection) -> Result<bool> {
        let Some(found) = self.http.ask("GET", &self.path(collection, ""), None).await? else { return Ok(false) };
        let marks = self.marks(collection, &shape::mark_ids(&collection.space)).await?;
        if marks.is_empty() {
            let points = self.points(collection, &json!({})).await?.unwrap_or(0);
            if points > 0 {
                return Err(self.http.unavailable(format!(
                    "collection `{}` holds {points} points that Loci did not write; set vectors.prefix, or remove it",
                    self.collection_name(collection)
                )));
            }
        }
        let fits = shape::fits(&found, collection) && marks.iter().all(|mark| shape::is_mark_of(mark, collection));
        if !fits {
            self.http.tell("DELETE", &self.path(collection, ""), None).await?;
        }
        Ok(fits)
    }

    async fn points(&self, collection: &Collection, filter: &Value) -> Result<Option<u64>> {
        let body = json!({ "filter": filter, "exact": true });
        let counted = self.http.ask("POST", &self.path(collection, "/points/count"), Some(&body)).await?;
        Ok(counted.and_then(|counted| counted.get("count").and_then(Value::as_u64)))
    }

    /// Sends a write to a collection; fails if the collection does not exist.
    async fn tell(&self, collection: &Collection, method: &str, rest: &str, body: &Value) -> Result<Value> {
        let path = self.path(collection, rest);
        self.http.tell(method, &path, Some(body)).await?.ok_or_else(|| {
            self.http.unavailable(format!("collection `{}` is not there", self.collection_name(collection)))
        })
    }
}

#[async_trait]
impl VectorIndex for Qdrant {
    fn name(&self) -> &'static str {
        http::PART
    }

    fn shared(&self) -> bool {
        true
    }

    fn collection_name(&self, collection: &Collection) -> String {
        let space = match &collection.space {
            Space::Users(_) => Space::Shared,
            space => space.clone(),
        };
        naming::name(&self.prefix, self.usual_model.as_deref(), &Collection { space, ..collection.clone() })
    }

    async fn version(&self) -> Result<String> {
        match self.http.raw("GET", "/", None).await? {
            HttpReply::Answer(value) => {
                Ok(value.get("version").and_then(Value::as_str).unwrap_or("unknown").to_owned())
            }
            HttpReply::Missing => Err(self.http.unavailable("it does not say what it is".to_owned())),
        }
    }

    async fn health(&self) -> Result<()> {
        self.http.ask("GET", "/collections", None).await.map(drop)
    }

    async fn position(&self, collection: &Collection) -> Result<Option<Mark>> {
        let marks = self.marks(collection, &[shape::mark_id(&collection.space)]).await?;
        Ok(marks.first().and_then(|mark| shape::read_mark(mark, collection)))
    }

    async fn prepare(&self, collection: &Collection) -> Result<()> {
        if !self.make_way(collection).await? {
            let made = self.http.tell("PUT", &self.path(collection, ""), Some(&shape::collection(collection))).await;
            // Another process may have created it meanwhile.
            if let Err(error) = made
                && self.http.ask("GET", &self.path(collection, ""), None).await?.is_none()
            {
                return Err(error);
            }
        }
        for body in shape::payload_indexes(collection) {
            self.tell(collection, "PUT", "/index?wait=true", &body).await?;
        }
        self.advance(collection, Mark::default()).await
    }

    async fn upsert(&self, collection: &Collection, points: &[VectorPoint]) -> Result<()> {
        for some in points.chunks(BATCH) {
            let points: Vec<Value> = some.iter().filter_map(|point| shape::point(collection, point)).collect();
            self.tell(collection, "PUT", "/points?wait=true", &json!({ "points": points })).await?;
        }
        Ok(())
    }

    async fn delete(&self, collection: &Collection, ids: &[MemoryId]) -> Result<()> {
        for some in ids.chunks(BATCH) {
            self.tell(collection, "POST", "/points/delete?wait=true", &json!({ "points": some })).await?;
        }
        Ok(())
    }

    async fn advance(&self, collection: &Collection, mark: Mark) -> Result<()> {
        let body = json!({ "points": [shape::mark(collection, mark)] });
        self.tell(collection, "PUT", "/points?wait=true", &body).await.map(drop)
    }

    async fn search(
        &self,
        collection: &Collection,
        wanted: &PointFilter,
        query: &[f32],
        limit: usize,
    ) -> Result<Option<Vec<(MemoryId, f32)>>> {
        let body = shape::query(collection, wanted, query, limit);
        let found = self.http.ask("POST", &self.path(collection, "/points/query"), Some(&body)).await?;
        let Some(found) = found else { return Ok(None) };
        let points = found.get("points").and_then(Value::as_array);
        let points = points.ok_or_else(|| self.http.unavailable("its answer has no points".to_owned()))?;
        Ok(Some(points.iter().filter_map(shape::read_hit).collect()))
    }

    async fn count(&self, collection: &Collection) -> Result<Option<u64>> {
        self.points(collection, &shape::memories(collection)).await
    }

    async fn ids(
        &self,
        collection: &Collection,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<(MemoryId, Option<u64>)>> {
        // A page of Qdrant includes its offset, so one more point is requested and the offset is left out.
        let mut body = json!({
            "limit": limit.saturating_add(1), "with_payload": ["stamp"], "with_vector": false,
            "filter": shape::memories(collection),
        });
        if let Some(after) = after {
            body["offset"] = json!(after);
        }
        let found = self.http.ask("POST", &self.path(collection, "/points/scroll"), Some(&body)).await?;
        let points = found.as_ref().and_then(|found| found.get("points")).and_then(Value::as_array);
        let read = points.into_iter().flatten().filter_map(shape::read_stamp);
        Ok(read.filter(|(id, _)| Some(*id) != after).take(limit).collect())
    }

    async fn remove(&self, collection: &Collection) -> Result<()> {
        if shape::space(&collection.space).is_none() {
            return self.http.tell("DELETE", &self.path(collection, ""), None).await.map(drop);
        }
        // The points of other spaces stay. A collection without the payload field `space` is deleted as a whole.
        if self.make_way(collection).await? {
            let body = json!({ "filter": shape::points(collection) });
            self.tell(collection, "POST", "/points/delete?wait=true", &body).await?;
        }
        Ok(())
    }
}

impl From<http::InvalidSetting> for Error {
    fn from(wrong: http::InvalidSetting) -> Self {
        loci_types::Error::new(loci_types::ErrorKind::Configuration, wrong.problem).at(wrong.field).into()
    }
}
