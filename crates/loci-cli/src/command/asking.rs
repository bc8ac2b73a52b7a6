//! The flags that `recall` and `context` share, and the call that they make.

use anyhow::Result;
use clap::Args;
use serde_json::Value;

use crate::api::{Api, Call};
use crate::arguments::{FilterFlags, ScopeFlags, number};
use crate::context::{Context, Model};

/// A question, and which memories may answer it.
#[derive(Debug, Args)]
pub(crate) struct AskFlags {
    /// Question, in plain words
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Maximum number of results, at most 100 [default: 10]
    #[arg(short = 'n', long, visible_alias = "top-k", value_name = "NUMBER")]
    limit: Option<usize>,
    /// Minimum cosine similarity of what the vector search contributes, 0 to 1; 0 returns whatever there is
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    threshold: Option<Value>,
    /// Minimum score of a result, 0 to 1 [default: retrieval.score_threshold]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    score_threshold: Option<Value>,
    /// Time that counts as now: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone [default: now]
    #[arg(long, alias = "at", value_name = "TIME")]
    now: Option<String>,
    /// Search by words only, without the embedding model: the strategy lexical
    #[arg(long, alias = "no-embed")]
    words_only: bool,
    /// Conversation that receives the answer: what it repeats of the answer is not learned again
    #[arg(long, alias = "for-thread", value_name = "THREAD")]
    for_thread_id: Option<String>,
    /// Show how each score is made up
    #[arg(long)]
    pub(crate) explain: bool,
    /// List first what changed after this revision, which is `revision` of an earlier answer
    #[arg(long, alias = "since", value_name = "REVISION")]
    pub(crate) after_revision: Option<i64>,
    /// List only changes of this conversation
    #[arg(long, alias = "since-in", value_name = "THREAD", requires = "after_revision")]
    changes_thread_id: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    filter: FilterFlags,
}

impl AskFlags {
    /// Sends the question, with further fields of the body, and returns the answer and who gave it.
    pub(crate) async fn ask(&self, context: &Context, further: impl FnOnce(Call) -> Call) -> Result<(Api, Value)> {
        let call = Call::post(&["v1", "recall"])
            .scope(&context.scope(&self.scope))
            .field("query", self.query.join(" "))
            .field("strategy", self.words_only.then_some("lexical"))
            .field("limit", self.limit)
            .field("threshold", &self.threshold)
            .field("scoreThreshold", &self.score_threshold)
            .field("now", &self.now)
            .field("threadId", &self.for_thread_id)
            .field("explain", self.explain)
            .field("afterRevision", self.after_revision)
            .field("changesThreadId", &self.changes_thread_id)
            .field("filter", self.filter.object()?);
        let api = context.api(if self.words_only { Model::Skip } else { Model::Load }).await?;
        let answer = api.call(further(call)).await?;
        Ok((api, answer))
    }
}
