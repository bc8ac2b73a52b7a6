//! `loci reembed`: how do memories get vectors of the present model?

use anyhow::Result;
use clap::Args;
use loci_engine::Caller;
use loci_types::{Error, ErrorKind};

use crate::context::Context;
use crate::output;

/// Nothing to say.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci reembed

Makes the vectors that were left for later, and those that another model made. It can be stopped
at any time; the next run goes on where it was.")]
pub(crate) struct ReembedArgs {}

/// Gives every memory a vector of the present model.
pub(crate) async fn run(context: &Context, _: &ReembedArgs) -> Result<()> {
    let embedder = context.embedder().await?;
    if embedder.is_none() {
        return Err(Error::new(ErrorKind::Configuration, "there is no embedding model to make vectors with")
            .at("embeddings")
            .hint("run `make model`, set LOCI_MODEL_DIR, or set embeddings.provider")
            .into());
    }
    let clock = std::sync::Arc::new(loci_engine::System);
    let engine = crate::wiring::engine(&context.settings, &context.data()?, embedder, clock).await?;
    let operator = Caller::operator();
    let mut waiting = 0;
    loop {
        match engine.embed_waiting(&operator, 256).await? {
            0 => break,
            done => waiting += done as u64,
        }
    }
    let bar = output::progress(0, "memories");
    let told = bar.clone();
    let mut done = engine
        .reembed(&operator, move |seen, total| {
            told.set_length(total);
            told.set_position(seen);
        })
        .await?;
    bar.finish_and_clear();
    done.embedded += waiting;
    if context.json {
        output::json(&done);
    } else {
        output::line(&format!("{} memories looked at, {} vectors made", done.seen, done.embedded));
    }
    Ok(())
}
