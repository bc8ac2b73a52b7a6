//! Which memories are nearest, if someone else proposes them?
//!
//! Per space: the lag is read from the ledger, the index is asked for more than is wanted, and the store scores both
//! exactly. While its clause leaves too few, the index is asked for twice as many; past a bound the memories that may
//! be returned are listed instead, so that a narrow filter starves nobody.

use std::collections::HashSet;
use std::sync::Arc;

use loci_types::{Filter, MemoryId, Space, Vector, Visible};
use tokio::time::Instant;

use super::index::{Collection, Mark, PointFilter};
use super::indexed::{CollectionState, Indexed, Inner};
use super::point::direction;
use crate::{Error, Hit, Measure, Result};

/// So many times what is wanted is asked of the index.
const OVERFETCH: usize = 3;

/// And at least so many more than are wanted.
const SPARE: usize = 30;

/// Past so many proposals it is cheaper to list those that may be returned.
const MOST: usize = 10_000;

/// How often a collection may be found lost before a question gives up.
const TRIES: usize = 3;

/// What a question has of one space before the index is asked.
struct Lag {
    collection: Collection,
    mark: Mark,
    /// The memories that the index has not heard of yet.
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
                Question { visible, query, unit: &unit, filter, limit, wanted: wanted(visible, &space, filter) };
            found.extend(self.inner.nearest(&state, &question).await?);
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        found.dedup_by_key(|hit| hit.id);
        found.truncate(limit);
        Ok(found)
    }
}

/// What is asked of each space.
struct Question<'a> {
    visible: &'a Visible,
    query: &'a Vector,
    unit: &'a [f32],
    filter: &'a Filter,
    limit: usize,
    wanted: PointFilter,
}

impl Inner {
    async fn nearest(self: &Arc<Self>, state: &Arc<CollectionState>, question: &Question<'_>) -> Result<Vec<Hit>> {
        'lost: for _ in 0..TRIES {
            let Some(lag) = self.lag(state, question.unit.len()).await? else { return Ok(Vec::new()) };
            let mut want = question.limit.saturating_mul(OVERFETCH).max(question.limit.saturating_add(SPARE)).min(MOST);
            loop {
                let Some(proposed) = self.propose(state, &lag, question, want).await? else { continue 'lost };
                let all = proposed.len() < want;
                let mut ids = lag.ids.clone();
                let late: HashSet<MemoryId> = lag.ids.iter().copied().collect();
                ids.extend(proposed.into_iter().filter(|id| !late.contains(id)));
                let hits = self.score(question, &ids).await?;
                if all || hits.len() >= question.limit {
                    return Ok(hits);
                }
                if want >= MOST {
                    return self.list(question, hits).await;
                }
                want = want.saturating_mul(2).min(MOST);
            }
        }
        Err(self.unavailable("its collection is lost again and again".to_owned()))
    }

    async fn score(&self, question: &Question<'_>, ids: &[MemoryId]) -> Result<Vec<Hit>> {
        self.store.rescore(question.visible, question.query, question.filter, ids, question.limit).await
    }

    /// The filter leaves so few that they can be scored one by one; if not, what was found must do.
    async fn list(&self, question: &Question<'_>, found: Vec<Hit>) -> Result<Vec<Hit>> {
        let allowed = self.store.top_by(question.visible, question.filter, Measure::Newest, MOST).await?;
        if allowed.len() >= MOST {
            return Ok(found);
        }
        let ids: Vec<MemoryId> = allowed.into_iter().map(|hit| hit.id).collect();
        self.score(question, &ids).await
    }

    /// What the index proposes; none if it has forgotten what it knew when the lag was read.
    async fn propose(
        &self,
        state: &CollectionState,
        lag: &Lag,
        question: &Question<'_>,
        want: usize,
    ) -> Result<Option<Vec<MemoryId>>> {
        self.check_available()?;
        if lag.mark.sequence == 0 {
            // It has heard of nothing, so everything is in the lag; it may not even be made ready yet.
            return Ok(Some(Vec::new()));
        }
        let asked = async {
            tokio::try_join!(
                self.index.search(&lag.collection, &question.wanted, question.unit, want),
                self.index.position(&lag.collection)
            )
        };
        let asked = asked.await;
        // One that lost its collection, or is just making it anew, refuses for that reason and is not away.
        if asked.is_err()
            && let Some(position) = self.lost(&lag.collection, lag.mark).await
        {
            state.set_mark(Some(position));
            return Ok(None);
        }
        let (found, position) = self.record(asked)?;
        let position = position.unwrap_or_default();
        match found {
            Some(found) if position.sequence >= lag.mark.sequence => {
                Ok(Some(found.into_iter().map(|(id, _)| id).collect()))
            }
            _ => {
                state.set_mark(Some(position));
                Ok(None)
            }
        }
    }

    /// What the index does not know yet; waits for it if that is too much. None: there are no such vectors here.
    async fn lag(self: &Arc<Self>, state: &Arc<CollectionState>, dimensions: usize) -> Result<Option<Lag>> {
        let deadline = Instant::now() + self.options.patience;
        let mut moved = state.moved.subscribe();
        loop {
            moved.mark_unchanged();
            let mark = match state.mark() {
                Some(mark) => mark,
                // Only a space that has such vectors has a collection to ask.
                None if self.feed(state, 0, 0).await?.dimensions != Some(dimensions) => return Ok(None),
                None => {
                    self.check_available()?;
                    let found = self.record(self.index.position(&state.collection(dimensions)).await)?;
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
                    true => format!("it is being filled and has read {} of {} lines", mark.sequence, feed.end),
                    false => "it knows another ledger and is being filled anew".to_owned(),
                };
                return Err(self.unavailable(problem));
            }
        }
    }

    pub(super) fn unavailable(&self, problem: String) -> Error {
        Error::Unavailable { part: self.index.name().to_owned(), problem }
    }
}

/// As much of the question as an index may judge.
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
