//! What do the doors do again and again?
//!
//! They find the spaces that a caller looks into and read each of them, or one, with the clause that
//! says what may be seen.

use std::collections::BTreeSet;
use std::sync::Arc;

use loci_types::{Filter, Space, Tenant, Visible};

use super::clause::Clause;
use super::floor::{Floor, blocking};
use super::standing::reading;
use super::{Connection, Result as SqlResult, catalogue};
use crate::{Error, Result};

/// Ways into the spaces of a database.
pub(crate) trait Ways: Floor {
    /// The spaces that this caller looks into.
    fn spaces_of(&self, visible: &Visible) -> Result<Vec<Arc<Self::Open>>> {
        let names: BTreeSet<Space> = match visible.spaces() {
            Some(spaces) => spaces,
            None => self.ask(|connection| catalogue::spaces(connection, visible.tenant()))?.into_iter().collect(),
        };
        Ok(names.iter().map(|space| self.open(visible.tenant(), space)).collect())
    }

    /// Reads every space of the caller, where that may block.
    async fn each<T: Send + 'static>(
        &self,
        visible: &Visible,
        work: impl Fn(&dyn Connection, &Self::Open, &Visible) -> SqlResult<T> + Send + 'static,
    ) -> Result<Vec<T>> {
        let (floor, visible) = (self.clone(), visible.clone());
        reading::<Self, _>(move || {
            let mut found = Vec::new();
            for open in floor.spaces_of(&visible)? {
                found.extend(floor.read(&open, |connection| work(connection, &open, &visible))?);
            }
            Ok(found)
        })
        .await
    }

    /// Reads what is visible in every space of the caller, in whatever state.
    async fn seen<T: Send + 'static>(
        &self,
        visible: &Visible,
        work: impl Fn(&dyn Connection, &Self::Open, &Clause) -> SqlResult<Vec<T>> + Send + 'static,
    ) -> Result<Vec<T>> {
        let found = self
            .each(visible, move |connection, open, visible| {
                match Clause::visible(connection, Self::space_of(open), visible)? {
                    Some(clause) => work(connection, open, &clause),
                    None => Ok(Vec::new()),
                }
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Reads what is visible in one space; none if the caller does not reach it or nothing is there.
    async fn in_space<T: Send + 'static>(
        &self,
        visible: &Visible,
        space: &Space,
        work: impl FnOnce(&dyn Connection, &Clause) -> SqlResult<T> + Send + 'static,
    ) -> Result<Option<T>> {
        if visible.spaces().is_some_and(|spaces| !spaces.contains(space)) {
            return Ok(None);
        }
        let (floor, open, visible) = (self.clone(), self.open(visible.tenant(), space), visible.clone());
        reading::<Self, _>(move || {
            let found = floor.read(&open, |connection| {
                match Clause::visible(connection, Self::space_of(&open), &visible)? {
                    Some(clause) => work(connection, &clause).map(Some),
                    None => Ok(None),
                }
            })?;
            Ok(found.flatten())
        })
        .await
    }

    /// Reads what is visible and meant, space by space.
    async fn meant<T: Send + 'static>(
        &self,
        visible: &Visible,
        filter: &Filter,
        work: impl Fn(&dyn Connection, &Self::Open, &Clause) -> SqlResult<Vec<T>> + Send + 'static,
    ) -> Result<Vec<Vec<T>>> {
        let filter = filter.clone();
        self.each(visible, move |connection, open, visible| {
            match Clause::of(connection, Self::space_of(open), visible, &filter)? {
                Some(clause) => work(connection, open, &clause),
                None => Ok(Vec::new()),
            }
        })
        .await
    }

    /// Works on the rows of a space that are no memories; none if the space is not there.
    async fn work<T: Send + 'static>(
        &self,
        tenant: &Tenant,
        space: &Space,
        mut work: impl FnMut(&dyn Connection) -> SqlResult<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let (floor, open) = (self.clone(), self.open(tenant, space));
        let there = open.clone();
        if !blocking(move || floor.exists(&there)).await? {
            return Ok(None);
        }
        let place = Self::place_of(&open).to_owned();
        let work = move |connection: &dyn Connection| work(connection).map_err(|error| Error::said(&place, error));
        self.write(&open, work).await.map(Some)
    }

    /// Asks the catalogue: here if it answers at once, else where that may block.
    async fn asked<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Connection) -> SqlResult<T> + Send + 'static,
    ) -> Result<T> {
        let work = match self.try_ask(work) {
            Ok(answer) => return answer,
            Err(work) => work,
        };
        let floor = self.clone();
        reading::<Self, _>(move || floor.ask(work)).await
    }

    /// Changes the catalogue, on a thread that may block.
    async fn told<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Connection) -> SqlResult<T> + Send + 'static,
    ) -> Result<T> {
        let floor = self.clone();
        blocking(move || floor.tell(work)).await
    }
}

impl<F: Floor> Ways for F {}
