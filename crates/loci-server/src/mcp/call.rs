//! A call of a tool, a resource or a prompt: who calls, and in which scope.
//!
//! A call has the credential of its request and the identifiers that were configured for the client, on the command
//! line or in the address. The model can narrow this scope but not leave it.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loci_engine::Caller;
use loci_types::{ErrorKind, Identifiers, MemoryId, MemoryRef, Problem};
use tokio::sync::watch;
use tracing::{Instrument, Span};

use super::CALL;
use crate::App;
use crate::failure::Failure;
use crate::guard::Principal;
use crate::metrics::Protocol;

/// The user whose memories are used if none is configured.
const DEFAULT_USER: &str = "me";

/// The application, which may still be starting.
#[derive(Clone)]
pub(super) struct PendingApp(watch::Receiver<Option<Result<Arc<App>, Problem>>>);

/// Completes a [`PendingApp`].
pub(super) type AppSender = watch::Sender<Option<Result<Arc<App>, Problem>>>;

impl PendingApp {
    /// An application that has started.
    pub(super) fn ready(app: Arc<App>) -> Self {
        Self(watch::channel(Some(Ok(app))).1)
    }

    /// An application that is starting.
    pub(super) fn starting() -> (AppSender, Self) {
        let (sender, app) = watch::channel(None);
        (sender, Self(app))
    }

    /// Waits until the application has started.
    pub(super) async fn app(&self) -> Result<Arc<App>, Failure> {
        let mut app = self.0.clone();
        let closed = || Failure::new(ErrorKind::Provider, "the engine is closing", CALL);
        let started = app.wait_for(Option::is_some).await.map_err(|_| closed())?;
        match &*started {
            Some(Ok(app)) => Ok(app.clone()),
            Some(Err(problem)) => Err(Failure::of(problem.clone())),
            None => Err(closed()),
        }
    }
}

/// One call.
pub(super) struct Call {
    pub(super) app: Arc<App>,
    pub(super) principal: Principal,
    /// The configured scope.
    pub(super) scope: Identifiers,
    /// The `operationId` of the HTTP operation that does the same, for metrics and errors.
    pub(super) operation: &'static str,
    /// The span of the call, inside that of its request.
    pub(super) span: Span,
}

impl Call {
    /// Returns the caller. An operator without identifiers is the configured user.
    pub(super) fn caller(&self) -> Result<Caller, Failure> {
        self.caller_in(self.scope.clone())
    }

    fn caller_in(&self, scope: Identifiers) -> Result<Caller, Failure> {
        let caller = self.principal.caller(scope, self.operation)?;
        if !caller.identifiers.is_empty() {
            return Ok(caller);
        }
        if caller.operator {
            let user = self.app.options.mcp.user.clone().unwrap_or_else(|| DEFAULT_USER.to_owned());
            return self
                .principal
                .caller(Identifiers { user_id: Some(user), ..Identifiers::default() }, self.operation);
        }
        let message = "no scope: neither the credential nor the address names a user, agent or project";
        Err(Failure::new(ErrorKind::MissingIdentifier, message, self.operation)
            .field("userId")
            .hint("end the server's address with ?userId=NAME, or use a key that is made for one user"))
    }

    /// Returns the same caller as another agent, if the credential admits it. Without a credential only the configured
    /// agent is admitted.
    pub(super) fn caller_as(&self, agent: Option<&str>) -> Result<Caller, Failure> {
        let caller = self.caller()?;
        let Some(agent) = agent else { return Ok(caller) };
        if caller.identifiers.agent_id.as_deref() == Some(agent) {
            return Ok(caller);
        }
        if caller.credential.is_none() {
            let message = format!("this client is not configured for the agent `{agent}`");
            return Err(Failure::new(ErrorKind::Unauthorized, message, self.operation)
                .field("agent")
                .hint("leave `agent` out, or start the client with that agent"));
        }
        let scope = Identifiers { agent_id: Some(agent.to_owned()), ..caller.identifiers };
        self.caller_in(scope)
    }

    /// Returns the id of the memory that an argument names.
    pub(super) async fn resolve(&self, caller: &Caller, field: &str, given: &MemoryRef) -> Result<MemoryId, Failure> {
        let hint = "search_memory shows the id of each memory";
        self.run_operation(self.app.engine.resolve_id(caller, given)).await.map_err(|failure| {
            let failure = failure.field(field);
            // The candidates of an ambiguous id come with a better hint.
            if failure.problem().code == ErrorKind::NotFound.code() { failure.hint(hint) } else { failure }
        })
    }

    /// Runs engine work. It is not counted by itself: [`Call::counted`] counts the whole call.
    pub(super) async fn run_operation<T>(
        &self,
        work: impl Future<Output = loci_engine::Result<T>>,
    ) -> Result<T, Failure> {
        work.await.map_err(|error| Failure::of(error.problem(self.operation)))
    }

    /// Runs the whole call and counts it once, wrong arguments too. A failure names the operation of the call.
    pub(super) async fn counted<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let started = Instant::now();
        let outcome = work.instrument(self.span.clone()).await.map_err(|failure| failure.operation(self.operation));
        let code = outcome.as_ref().err().map(|failure| failure.problem().code.as_str());
        if let Some(code) = code {
            self.span.record("error.type", code);
        }
        self.app.metrics.operation(Protocol::Mcp, self.operation, code, started.elapsed());
        outcome
    }

    /// Maximum number of tokens of an answer.
    pub(super) fn budget(&self) -> usize {
        self.app.options.mcp.budget_tokens
    }

    /// The time zone in which days begin: `retrieval.time_zone`, UTC if it is not set.
    pub(super) fn zone(&self) -> TimeZone {
        TimeZone::get(&self.app.engine.config().retrieval.time_zone).unwrap_or(TimeZone::UTC)
    }

    /// Writes an instant to the second, with the offset of the configured time zone.
    pub(super) fn instant(&self, at: Timestamp) -> String {
        let zone = self.zone();
        if zone == TimeZone::UTC {
            return at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        }
        at.to_zoned(zone).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }
}
