//! Search by terms, by vectors and by position in a conversation.

use async_trait::async_trait;
use loci_types::{Filter, MemoryId, Vector, Visible};

use super::SqlStore;
use crate::sql::backend::Backend;
use crate::sql::clause::Clause;
use crate::sql::merge_results::{best, normalise_scores};
use crate::{Frequencies, Hit, Result, Search, TurnRun};

#[async_trait]
impl<B: Backend> Search for SqlStore<B> {
    async fn lexical(&self, visible: &Visible, query: &str, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        let (backend, terms) = (self.backend.clone(), self.analyser.query_terms(query));
        let found = self
            .matching_in_each(visible, filter, move |connection, space, clause| {
                backend.lexical(space, connection, clause, &terms, limit)
            })
            .await?;
        Ok(best(normalise_scores(found), limit))
    }

    async fn nearest(&self, visible: &Visible, query: &Vector, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        if let Some(index) = &self.index {
            return index.find(visible, query, filter, limit).await;
        }
        let (backend, query) = (self.backend.clone(), query.clone());
        let found = self
            .matching_in_each(visible, filter, move |connection, space, clause| {
                backend.nearest(space, connection, clause, &query, limit)
            })
            .await?;
        Ok(best(found, limit))
    }

    async fn frequencies(&self, visible: &Visible, terms: &[String]) -> Result<Frequencies> {
        let (backend, wanted) = (self.backend.clone(), terms.to_vec());
        let found = self
            .for_each_space(visible, move |connection, space, visible| {
                match Clause::visible(connection, B::space_of(space), visible)? {
                    Some(clause) => backend.frequencies(space, connection, &clause, &wanted),
                    None => Ok(Frequencies::default()),
                }
            })
            .await?;
        let mut all = Frequencies { memories: 0, of: vec![0; terms.len()] };
        for here in found {
            all.memories += here.memories;
            all.of.iter_mut().zip(here.of).for_each(|(sum, count)| *sum += count);
        }
        Ok(all)
    }

    async fn around(&self, visible: &Visible, filter: &Filter, ids: &[MemoryId], reach: usize) -> Result<Vec<TurnRun>> {
        let (backend, ids) = (self.backend.clone(), ids.to_vec());
        let found = self
            .matching_in_each(visible, filter, move |connection, space, clause| {
                backend.turn_runs(space, connection, clause, &ids, reach)
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }
}
