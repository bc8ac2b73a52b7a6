//! `loci reembed`: how do memories get vectors of another model?
//!
//! Vectors of both models stand side by side while they are made, so whoever asks with the old one finds as before.
//! The switch is a change of the settings; after it, vectors of the old model go.

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, Estimate, ReembedReport};
use serde_json::json;

use crate::context::Context;
use crate::output;
use crate::settings::{Provider, Settings};

/// Which model, and whether it is only counted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci reembed                                  # the model that is set
  loci reembed --dry-run --price 0.02           # what it would cost
  loci reembed --model ./models/multilingual    # beside the present one

Makes the vectors that were left for later, and those that another model made. It can be stopped at any time; the
next run goes on where it was. Servers go on meanwhile: vectors of both models stand side by side.

With --model the vectors are made beside those of the model that is set, which goes on answering. Then set the new
model (embeddings.folder or embeddings.model), restart the servers, and run `loci reembed --drop-others`: it makes what
came in between, and drops the vectors of every other model.")]
pub(crate) struct ReembedArgs {
    /// Another model than the one that is set: the folder of a local one, or the name at the endpoint
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only count what is to be done
    #[arg(long)]
    dry_run: bool,
    /// What a million tokens cost, for the estimate
    #[arg(long, value_name = "NUMBER")]
    price: Option<f64>,
    /// Drop the vectors of all other models once those of the model that is set are made
    #[arg(long, conflicts_with_all = ["model", "dry_run"])]
    drop_others: bool,
}

/// Gives every memory a vector of the model.
pub(crate) async fn run(context: &Context, args: &ReembedArgs) -> Result<()> {
    let settings = with_model(&context.settings, args.model.as_deref());
    let embedder = match &args.model {
        None => context.embedder().await?,
        Some(_) => crate::wiring::embedder(&settings, None).await?,
    };
    let clock = std::sync::Arc::new(loci_engine::System);
    let engine = crate::wiring::engine(&settings, &context.data()?, embedder, clock).await?;
    let operator = Caller::operator();
    let model = engine.embedding_model()?.to_owned();
    let estimate = engine.reembed_estimate(&operator).await?;
    if args.dry_run {
        match context.json {
            true => output::json(&json!({ "model": model, "estimate": estimate, "cost": cost(args, &estimate) })),
            false => tell_estimate(args, &model, &estimate),
        }
        return Ok(());
    }
    if !context.json {
        tell_estimate(args, &model, &estimate);
    }
    let bar = output::progress(0, "memories");
    let told = bar.clone();
    let progress = move |seen, total| {
        told.set_length(total);
        told.set_position(seen);
    };
    let done = match args.model {
        None => engine.reembed_all(&operator, args.drop_others, progress).await?,
        // Waiting jobs are for the model that is set.
        Some(_) => {
            let pass = engine.reembed(&operator, progress).await?;
            ReembedReport { seen: pass.seen, embedded: pass.embedded, ..ReembedReport::default() }
        }
    };
    bar.finish_and_clear();
    if context.json {
        output::json(&json!({
            "model": model, "estimate": estimate, "seen": done.seen, "embedded": done.embedded, "dropped": done.dropped,
        }));
        return Ok(());
    }
    output::line(&format!("{} memories looked at, {} vectors made", done.seen, done.embedded));
    for (other, count) in &done.dropped {
        output::line(&format!("{count} vectors of {other} dropped"));
    }
    if args.model.is_some() {
        output::note(&format!(
            "vectors of {model} stand beside the others now; set it as the model, restart what serves, and run \
             `loci reembed --drop-others`"
        ));
    }
    Ok(())
}

/// The settings with this model in place of the one that is set.
fn with_model(settings: &Settings, model: Option<&str>) -> Settings {
    let mut settings = settings.clone();
    match (model, settings.embeddings.provider) {
        (None, _) => {}
        (Some(name), Provider::Openai) => name.clone_into(&mut settings.embeddings.model),
        (Some(folder), Provider::Local | Provider::None) => {
            settings.embeddings.provider = Provider::Local;
            settings.embeddings.folder = Some(folder.into());
        }
    }
    settings
}

fn cost(args: &ReembedArgs, estimate: &Estimate) -> Option<f64> {
    args.price.map(|price| price * estimate.tokens as f64 / 1e6)
}

fn tell_estimate(args: &ReembedArgs, model: &str, estimate: &Estimate) {
    let cost = cost(args, estimate).map_or_else(String::new, |cost| format!(", about {cost:.2} at the price given"));
    output::line(&format!(
        "{} of {} memories have no vector of {model}: about {} tokens{cost}",
        estimate.vectors, estimate.memories, estimate.tokens
    ));
}
