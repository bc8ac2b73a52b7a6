//! What does every question bring?
//!
//! The flags that recall, search, query and context share, and what becomes of them.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use jiff::Timestamp;
use loci_engine::{Caller, Engine, RecallRequest};

use crate::arguments::{FilterFlags, ScopeFlags};
use crate::context::{Context, Nobody};

/// A question, and which memories may answer it.
#[derive(Debug, Args)]
pub(crate) struct AskFlags {
    /// The question
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// So many hits at most
    #[arg(long, visible_alias = "top-k", value_name = "NUMBER")]
    limit: Option<usize>,
    /// Cosine below which likeness does not count, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// Search by words alone
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    filter: FilterFlags,
}

/// A question that is ready to be put.
pub(crate) struct Asked {
    pub(crate) engine: Arc<Engine>,
    pub(crate) caller: Caller,
    pub(crate) request: RecallRequest,
    pub(crate) now: Timestamp,
}

impl AskFlags {
    /// Checks the flags, then opens what is needed.
    pub(crate) async fn prepare(self, context: &Context) -> Result<Asked> {
        let layers = self.filter.layers()?;
        let caller = context.caller(&self.scope, layers.is_some(), Nobody::User);
        let given = self.filter.now()?;
        self.filter.filter(Timestamp::UNIX_EPOCH)?;
        let engine = context.engine_with_model(self.no_embed, &caller).await?;
        let now = given.unwrap_or_else(|| engine.now());
        let request = RecallRequest {
            query: self.query.join(" "),
            layers,
            limit: self.limit,
            threshold: self.threshold,
            filter: Some(self.filter.resolve(&engine, &caller, now).await?),
            at: Some(now),
            ..RecallRequest::default()
        };
        Ok(Asked { engine: Arc::new(engine), caller, request, now })
    }
}
