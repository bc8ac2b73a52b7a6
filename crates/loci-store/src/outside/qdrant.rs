//! Qdrant as external vector index, over its REST interface.
//!
//! There is one collection per space and model. The user shards of a tenant share the collection of its `shared` space,
//! because a collection costs the server much more than a payload field. A point is a memory and has its id, so writing
//! it twice is idempotent. One further point per space, the mark, stores how far the ledger of the space was applied. A
//! collection that is lost loses its marks as well, so it is filled again.
//!
//! **Invariant: only points of this store are deleted.** A mark names the store that wrote it. A collection with the mark of
//! another store, or with points and without a mark, is refused by name.
//!
//! Queries are sent once, because recall does not wait; writes are retried as [`Retry`] says.

mod http;
pub(super) mod naming;
mod shape;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    /// The certificate authorities that are trusted, as PEM. Default: those of the system.
    pub authorities: Option<Vec<u8>>,
    /// Prefix of the names of all collections.
    pub prefix: String,
    /// The model whose name is left out of collection names: `agent_memory_SLUG`.
    pub usual_model: Option<String>,
    /// The identity of the store, as [`VectorSource::store_id`](super::VectorSource::store_id) returns it. Empty: marks
    /// name no store, and those of every store are accepted.
    pub store: String,
    /// Timeout of one query; a write may take twice as long.
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
            authorities: None,
            prefix: String::new(),
            usual_model: None,
            store: String::new(),
            timeout: Duration::from_secs(1),
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
    store: String,
    /// The greatest search width that the server allows, as far as is known.
    widest: AtomicUsize,
    /// The largest page that the server allows, as far as is known.
    most: AtomicUsize,
}

impl Qdrant {
    /// Creates a client. It sends no request, so the server need not be reachable.
    pub fn new(config: QdrantConfig) -> Result<Self> {
        let QdrantConfig { url, api_key, authorities, prefix, usual_model, store, timeout, retry } = config;
        naming::check(&prefix)?;
        Ok(Self {
            http: Http::new(&url, api_key.as_deref(), authorities.as_deref(), timeout, retry)?,
            prefix,
            usual_model,
            store,
            widest: AtomicUsize::new(usize::MAX),
            most: AtomicUsize::new(usize::MAX),
        })
    }

    fn path(&self, collection: &Collection, rest: &str) -> String {
        format!("/collections/{}{rest}", self.collection_name(collection))
    }

    /// The payloads of the marks with these ids. Fails if one is of another store.
    async fn marks(&self, collection: &Collection, ids: &[uuid::Uuid]) -> Result<Vec<Value>> {
        let name = self.collection_name(collection);
        let marks = self.marks_in(&name, ids).await?;
        let stranger = marks.iter().filter_map(shape::store_of).find(|store| *store != self.store);
        match stranger.filter(|_| !self.store.is_empty()) {
            Some(store) => Err(self.http.refused(&format!(
                "collection `{name}` belongs to another store ({store}), not to this one ({}); set vectors.prefix to \
                 another name, or remove the collection",
                self.store
            ))),
            None => Ok(marks),
        }
    }

    /// The payloads of the marks with these ids, of whichever store.
    async fn marks_in(&self, name: &str, ids: &[uuid::Uuid]) -> Result<Vec<Value>> {
        let body = json!({ "ids": ids, "with_payload": true, "with_vector": false });
        let found = self.http.read("POST", &format!("/collections/{name}/points"), Some(&body)).await?;
        let points = found.as_ref().and_then(Value::as_array).into_iter().flatten();
        let payloads = points.filter_map(|point| point.get("payload")).filter(|it| it.get("lociMark").is_some());
        Ok(payloads.cloned().collect())
    }

    /// What there is under the name of a collection. Fails if Loci did not write it, or another store did.
    async fn existing(&self, collection: &Collection) -> Result<Existing> {
        let Some(found) = self.http.read("GET", &self.path(collection, ""), None).await? else {
            return Ok(Existing::Nothing);
        };
        let marks = self.marks(collection, &shape::mark_ids(&collection.space)).await?;
        let marked = marks.iter().all(|mark| shape::is_mark_of(mark, collection));
        let fits = shape::fits(&found, collection) && marked;
        if !marks.is_empty() {
            return Ok(Existing::Own { fits, marked });
        }
        match self.points(collection, &json!({})).await?.unwrap_or(0) {
            0 => Ok(Existing::Empty { fits }),
            points => Err(self.http.refused(&format!(
                "collection `{}` holds {points} points that Loci did not write; set vectors.prefix, or remove it",
                self.collection_name(collection)
            ))),
        }
    }

    /// Deletes an existing collection that does not fit; fails if Loci did not write all of it. Returns whether one fits.
    async fn make_way(&self, collection: &Collection) -> Result<bool> {
        match self.existing(collection).await? {
            Existing::Nothing => return Ok(false),
            Existing::Own { fits: true, .. } | Existing::Empty { fits: true } => return Ok(true),
            Existing::Own { fits: false, .. } => {
                let foreign = self.foreign(collection).await?;
                if foreign > 0 {
                    return Err(self.http.refused(&format!(
                        "collection `{}` must be recreated for vectors of another size, but holds {foreign} points \
                         that Loci did not write; set vectors.prefix, or remove them",
                        self.collection_name(collection)
                    )));
                }
            }
            Existing::Empty { fits: false } => {
                return Err(self.http.refused(&format!(
                    "collection `{}` is of another program, empty and for vectors of another size; set vectors.prefix, or \
                     remove it",
                    self.collection_name(collection)
                )));
            }
        }
        self.http.write("DELETE", &self.path(collection, ""), None).await?;
        Ok(false)
    }

    /// Asks within the limits of the server's strict mode, which are learned from its errors.
    async fn ask_within(&self, path: &str, body: impl Fn(usize, usize) -> (Value, usize)) -> Result<Option<Value>> {
        loop {
            let (widest, most) = (self.widest.load(Ordering::Relaxed), self.most.load(Ordering::Relaxed));
            let (question, page) = body(widest, most);
            let error = match self.http.read("POST", path, Some(&question)).await {
                Err(Error::IndexRefused { part, problem }) => Error::IndexRefused { part, problem },
                other => return other,
            };
            match shape::exceeded(&error.to_string()) {
                Some(shape::Limit::Width(limit)) if limit < widest && limit > 0 => {
                    self.widest.fetch_min(limit, Ordering::Relaxed);
                }
                // A page needs room for its offset and one more.
                Some(shape::Limit::Page(over)) if over > 0 && page > over + 1 => {
                    self.most.fetch_min(page - over, Ordering::Relaxed);
                }
                _ => return Err(error),
            }
        }
    }

    async fn points(&self, collection: &Collection, filter: &Value) -> Result<Option<u64>> {
        let body = json!({ "filter": filter, "exact": true });
        let counted = self.http.read("POST", &self.path(collection, "/points/count"), Some(&body)).await?;
        Ok(counted.and_then(|counted| counted.get("count").and_then(Value::as_u64)))
    }

    /// Whether all marks of a collection are of this store, and there is one.
    async fn is_own(&self, name: &str) -> Result<bool> {
        let marks = self.marks_in(name, &shape::mark_ids(&Space::Shared)).await?;
        Ok(!marks.is_empty() && marks.iter().all(|mark| shape::store_of(mark) == Some(&self.store)))
    }

    /// The size of the vectors of an existing collection.
    async fn dimensions(&self, collection: &Collection) -> Result<usize> {
        let found = self.http.read("GET", &self.path(collection, ""), None).await?.unwrap_or_default();
        Ok(found["config"]["params"]["vectors"]["size"].as_u64().unwrap_or_default() as usize)
    }

    /// Sends a write to a collection; fails if the collection does not exist.
    async fn write(&self, collection: &Collection, method: &str, rest: &str, body: &Value) -> Result<Value> {
        let path = self.path(collection, rest);
        let answer = self.http.write(method, &path, Some(body)).await?;
        answer.ok_or_else(|| Error::IndexLost {
            part: http::PART.to_owned(),
            collection: self.collection_name(collection),
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
            HttpReply::Missing => Err(self.http.unavailable("its metadata is missing".to_owned())),
        }
    }

    async fn health(&self) -> Result<()> {
        self.http.read("GET", "/collections", None).await.map(drop)
    }

    async fn position(&self, collection: &Collection) -> Result<Option<Mark>> {
        let marks = self.marks(collection, &[shape::mark_id(&collection.space)]).await?;
        Ok(marks.first().and_then(|mark| shape::read_mark(mark, collection)))
    }

    async fn prepare(&self, collection: &Collection) -> Result<()> {
        if !self.make_way(collection).await? {
            let made = self.http.write("PUT", &self.path(collection, ""), Some(&shape::collection(collection))).await;
            // Another process may have created it meanwhile.
            if let Err(error) = made
                && self.http.read("GET", &self.path(collection, ""), None).await?.is_none()
            {
                return Err(error);
            }
        }
        for body in shape::payload_indexes(collection) {
            self.write(collection, "PUT", "/index?wait=true", &body).await?;
        }
        self.advance(collection, Mark::default()).await
    }

    async fn upsert(&self, collection: &Collection, points: &[VectorPoint]) -> Result<()> {
        for some in points.chunks(BATCH) {
            let points: Vec<Value> = some.iter().filter_map(|point| shape::point(collection, point)).collect();
            self.write(collection, "PUT", "/points?wait=true", &json!({ "points": points })).await?;
        }
        Ok(())
    }

    async fn delete(&self, collection: &Collection, ids: &[MemoryId]) -> Result<()> {
        for some in ids.chunks(BATCH) {
            self.write(collection, "POST", "/points/delete?wait=true", &json!({ "points": some })).await?;
        }
        Ok(())
    }

    async fn advance(&self, collection: &Collection, mark: Mark) -> Result<()> {
        let body = json!({ "points": [shape::mark(collection, mark, &self.store)] });
        self.write(collection, "PUT", "/points?wait=true", &body).await.map(drop)
    }

    async fn search(
        &self,
        collection: &Collection,
        wanted: &PointFilter,
        query: &[f32],
        limit: usize,
    ) -> Result<Option<Vec<(MemoryId, f32)>>> {
        let path = self.path(collection, "/points/query");
        let asked = |widest, most| {
            let limit = limit.min(most);
            (shape::query(collection, wanted, query, limit, widest), limit)
        };
        let found = self.ask_within(&path, asked).await?;
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
        let path = self.path(collection, "/points/scroll");
        let asked = |_, most| {
            // A page of Qdrant includes its offset, so one more point is requested and the offset is left out.
            let page = limit.saturating_add(1).min(most);
            let mut body = json!({
                "limit": page, "with_payload": ["stamp"], "with_vector": false,
                "filter": shape::memories(collection),
            });
            if let Some(after) = after {
                body["offset"] = json!(after);
            }
            (body, page)
        };
        let found = self.ask_within(&path, asked).await?;
        let points = found.as_ref().and_then(|found| found.get("points")).and_then(Value::as_array);
        let read = points.into_iter().flatten().filter_map(shape::read_stamp);
        Ok(read.filter(|(id, _)| Some(*id) != after).take(limit).collect())
    }

    async fn remove(&self, collection: &Collection) -> Result<()> {
        let marked = match self.existing(collection).await? {
            Existing::Nothing | Existing::Empty { .. } => return Ok(()),
            Existing::Own { marked, .. } => marked,
        };
        let shared = shape::space(&collection.space).is_some();
        if shared && marked {
            // The points of other spaces stay.
            let body = json!({ "filter": shape::points(collection) });
            return self.write(collection, "POST", "/points/delete?wait=true", &body).await.map(drop);
        }
        if self.foreign(collection).await? == 0 {
            return self.http.write("DELETE", &self.path(collection, ""), None).await.map(drop);
        }
        // The points of others stay, and so does the mark: without it, the collection would be refused.
        self.write(collection, "POST", "/points/delete?wait=true", &json!({ "filter": shape::own() })).await?;
        let dimensions = self.dimensions(collection).await?;
        self.advance(&Collection { dimensions, ..collection.clone() }, Mark::default()).await
    }

    async fn foreign(&self, collection: &Collection) -> Result<u64> {
        let filter = shape::foreign(&shape::mark_ids(&Space::Shared));
        Ok(self.points(collection, &filter).await?.unwrap_or(0))
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    async fn orphans(&self, expected: &BTreeSet<String>) -> Result<Vec<String>> {
        if self.store.is_empty() {
            return Ok(Vec::new());
        }
        let listed = self.http.read("GET", "/collections", None).await?.unwrap_or_default();
        let names = listed["collections"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str());
        let mut found = Vec::new();
        for name in names.filter(|name| name.starts_with(&self.prefix) && !expected.contains(*name)) {
            if self.is_own(name).await? {
                found.push(name.to_owned());
            }
        }
        Ok(found)
    }

    async fn remove_orphan(&self, name: &str) -> Result<()> {
        if !self.is_own(name).await? {
            return Err(self.http.refused(&format!("collection `{name}` does not belong to this store")));
        }
        let filter = json!({ "filter": shape::foreign(&shape::mark_ids(&Space::Shared)), "exact": true });
        let path = format!("/collections/{name}");
        let counted = self.http.read("POST", &format!("{path}/points/count"), Some(&filter)).await?;
        match counted.and_then(|counted| counted["count"].as_u64()).unwrap_or(0) {
            0 => self.http.write("DELETE", &path, None).await.map(drop),
            foreign => Err(self.http.refused(&format!(
                "collection `{name}` holds {foreign} points that Loci did not write; remove them, or the collection"
            ))),
        }
    }
}

/// What there is under the name of a collection.
enum Existing {
    /// No collection.
    Nothing,
    /// A collection without points.
    Empty {
        /// Whether it can hold the vectors.
        fits: bool,
    },
    /// A collection that this store has written.
    Own {
        /// Whether it can hold the vectors.
        fits: bool,
        /// Whether its marks are of this model, and of spaces that share a collection exactly if this one does.
        marked: bool,
    },
}

impl From<http::InvalidSetting> for Error {
    fn from(wrong: http::InvalidSetting) -> Self {
        loci_types::Error::new(loci_types::ErrorKind::Configuration, wrong.problem).at(wrong.field).into()
    }
}
