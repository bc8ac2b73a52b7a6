//! Maintenance step: applies ageing to all memories.

use loci_store::AgeingRow;
use loci_types::{Action, AgedScore, Kind, MemoryId, Space, State};

use super::{MaintenanceRun, MaintenanceStep, StepReport};
use crate::access::policy;
use crate::lifecycle::rules::fate::{AgeingOutcome, Cause, days_after, fate};
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
            let fates: Vec<(&AgeingRow, AgeingOutcome)> =
                page.iter().map(|memory| (memory, self.fate(memory, run))).collect();
            let mine: Vec<(MemoryId, AgeingOutcome, Cause)> = fates
                .iter()
                .filter_map(|(memory, fate)| fate.step.map(|(_, cause)| (memory.id, *fate, cause)))
                .filter(|(_, _, cause)| belongs(*cause, step))
                .collect();
            let moved = |id: MemoryId| mine.iter().any(|(moved, ..)| *moved == id);
            let aged: Vec<AgedScore> = fates
                .iter()
                .filter(|(memory, fate)| step == MaintenanceStep::Decay && fate.aged && !moved(memory.id))
                .map(|(memory, fate)| AgedScore {
                    id: memory.id,
                    confidence: fate.confidence,
                    relevance: fate.relevance,
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

    fn fate(&self, memory: &AgeingRow, run: &MaintenanceRun<'_>) -> AgeingOutcome {
        fate(memory, self.kinds.spec(&Kind::stored(memory.kind.clone())), &self.config.lifecycle, run.at)
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
        for (id, fate, cause) in moves {
            let about = texts.iter().find(|(listed, _)| listed == id).map(|(_, text)| text.clone()).unwrap_or_default();
            report.add_planned(Some(*id), action(fate), about, &cause.to_string());
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
            actions.push((Action::Age { aged }, "time passes".to_owned()));
        }
        for (id, fate, cause) in moves {
            let action = match (fate.step, cause) {
                (Some((None, _)), _) => Action::Purge { id: *id },
                (_, Cause::Lapsed) => Action::Decide { id: *id, accept: false, over: None, purge_at },
                (Some((Some(state), _)), _) => Action::Fade {
                    id: *id,
                    state,
                    confidence: Some(fate.confidence),
                    relevance: Some(fate.relevance),
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
        Cause::Unused => MaintenanceStep::Ttl,
        Cause::Purged => MaintenanceStep::Purge,
        Cause::Lapsed => MaintenanceStep::Consent,
    };
    of == step
}

fn action(fate: &AgeingOutcome) -> &'static str {
    match fate.step {
        Some((Some(State::Active), _)) => "make active again",
        Some((Some(State::Decayed), _)) => "mark as decayed",
        Some((Some(State::Archived), _)) => "archive",
        Some((Some(State::SoftDeleted), Cause::Lapsed)) => "let lapse",
        Some((Some(State::SoftDeleted | State::Proposed), _)) => "soft-delete",
        Some((None, _)) => "remove for good",
        None => "keep",
    }
}
