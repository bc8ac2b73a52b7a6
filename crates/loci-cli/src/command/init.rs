//! `loci init`: creates the data folder and shows the first steps.

use anyhow::Result;
use clap::Args;
use loci_models::local::look;
use serde_json::json;

use crate::context::Context;
use crate::settings::{Provider, user_file};
use crate::{output, wiring};

/// No arguments.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci init
  loci --data ./memory init

It can be run again: existing data stays. It writes no configuration: every setting has a default, and a file of your own \
belongs into the place that it prints.")]
pub(crate) struct InitArgs {}

/// Creates the data folder and prints the first steps.
pub(crate) async fn run(context: &Context, _: &InitArgs) -> Result<()> {
    context.require_local("init")?;
    let data = context.data()?;
    drop(context.engine().await?);
    let model = match context.settings.embeddings.provider {
        Provider::None => Err("off; search is by words only".to_owned()),
        Provider::Openai | Provider::Cohere => Ok(context.settings.embeddings.model.clone()),
        Provider::Local => match look(&wiring::places(&context.settings)) {
            Ok(folder) => Ok(folder.display().to_string()),
            Err(error) => Err(format!("missing; {}", error.hint())),
        },
    };
    let status = match &model {
        Ok(place) => json!({ "ready": true, "place": place }),
        Err(reason) => json!({ "ready": false, "hint": reason }),
    };
    context.print(&json!({ "data": data, "model": status }), |_| {
        output::line(&format!("Data   {}", data.display()));
        output::line(&format!("Model  {}", model.unwrap_or_else(|reason| reason)));
        if let Some(file) = user_file() {
            let state = if file.exists() { "" } else { " (not there; the defaults apply)" };
            output::line(&format!("Config {}{state}", file.display()));
        }
        output::line("");
        output::line("First steps:");
        output::line("  loci remember I prefer tea to coffee");
        output::line("  loci recall what do I like to drink");
        output::line("  loci list");
    });
    Ok(())
}
