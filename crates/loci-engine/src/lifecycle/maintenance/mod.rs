//! Maintenance: the steps that run at night.
//!
//! Each step reads pages, makes a plan with pure rules and applies it; a dry run returns the plan instead. One
//! process at a time holds the lease. **Invariant:** every page is a transaction, and finished work is not repeated,
//! so an interrupted run can be run again.

mod ageing;
mod duplicates;
mod enrich;
mod tidy;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{Action, Batch, Bookkeeping, Error, ErrorKind, JobKind, MemoryId, NoteValue, Space, Tenant};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// Maximum number of planned actions that a report lists; all of them are counted.
const MAX_PLANNED_ACTIONS: usize = 1_000;
/// Duration of the lease of a run: after a crash, other processes wait at most this long.
const RUN_LEASE: Duration = Duration::from_secs(300);
/// The name of the lease.
const NAME: &str = "maintenance";

/// One step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Step))]
#[serde(rename_all = "snake_case")]
pub enum MaintenanceStep {
    /// Ends idle sessions, and learns from ended ones.
    Consolidate,
    /// Applies decay to confidence and relevance, and prunes memories without confidence.
    Decay,
    /// Soft-deletes expired memories.
    Expire,
    /// Soft-deletes memories that were unused for long and are unimportant, or unused for longer than the retention
    /// period.
    Ttl,
    /// Expires proposals without a decision.
    Consent,
    /// Soft-deletes memories of sessions that ended long ago.
    Sessions,
    /// Archives the weakest memories of users above the cap.
    Caps,
    /// Removes memories for good that were soft-deleted long enough ago.
    Purge,
    /// Merges duplicates.
    Dedup,
    /// Describes entities.
    Enrich,
    /// Finds causal links.
    Causal,
    /// Finds insights.
    Insight,
    /// Summarizes long conversations.
    #[serde(alias = "summarise")]
    Summarize,
    /// Collapses long chains.
    Collapse,
    /// Compacts the store.
    Compact,
}

impl MaintenanceStep {
    /// All steps, in their order.
    pub const ALL: [MaintenanceStep; 15] = [
        MaintenanceStep::Consolidate,
        MaintenanceStep::Decay,
        MaintenanceStep::Expire,
        MaintenanceStep::Ttl,
        MaintenanceStep::Consent,
        MaintenanceStep::Sessions,
        MaintenanceStep::Caps,
        MaintenanceStep::Purge,
        MaintenanceStep::Dedup,
        MaintenanceStep::Enrich,
        MaintenanceStep::Causal,
        MaintenanceStep::Insight,
        MaintenanceStep::Summarize,
        MaintenanceStep::Collapse,
        MaintenanceStep::Compact,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MaintenanceStep::Consolidate => "consolidate",
            MaintenanceStep::Decay => "decay",
            MaintenanceStep::Expire => "expire",
            MaintenanceStep::Ttl => "ttl",
            MaintenanceStep::Consent => "consent",
            MaintenanceStep::Sessions => "sessions",
            MaintenanceStep::Caps => "caps",
            MaintenanceStep::Purge => "purge",
            MaintenanceStep::Dedup => "dedup",
            MaintenanceStep::Enrich => "enrich",
            MaintenanceStep::Causal => "causal",
            MaintenanceStep::Insight => "insight",
            MaintenanceStep::Summarize => "summarize",
            MaintenanceStep::Collapse => "collapse",
            MaintenanceStep::Compact => "compact",
        }
    }
}

impl fmt::Display for MaintenanceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MaintenanceStep {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // The spelling of earlier versions.
        let text = if text == "summarise" { Self::Summarize.name() } else { text };
        Self::ALL.into_iter().find(|step| step.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|step| step.name()).collect();
            Error::invalid("only", format!("`{text}` is not a step of maintenance"))
                .hint(format!("use one of {}", names.join(", ")))
        })
    }
}

/// A maintenance request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MaintainRequest {
    /// Whether only the plan is returned and nothing is changed.
    pub dry_run: bool,
    /// The steps to run. Default: all.
    pub only: Vec<MaintenanceStep>,
    /// The instant that counts as now. Default: now.
    pub at: Option<Timestamp>,
}

/// What a run did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MaintainReport {
    /// The instant that counted as now.
    #[serde(rename = "now")]
    pub at: Timestamp,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The steps, in their order.
    pub steps: Vec<StepReport>,
}

/// What one step did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// The step.
    pub step: MaintenanceStep,
    /// Number of changes.
    pub changes: u64,
    /// Number of memories of which only the scores changed.
    pub aged: u64,
    /// The first changes.
    pub planned: Vec<PlannedAction>,
    /// Errors of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One planned change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlannedAction {
    /// The memory, if the change concerns one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// The action.
    pub action: String,
    /// The object of the action.
    pub about: String,
    /// The reason.
    pub why: String,
}

/// The current run.
pub(crate) struct MaintenanceRun<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) at: Timestamp,
    pub(crate) dry: bool,
    pub(crate) holder: String,
}

impl StepReport {
    fn new(step: MaintenanceStep) -> Self {
        Self { step, changes: 0, aged: 0, planned: Vec::new(), problem: None }
    }

    fn add_planned(&mut self, id: Option<MemoryId>, action: &str, about: String, why: &str) {
        self.changes += 1;
        if self.planned.len() < MAX_PLANNED_ACTIONS {
            self.planned.push(PlannedAction { id, action: action.to_owned(), about, why: why.to_owned() });
        }
    }
}

impl Engine {
    /// Runs maintenance, or returns its plan. `progress` receives each step as it begins.
    pub async fn maintain(
        &self,
        caller: &Caller,
        request: MaintainRequest,
        mut progress: impl FnMut(MaintenanceStep) + Send,
    ) -> Result<MaintainReport> {
        policy::require_operator(caller, "run maintenance")?;
        let at = request.at.unwrap_or_else(|| self.now());
        let holder = self.new_id(self.now()).to_string();
        let run = MaintenanceRun { caller, at, dry: request.dry_run, holder };
        if !run.dry {
            self.take_turn(&run).await?;
        }
        let mut report = MaintainReport { at, dry_run: run.dry, steps: Vec::new() };
        let wanted = |step: &MaintenanceStep| request.only.is_empty() || request.only.contains(step);
        let mut failure = None;
        for step in MaintenanceStep::ALL.into_iter().filter(wanted) {
            progress(step);
            match self.step(&run, step).await {
                Ok(done) => report.steps.push(done),
                // A step that needs a model, or that someone else crossed, must not keep the others from theirs.
                Err(error) if !matches!(error, crate::Error::Store(_)) || crossed(&error) => {
                    report.steps.push(StepReport { problem: Some(error.to_string()), ..StepReport::new(step) });
                }
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        if !run.dry {
            let recorded = self.record_steps(&run, &report).await;
            self.store.lease(&caller.tenant, NAME, &run.holder, self.now(), Duration::ZERO).await?;
            if failure.is_none() {
                recorded?;
            }
        }
        failure.map_or(Ok(report), Err)
    }

    async fn step(&self, run: &MaintenanceRun<'_>, step: MaintenanceStep) -> Result<StepReport> {
        if !run.dry {
            self.take_turn(run).await?;
        }
        match step {
            MaintenanceStep::Consolidate => self.consolidate_step(run).await,
            MaintenanceStep::Decay
            | MaintenanceStep::Expire
            | MaintenanceStep::Ttl
            | MaintenanceStep::Consent
            | MaintenanceStep::Purge => self.ageing_step(run, step).await,
            MaintenanceStep::Sessions => self.sessions_step(run).await,
            MaintenanceStep::Caps => self.caps_step(run).await,
            MaintenanceStep::Dedup => self.dedup_step(run).await,
            MaintenanceStep::Enrich => self.enrich_step(run).await,
            MaintenanceStep::Causal => self.jobs_step(run, step, JobKind::Causal).await,
            MaintenanceStep::Insight => self.jobs_step(run, step, JobKind::Insight).await,
            MaintenanceStep::Summarize => self.summarize_step(run).await,
            MaintenanceStep::Collapse => self.collapse_step(run).await,
            MaintenanceStep::Compact => self.compact_step(run).await,
        }
    }

    /// Records when each step of a run was done.
    async fn record_steps(&self, run: &MaintenanceRun<'_>, report: &MaintainReport) -> Result<()> {
        let done = report.steps.iter().filter(|step| step.problem.is_none()).map(|step| {
            let (key, value) = (done_key(step.step), NoteValue::Set(json!(run.at)));
            let note = Bookkeeping::Note { scope: None, key, value, until: None };
            (Action::Bookkeeping(note), "maintenance".to_owned())
        });
        self.apply_run(run, &Space::Shared, done.collect()).await.map(drop)
    }

    /// When each step of maintenance was last done in the caller's tenant.
    pub async fn last_maintained(&self, caller: &Caller) -> Result<BTreeMap<MaintenanceStep, Timestamp>> {
        let mut times = BTreeMap::new();
        let whole = policy::visible_tenant(&caller.tenant);
        let keys = MaintenanceStep::ALL.map(done_key);
        for (key, value) in self.store.notes(&whole, &Space::Shared, &keys, self.now()).await? {
            let step = MaintenanceStep::ALL.into_iter().find(|step| done_key(*step) == key);
            let at = serde_json::from_value::<Timestamp>(value).ok();
            times.extend(step.zip(at));
        }
        Ok(times)
    }

    /// Takes the lease, or renews it.
    pub(crate) async fn take_turn(&self, run: &MaintenanceRun<'_>) -> Result<()> {
        if self.store.lease(&run.caller.tenant, NAME, &run.holder, self.now(), RUN_LEASE).await? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Conflict, "another process runs maintenance")
            .at("maintenance")
            .hint("wait until it is done; an interrupted run releases its lock after five minutes")
            .into())
    }

    /// Applies changes of a run to one space.
    pub(crate) async fn apply_run(
        &self,
        run: &MaintenanceRun<'_>,
        space: &Space,
        actions: Vec<(Action, String)>,
    ) -> Result<Vec<loci_store::Applied>> {
        if actions.is_empty() {
            return Ok(Vec::new());
        }
        let change = |(action, reason): (Action, String)| {
            let mut change = self.change(run.caller, "worker", &reason, action);
            change.at = run.at;
            change.provenance.actor = Some("loci".to_owned());
            change
        };
        let changes: Vec<_> = actions.into_iter().map(change).collect();
        let batch = |changes| Batch { tenant: run.caller.tenant.clone(), space: space.clone(), changes };
        match self.apply(batch(changes.clone())).await.map_err(crate::Error::from) {
            // Someone has changed one of them since the page was read: the others go on.
            Err(error) if crossed(&error) && changes.len() > 1 => {
                let mut applied = Vec::new();
                for change in changes {
                    match self.apply(batch(vec![change])).await.map_err(crate::Error::from) {
                        Ok(one) => applied.extend(one),
                        Err(error) if crossed(&error) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(applied)
            }
            outcome => outcome,
        }
    }

    /// Runs the waiting jobs of a kind, or lists them.
    async fn jobs_step(&self, run: &MaintenanceRun<'_>, step: MaintenanceStep, kind: JobKind) -> Result<StepReport> {
        let mut report = StepReport::new(step);
        for job in self.store.jobs(&run.caller.tenant, &["waiting"], usize::MAX).await? {
            if job.kind == kind && job.run_after <= run.at {
                let session = job.payload["session"].as_str().unwrap_or_default();
                report.add_planned(None, "inspect", format!("session {session}"), "it has ended");
            }
        }
        if !run.dry {
            let worked = self.work(run.caller, &[kind], usize::MAX).await?;
            if worked.failed > 0 {
                report.problem = Some(format!("{} failed; `loci store jobs` shows them", worked.failed));
            }
        }
        Ok(report)
    }

    /// The beginnings of the texts of these memories, for the report.
    pub(crate) async fn previews(&self, tenant: &Tenant, ids: &[MemoryId]) -> Result<Vec<(MemoryId, String)>> {
        let memories = self.store.fetch(&policy::visible_tenant(tenant), ids).await?;
        let brief = |text: &str| {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            match line.char_indices().nth(80) {
                Some((end, _)) => format!("{}…", &line[..end]),
                None => line,
            }
        };
        Ok(memories.into_iter().map(|memory| (memory.id, brief(&memory.content))).collect())
    }
}

/// The key of the note of when a step was last done.
fn done_key(step: MaintenanceStep) -> String {
    format!("maintained {step}")
}

/// Whether another writer has changed what the plan relied on.
fn crossed(error: &crate::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidInput | ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::VersionConflict
    )
}
