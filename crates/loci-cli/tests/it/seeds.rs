//! Worked examples of the schema and of the memory tiers, on the command line.

use std::collections::BTreeMap;

use loci_testkit::model_service::{DIMENSIONS, ModelService};
use serde_json::{Value, json};

use crate::run::Home;

/// The examples of the taxonomy, of the selection guidelines and of the kinds that were rejected.
const KINDS: [(&str, &str); 18] = [
    ("User's k8s cluster runs on ARM64 nodes.", "fact"),
    ("User prefers Terraform over Pulumi.", "preference"),
    ("Alice is the user's team lead. She approves production deployments.", "person"),
    ("Project Atlas uses Next.js 15, deploys to Vercel, deadline March 1.", "project"),
    ("Deployed v2.3.1 to staging on Feb 20. Smoke tests passed.", "task"),
    ("In our Feb 18 session, we debugged a memory leak in the worker pool.", "episodic"),
    ("Chose Kysely over Drizzle because Graphile Worker manages its own schema.", "decision"),
    ("I suggested using Alpine — user corrected: node:24-slim is required for Playwright compat.", "correction"),
    ("User's primary language is TypeScript.", "fact"),
    ("User prefers explicit error handling over try/catch.", "preference"),
    ("Bob is the SRE on call this week.", "person"),
    ("Project Cortex uses Fastify, Kysely, and Graphile Worker.", "project"),
    ("Migrated database from v16 to v17 on Feb 20.", "task"),
    ("In our Feb 18 session, the user was debugging OOM kills.", "episodic"),
    ("Decided to use per-agent Qdrant collections for isolation.", "decision"),
    ("I suggested port 8080 — correct port is 4000.", "correction"),
    ("user gets frustrated with verbose output", "preference"),
    ("user was stressed about the deadline in our Feb 18 session", "episodic"),
];

// Coverage: S0-2.2.
#[test]
fn each_sentence_of_the_schema_gets_its_kind() {
    let home = Home::local();
    let lines: String = KINDS.iter().map(|(text, _)| format!("{text}\n")).collect();
    let run = home.feed(&["remember", "-", "--as-is", "--user", "ana"], lines.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let listed = home.json(&["list", "--user", "ana", "--limit", "50"]);
    let kinds: BTreeMap<&str, &str> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| (memory["content"].as_str().unwrap(), memory["kind"].as_str().unwrap()))
        .collect();
    for (text, kind) in KINDS {
        assert_eq!(kinds.get(text), Some(&kind), "{text}");
    }
}

// Coverage: S4.2.
#[test]
fn a_skill_is_stored_listed_and_found_as_procedural() {
    let home = Home::local();
    home.remember(&["Build with make, then run the smoke tests", "--kind", "skill", "--user", "ana"]);
    for kind in ["skill", "procedural"] {
        let listed = home.json(&["list", "--user", "ana", "--kind", kind]);
        assert_eq!(listed["data"][0]["kind"], "procedural", "{kind}");
        let found = home.json(&["recall", "smoke tests", "--user", "ana", "--kind", kind]);
        assert_eq!(found["data"].as_array().unwrap().len(), 1, "{kind}");
    }
}

// Coverage: S0.4.
#[tokio::test(flavor = "multi_thread")]
async fn many_lines_are_embedded_a_hundred_at_a_time() {
    let service = ModelService::start().await;
    let home = Home::local();
    let home = home.set("LOCI_EMBEDDINGS", "openai");
    home.configure(&format!(
        "[embeddings]\nbase_url = \"http://{}\"\ndimensions = {DIMENSIONS}\ndeadline_ms = 20000\n",
        service.address()
    ));
    let lines: String =
        (0..120).map(|number| format!("The gateway number {number} listens on port {number}.\n")).collect();
    let run = home.feed(&["--json", "remember", "-", "--user", "ana"], lines.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let receipts: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(receipts.len(), 120);
    // Each line is answered as a memory that is stored alone.
    for (number, receipt) in receipts.iter().enumerate() {
        assert_eq!((&receipt["event"], &receipt["embeddingGenerated"]), (&json!("ADD"), &json!(true)), "{receipt}");
        let content = receipt["data"]["content"].as_str().unwrap();
        assert!(content.contains(&format!("number {number} ")), "{number}: {receipt}");
    }
    assert!(service.requests() <= 3, "{} requests for 120 lines", service.requests());
}

// Coverage: S4.4.
#[test]
fn the_settings_of_the_tiers_are_known_and_those_without_a_value_are_listed() {
    let home = Home::local().set("LOCI_EMBEDDINGS", "cohere");
    home.configure(
        "[retrieval]\nstrategy = \"importance\"\nscore_threshold = 0.3\n\
         [lifecycle]\nretention_days = 90\ncompaction_enabled = false\n[postgres]\npool_size = 10\n",
    );
    let answer = home.json(&["config", "check"]);
    let settings = &answer["settings"];
    assert_eq!(settings["embeddings"]["base_url"], "https://api.cohere.com/v2");
    assert_eq!(settings["embeddings"]["model"], "embed-v4.0");
    assert_eq!(
        (&settings["retrieval"]["strategy"], &settings["postgres"]["connections"]),
        (&json!("importance"), &json!(10))
    );
    assert_eq!(
        (&settings["lifecycle"]["retention_days"], &settings["lifecycle"]["compaction_enabled"]),
        (&json!(90), &json!(false))
    );
    assert!(answer["sources"]["postgres.connections"].as_str().unwrap().ends_with(".toml"), "{answer}");
    let shown = home.run(&["config", "check"]).out;
    let unset: Vec<&str> = shown.lines().skip_while(|line| *line != "# Settings without a value:").collect();
    for key in ["embeddings.dimensions", "lifecycle.max_memories_per_user", "retrieval.threshold"] {
        assert!(unset.contains(&&*format!("#   {key}")), "{key}: {unset:?}");
    }
    let home = home.set("LOCI_EMBEDDINGS", "none");
    home.configure("[retrieval]\nstrategy = \"semantic\"\n");
    let refused = home.run(&["--json", "config", "check"]);
    assert_eq!(
        (refused.code, &refused.problem()["details"]["field"]),
        (19, &json!("retrieval.strategy")),
        "{refused:?}"
    );
}
