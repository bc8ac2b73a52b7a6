//! Sessions: when one ends, and what is done then.
//!
//! A session ends on request, when its thread continues in another session, when its user begins a new one, or after a
//! time without turns. Then it is learned from once; important memories of the session layer are promoted to the user,
//! and the others expire.
//! **Invariant:** a scope of the session layer that has memories has a session, however the memories came in, so that
//! they are promoted and removed.

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use loci_store::Page;
use loci_types::{
    Action, Addition, Batch, Bookkeeping, Change, Error, ErrorKind, Filter, Identifiers, JobKind, JobSpec, Layer,
    Memory, Patch, Relation, Revision, Scope, Session, SessionFilter, Tenant, Visible,
};
use serde_json::{Map, json};

use crate::access::policy::{self, Caller};
use crate::learn::consolidate::ConsolidationReport;
use crate::write::reconcile::write::statement;
use crate::write::reconcile::{Decision, reconcile};
use crate::{Engine, Result};

/// Maximum number of memories of a session that are promoted.
const MAX_PROMOTED: usize = 500;
/// Where a memory of a session says which of the user's it became.
const PROMOTED_TO: &str = "promotedTo";

impl Engine {
    /// Lists all sessions that the caller may see, those quiet longest first.
    pub async fn sessions(&self, caller: &Caller, filter: SessionFilter) -> Result<Vec<Session>> {
        self.sessions_from(caller, &filter, 0, usize::MAX).await
    }

    /// Lists sessions from an offset on, at most `limit` of them, those quiet longest first.
    pub async fn sessions_from(
        &self,
        caller: &Caller,
        filter: &SessionFilter,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<Session>> {
        // Turns have no category, so a credential that shows only some categories sees no turn, and no session either.
        if caller.categories.is_some() {
            return Ok(Vec::new());
        }
        let filter = match &filter.session_id {
            Some(name) => &SessionFilter { session_id: Some(policy::session_named(caller, name)?), ..filter.clone() },
            None => filter,
        };
        let visible = self.visible(caller, None).await?;
        let Some(bound) = visible.sessions() else {
            let found = self.store.sessions(&visible, filter, offset.saturating_add(limit)).await?;
            return Ok(found.into_iter().skip(offset).collect());
        };
        // The store knows only scopes here, so a credential that is bound to sessions is shown its own of all.
        let mut found = self.store.sessions(&visible, filter, usize::MAX).await?;
        found.retain(|session| bound.contains(&session.session_id));
        Ok(found.into_iter().skip(offset).take(limit).collect())
    }

    /// Reads a session. Of several layers that have one of this id, the one with the latest turn is returned.
    pub async fn session(&self, caller: &Caller, session_id: &str) -> Result<Session> {
        let caller = &*within(caller, session_id);
        let filter = SessionFilter { session_id: Some(session_id.to_owned()), ..SessionFilter::default() };
        let found = self.sessions(caller, filter).await?.pop();
        Ok(found.ok_or_else(|| unknown_session(session_id))?)
    }

    /// Ends a session and queues the learning from it; what matters of its entries is remembered for its user. False
    /// if it was over already.
    pub async fn end_session(&self, caller: &Caller, name: &str) -> Result<bool> {
        policy::require_writer(caller)?;
        let name = &policy::session_named(caller, name)?;
        let caller = &*within(caller, name);
        let found = self
            .sessions(caller, SessionFilter { session_id: Some(name.to_owned()), ..SessionFilter::default() })
            .await?;
        // Before it is over: what could not be remembered is still there when it is ended again.
        let promoted = self.end_entries(caller, name, &found).await?;
        if found.is_empty() && promoted.is_some() {
            return Ok(true);
        }
        if found.is_empty() {
            return Err(unknown_session(name).into());
        }
        // Several layers may have a session of this name.
        for session in &found {
            let changes = self
                .closing(&session.scope, name, self.now())
                .into_iter()
                .map(|action| self.change(caller, "hotpath", "session ended", action))
                .collect();
            let batch = Batch { tenant: caller.tenant.clone(), space: session.scope.space(), changes };
            self.apply(batch).await?;
        }
        Ok(found.iter().any(|session| session.ended_at.is_none()))
    }

    /// Ends the sessions that have been idle for `sessions.idle_minutes`, and queues the learning from them. Returns their
    /// number.
    pub async fn end_idle_sessions(&self, caller: &Caller) -> Result<usize> {
        policy::require_operator(caller, "end idle sessions")?;
        let idle = self.idle_sessions(&caller.tenant, self.now()).await?;
        for session in &idle {
            let user = session.scope.identifiers();
            if user.user_id.is_some() {
                let owner = Caller { tenant: caller.tenant.clone(), ..Caller::new(user) };
                if let Err(error) = self.end_entries(&owner, &session.session_id, &[]).await {
                    tracing::warn!(%error, "entries of a session that is over were not remembered");
                }
            }
            let actions = self.closing(&session.scope, &session.session_id, self.now());
            let changes = actions.into_iter().map(|action| self.change(caller, "worker", "session idle", action));
            let space = session.scope.space();
            self.apply(Batch { tenant: caller.tenant.clone(), space, changes: changes.collect() }).await?;
        }
        Ok(idle.len())
    }

    /// The open sessions that are idle at this time. A session whose own layer is quiet goes on while its user has newer turns
    /// of it in another layer.
    pub(crate) async fn idle_sessions(&self, tenant: &Tenant, at: Timestamp) -> Result<Vec<Session>> {
        let idle = SignedDuration::from_mins(i64::from(self.config.sessions.idle_minutes));
        let quiet = at.saturating_sub(idle).unwrap_or(Timestamp::MIN);
        let open = SessionFilter { ended: Some(false), ..SessionFilter::default() };
        let mut open = self.store.sessions(&policy::visible_tenant(tenant), &open, usize::MAX).await?;
        let named = |session: &Session| (session.scope.identifiers().user_id, session.session_id.clone());
        let going_on: HashSet<_> = open.iter().filter(|session| session.updated_at > quiet).map(named).collect();
        open.retain(|session| {
            session.updated_at <= quiet
                && (session.scope.layer() != Layer::Session || !going_on.contains(&named(session)))
        });
        Ok(open)
    }

    /// Queues the learning from a session. With `again` it starts at the first turn, after rules or a model have
    /// improved; known statements are not added twice.
    pub async fn queue_learning(&self, caller: &Caller, name: &str, again: bool) -> Result<()> {
        policy::require_writer(caller)?;
        let name = &policy::session_named(caller, name)?;
        for session in self.sessions_named(caller, name).await? {
            let scope = session.scope;
            let job = Bookkeeping::Enqueue(consolidate_job(&scope, name, self.now()));
            let reset = again.then(|| Bookkeeping::Unlearn { scope: scope.clone(), session: name.to_owned() });
            let reason = if again { "session consolidated again" } else { "session consolidated on request" };
            let change = |action| self.change(caller, "operator", reason, Action::Bookkeeping(action));
            let changes = reset.into_iter().chain([job]).map(change).collect();
            self.apply(Batch { tenant: caller.tenant.clone(), space: scope.space(), changes }).await?;
        }
        Ok(())
    }

    /// Learns from a session now, from the first turn that was not read yet.
    pub async fn learn_session(&self, caller: &Caller, name: &str) -> Result<ConsolidationReport> {
        policy::require_writer(caller)?;
        let name = &policy::session_named(caller, name)?;
        let operator = Caller { tenant: caller.tenant.clone(), ..Caller::operator() };
        let mut report = ConsolidationReport::default();
        for session in self.sessions_named(caller, name).await? {
            report.add(self.consolidate(&operator, &session.scope, name).await?);
        }
        Ok(report)
    }

    /// The sessions of this name that the caller may see, at least one: a conversation may have turns in several layers.
    async fn sessions_named(&self, caller: &Caller, name: &str) -> Result<Vec<Session>> {
        let caller = &*within(caller, name);
        let filter = SessionFilter { session_id: Some(name.to_owned()), ..SessionFilter::default() };
        let found = self.sessions(caller, filter).await?;
        if found.is_empty() { Err(unknown_session(name).into()) } else { Ok(found) }
    }

    /// Ends the session of this name in its own layer, if it has memories there beside the turns in another layer.
    pub(crate) async fn end_own_layer(&self, caller: &Caller, turns: &Scope, name: &str) -> Result<()> {
        let identifiers = Identifiers {
            session_id: Some(name.to_owned()),
            user_id: turns.identifiers().user_id,
            ..Identifiers::default()
        };
        let Ok(scope) = Scope::new(Layer::Session, &identifiers) else { return Ok(()) };
        let filter =
            SessionFilter { session_id: Some(name.to_owned()), ended: Some(false), ..SessionFilter::default() };
        let seen = policy::visible_for_maintenance(&caller.tenant, &scope);
        if scope == *turns || self.store.sessions(&seen, &filter, 1).await?.is_empty() {
            return Ok(());
        }
        let closing = self.closing(&scope, name, self.now()).into_iter();
        let changes = closing.map(|action| self.change(caller, "hotpath", "session ended", action)).collect();
        self.apply(Batch { tenant: caller.tenant.clone(), space: scope.space(), changes }).await?;
        Ok(())
    }

    /// What ends a session: its end, and the learning from it as a job.
    pub(crate) fn closing(&self, scope: &Scope, session: &str, at: Timestamp) -> Vec<Action> {
        vec![
            Action::Bookkeeping(Bookkeeping::EndSession { scope: scope.clone(), session: session.to_owned() }),
            Action::Bookkeeping(Bookkeeping::Enqueue(consolidate_job(scope, session, at))),
        ]
    }

    /// Keeps what matters of a session's own layer for its user, once the session is over. It meets
    /// what is known of the user like anything else that is learned.
    pub(crate) async fn promote(&self, tenant: &Tenant, session: &Session) -> Result<usize> {
        let (rules, at) = (&self.config.sessions, self.now());
        if session.scope.layer() != Layer::Session || !rules.promote_important || session.ended_at.is_none() {
            return Ok(0);
        }
        let user_id = session.scope.identifiers().user_id;
        let user = Scope::new(Layer::User, &Identifiers { user_id, ..Identifiers::default() })?;
        let seen = policy::visible_for_maintenance(tenant, &session.scope);
        let filter = Filter {
            importance_min: Some(rules.promotion_threshold),
            kinds: self.non_episodic_kinds(),
            ..Filter::at(at)
        };
        let page = Page { after: None, limit: MAX_PROMOTED };
        let mut matters = self.store.scan(&seen, &filter, page).await?.memories;
        matters.retain(|memory| !memory.metadata.contains_key(PROMOTED_TO));
        let promoted = matters.len();
        for memory in matters.into_iter().rev() {
            self.promote_one(tenant, &user, &seen, memory, at).await?;
        }
        Ok(promoted)
    }

    async fn promote_one(
        &self,
        tenant: &Tenant,
        user: &Scope,
        seen: &Visible,
        memory: Memory,
        at: Timestamp,
    ) -> Result<()> {
        let model = self.model().map_or("", |model| &model.name);
        let vector = self.store.vectors(seen, model, &[memory.id]).await?.pop().map(|(_, vector)| vector);
        let (old, new) = (memory.id, self.promoted(memory, user, at));
        let jobs = if vector.is_some() { Vec::new() } else { self.embed_jobs(new.id, at) };
        let unless = Some(self.twin_key(&new));
        let addition = Addition { unless, claim: self.claim_of(&new), vector, jobs, ..Addition::new(new) };
        let visible = policy::visible_for_maintenance(tenant, user);
        let known = self.neighbours(&visible, &addition, None).await?;
        let statement = statement(&addition.memory);
        let decision = reconcile(&statement, &known, &self.config.bands);
        let id = match &decision {
            Decision::Skip { of: id, .. } => *id,
            _ => addition.memory.id,
        };
        let (kind, source) = (addition.memory.kind.name().to_owned(), (id, addition.memory.confidence));
        let mut actions = self.actions(&visible, &decision, addition).await?;
        for claim in &statement.reading.claims {
            actions.extend(self.triple(user, &kind, Some(claim), source, at));
        }
        actions.push(Action::Link(self.edge(id, old, Relation::DerivedFrom, 1.0, at)));
        let metadata = Some(Map::from_iter([(PROMOTED_TO.to_owned(), json!(id))]));
        let patch = Patch { metadata, ..Patch::default() };
        let marked = Revision { id: old, expect: None, patch, vector: None, jobs: Vec::new() };
        actions.push(Action::Revise(Box::new(marked)));
        let operator = Caller { tenant: tenant.clone(), ..Caller::operator() };
        let reason = format!("important memory of an ended session; {}", decision.reason());
        let changes = actions.into_iter().map(|action| self.change(&operator, "worker", &reason, action)).collect();
        self.apply(Batch { tenant: tenant.clone(), space: user.space(), changes }).await?;
        Ok(())
    }

    fn promoted(&self, memory: Memory, user: &Scope, at: Timestamp) -> Memory {
        let mut identifiers = memory.identifiers.clone();
        identifiers.user_id = user.identifiers().user_id;
        Memory {
            id: self.new_id(at),
            version: 1,
            layer: Layer::User,
            identifiers,
            access_count: 0,
            last_accessed_at: None,
            created_at: at,
            updated_at: at,
            supersedes_id: None,
            thread_id: None,
            ..memory
        }
    }
}

/// The caller within the session that a request names outside of its identifiers: to name it is to give its identifier.
fn within<'c>(caller: &'c Caller, session: &str) -> Cow<'c, Caller> {
    let given = &caller.identifiers;
    if given.user_id.is_none() || given.session_id.is_some() || caller.everyone {
        return Cow::Borrowed(caller);
    }
    let identifiers = Identifiers { session_id: Some(session.to_owned()), ..given.clone() };
    Cow::Owned(Caller { identifiers, ..caller.clone() })
}

/// The changes that open the sessions to whose own layer callers add memories with these changes. Maintenance and imports
/// open none.
pub(crate) fn opened(changes: &[Change]) -> Vec<Change> {
    let mut opened: Vec<Change> = Vec::new();
    let attends = |change: &Change, scope: &Scope| matches!(&change.action, Action::Bookkeeping(Bookkeeping::Attend { scope: known, .. }) if known == scope);
    for change in changes.iter().filter(|change| change.provenance.node == "hotpath") {
        let (Action::Add(addition) | Action::Supersede { new: addition, .. }) = &change.action else { continue };
        let memory = &addition.memory;
        let (Layer::Session, Ok(scope), Some(session)) =
            (memory.layer, memory.scope(), memory.identifiers.session_id.clone())
        else {
            continue;
        };
        if changes.iter().chain(&opened).any(|change| attends(change, &scope)) {
            continue;
        }
        let thread = memory.thread_id.clone().unwrap_or_else(|| session.clone());
        let action = Action::Bookkeeping(Bookkeeping::Attend { scope, session, thread });
        let Change { reason, provenance, at, .. } = change;
        opened.push(Change { action, reason: reason.clone(), provenance: provenance.clone(), at: *at });
    }
    opened
}

/// The error for a session that does not exist or is not visible.
pub(crate) fn unknown_session(session_id: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("unknown session `{session_id}`"))
        .at("sessionId")
        .hint("`loci session list` shows them")
}

/// The job that learns from a session.
pub(crate) fn consolidate_job(scope: &Scope, session: &str, at: Timestamp) -> JobSpec {
    JobSpec {
        kind: JobKind::Consolidate,
        payload: json!({ "scope": scope.key(), "session": session }),
        unique: Some(format!("consolidate {} {session}", scope.key())),
        run_after: at,
    }
}
