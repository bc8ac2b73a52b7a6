//! The store over any SQL backend.
//!
//! [`SqlStore`] finds the spaces that a call concerns, opens a transaction on each through its [`Backend`], runs the
//! common SQL there and merges the results. Each of its traits is implemented in a file of its own.

mod admin;
mod catalogue;
mod index;
mod jobs;
mod ledger;
mod records;
mod search;

use std::collections::BTreeSet;
use std::sync::Arc;

use loci_types::{Filter, Space, Tenant, Visible};
use tokio::task::spawn_blocking;

use super::backend::{Backend, blocking, finished};
use super::clause::Clause;
use super::inline::run_read;
use super::{Connection, SqlResult, catalogue as list};
use crate::text::Analyser;
use crate::{Error, Indexed, Result};

/// Number of spaces that one call reads concurrently from a server. Each needs a connection.
const READ_AT_ONCE: usize = 4;

/// A store whose records are in an SQL database. Cheap to clone.
pub struct SqlStore<B> {
    pub(crate) backend: Arc<B>,
    pub(crate) analyser: Arc<Analyser>,
    /// The external index that proposes the nearest vectors. Default: the backend finds them itself.
    index: Option<Indexed>,
}

impl<B> Clone for SqlStore<B> {
    fn clone(&self) -> Self {
        Self { backend: self.backend.clone(), analyser: self.analyser.clone(), index: self.index.clone() }
    }
}

#[expect(private_bounds, reason = "the backends are this crate's own")]
impl<B: Backend> SqlStore<B> {
    /// A store over this backend.
    pub(crate) fn over(backend: B) -> Self {
        let analyser = backend.analyser().clone();
        Self { backend: Arc::new(backend), analyser, index: None }
    }

    /// Runs `work` on every space that the caller may see, on a thread that may block.
    pub(super) async fn for_each_space<T: Send + 'static>(
        &self,
        visible: &Visible,
        work: impl Fn(&B::Conn, &B::Open, &Visible) -> SqlResult<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let (backend, visible) = (self.backend.clone(), visible.clone());
        if !B::LOCAL {
            return self.for_each_at_once(visible, Arc::new(work)).await;
        }
        run_read::<B, _>(move || {
            let mut found = Vec::new();
            for open in spaces_of(&*backend, &visible)? {
                found.extend(backend.read(&open, |connection| work(connection, &open, &visible))?);
            }
            Ok(found)
        })
        .await
    }

    /// The same on a server: several spaces are read concurrently to reduce latency.
    async fn for_each_at_once<T: Send + 'static>(
        &self,
        visible: Visible,
        work: Arc<impl Fn(&B::Conn, &B::Open, &Visible) -> SqlResult<T> + Send + Sync + 'static>,
    ) -> Result<Vec<T>> {
        let (backend, seen) = (self.backend.clone(), visible.clone());
        let spaces = match visible.spaces() {
            Some(_) => spaces_of(&*backend, &visible)?,
            None => blocking(move || spaces_of(&*backend, &seen)).await?,
        };
        let mut found = Vec::new();
        for some in spaces.chunks(READ_AT_ONCE) {
            let reads = some.iter().map(|open| {
                let (backend, open, visible, work) =
                    (self.backend.clone(), open.clone(), visible.clone(), work.clone());
                spawn_blocking(move || backend.read(&open, |connection| work(connection, &open, &visible)))
            });
            for read in reads.collect::<Vec<_>>() {
                found.extend(finished(read.await)?);
            }
        }
        Ok(found)
    }

    /// Reads the visible memories of every space, in any state.
    pub(super) async fn visible_in_each<T: Send + 'static>(
        &self,
        visible: &Visible,
        work: impl Fn(&B::Conn, &B::Open, &Clause) -> SqlResult<Vec<T>> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let found = self
            .for_each_space(visible, move |connection, open, visible| {
                match Clause::visible(connection, B::space_of(open), visible)? {
                    Some(clause) => work(connection, open, &clause),
                    None => Ok(Vec::new()),
                }
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Reads the visible memories that match the filter, space by space.
    pub(super) async fn matching_in_each<T: Send + 'static>(
        &self,
        visible: &Visible,
        filter: &Filter,
        work: impl Fn(&B::Conn, &B::Open, &Clause) -> SqlResult<Vec<T>> + Send + Sync + 'static,
    ) -> Result<Vec<Vec<T>>> {
        let filter = filter.clone();
        self.for_each_space(visible, move |connection, open, visible| {
            match Clause::of(connection, B::space_of(open), visible, &filter)? {
                Some(clause) => work(connection, open, &clause),
                None => Ok(Vec::new()),
            }
        })
        .await
    }

    /// Reads what is visible in one space; none if the caller may not see the space or it is empty.
    pub(super) async fn in_one_space<T: Send + 'static>(
        &self,
        visible: &Visible,
        space: &Space,
        work: impl FnOnce(&dyn Connection, &Clause) -> SqlResult<T> + Send + 'static,
    ) -> Result<Option<T>> {
        if visible.spaces().is_some_and(|spaces| !spaces.contains(space)) {
            return Ok(None);
        }
        let (backend, open, visible) =
            (self.backend.clone(), self.backend.open(visible.tenant(), space), visible.clone());
        run_read::<B, _>(move || {
            let found =
                backend.read(&open, |connection| match Clause::visible(connection, B::space_of(&open), &visible)? {
                    Some(clause) => work(connection, &clause).map(Some),
                    None => Ok(None),
                })?;
            Ok(found.flatten())
        })
        .await
    }

    /// Changes rows of a space other than memories; none if the space does not exist.
    pub(super) async fn write_space<T: Send + 'static>(
        &self,
        tenant: &Tenant,
        space: &Space,
        mut work: impl FnMut(&dyn Connection) -> SqlResult<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let (backend, open) = (self.backend.clone(), self.backend.open(tenant, space));
        let there = open.clone();
        if !blocking(move || backend.exists(&there)).await? {
            return Ok(None);
        }
        let place = B::place_of(&open).to_owned();
        let work = move |connection: &dyn Connection| work(connection).map_err(|error| Error::sql(&place, error));
        self.backend.write(&open, work).await.map(Some)
    }

    /// Reads the catalogue: on this thread if that takes microseconds, otherwise on a thread that may block.
    pub(super) async fn read_catalogue<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Connection) -> SqlResult<T> + Send + 'static,
    ) -> Result<T> {
        let work = match self.backend.try_read_catalogue(work) {
            Ok(answer) => return answer,
            Err(work) => work,
        };
        let backend = self.backend.clone();
        run_read::<B, _>(move || backend.read_catalogue(work)).await
    }

    /// Changes the catalogue, on a thread that may block.
    pub(super) async fn write_catalogue<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Connection) -> SqlResult<T> + Send + 'static,
    ) -> Result<T> {
        let backend = self.backend.clone();
        blocking(move || backend.write_catalogue(work)).await
    }
}

/// The spaces that a caller may see.
pub(crate) fn spaces_of<B: Backend>(backend: &B, visible: &Visible) -> Result<Vec<Arc<B::Open>>> {
    let names: BTreeSet<Space> = match visible.spaces() {
        Some(spaces) => spaces,
        None => backend.read_catalogue(|connection| list::spaces(connection, visible.tenant()))?.into_iter().collect(),
    };
    Ok(names.iter().map(|space| backend.open(visible.tenant(), space)).collect())
}
