//! Nearest-neighbour search through an external index.
//!
//! For each space, the changes after the index's mark are read from the ledger, the index is asked for more candidates
//! than needed, and the store scores both exactly. While the store's filter leaves too few hits, the index is asked for
//! twice as many; past a limit all memories that match the filter are scored instead, so that a narrow filter still
//! gets its results.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use loci_types::{Filter, MemoryId, Space, Vector, Visible};
use tokio::time::Instant;

use super::index::{Collection, Mark, PointFilter};
use super::indexed::{CollectionState, IndexInner, Indexed};
use super::point::direction;
use crate::{Error, Hit, Measure, Result};

/// Number of candidates asked of the index for each wanted hit.
const OVERFETCH: usize = 3;

/// Minimum number of candidates beyond the wanted hits.
const SPARE: usize = 30;

/// Maximum number of candidates. Beyond it, scoring all matching memories is cheaper.
const MOST: usize = 10_000;

/// Number of times a query starts again because its collection was lost.
const TRIES: usize = 3;

/// The part of a space that the index does not have yet.
struct Lag {
    collection: Collection,
    mark: Mark,
    /// The memories that changed after the mark.
    ids: Vec<MemoryId>,
}

impl Indexed {
    pub(crate) async fn find(
        &self,
        visible: &Visible,
        query: &Vector,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let Some(unit) = direction(&query.values) else { return Ok(Vec::new()) };
        if limit == 0 || filter.states.is_empty() {
            return Ok(Vec::new());
        }
        let spaces: Vec<Space> = match visible.spaces() {
            Some(spaces) => spaces.into_iter().collect(),
            None => self.inner.store.spaces(visible.tenant()).await?,
        };
        let mut found = Vec::new();
        for space in spaces {
            let state = self.inner.state(visible.tenant(), &space, &query.model);
            let question =
                IndexQuery { visible, query, unit: &unit, filter, limit, wanted: wanted(visible, &space, filter) };
            found.extend(self.inner.nearest(&state, &question).await?);
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        found.dedup_by_key(|hit| hit.id);
        found.truncate(limit);
        Ok(found)
    }
}

/// A query on one space.
struct IndexQuery<'a> {
    visible: &'a Visible,
    query: &'a Vector,
    unit: &'a [f32],
    filter: &'a Filter,
    limit: usize,
    wanted: PointFilter,
}

impl IndexInner {
    async fn nearest(self: &Arc<Self>, state: &Arc<CollectionState>, question: &IndexQuery<'_>) -> Result<Vec<Hit>> {
        'lost: for _ in 0..TRIES {
            let Some(lag) = self.lag(state, question.unit.len()).await? else { return Ok(Vec::new()) };
            let mut want = question.limit.saturating_mul(OVERFETCH).max(question.limit.saturating_add(SPARE)).min(MOST);
            loop {
                let Some(proposed) = self.propose(state, &lag, question, want).await? else { continue 'lost };
                let (all, most) = (proposed.len() < want.min(self.index.most()), MOST.min(self.index.most()));
                let mut ids = lag.ids.clone();
                let late: HashSet<MemoryId> = lag.ids.iter().copied().collect();
                ids.extend(proposed.into_iter().filter(|id| !late.contains(id)));
                let hits = self.score(question, &ids).await?;
                if all || hits.len() >= question.limit {
                    return Ok(hits);
                }
                if want >= most {
                    return self.list(question, hits).await;
                }
                want = want.saturating_mul(2).min(MOST);
            }
        }
        Err(self.unavailable("its collection was lost repeatedly during the search".to_owned()))
    }

    async fn score(&self, question: &IndexQuery<'_>, ids: &[MemoryId]) -> Result<Vec<Hit>> {
        self.store.rescore(question.visible, question.query, question.filter, ids, question.limit).await
    }

    /// Scores all memories that match the filter, if they are fewer than [`MOST`]; otherwise returns `found`.
    async fn list(&self, question: &IndexQuery<'_>, found: Vec<Hit>) -> Result<Vec<Hit>> {
        let allowed = self.store.top_by(question.visible, question.filter, Measure::Newest, MOST).await?;
        if allowed.len() >= MOST {
            return Ok(found);
        }
        let ids: Vec<MemoryId> = allowed.into_iter().map(|hit| hit.id).collect();
        self.score(question, &ids).await
    }

    /// The candidates of the index; none if its mark has moved back since the lag was read.
    async fn propose(
        self: &Arc<Self>,
        state: &Arc<CollectionState>,
        lag: &Lag,
        question: &IndexQuery<'_>,
        want: usize,
    ) -> Result<Option<Vec<MemoryId>>> {
        if lag.mark.sequence == 0 {
            // The index is empty, so everything is in the lag. The collection may not exist yet.
            return Ok(Some(Vec::new()));
        }
        let asked = async {
            tokio::try_join!(
                self.index.search(&lag.collection, &question.wanted, question.unit, want),
                self.index.position(&lag.collection)
            )
        };
        let asked = self.ask(asked).await;
        // A search on a lost or unfinished collection fails although the server is available. A server that does not answer
        // is not asked once more.
        if asked.is_err()
            && self.breaker.problem().is_none()
            && let Some(position) = self.lost(&lag.collection, lag.mark).await
        {
            state.set_mark(Some(position));
            return Ok(None);
        }
        let (found, position) = asked?;
        let position = position.unwrap_or_default();
        match found {
            Some(found) if position.sequence >= lag.mark.sequence => {
                if found.len() < want {
                    self.recount(state, lag);
                }
                Ok(Some(found.into_iter().map(|(id, _)| id).collect()))
            }
            _ => {
                state.set_mark(Some(position));
                Ok(None)
            }
        }
    }

    /// Counts the points in the background, at most once in each interval: points that were deleted behind the back of Loci
    /// leave the mark as it is. If some are missing, the collection is filled again.
    fn recount(self: &Arc<Self>, state: &Arc<CollectionState>, lag: &Lag) {
        {
            let mut counted = state.counted.lock().unwrap_or_else(PoisonError::into_inner);
            if counted.0.is_some_and(|at| at.elapsed() < self.options.recount) {
                return;
            }
            counted.0 = Some(std::time::Instant::now());
        }
        let (inner, state, collection) = (self.clone(), state.clone(), lag.collection.clone());
        tokio::spawn(async move {
            if let Err(error) = inner.mend_lost(&state, &collection).await {
                tracing::debug!(%error, space = %state.key.space, "the points of the vector index were not counted");
            }
        });
    }

    /// The part that the index does not have yet. Waits for the index if that is too much. Returns none if the space
    /// has no vectors of this model and size.
    async fn lag(self: &Arc<Self>, state: &Arc<CollectionState>, dimensions: usize) -> Result<Option<Lag>> {
        let deadline = Instant::now() + self.options.patience;
        let mut moved = state.moved.subscribe();
        loop {
            moved.mark_unchanged();
            let refused = state.refused().clone();
            if let Some(problem) = refused {
                self.wake(state);
                return Err(Error::IndexRefused { part: self.index.name().to_owned(), problem });
            }
            let mark = match state.mark() {
                Some(mark) => mark,
                // A space without such vectors has no collection.
                None if self.feed(state, 0, 0).await?.dimensions != Some(dimensions) => return Ok(None),
                None => {
                    self.check_available()?;
                    let found = self.ask(self.index.position(&state.collection(dimensions))).await?;
                    found.unwrap_or_default()
                }
            };
            let feed = self.feed(state, mark.sequence, self.options.tail).await?;
            if feed.dimensions != Some(dimensions) {
                return Ok(None);
            }
            let same = feed.since == mark.at;
            if same && state.mark().is_none() {
                state.set_mark(Some(mark));
            }
            if !same || feed.position > mark.sequence {
                self.wake(state);
            }
            if same && !feed.behind() {
                let found = feed.points.iter().filter(|point| point.direction().is_some());
                let ids = found.map(|point| point.memory.id).collect();
                return Ok(Some(Lag { collection: state.collection(dimensions), mark, ids }));
            }
            self.check_available()?;
            if tokio::time::timeout_at(deadline, moved.changed()).await.is_err() {
                let problem = match same {
                    true => format!("it is being filled: {} of {} ledger entries", mark.sequence, feed.end),
                    false => "it belongs to another ledger and is being rebuilt".to_owned(),
                };
                return Err(self.unavailable(problem));
            }
        }
    }

    pub(super) fn unavailable(&self, problem: String) -> Error {
        Error::Unavailable { part: self.index.name().to_owned(), problem }
    }
}

/// The part of the filter that an index can apply.
fn wanted(visible: &Visible, space: &Space, filter: &Filter) -> PointFilter {
    PointFilter {
        scopes: visible.scopes_in(space).map(|scopes| scopes.into_iter().map(|scope| scope.key()).collect()),
        states: filter.states.clone(),
        heads_only: filter.as_of.is_none() && filter.judges_time(),
        kinds: filter.kinds.clone(),
        tags: filter.tags.clone(),
        users: filter.users.clone(),
    }
}
