//! `loci store reembed`: computes the vectors of all memories with another model.
//!
//! Vectors of both models exist side by side meanwhile, so searches with the old one find as before. The switch is a change of
//! the settings; after it, the vectors of the old model are dropped.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, System};
use serde_json::{Value, json};

use super::{serve, task};
use crate::api::{Api, Call};
use crate::context::{Context, Model};
use crate::settings::{Provider, Settings};
use crate::{output, shape, wiring};

/// Which model, and whether it is only estimated.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci store reembed                                  # the configured model
  loci store reembed --dry-run --price 0.02           # what it would cost
  loci store reembed --model ./models/multilingual    # a further model

Computes the vectors that are missing or were made by another model. It can be interrupted at any time; the next run \
continues. Servers keep running: vectors of both models exist side by side. With --server it runs on the server, and goes \
on there if the command is interrupted; --model works on a data folder only.

With --model the vectors of a further model are computed, while searches use the configured one. Then configure the new \
model (embeddings.folder or embeddings.model), restart the servers, and run `loci store reembed --drop-others`: it \
computes what was added in between, and drops the vectors of every other model.")]
pub(crate) struct ReembedArgs {
    /// Another model than the configured one: the folder of a local one, or the name at the endpoint
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only estimate the work
    #[arg(long)]
    dry_run: bool,
    /// Price of a million tokens, for the estimate
    #[arg(long, value_name = "NUMBER")]
    price: Option<f64>,
    /// Drop the vectors of all other models afterwards
    #[arg(long, conflicts_with_all = ["model", "dry_run"])]
    drop_others: bool,
    /// Confirm that vectors are dropped
    #[arg(short, long)]
    yes: bool,
}

/// Computes the missing vectors of the model.
pub(crate) async fn run(context: &Context, args: &ReembedArgs) -> Result<()> {
    if let Some(model) = &args.model {
        return compute_further(context, args, model).await;
    }
    if args.drop_others {
        context.confirm("drops the vectors of all other models", args.yes)?;
    }
    let api = api(context).await?;
    let call = || Call::post(&["v1", "admin", "reembeddings"]);
    let estimate = with_cost(args, api.call(call().field("dryRun", true)).await?);
    if args.dry_run {
        context.print(&estimate, print_estimate);
        return Ok(());
    }
    if !context.json {
        print_estimate(&estimate);
    }
    let report = task::wait(&api, api.call(call().field("dropOthers", args.drop_others)).await?).await?;
    api.close().await;
    context.print(&report, print_report);
    Ok(())
}

/// The API with the configured model. [`Context::api`] would warn of the vectors that this command replaces.
async fn api(context: &Context) -> Result<Api> {
    if context.server.is_some() {
        return context.api(Model::Load).await;
    }
    let embedder = context.embedder().await?;
    let engine = wiring::engine(&context.settings, &context.data()?, embedder, Arc::new(System)).await?;
    Api::local(Arc::new(engine), serve::options(context)?)
}

/// Computes the vectors of a model that is not configured. A server has one model, so this works on the folder.
async fn compute_further(context: &Context, args: &ReembedArgs, model: &str) -> Result<()> {
    context.require_local("store reembed --model")?;
    let settings = with_model(&context.settings, model);
    let embedder = wiring::embedder(&settings, None).await?;
    let engine = wiring::engine(&settings, &context.data()?, embedder, Arc::new(System)).await?;
    let operator = Caller::operator();
    let model = engine.embedding_model()?.to_owned();
    let estimate = json!({ "model": model, "estimate": engine.reembed_estimate(&operator).await? });
    let estimate = with_cost(args, estimate);
    if args.dry_run {
        context.print(&estimate, print_estimate);
        return Ok(());
    }
    if !context.json {
        print_estimate(&estimate);
    }
    let bar = output::progress(0, "memories");
    let shown = bar.clone();
    let progress = move |seen, total| {
        shown.set_length(total);
        shown.set_position(seen);
    };
    // Queued jobs are for the configured model, so they are left to it.
    let pass = engine.reembed(&operator, progress).await;
    bar.finish_and_clear();
    let pass = pass?;
    let report = json!({ "model": model, "seen": pass.seen, "embedded": pass.embedded, "dropped": {} });
    context.print(&report, |report| {
        print_report(report);
        output::note(&format!(
            "vectors of {model} are complete; configure it as the model, restart the servers, and run \
             `loci store reembed --drop-others`"
        ));
    });
    Ok(())
}

/// The settings with this model instead of the configured one.
fn with_model(settings: &Settings, model: &str) -> Settings {
    let mut settings = settings.clone();
    match settings.embeddings.provider {
        Provider::Openai | Provider::Cohere => model.clone_into(&mut settings.embeddings.model),
        Provider::Local | Provider::None => {
            settings.embeddings.provider = Provider::Local;
            settings.embeddings.folder = Some(model.into());
        }
    }
    settings
}

/// Adds `cost` to an estimate if a price was given.
fn with_cost(args: &ReembedArgs, mut estimate: Value) -> Value {
    let tokens = estimate["estimate"]["tokens"].as_f64().unwrap_or_default();
    if let Some(price) = args.price {
        estimate["cost"] = (price * tokens / 1e6).into();
    }
    estimate
}

fn print_estimate(answer: &Value) {
    let [memories, vectors, tokens] = ["memories", "vectors", "tokens"].map(|name| &answer["estimate"][name]);
    let cost = answer["cost"].as_f64().map_or_else(String::new, |cost| format!(", about {cost:.2} at the price given"));
    let model = shape::cell(&answer["model"]);
    output::line(&format!("{vectors} of {memories} memories have no vector of {model}: about {tokens} tokens{cost}"));
}

fn print_report(report: &Value) {
    output::line(&format!(
        "{} checked, {} computed",
        shape::count(report["seen"].as_u64().unwrap_or_default(), "memory"),
        shape::count(report["embedded"].as_u64().unwrap_or_default(), "vector")
    ));
    for (other, count) in report["dropped"].as_object().into_iter().flatten() {
        output::line(&format!("{count} vectors of {other} dropped"));
    }
}
