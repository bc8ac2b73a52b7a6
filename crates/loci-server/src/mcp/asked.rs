//! Who calls a tool, and of whose memory?
//!
//! A call has the credential of its request and the identifiers that whoever set up the client gave:
//! on the command line, or behind the address. The model may narrow that, never leave it.

use std::sync::Arc;

use loci_engine::Caller;
use loci_types::{ErrorKind, Identifiers, Problem};
use tokio::sync::watch;

use crate::App;
use crate::failure::Failure;
use crate::guard::Who;

/// The user of whom memories are when nobody is named.
const SOMEBODY: &str = "me";

/// A house that may still be opening.
#[derive(Clone)]
pub(super) struct House(watch::Receiver<Option<Result<Arc<App>, Problem>>>);

/// Who opens the house.
pub(super) type Opening = watch::Sender<Option<Result<Arc<App>, Problem>>>;

impl House {
    /// One that is open.
    pub(super) fn open(app: Arc<App>) -> Self {
        Self(watch::channel(Some(Ok(app))).1)
    }

    /// One that will be.
    pub(super) fn opening() -> (Opening, Self) {
        let (opening, house) = watch::channel(None);
        (opening, Self(house))
    }

    /// What is inside, as soon as it is open.
    pub(super) async fn app(&self) -> Result<Arc<App>, Failure> {
        let mut house = self.0.clone();
        let closed = || Failure::new(ErrorKind::Provider, "the memory is closing", "open");
        let open = house.wait_for(Option::is_some).await.map_err(|_| closed())?;
        match &*open {
            Some(Ok(app)) => Ok(app.clone()),
            Some(Err(problem)) => Err(Failure::of(problem.clone())),
            None => Err(closed()),
        }
    }
}

/// A call on its way in.
pub(super) struct Asked {
    pub(super) app: Arc<App>,
    pub(super) who: Who,
    /// Whose memories are meant, as far as it was set up.
    pub(super) scope: Identifiers,
}

impl Asked {
    /// The caller. Without any name, whoever looks after the store is its usual user.
    pub(super) fn caller(&self, operation: &str) -> Result<Caller, Failure> {
        self.caller_of(self.scope.clone(), operation)
    }

    fn caller_of(&self, scope: Identifiers, operation: &str) -> Result<Caller, Failure> {
        let caller = self.who.caller(scope, operation)?;
        if !caller.identifiers.is_empty() {
            return Ok(caller);
        }
        if caller.operator {
            let user = self.app.options.mcp.user.clone().unwrap_or_else(|| SOMEBODY.to_owned());
            return self.who.caller(Identifiers { user_id: Some(user), ..Identifiers::default() }, operation);
        }
        let said = "neither the credential nor the address says whose memories are meant";
        Err(Failure::new(ErrorKind::MissingIdentifier, said, operation)
            .field("userId")
            .hint("end the server's address with ?userId=NAME, or use a key that is made for one user"))
    }

    /// The same caller as another agent, if the credential admits that one. Without a credential
    /// only the agent that was set up counts.
    pub(super) fn caller_as(&self, agent: Option<&str>, operation: &str) -> Result<Caller, Failure> {
        let caller = self.caller(operation)?;
        let Some(agent) = agent else { return Ok(caller) };
        if caller.identifiers.agent_id.as_deref() == Some(agent) {
            return Ok(caller);
        }
        if caller.credential.is_none() {
            return Err(Failure::new(
                ErrorKind::Unauthorized,
                format!("this client is not set up for the agent `{agent}`"),
                operation,
            )
            .field("agent")
            .hint("leave `agent` out, or start the client with that agent"));
        }
        let scope = Identifiers { agent_id: Some(agent.to_owned()), ..caller.identifiers };
        self.caller_of(scope, operation)
    }

    /// The most tokens of an answer.
    pub(super) fn budget(&self) -> usize {
        self.app.options.mcp.budget_tokens
    }
}
