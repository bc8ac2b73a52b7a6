//! `loci pool`: how do agents share what they know?

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use loci_engine::{Caller, NewPool, Pool, PoolDetails, PoolSync, RecallRequest};
use loci_server::{RecallAnswer, RecallCursor};
use loci_types::{Error, Identifiers, MemoryRef};
use serde_json::json;

use super::{print_learned, recall};
use crate::context::Context;
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

Only members see a pool. Every other command reaches it by --pool NAME --agent MEMBER. What an agent contributed
stays when it leaves, and so does what it has synced.")]
pub(crate) struct PoolArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a pool with its first members
    Create {
        /// Its URL-safe name
        slug: String,
        /// What people call it
        #[arg(long)]
        name: Option<String>,
        /// An agent that is in it from the start; may be repeated
        #[arg(long, value_name = "AGENT")]
        member: Vec<String>,
    },
    /// List the pools, or those that an agent is in
    List {
        /// The agent
        #[arg(long, value_name = "SLUG")]
        agent: Option<String>,
    },
    /// Show who is in a pool
    Show {
        /// The pool
        slug: String,
        /// As this agent sees it
        #[arg(long, value_name = "SLUG")]
        agent: Option<String>,
    },
    /// Let agents into a pool
    Join {
        /// The pool
        slug: String,
        /// The agents
        #[arg(required = true, value_name = "AGENT")]
        agents: Vec<String>,
    },
    /// Take an agent out of a pool
    Leave {
        /// The pool
        slug: String,
        /// The agent
        agent: String,
    },
    /// Add something to a pool, or a copy of a memory that the agent has
    Contribute(Box<Contribute>),
    /// Ask a pool, and nothing else
    Query {
        /// The pool
        slug: String,
        /// The question
        #[arg(required = true, value_name = "QUESTION")]
        question: Vec<String>,
        /// So many hits
        #[arg(long, value_name = "NUMBER")]
        limit: Option<usize>,
        /// The member that asks; without one, whoever runs the store
        #[arg(long, value_name = "SLUG")]
        agent: Option<String>,
        /// Search by words alone
        #[arg(long)]
        no_embed: bool,
    },
    /// Copy what an agent does not have yet of a pool into its own memory
    Sync {
        /// The pool
        slug: String,
        /// The member
        #[arg(long, value_name = "SLUG")]
        agent: String,
        /// The user whom the copies are about [default: the user of this machine]
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// Leave the vectors for later
        #[arg(long)]
        no_embed: bool,
    },
    /// Remove a pool with everything in it, for good
    Drop {
        /// Its name
        slug: String,
        /// Really
        #[arg(long)]
        yes: bool,
    },
}

/// What is contributed, and by whom.
#[derive(Debug, Args)]
struct Contribute {
    /// The pool
    slug: String,
    /// The text
    #[arg(value_name = "TEXT", required_unless_present = "memory")]
    text: Vec<String>,
    /// A memory that the agent has, of which a copy is contributed
    #[arg(long, value_name = "ID", conflicts_with = "text")]
    memory: Option<MemoryRef>,
    /// The member that contributes it; without one, whoever runs the store
    #[arg(long, value_name = "SLUG")]
    agent: Option<String>,
    /// The user whom the agent knows it from
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Leave the vector for later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    details: Details,
}

/// Looks after pools, and uses them.
pub(crate) async fn run(context: &Context, args: PoolArgs) -> Result<()> {
    let operator = Caller::operator();
    match args.verb {
        Verb::Create { slug, name, member } => {
            let new = NewPool { pool_id: slug, name, agent_ids: member };
            show(context, &context.engine().await?.create_pool(&operator, new).await?);
        }
        Verb::List { agent } => {
            let caller = if agent.is_some() { within(None, agent, None) } else { operator };
            list(context, &context.engine().await?.pools(&caller).await?);
        }
        Verb::Show { slug, agent } => {
            show(context, &context.engine().await?.pool(&within(Some(slug), agent, None)).await?);
        }
        Verb::Join { slug, agents } => {
            let joined = context.engine().await?.join_pool(&operator, &slug, &agents).await?;
            if context.json {
                output::json(&json!({ "poolId": slug, "joined": joined }));
            } else {
                output::line(&format!("{joined} of {} are new in {slug}", agents.len()));
            }
        }
        Verb::Leave { slug, agent } => {
            let caller = within(Some(slug.clone()), None, None);
            context.engine().await?.leave_pool(&caller, &agent).await?;
            if context.json {
                output::json(&json!({ "poolId": slug, "agentId": agent, "left": true }));
            } else {
                output::line(&format!("{agent} has left {slug}; what it contributed stays"));
            }
        }
        Verb::Contribute(args) => contribute(context, *args).await?,
        Verb::Query { slug, question, limit, agent, no_embed } => {
            let caller = within(Some(slug), agent, None);
            let request = RecallRequest { query: question.join(" "), limit, ..RecallRequest::default() };
            query(context, &caller, request, no_embed).await?;
        }
        Verb::Sync { slug, agent, user, no_embed } => {
            let user = user.or_else(|| context.settings.user.clone()).unwrap_or_else(|| "me".to_owned());
            sync(context, &within(Some(slug), Some(agent), Some(user)), no_embed).await?;
        }
        Verb::Drop { slug, yes } => {
            if !yes {
                return Err(Error::invalid("yes", format!("dropping `{slug}` removes everything in it, for good"))
                    .hint(format!("add --yes if you mean it: loci pool drop {slug} --yes"))
                    .into());
            }
            context.engine().await?.drop_pool(&operator, &slug).await.context("nothing was dropped")?;
            if context.json {
                output::json(&json!({ "poolId": slug, "dropped": true }));
            } else {
                output::line(&format!("{slug} is gone, with everything in it"));
            }
        }
    }
    Ok(())
}

/// Who asks: an agent, or whoever runs the store.
fn within(pool: Option<String>, agent: Option<String>, user: Option<String>) -> Caller {
    let alone = agent.is_none() && user.is_none();
    let identifiers = Identifiers { agent_id: agent, user_id: user, pool_id: pool, ..Identifiers::default() };
    match alone {
        true => Caller { identifiers, ..Caller::operator() },
        false => Caller::new(identifiers),
    }
}

async fn contribute(context: &Context, args: Contribute) -> Result<()> {
    let caller = within(Some(args.slug), args.agent, args.user);
    let new = args.details.memory(args.text.join(" "))?;
    let engine = context.engine_with_model(args.no_embed, &caller).await?;
    let receipt = match &args.memory {
        Some(given) => engine.contribute_memory(&caller, engine.resolve_id(&caller, given).await?).await?,
        None => engine.contribute(&caller, new).await?,
    };
    print_learned(&receipt, context.json);
    Ok(())
}

async fn query(context: &Context, caller: &Caller, request: RecallRequest, no_embed: bool) -> Result<()> {
    let engine = context.engine_with_model(no_embed, caller).await?;
    let found = engine.query_pool(caller, request).await?;
    if context.json {
        output::json(&RecallAnswer::new(found, false, &RecallCursor::default()));
    } else if found.hits.is_empty() {
        output::line("The pool knows nothing of that.");
    } else {
        recall::print_hits(&found, engine.now());
    }
    engine.flush().await;
    Ok(())
}

async fn sync(context: &Context, caller: &Caller, no_embed: bool) -> Result<()> {
    let engine = context.engine_with_model(no_embed, caller).await?;
    let bar = output::progress(0, "memories");
    let told = bar.clone();
    let synced = engine
        .sync_pool(caller, move |looked, total| {
            told.set_length(total);
            told.set_position(looked);
        })
        .await;
    bar.finish_and_clear();
    let synced = synced?;
    if context.json {
        output::json(&synced);
    } else {
        let PoolSync { pool_id, agent_id, created, updated, unchanged, .. } = synced;
        output::line(&format!("{pool_id} → {agent_id}: {created} new, {updated} changed, {unchanged} as they were"));
    }
    Ok(())
}

fn list(context: &Context, pools: &[Pool]) {
    if context.json {
        output::json(&json!({ "pools": pools }));
    } else if pools.is_empty() {
        output::line("No pools here. `loci pool create NAME --member AGENT` makes one.");
    } else {
        let row = |pool: &Pool| vec![pool.pool_id.clone(), pool.name.clone(), shape::instant(pool.created_at)];
        output::line(&shape::table(&["pool", "name", "since"], pools.iter().map(row).collect()));
    }
}

fn show(context: &Context, shown: &PoolDetails) {
    if context.json {
        return output::json(shown);
    }
    let PoolDetails { pool, members } = shown;
    output::line(&format!("{} {}", output::strong(&pool.pool_id), output::muted(&pool.name)));
    if members.is_empty() {
        output::line("Nobody is in it. `loci pool join` lets agents in.");
    } else {
        let rows = members.iter().map(|member| vec![member.agent_id.clone(), shape::instant(member.created_at)]);
        output::line(&shape::table(&["member", "since"], rows.collect()));
    }
}
