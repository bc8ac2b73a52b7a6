//! `loci agent`: which agents have a memory of their own?

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use loci_engine::Caller;
use loci_types::Error;
use serde_json::{Value, json};

use crate::context::Context;
use crate::{output, shape};

/// What to do with agents.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci agent create helper
  loci agent create helper --settings '{\"limit\": 5, \"categories\": [\"work\"]}'
  loci agent list
  loci agent drop helper --yes

Settings: weights {similarity, recency, utility} that sum to 1, limit, threshold, and categories: what
it may see at all. An agent is also made by the first memory that is written with --agent.")]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Register an agent, or give a known one other settings
    Create {
        /// Its URL-safe name
        slug: String,
        /// Its settings, a JSON object
        #[arg(long, value_name = "JSON")]
        settings: Option<String>,
    },
    /// List the agents
    List,
    /// Remove an agent with everything that it knows, for good
    Drop {
        /// Its name
        slug: String,
        /// Really
        #[arg(long)]
        yes: bool,
    },
}

/// Looks after agents.
pub(crate) async fn run(context: &Context, args: AgentArgs) -> Result<()> {
    let operator = Caller::operator();
    match args.verb {
        Verb::Create { slug, settings } => {
            let settings: Value = match settings {
                None => json!({}),
                Some(text) => serde_json::from_str(&text)
                    .map_err(|error| Error::invalid("settings", format!("the settings are not JSON: {error}")))?,
            };
            let new = context.engine().await?.create_agent(&operator, &slug, settings).await?;
            if context.json {
                output::json(&json!({ "agentId": slug, "created": new }));
            } else {
                output::line(&format!(
                    "{slug} {}",
                    if new { "created" } else { "was there; its settings are changed" }
                ));
            }
        }
        Verb::List => {
            let agents = context.engine().await?.agents(&operator).await?;
            if context.json {
                output::json(&json!({ "agents": agents }));
            } else if agents.is_empty() {
                output::line("No agents yet. `loci agent create NAME` makes one.");
            } else {
                let rows = agents.iter().map(|agent| {
                    vec![agent.agent_id.clone(), shape::instant(agent.created_at), agent.settings.to_string()]
                });
                output::line(&shape::table(&["agent", "since", "settings"], rows.collect()));
            }
        }
        Verb::Drop { slug, yes } => {
            if !yes {
                return Err(Error::invalid(
                    "yes",
                    format!("dropping `{slug}` removes everything that it knows, for good"),
                )
                .hint(format!("add --yes if you mean it: loci agent drop {slug} --yes"))
                .into());
            }
            context.engine().await?.drop_agent(&operator, &slug).await.context("nothing was dropped")?;
            if context.json {
                output::json(&json!({ "agentId": slug, "dropped": true }));
            } else {
                output::line(&format!("{slug} is gone, with everything that it knew"));
            }
        }
    }
    Ok(())
}
