//! Maintenance steps: consolidation of sessions, caps, summaries, long chains and compaction.

use std::collections::BTreeMap;

use jiff::Timestamp;
use loci_store::Page;
use loci_types::{
    Action, Bookkeeping, Filter, Kind, Layer, Memory, MemoryId, Patch, Revision, Session, SessionFilter, Space, State,
    Tenant,
};
use serde_json::{Map, json};

use super::{MaintenanceRun, MaintenanceStep, StepReport};
use crate::access::policy;
use crate::lifecycle::curve::{Curve, age_days};
use crate::lifecycle::rules::chain::superfluous;
use crate::lifecycle::rules::state::{days_after, days_before};
use crate::recall::score::utility;
use crate::{Engine, Result};

/// The field of the metadata that says of how many versions a memory is the last.
const DISTILLED: &str = "distilled";
/// Maximum number of items that one run, or one page, handles.
const MAX_PER_RUN: usize = 1_000;

impl Engine {
    /// Ends sessions that are quiet, and learns from those that are over.
    pub(super) async fn consolidate_step(&self, run: &MaintenanceRun<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(MaintenanceStep::Consolidate);
        let whole = policy::visible_tenant(&run.caller.tenant);
        let over = SessionFilter { ended: Some(true), pending: true, ..SessionFilter::default() };
        for session in self.idle_sessions(&run.caller.tenant, run.at).await? {
            report.add_planned(
                None,
                "end and learn from",
                format!("session {} of {}", session.session_id, session.scope),
                "no recent turns",
            );
            if !run.dry {
                let end = Action::Bookkeeping(Bookkeeping::EndSession {
                    scope: session.scope.clone(),
                    session: session.session_id.clone(),
                });
                self.apply_run(run, &session.scope.space(), vec![(end, "session idle".into())]).await?;
                self.take_turn(run).await?;
                self.learn_in_the_night(run, &session, &mut report).await?;
            }
        }
        for session in self.store.sessions(&whole, &over, usize::MAX).await? {
            report.add_planned(
                None,
                "learn from",
                format!("session {} of {}", session.session_id, session.scope),
                "it has ended",
            );
            if !run.dry {
                self.take_turn(run).await?;
                self.learn_in_the_night(run, &session, &mut report).await?;
            }
        }
        Ok(report)
    }

    /// Learns from a session; one that fails does not keep the others from being learned from.
    async fn learn_in_the_night(
        &self,
        run: &MaintenanceRun<'_>,
        session: &Session,
        report: &mut StepReport,
    ) -> Result<()> {
        match self.consolidate(run.caller, &session.scope, &session.session_id).await {
            Err(error @ crate::Error::Store(_)) => Err(error),
            Err(error) => {
                report.problem = Some(format!("session {}: {error}", session.session_id));
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Soft-deletes what belonged to sessions that are long over.
    pub(super) async fn sessions_step(&self, run: &MaintenanceRun<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(MaintenanceStep::Sessions);
        let rules = &self.config.sessions;
        if !rules.auto_delete {
            return Ok(report);
        }
        let kept_until = days_before(run.at, rules.retention_days);
        let purge_at = days_after(run.at, i64::from(self.config.lifecycle.purge_days));
        let filter = SessionFilter { ended: Some(true), quiet_since: Some(kept_until), ..SessionFilter::default() };
        for session in self.store.sessions(&policy::visible_tenant(&run.caller.tenant), &filter, usize::MAX).await? {
            let long_over = session.ended_at.is_some_and(|ended| ended < kept_until);
            if session.scope.layer() != Layer::Session || session.pending || !long_over {
                continue;
            }
            let seen = policy::visible_for_maintenance(&run.caller.tenant, &session.scope);
            let states = vec![State::Active, State::Decayed, State::Archived];
            let filter = Filter { states, ..Filter::everything(run.at) };
            loop {
                let page = Page { after: None, limit: MAX_PER_RUN };
                let mut memories = self.store.scan(&seen, &filter, page).await?.memories;
                memories.retain(|memory| !memory.pinned);
                let mut actions = Vec::new();
                for memory in &memories {
                    report.add_planned(
                        Some(memory.id),
                        "soft-delete",
                        memory.content.chars().take(80).collect(),
                        "its session has ended",
                    );
                    let action = Action::Forget { id: memory.id, expect: None, purge_at };
                    actions.push((action, "its session has ended".to_owned()));
                }
                if run.dry || actions.is_empty() {
                    break;
                }
                self.apply_run(run, &session.scope.space(), actions).await?;
            }
        }
        Ok(report)
    }

    /// Archives the weakest of those who have too many.
    pub(super) async fn caps_step(&self, run: &MaintenanceRun<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(MaintenanceStep::Caps);
        let Some(most) = self.config.lifecycle.max_memories_per_user else { return Ok(report) };
        for space in self.all_spaces(&run.caller.tenant).await? {
            let weakest = self.above_cap(&run.caller.tenant, &space, most, run.at).await?;
            let texts = self.previews(&run.caller.tenant, &weakest).await?;
            for id in &weakest {
                let about =
                    texts.iter().find(|(listed, _)| listed == id).map(|(_, text)| text.clone()).unwrap_or_default();
                report.add_planned(
                    Some(*id),
                    "archive",
                    about,
                    "the user has more memories than lifecycle.max_memories_per_user",
                );
            }
            if run.dry {
                continue;
            }
            for chunk in weakest.chunks(MAX_PER_RUN) {
                let fade = |id: &MemoryId| Action::Fade {
                    id: *id,
                    state: State::Archived,
                    confidence: None,
                    relevance: None,
                    purge_at: None,
                };
                let why = "the user has more memories than lifecycle.max_memories_per_user";
                self.apply_run(run, &space, chunk.iter().map(|id| (fade(id), why.to_owned())).collect()).await?;
            }
        }
        Ok(report)
    }

    async fn above_cap(&self, tenant: &Tenant, space: &Space, most: usize, at: Timestamp) -> Result<Vec<MemoryId>> {
        let whole = policy::visible_tenant(tenant);
        let mut by_user: BTreeMap<String, (usize, Vec<(f64, MemoryId)>)> = BTreeMap::new();
        let mut after = 0;
        loop {
            let page = self.store.list_for_ageing(&whole, space, after, MAX_PER_RUN).await?;
            for memory in page.iter().filter(|memory| memory.state.is_live() && !memory.superseded) {
                let Some(user) = &memory.user_id else { continue };
                let spec = self.kinds.spec(&Kind::stored(memory.kind.clone()));
                let recency = Curve::HalfLife { days: spec.half_life_days }.left(age_days(memory.created_at, at));
                let (count, weak) = by_user.entry(user.clone()).or_default();
                *count += 1;
                if !memory.pinned {
                    weak.push((utility(memory.importance, memory.access_count) * recency, memory.id));
                }
            }
            match page.last() {
                Some(last) if page.len() == MAX_PER_RUN => after = last.place,
                _ => break,
            }
        }
        let mut weakest = Vec::new();
        for (count, mut weak) in by_user.into_values() {
            weak.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            weakest.extend(weak.into_iter().take(count.saturating_sub(most)).map(|(_, id)| id));
        }
        Ok(weakest)
    }

    /// Makes long conversations shorter.
    pub(super) async fn summarize_step(&self, run: &MaintenanceRun<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(MaintenanceStep::Summarize);
        if !self.config.summarization.enabled {
            return Ok(report);
        }
        let (whole, all) = (policy::visible_tenant(&run.caller.tenant), SessionFilter::default());
        for session in self.store.sessions(&whole, &all, usize::MAX).await? {
            let Some(tokens) = self.tokens_to_summarize(&run.caller.tenant, &session).await? else { continue };
            let about = format!("session {} of {}", session.session_id, session.scope);
            report.add_planned(None, "summarize", about, &format!("it has {tokens} tokens"));
            if !run.dry {
                self.take_turn(run).await?;
                self.summarize_session(&run.caller.tenant, &session.scope, &session.session_id).await?;
            }
        }
        Ok(report)
    }

    /// Shortens long chains.
    pub(super) async fn collapse_step(&self, run: &MaintenanceRun<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(MaintenanceStep::Collapse);
        let (whole, most) = (policy::visible_tenant(&run.caller.tenant), self.config.lifecycle.collapse_above);
        for space in self.all_spaces(&run.caller.tenant).await? {
            for (head, length) in self.store.long_chains(&whole, &space, most, usize::MAX).await? {
                // A collapsed chain is listed until its versions are purged.
                if self.superfluous_of(&run.caller.tenant, head).await?.is_empty() {
                    continue;
                }
                let about = self.previews(&run.caller.tenant, &[head]).await?.pop().map(|(_, text)| text);
                let why = format!("its chain has {length} versions");
                report.add_planned(Some(head), "collapse", about.unwrap_or_default(), &why);
                if !run.dry {
                    self.collapse(&run.caller.tenant, &space, head, run.at).await?;
                }
            }
        }
        Ok(report)
    }

    /// Takes the versions in the middle out of a chain. Returns how many.
    pub(crate) async fn collapse(
        &self,
        tenant: &Tenant,
        space: &Space,
        head: MemoryId,
        at: Timestamp,
    ) -> Result<usize> {
        let gone = self.superfluous_of(tenant, head).await?;
        let purge_at = days_after(at, i64::from(self.config.lifecycle.purge_days));
        let state = State::SoftDeleted;
        let fade = |id: &MemoryId| {
            let action = Action::Fade { id: *id, state, confidence: None, relevance: None, purge_at: Some(purge_at) };
            (action, "intermediate version of a long chain".to_owned())
        };
        let caller = policy::Caller { tenant: tenant.clone(), ..policy::Caller::operator() };
        let run = MaintenanceRun { caller: &caller, at, dry: false, holder: String::new() };
        let actions: Vec<_> = gone.iter().map(fade).collect();
        let count = actions.len();
        self.apply_run(&run, space, actions).await?;
        Ok(count)
    }

    /// Makes one authoritative memory of a chain: its head, in its own words, because each version was said in place of the
    /// one before. The others are soft-deleted and stay in the history; the head says of how many versions it is the last.
    /// Versions that someone pinned stay.
    pub(crate) async fn distil(&self, tenant: &Tenant, space: &Space, member: MemoryId, at: Timestamp) -> Result<()> {
        let whole = policy::visible_tenant(tenant);
        let Some(memory) = self.store.fetch(&whole, &[member]).await?.pop() else { return Ok(()) };
        let chain = self.chain(&whole, &memory).await?;
        let Some((head, earlier)) = chain.split_last() else { return Ok(()) };
        let spare = |memory: &&Memory| memory.state != State::SoftDeleted && !memory.pinned;
        let gone: Vec<&Memory> = earlier.iter().filter(spare).collect();
        if gone.is_empty() || head.state == State::SoftDeleted {
            return Ok(());
        }
        let distilled = json!({ "versions": chain.len(), "since": chain[0].created_at });
        let patch = Patch { metadata: Some(Map::from_iter([(DISTILLED.to_owned(), distilled)])), ..Patch::default() };
        let revision = Revision { id: head.id, expect: None, patch, vector: None, jobs: Vec::new() };
        let reason = format!("distilled from {} versions", chain.len());
        let purge_at = Some(days_after(at, i64::from(self.config.lifecycle.purge_days)));
        let fade = |memory: &&Memory| {
            let state = State::SoftDeleted;
            let action = Action::Fade { id: memory.id, state, confidence: None, relevance: None, purge_at };
            (action, format!("distilled into {}", head.id))
        };
        let actions = std::iter::once((Action::Revise(Box::new(revision)), reason)).chain(gone.iter().map(fade));
        let caller = policy::Caller { tenant: tenant.clone(), ..policy::Caller::operator() };
        let run = MaintenanceRun { caller: &caller, at, dry: false, holder: String::new() };
        self.apply_run(&run, space, actions.collect()).await.map(drop)
    }

    /// The versions in the middle of a chain that are there and not needed.
    async fn superfluous_of(&self, tenant: &Tenant, head: MemoryId) -> Result<Vec<MemoryId>> {
        let whole = policy::visible_tenant(tenant);
        let Some(memory) = self.store.fetch(&whole, &[head]).await?.pop() else { return Ok(Vec::new()) };
        let mut chain = self.chain(&whole, &memory).await?;
        chain.retain(|memory| memory.state != State::SoftDeleted);
        Ok(superfluous(&chain, self.config.lifecycle.collapse_above))
    }

    /// Sweeps up.
    pub(super) async fn compact_step(&self, run: &MaintenanceRun<'_>) -> Result<StepReport> {
        let mut report = StepReport::new(MaintenanceStep::Compact);
        if !self.config.lifecycle.compaction_enabled {
            return Ok(report);
        }
        for space in self.all_spaces(&run.caller.tenant).await? {
            report.add_planned(
                None,
                "compact",
                format!("space {}", space.name()),
                "expired notes, index entries of removed memories",
            );
            if !run.dry {
                self.store.compact(&run.caller.tenant, &space, run.at).await?;
            }
        }
        Ok(report)
    }
}
