//! `loci pool`: pools that share memories between agents.

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_types::{Identifiers, RequestScope};
use serde_json::{Value, json};

use super::{print_page, print_write, recall};
use crate::api::Call;
use crate::arguments::PageFlags;
use crate::context::{Context, Model};
use crate::details::Details;
use crate::{output, shape};

/// What to do with pools.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci pool create technical-docs --member researcher --member coder
  loci pool contribute technical-docs --agent researcher 'WebGPU requires WGSL shaders, not GLSL'
  loci pool contribute technical-docs --agent researcher --user ann --memory 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
  loci pool query technical-docs --agent coder how do shaders work in WebGPU
  loci pool sync technical-docs --agent coder --user ann
  loci pool leave technical-docs researcher
  loci pool drop technical-docs --yes

Only members see a pool. Other commands use a pool with --pool NAME --agent MEMBER. What an agent contributed stays in \
the pool when it leaves; what it has synced stays with the agent.")]
pub(crate) struct PoolArgs {
    #[command(subcommand)]
    command: PoolCommand,
}

#[derive(Debug, Subcommand)]
enum PoolCommand {
    /// Create a pool with its first members
    Create {
        /// Id of the pool, a URL-safe name
        slug: String,
        /// Display name
        #[arg(long)]
        name: Option<String>,
        /// Agent that becomes a member; may be repeated
        #[arg(long, value_name = "AGENT")]
        member: Vec<String>,
    },
    /// List pools, by id
    List {
        /// Only pools that this agent is a member of
        #[arg(short, long, value_name = "SLUG")]
        agent: Option<String>,
        #[command(flatten)]
        page: PageFlags,
    },
    /// Show a pool and its members
    Show {
        /// Id of the pool
        slug: String,
        /// Agent that asks, which must be a member [default: the operator]
        #[arg(short, long, value_name = "SLUG")]
        agent: Option<String>,
    },
    /// Add agents to a pool
    Join {
        /// Id of the pool
        slug: String,
        /// Agents
        #[arg(required = true, value_name = "AGENT")]
        agents: Vec<String>,
    },
    /// Remove an agent from a pool
    Leave {
        /// Id of the pool
        slug: String,
        /// Agent
        agent: String,
    },
    /// Add a memory to a pool: a new one, or a copy of one that the agent has
    Contribute(Box<ContributeArgs>),
    /// Find memories of a pool
    Query {
        /// Id of the pool
        slug: String,
        /// Question
        #[arg(required = true, value_name = "QUERY")]
        question: Vec<String>,
        /// Maximum number of results, at most 100 [default: 10]
        #[arg(short = 'n', long, value_name = "NUMBER")]
        limit: Option<usize>,
        /// Agent that asks, which must be a member [default: the operator]
        #[arg(short, long, value_name = "SLUG")]
        agent: Option<String>,
        /// Search by words only, without the embedding model
        #[arg(long, alias = "no-embed")]
        words_only: bool,
    },
    /// Copy the memories of a pool that an agent does not have into its own memory
    Sync {
        /// Id of the pool
        slug: String,
        /// Agent, which must be a member
        #[arg(short, long, value_name = "SLUG")]
        agent: String,
        /// User that the copies are about [default: the user `me`]
        #[arg(short, long, value_name = "NAME")]
        user: Option<String>,
        /// Compute the vectors later
        #[arg(long)]
        no_embed: bool,
    },
    /// Remove a pool with everything in it
    Drop {
        /// Id of the pool
        slug: String,
        /// Confirm
        #[arg(short, long)]
        yes: bool,
    },
}

/// What is contributed, and by whom.
#[derive(Debug, Args)]
struct ContributeArgs {
    /// Id of the pool
    slug: String,
    /// Text
    #[arg(value_name = "TEXT", required_unless_present = "memory")]
    text: Vec<String>,
    /// Memory of the agent that is copied
    #[arg(long, value_name = "ID", conflicts_with = "text")]
    memory: Option<String>,
    /// Agent that contributes, which must be a member [default: the operator]
    #[arg(short, long, value_name = "SLUG")]
    agent: Option<String>,
    /// User that the memory of the agent is about
    #[arg(short, long, value_name = "NAME")]
    user: Option<String>,
    /// Compute the vector later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    details: Details,
}

/// Runs the command.
pub(crate) async fn run(context: &Context, args: PoolArgs) -> Result<()> {
    match args.command {
        PoolCommand::Create { slug, name, member } => {
            let call = Call::post(&["v1", "pools"]).field("poolId", slug).field("name", name).field("agentIds", member);
            let answer = context.api(Model::Skip).await?.call(call).await?;
            context.print(&answer, |answer| print_pool(&answer["data"]));
        }
        PoolCommand::List { agent, page } => {
            let call = page.of(Call::get(&["v1", "pools"])).scope(&scope(agent, None));
            let answer = context.api(Model::Skip).await?.call(call).await?;
            let row = |pool: &Value| {
                vec![shape::cell(&pool["poolId"]), shape::cell(&pool["name"]), shape::time(&pool["createdAt"])]
            };
            let empty = "No pools. `loci pool create NAME --member AGENT` creates one.";
            print_page(context, &answer, &["pool", "name", "created"], row, empty);
        }
        PoolCommand::Show { slug, agent } => {
            let call = Call::get(&["v1", "pools", &slug]).scope(&scope(agent, None));
            let answer = context.api(Model::Skip).await?.call(call).await?;
            context.print(&answer, print_pool);
        }
        PoolCommand::Join { slug, agents } => {
            let call = Call::post(&["v1", "pools", &slug, "members"]).field("agentIds", agents);
            let answer = context.api(Model::Skip).await?.call(call).await?;
            context.print(&answer, |answer| print_pool(&answer["data"]));
        }
        PoolCommand::Leave { slug, agent } => {
            let call = Call::delete(&["v1", "pools", &slug, "members", &agent]);
            context.api(Model::Skip).await?.call(call).await?;
            let answer = json!({ "poolId": slug, "agentId": agent, "left": true });
            context.print(&answer, |_| output::line(&format!("{agent} left {slug}; its contributions stay")));
        }
        PoolCommand::Contribute(args) => contribute(context, *args).await?,
        PoolCommand::Query { slug, question, limit, agent, words_only } => {
            let mut scope = scope(agent, None);
            scope.identifiers.pool_id = Some(slug);
            query(context, &scope, &question.join(" "), limit, words_only).await?;
        }
        PoolCommand::Sync { slug, agent, user, no_embed } => {
            let user = user.or_else(|| context.default_user());
            let call = Call::post(&["v1", "pools", &slug, "sync"]).scope(&scope(Some(agent), user));
            sync(context, call, no_embed).await?;
        }
        PoolCommand::Drop { slug, yes } => {
            context.confirm(&format!("removes the pool `{slug}` with everything in it"), yes)?;
            context.api(Model::Skip).await?.call(Call::delete(&["v1", "pools", &slug])).await?;
            context.print(&json!({ "poolId": slug, "dropped": true }), |_| output::line(&format!("{slug} removed")));
        }
    }
    Ok(())
}

/// The identifiers of the agent that asks; without an agent it is the operator.
fn scope(agent: Option<String>, user: Option<String>) -> RequestScope {
    Identifiers { agent_id: agent, user_id: user, ..Identifiers::default() }.into()
}

async fn contribute(context: &Context, args: ContributeArgs) -> Result<()> {
    let call = Call::post(&["v1", "pools", &args.slug, "contributions"]).scope(&scope(args.agent, args.user));
    let call = match args.memory {
        Some(id) => call.field("memoryId", id),
        None => call.fields(args.details.fields()?).field("content", args.text.join(" ")),
    };
    let api = context.api(context.model_unless(args.no_embed)?).await?;
    print_write(context, &api.call(call).await?);
    api.close().await;
    Ok(())
}

async fn query(
    context: &Context,
    scope: &RequestScope,
    question: &str,
    limit: Option<usize>,
    words_only: bool,
) -> Result<()> {
    let api = context.api(if words_only { Model::Skip } else { Model::Load }).await?;
    let call = Call::post(&["v1", "recall"])
        .scope(scope)
        .field("query", question)
        .field("limit", limit)
        .field("strategy", words_only.then_some("lexical"))
        .field("filter", json!({ "layer": ["pool"] }));
    let answer = api.call(call).await?;
    recall::print(context, &answer)?;
    api.close().await;
    Ok(())
}

async fn sync(context: &Context, call: Call, no_embed: bool) -> Result<()> {
    let api = context.api(context.model_unless(no_embed)?).await?;
    let bar = output::spinner("copying memories");
    let answer = api.call(call).await;
    bar.finish_and_clear();
    context.print(&answer?, |synced| {
        let [pool, agent, created, updated, unchanged] =
            ["poolId", "agentId", "created", "updated", "unchanged"].map(|field| shape::cell(&synced[field]));
        output::line(&format!("{pool} → {agent}: {created} new, {updated} changed, {unchanged} unchanged"));
    });
    api.close().await;
    Ok(())
}

fn print_pool(pool: &Value) {
    let name = Some(&pool["name"]).filter(|name| **name != pool["poolId"]).map(shape::cell).unwrap_or_default();
    output::line(format!("{} {}", output::strong(&shape::cell(&pool["poolId"])), output::muted(&name)).trim_end());
    let members = pool["members"].as_array().into_iter().flatten();
    let rows: Vec<_> =
        members.map(|member| vec![shape::cell(&member["agentId"]), shape::time(&member["createdAt"])]).collect();
    if rows.is_empty() {
        output::line("No members. `loci pool join` adds agents.");
    } else {
        output::line(&shape::table(&["member", "joined"], rows));
    }
}
