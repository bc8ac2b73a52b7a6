//! MCP with real clients, the Python client and the inspector, against the real binary.
//!
//! The clients are other people's programs and come from `make test-tools`. Without them the tests say that they were
//! skipped, or fail if `LOCI_TEST_REQUIRE` is set. The protocol itself is also tested here with messages written by hand.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::run::{Home, Run};
use crate::serve::Server;

/// The path of a client, if `make test-tools` has fetched it.
#[expect(clippy::disallowed_methods, reason = "a test reads where its clients lie")]
#[expect(clippy::print_stdout, reason = "what is skipped must be seen")]
fn tool(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.exists());
    if found.is_none() {
        let required = std::env::var_os("LOCI_TEST_REQUIRE").is_some_and(|value| !value.is_empty());
        assert!(!required, "{variable} names no client, and LOCI_TEST_REQUIRE asks for it");
        println!("SKIPPED: {variable} is not set; `make test` sets it");
    }
    found
}

/// Runs a script with the Python client.
fn python(script: &str, given: &Value) {
    let Some(python) = tool("LOCI_TEST_PYTHON") else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp");
    let output = Command::new(python).arg(folder.join(script)).arg(given.to_string()).output().unwrap();
    let run = Run::from(output);
    assert!(run.code == 0 && run.out.ends_with("ok\n"), "{script}: {}\n{}", run.out, run.err);
}

/// The command with which a client starts the server on the standard streams.
fn streams(home: &Home, args: &[&str], more: Value) -> Value {
    let command = home.command(args);
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    let variables = command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?.to_str()?)));
    let mut given = json!({ "command": words, "env": variables.collect::<std::collections::BTreeMap<_, _>>() });
    for (name, value) in more.as_object().into_iter().flatten() {
        given[name] = value.clone();
    }
    given
}

/// A home with a small token budget, so that answers are cut.
fn tight() -> Home {
    let home = Home::new();
    std::fs::write(home.path().join("loci.toml"), "[mcp]\nbudget_tokens = 1500\n").unwrap();
    let file = home.path().join("loci.toml").display().to_string();
    home.set("LOCI_CONFIG", file)
}

// Coverage: S1.31.
#[test]
fn every_tool_of_default_and_full_answers_on_the_streams() {
    for profile in ["default", "full"] {
        let home = tight();
        let more = json!({ "profile": profile, "budget": 1500, "version": "2026-07-28" });
        python("memory.py", &streams(&home, &["mcp", "--profile", profile, "--user=ann"], more));
    }
}

// Coverage: SPEC-8.11.
#[test]
fn older_clients_are_served() {
    let home = tight();
    let more = json!({ "profile": "default", "budget": 1500, "mode": "legacy", "version": "2025-11-25" });
    python("memory.py", &streams(&home, &["mcp", "--user=ann"], more));
}

// Coverage: SPEC-8.10.
#[test]
fn the_graph_is_that_of_the_official_server() {
    let home = Home::new();
    python("graph.py", &streams(&home, &["mcp", "--profile=graph"], json!({})));
    let server = Server::start(&home);
    // The standard streams and an open server have the same default user, so another user is named.
    python("graph.py", &json!({ "url": server.url("/mcp/graph?userId=bo") }));
    server.stop();
}

/// Creates a key for one user and returns its secret.
fn key(home: &Home, args: &[&str]) -> Value {
    let mut all = vec!["key", "create", "--name=test"];
    all.extend(args);
    home.json(&all)["data"]["secret"].clone()
}

// Coverage: S1.31.
#[test]
fn every_tool_answers_over_http_with_a_key() {
    let home = tight().locally();
    let ann = key(&home, &["--role=writer", "--user=ann"]);
    let server = Server::start(&home);
    let carl = key(&home, &["--role=writer", "--user=carl"]);
    for (path, key, profile, mode) in [("/mcp", &ann, "default", "auto"), ("/mcp/full", &carl, "full", "legacy")] {
        let given = json!({ "url": server.url(path), "key": key, "profile": profile, "budget": 1500, "mode": mode });
        python("memory.py", &given);
    }
    let keys = json!({
        "url": server.url("/mcp"),
        "writer": ann,
        "reader": key(&home, &["--role=reader", "--user=ann"]),
        "other": key(&home, &["--role=writer", "--user=bob"]),
        "admin": key(&home, &["--role=admin"]),
    });
    python("roles.py", &keys);
    server.stop();
}

// Coverage: SPEC-8.11.
#[test]
fn the_inspector_lists_and_calls() {
    let Some(inspector) = tool("LOCI_TEST_INSPECTOR") else { return };
    let home = Home::new();
    let command = home.command(&["mcp"]);
    let run = |more: &[&str]| {
        let mut node = Command::new("node");
        node.arg(&inspector).arg("--cli").args(["-e", "LOCI_EMBEDDINGS=none"]);
        node.arg(command.get_program()).args(command.get_args()).args(more);
        let run = Run::from(node.output().unwrap());
        assert_eq!(run.code, 0, "{run:?}");
        run.value()
    };
    assert_eq!(run(&["--method", "tools/list"])["tools"].as_array().unwrap().len(), 11);
    let fact = "fact=Ann keeps bees";
    let kept = run(&["--method", "tools/call", "--tool-name", "remember_fact", "--tool-arg", fact]);
    assert_eq!(kept["structuredContent"]["event"], "ADD");
    assert_eq!(run(&["--method", "resources/list"])["resources"].as_array().unwrap().len(), 3);
}

/// A client that writes the lines of the protocol itself.
struct Talk {
    child: Child,
    lines: BufReader<ChildStdout>,
    pipe: Option<ChildStdin>,
    next: u64,
}

impl Talk {
    fn start(home: &Home, args: &[&str]) -> Self {
        let mut child = home.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let (pipe, lines) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, lines, pipe, next: 0 }
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.pipe.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(answer["id"], self.next, "{answer}");
        answer
    }

    fn greet(&mut self, version: &str) -> Value {
        let who = json!({ "name": "hand", "version": "1" });
        let answer =
            self.ask("initialize", json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": who }));
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].clone()
    }

    /// Closes the input and checks that the server exits successfully and soon.
    fn hang_up(mut self) -> String {
        drop(self.pipe.take());
        self.ended()
    }

    fn ended(mut self) -> String {
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(20), "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let mut output = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut output).unwrap();
        output
    }
}

#[test]
fn greetings_do_not_wait_for_the_model() {
    let home = Home::with_model();
    let mut talk = Talk::start(&home, &["mcp"]);
    let start = Instant::now();
    let greeting = talk.greet("2025-06-18");
    let greeted = start.elapsed();
    assert_eq!(greeting["protocolVersion"], "2025-06-18");
    assert_eq!((&greeting["serverInfo"]["name"], greeting["instructions"].is_string()), (&json!("loci"), true));
    println!("greeted after {greeted:?}");
    // The limit is wide because the machine may be building at the same time; usually this takes 10 ms.
    assert!(greeted < Duration::from_secs(5), "{greeted:?}");
    let kept = talk.call("remember_fact", json!({ "fact": "My cat is called Minka" }));
    println!("first call after {:?}", start.elapsed());
    assert_eq!(kept["structuredContent"]["event"], "ADD");
    let found = talk.call("search_memory", json!({ "query": "name of the pet" }));
    assert_eq!(found["structuredContent"]["data"][0]["id"], kept["structuredContent"]["id"], "{found}");
    assert_eq!(talk.hang_up(), "");
}

#[test]
fn a_context_tells_its_conversation_what_changed_elsewhere() {
    let home = Home::new();
    let mut talk = Talk::start(&home, &["mcp", "--profile=full"]);
    talk.greet("2025-06-18");
    let seen = talk.call("get_context", json!({ "query": "tea", "thread_id": "t" }));
    talk.call("remember_fact", json!({ "fact": "Ann drinks green tea" }));
    let revision = &seen["structuredContent"]["revision"];
    let answer = talk.call("get_context", json!({ "query": "tea", "after_revision": revision, "thread_id": "t" }));
    let text = answer["structuredContent"]["text"].as_str().unwrap();
    assert!(text.starts_with("The following are stored memories") && text.ends_with("</memories>"), "{answer}");
    assert!(text.contains("\nMemory updates since rev") && text.contains("Ann drinks green tea"), "{answer}");
    talk.hang_up();
}

// Coverage: SPEC-8.11.
#[test]
fn every_version_of_the_protocol_is_known() {
    let home = Home::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut talk = Talk::start(&home, &["mcp"]);
        assert_eq!(talk.greet(version)["protocolVersion"], version);
        assert_eq!(talk.call("memory_stats", json!({}))["isError"], false, "{version}");
        talk.hang_up();
    }
    // Newer clients send the version and capabilities with each request.
    let mut talk = Talk::start(&home, &["mcp"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "hand", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answer = talk.ask("tools/call", json!({ "name": "memory_stats", "arguments": {}, "_meta": meta }));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    talk.hang_up();
}

#[test]
fn the_tools_of_the_default_profile_cost_few_tokens() {
    let home = Home::new();
    let mut talk = Talk::start(&home, &["mcp"]);
    talk.greet("2025-06-18");
    let listed = talk.ask("tools/list", json!({}))["result"].clone();
    let tokens = loci_engine::pack::tokens::count_tokens(&listed.to_string());
    println!("{tokens} tokens for {} tools", listed["tools"].as_array().unwrap().len());
    assert!(tokens <= 1_500, "{tokens} tokens: {listed:#}");
    talk.hang_up();
}

#[test]
fn a_short_id_is_good_for_the_memories_of_its_scope() {
    let home = Home::new();
    let kept = home.json(&["remember", "Ann keeps bees", "--user=ann"]);
    let whole = kept["id"].as_str().unwrap().to_owned();
    let mut ann = Talk::start(&home, &["mcp", "--user=ann"]);
    ann.greet("2025-06-18");
    let found = ann.call("search_memory", json!({ "query": "bees" }));
    let short = found["structuredContent"]["data"][0]["id"].as_str().unwrap().to_owned();
    assert!(short.len() == 9 && found["content"][0]["text"].as_str().unwrap().contains(&short), "{found}");
    for given in [&short, &whole, &whole[24..30], &short[..6]] {
        let answer = ann.call("explain_fact", json!({ "memory_id": given }));
        assert_eq!(answer["structuredContent"]["memory"]["id"], short, "{given}: {answer}");
    }
    ann.hang_up();
    let mut bob = Talk::start(&home, &["mcp", "--user=bob"]);
    bob.greet("2025-06-18");
    for given in [&short, &whole] {
        let refused = bob.call("forget_memory", json!({ "memory_id": given }));
        assert_eq!(refused["structuredContent"]["code"], "MEMORY_NOT_FOUND", "{refused}");
    }
    bob.hang_up();
    // People use the same short ids on the command line.
    let listed = home.run(&["list", "--user=ann"]);
    assert!(listed.out.contains(&short) && !listed.out.contains(&whole), "{listed:?}");
    assert_eq!(home.json(&["get", &short, "--user=ann"])["id"], whole);
    assert_eq!(home.json(&["forget", &short, "--user=ann"])["event"], "DELETE");
    assert_eq!(home.json(&["restore", &short, "--user=ann"])["event"], "RESTORE");
    assert_eq!(home.run(&["get", &short, "--user=bob"]).code, 12);
}

#[test]
fn days_are_those_of_the_time_zone() {
    let home = Home::new();
    let file = home.path().join("loci.toml");
    std::fs::write(&file, "[retrieval]\ntime_zone = \"Pacific/Auckland\"\n").unwrap();
    let home = home.set("LOCI_CONFIG", file.display().to_string());
    let mut talk = Talk::start(&home, &["mcp", "--user=ann"]);
    talk.greet("2025-06-18");
    talk.call("remember_fact", json!({ "fact": "Ann opened the shop in Wellington", "event_time": "2026-06-15" }));
    let found = talk.call("search_memory", json!({ "query": "shop in Wellington" }));
    let hit = &found["structuredContent"]["data"][0];
    assert_eq!(hit["event_time"], "2026-06-15T00:00:00+12:00", "{found}");
    assert!(found["content"][0]["text"].as_str().unwrap().contains("(2026-06-15, id "), "{found}");
    talk.hang_up();
}

#[test]
fn it_ends_when_asked_and_when_nobody_spoke() {
    let home = Home::new();
    assert_eq!(Talk::start(&home, &["mcp"]).hang_up(), "");
    let mut talk = Talk::start(&home, &["mcp"]);
    talk.greet("2025-06-18");
    let killed = Command::new("kill").arg("-TERM").arg(talk.child.id().to_string()).status().unwrap();
    assert!(killed.success());
    assert_eq!(talk.ended(), "");
}

#[test]
fn the_scope_of_the_streams_is_that_of_the_flags() {
    let home = Home::new();
    let mut ann = Talk::start(&home, &["mcp", "--user=ann", "--agent=planner"]);
    ann.greet("2025-06-18");
    let kept = ann.call("remember_fact", json!({ "fact": "Ann keeps bees" }));
    let id = kept["structuredContent"]["id"].clone();
    let own = ann.call("memory_query", json!({ "query": "bees", "agent": "planner" }));
    assert_eq!(own["structuredContent"]["data"][0]["id"], id, "{own}");
    let refused = ann.call("memory_query", json!({ "query": "bees", "agent": "spy" }));
    assert_eq!((&refused["isError"], &refused["structuredContent"]["code"]), (&json!(true), &json!("UNAUTHORIZED")));
    ann.hang_up();
    let mut bob = Talk::start(&home, &["mcp", "--user=bob", "--agent=planner"]);
    bob.greet("2025-06-18");
    let found = bob.call("search_memory", json!({ "query": "bees" }));
    assert_eq!(found["structuredContent"]["data"], json!([]));
    assert_eq!(bob.call("explain_fact", json!({ "memory_id": id }))["structuredContent"]["code"], "MEMORY_NOT_FOUND");
    bob.hang_up();
    assert_eq!(home.count(&["--user=ann", "--agent=planner"]), 1);
}

// Coverage: SPEC-8.10.
#[test]
fn a_file_of_the_official_server_is_taken_over() {
    let home = Home::new();
    let file = home.path().join("memory.json");
    let lines = [
        json!({ "type": "entity", "name": "Ann", "entityType": "person", "observations": ["likes tea"] }),
        json!({ "type": "relation", "from": "Ann", "to": "Atlas", "relationType": "works on" }),
    ];
    std::fs::write(&file, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let path = file.display().to_string();
    let args = ["mcp", "--profile=graph", "--import", &path];
    for expect in ["Imported 1 entities, 1 observations and 1 relations", "Imported 0 entities, 0 observations"] {
        let mut talk = Talk::start(&home, &args);
        talk.greet("2025-06-18");
        let graph = talk.call("read_graph", json!({}));
        assert_eq!(graph["structuredContent"]["entities"][0]["observations"], json!(["likes tea"]), "{graph}");
        assert!(talk.hang_up().contains(expect));
    }
    std::fs::write(&file, "{\"type\":\"entity\"}\n").unwrap();
    let run = home.run(&["--json", "mcp", "--import", &path]);
    assert_eq!((run.code, run.out.as_str()), (20, ""), "{run:?}");
    assert!(run.problem()["message"].as_str().unwrap().contains("line 1"), "{run:?}");
    for (args, field) in [(["mcp", "--profile=most"], "profile"), (["mcp", "--import=absent.json"], "import")] {
        let run = home.run(&[&["--json"], &args[..]].concat());
        assert_eq!(run.problem()["details"]["field"], field, "{run:?}");
    }
}
