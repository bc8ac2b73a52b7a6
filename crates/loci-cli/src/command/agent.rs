//! `loci agent`: agents, each with its own memory.

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_types::Error;
use serde_json::{Value, json};

use super::print_page;
use crate::api::Call;
use crate::arguments::PageFlags;
use crate::context::{Context, Model};
use crate::{output, shape};

/// What to do with agents.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci agent create helper
  loci agent create helper --settings '{\"limit\": 5, \"categories\": [\"work\"]}'
  loci agent list
  loci agent drop helper --yes

Settings: `weights` {similarity, recency, utility} that sum to 1, `limit`, `threshold`, and `categories`, the only ones \
that the agent may see. Writing the first memory with --agent also registers an agent.")]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    command: AgentCommand,
}

#[derive(Debug, Subcommand)]
enum AgentCommand {
    /// Register an agent, or replace the settings of a registered one
    Create {
        /// Id of the agent, a URL-safe name
        slug: String,
        /// Settings, a JSON object
        #[arg(long, value_name = "JSON")]
        settings: Option<String>,
    },
    /// List agents, by id
    List {
        #[command(flatten)]
        page: PageFlags,
    },
    /// Remove an agent with everything in its memory
    Drop {
        /// Id of the agent
        slug: String,
        /// Confirm
        #[arg(short, long)]
        yes: bool,
    },
}

/// Runs the command.
pub(crate) async fn run(context: &Context, args: AgentArgs) -> Result<()> {
    match args.command {
        AgentCommand::Create { slug, settings } => create(context, &slug, settings.as_deref()).await,
        AgentCommand::List { page } => {
            let api = context.api(Model::Skip).await?;
            let answer = api.call(page.of(Call::get(&["v1", "agents"]))).await?;
            let row = |agent: &Value| {
                vec![shape::cell(&agent["agentId"]), shape::time(&agent["createdAt"]), agent["settings"].to_string()]
            };
            let empty = "No agents. `loci agent create NAME` registers one.";
            print_page(context, &answer, &["agent", "created", "settings"], row, empty);
            Ok(())
        }
        AgentCommand::Drop { slug, yes } => {
            context.confirm(&format!("removes the agent `{slug}` with everything in its memory"), yes)?;
            let api = context.api(Model::Skip).await?;
            api.call(Call::delete(&["v1", "agents", &slug])).await?;
            context.print(&json!({ "agentId": slug, "dropped": true }), |_| output::line(&format!("{slug} removed")));
            Ok(())
        }
    }
}

async fn create(context: &Context, slug: &str, settings: Option<&str>) -> Result<()> {
    let settings: Value = match settings {
        None => json!({}),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Error::invalid("settings", format!("the settings are not JSON: {error}")))?,
    };
    let call = Call::post(&["v1", "agents"]).field("agentId", slug).field("settings", settings);
    let answer = context.api(Model::Skip).await?.call(call).await?;
    context.print(&answer, |answer| {
        let done = if answer["event"] == "ADD" { "registered" } else { "changed" };
        output::line(&format!("{slug} {done}"));
    });
    Ok(())
}
