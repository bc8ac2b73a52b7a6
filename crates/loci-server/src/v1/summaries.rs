//! Summaries on request: of a session, or of the memories that match a filter. Nothing is stored.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use loci_engine::SummarizeRequest;
use loci_engine::summarize::{Summary, SummaryStrategy};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::filter::MemoryFilter;
use super::recall::read_filter;
use crate::App;
use crate::extract::Scoped;
use crate::failure::{Failure, Failures};
use crate::guard::Principal;

/// The route of summaries.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(summarize))
}

/// What is summarized, and how.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = Summarize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct SummaryBody {
    /// The session whose turns are summarized. Default: memories, the newest last.
    session_id: Option<String>,
    /// How the summary is made. Default: `summarization.strategy` of the configuration.
    strategy: Option<SummaryStrategy>,
    /// Maximum number of tokens of the summary. Default: `summarization.target_tokens` of the configuration.
    #[schema(minimum = 1, maximum = 1_000_000)]
    target_tokens: Option<usize>,
    /// The memories that are summarized if no session is named. Default: all that hold now.
    filter: Option<MemoryFilter>,
}

/// Summarizes a session, or memories.
///
/// The summary is returned and not stored. Without a language model the sentences that say most are chosen.
#[utoipa::path(
    post, path = "/v1/summaries", operation_id = "summarize", tag = "recall",
    request_body(content = Scoped<SummaryBody>, example = json!({
        "identifiers": { "userId": "ann" }, "strategy": "extractive", "targetTokens": 200
    })),
    responses((status = 200, description = "The summary", body = Summary), Failures),
    security(("key" = ["reader"]))
)]
async fn summarize(
    State(app): State<Arc<App>>,
    principal: Principal,
    Scoped { scope, body }: Scoped<SummaryBody>,
) -> Result<Json<Summary>, Failure> {
    let caller = principal.caller(scope, "summarize")?;
    let now = app.engine.now();
    let (layers, filter) = read_filter(body.filter, &app.engine, &caller, now, "summarize").await?;
    let request = SummarizeRequest {
        session: body.session_id,
        strategy: body.strategy,
        target_tokens: body.target_tokens,
        filter,
        layers,
    };
    app.run_operation("summarize", app.engine.summarize(&caller, request)).await.map(Json)
}
