//! `loci init`: where does it begin?

use anyhow::Result;
use clap::Args;
use loci_models::local::look;
use serde_json::json;

use crate::context::Context;
use crate::settings::Provider;
use crate::{output, wiring};

/// Nothing to say.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci init
  loci --data ./memory init

It is safe to run again: what is there stays.")]
pub(crate) struct InitArgs {}

/// Makes the data folder and tells what to do next.
pub(crate) async fn run(context: &Context, _: &InitArgs) -> Result<()> {
    let data = context.data()?;
    drop(context.engine().await?);
    let model = match context.settings.embeddings.provider {
        Provider::None => Err("switched off: only words are searched".to_owned()),
        Provider::Openai => Ok(context.settings.embeddings.model.clone()),
        Provider::Local => match look(&wiring::places(&context.settings)) {
            Ok(folder) => Ok(folder.display().to_string()),
            Err(error) => Err(format!("not there yet: {}", error.hint())),
        },
    };
    if context.json {
        let told = match &model {
            Ok(place) => json!({ "ready": true, "place": place }),
            Err(why) => json!({ "ready": false, "hint": why }),
        };
        output::json(&json!({ "data": data, "model": told }));
        return Ok(());
    }
    output::line(&format!("Data   {}", data.display()));
    output::line(&format!("Model  {}", model.unwrap_or_else(|why| why)));
    output::line("");
    output::line("Try:");
    output::line("  loci remember I prefer tea to coffee");
    output::line("  loci recall what do I like to drink");
    output::line("  loci list");
    Ok(())
}
