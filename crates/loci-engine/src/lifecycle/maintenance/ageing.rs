//! Maintenance step: applies ageing to all memories.

use loci_store::AgeingRow;
use loci_types::{Action, AgedScore, Kind, MemoryId, Space, State};

use super::{MaintenanceRun, MaintenanceStep, StepReport};
use crate::access::policy;
use crate::lifecycle::rules::state::{AgeingOutcome, Cause, ageing_outcome, days_after};
use crate::{Engine, Result};

/// Number of memories that are read and written at once. A page is one transaction; others may write between two pages.
const MEMORIES_PER_PAGE: usize = 500;

impl Engine {
    pub(super) async fn ageing_step(&self, run: &MaintenanceRun<'_>, step: MaintenanceStep) -> Result<StepReport> {
        let mut report = StepReport::new(step);
        for space in self.all_spaces(&run.caller.tenant).await? {
            self.age_space(run, step, &space, &mut report).await?;
        }
        Ok(report)
    }

    async fn age_space(
        &self,
        run: &MaintenanceRun<'_>,
        step: MaintenanceStep,
        space: &Space,
        report: &mut StepReport,
    ) -> Result<()> {
        let whole = policy::visible_tenant(&run.caller.tenant);
        let mut after = 0;
        loop {
            let page = self.store.list_for_ageing(&whole, space, after, MEMORIES_PER_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.place;
            let outcomes: Vec<(&AgeingRow, AgeingOutcome)> =
                page.iter().map(|memory| (memory, self.ageing_outcome(memory, run))).collect();
            let mine: Vec<(MemoryId, AgeingOutcome, Cause)> = outcomes
                .iter()
                .filter_map(|(memory, outcome)| outcome.step.map(|(_, cause)| (memory.id, *outcome, cause)))
                .filter(|(_, _, cause)| belongs(*cause, step))
                .collect();
            let moved = |id: MemoryId| mine.iter().any(|(moved, ..)| *moved == id);
            let aged: Vec<AgedScore> = outcomes
                .iter()
                .filter(|(memory, outcome)| step == MaintenanceStep::Decay && outcome.aged && !moved(memory.id))
                .map(|(memory, outcome)| AgedScore {
                    id: memory.id,
                    confidence: outcome.confidence,
                    relevance: outcome.relevance,
                })
                .collect();
            self.plan_moves(run, report, &mine).await?;
            report.aged += aged.len() as u64;
            if !run.dry {
                self.apply_moves(run, space, &mine, aged).await?;
            }
            if page.len() < MEMORIES_PER_PAGE {
                return Ok(());
            }
        }
    }

    fn ageing_outcome(&self, memory: &AgeingRow, run: &MaintenanceRun<'_>) -> AgeingOutcome {
        ageing_outcome(memory, self.kinds.spec(&Kind::stored(memory.kind.clone())), &self.config.lifecycle, run.at)
    }

    async fn plan_moves(
        &self,
        run: &MaintenanceRun<'_>,
        report: &mut StepReport,
        moves: &[(MemoryId, AgeingOutcome, Cause)],
    ) -> Result<()> {
        // Only the texts that the report lists are read.
        let listed: Vec<MemoryId> = moves
            .iter()
            .take(super::MAX_PLANNED_ACTIONS.saturating_sub(report.planned.len()))
            .map(|(id, ..)| *id)
            .collect();
        let texts = self.previews(&run.caller.tenant, &listed).await?;
        for (id, outcome, cause) in moves {
            let about = texts.iter().find(|(listed, _)| listed == id).map(|(_, text)| text.clone()).unwrap_or_default();
            report.add_planned(Some(*id), action(outcome), about, &cause.to_string());
        }
        Ok(())
    }

    async fn apply_moves(
        &self,
        run: &MaintenanceRun<'_>,
        space: &Space,
        moves: &[(MemoryId, AgeingOutcome, Cause)],
        aged: Vec<AgedScore>,
    ) -> Result<()> {
        let purge_at = days_after(run.at, i64::from(self.config.lifecycle.purge_days));
        let mut actions: Vec<(Action, String)> = Vec::new();
        if !aged.is_empty() {
            actions.push((Action::Age { aged }, "ageing".to_owned()));
        }
        for (id, outcome, cause) in moves {
            let action = match (outcome.step, cause) {
                (Some((None, _)), _) => Action::Purge { id: *id },
                (_, Cause::Lapsed) => Action::Decide { id: *id, accept: false, over: None, purge_at },
                (Some((Some(state), _)), _) => Action::Fade {
                    id: *id,
                    state,
                    confidence: Some(outcome.confidence),
                    relevance: Some(outcome.relevance),
                    purge_at: (state == State::SoftDeleted).then_some(purge_at),
                },
                (None, _) => continue,
            };
            self.feature_cache.forget(*id);
            actions.push((action, cause.to_string()));
        }
        self.apply_run(run, space, actions).await.map(drop)
    }
}

/// Whether a step looks after a cause.
fn belongs(cause: Cause, step: MaintenanceStep) -> bool {
    let of = match cause {
        Cause::Confidence | Cause::Pruned | Cause::Relevance | Cause::Faded => MaintenanceStep::Decay,
        Cause::Expired => MaintenanceStep::Expire,
        Cause::Unused | Cause::Retention => MaintenanceStep::Ttl,
        Cause::Purged => MaintenanceStep::Purge,
        Cause::Lapsed => MaintenanceStep::Consent,
    };
    of == step
}

fn action(outcome: &AgeingOutcome) -> &'static str {
    match outcome.step {
        Some((Some(State::Active), _)) => "make active again",
        Some((Some(State::Decayed), _)) => "mark as decayed",
        Some((Some(State::Archived), _)) => "archive",
        Some((Some(State::SoftDeleted), Cause::Lapsed)) => "expire proposal",
        Some((Some(State::SoftDeleted | State::Proposed), _)) => "soft-delete",
        Some((None, _)) => "purge",
        None => "keep",
    }
}
