//! Events are printed one per line, and operations are counted.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::bad::check;
use crate::run::Home;

/// The lines of a run that must succeed.
fn lines(home: &Home, args: &[&str]) -> Vec<Value> {
    let run = home.run(&[&["--json"], args].concat());
    assert_eq!(run.code, 0, "{args:?}: {run:?}");
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn events_continue_after_a_cursor() {
    let home = Home::new();
    assert_eq!(lines(&home, &["events", "--everyone"]), [Value::Null; 0]);
    let ann = home.remember(&["--user=ann", "The lamp is green"]);
    let own = home.remember(&["--user=ann", "--agent=bot", "The door squeaks"]);
    home.json(&["forget", &ann, "--user=ann"]);
    assert_eq!(lines(&home, &["events"]), [Value::Null; 0], "the default scope is the user `me`");
    let all = lines(&home, &["events", "--everyone"]);
    let events: Vec<_> = all.iter().map(|line| (line["event"].as_str().unwrap(), line["memoryId"].as_str())).collect();
    assert_eq!(events, [("ADD", Some(ann.as_str())), ("ADD", Some(own.as_str())), ("DELETE", Some(ann.as_str()))]);
    assert_eq!((&all[1]["content"], &all[1]["layer"]), (&json!("The door squeaks"), &json!("agent")));
    assert_eq!(all[0]["content"], Value::Null, "the content of a deleted memory is not sent");
    for (place, line) in all.iter().enumerate() {
        let since = line["cursor"].as_str().unwrap();
        assert_eq!(lines(&home, &["events", "--everyone", "--after", since]), all[place + 1..], "{since}");
    }
    assert_eq!(lines(&home, &["events", "--everyone", "--limit=2"]), all[..2]);
    assert_eq!(lines(&home, &["events", "--everyone", "--event=DELETE"]).len(), 1);
    assert_eq!(lines(&home, &["events", "--user=ben"]), [Value::Null; 0]);
    assert_eq!(lines(&home, &["events", "--everyone", "--after=now"]), [Value::Null; 0]);
    let run = home.run(&["events", "--everyone", "--memory", &own]);
    assert!(run.out.contains("ADD") && run.out.contains("The door squeaks") && run.out.contains(&own), "{run:?}");
    assert!(run.err.contains("--cursor all~agent_memory_bot.1"), "{run:?}");
    check(&home, &["events", "--after=yesterday"], "INVALID_INPUT", 20, "after");
    check(&home, &["events", "--event=explode"], "INVALID_INPUT", 20, "event");
    check(&home, &["events", "--limit=0"], "INVALID_INPUT", 20, "limit");
}

#[test]
fn a_follower_receives_events_of_other_processes() {
    let home = Home::new();
    home.remember(&["--user=ann", "The lamp is green"]);
    let mut child = home.command(&["--json", "events", "--everyone", "--follow", "--after=all"]).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&output.next().unwrap().unwrap()).unwrap();
    let first = next();
    assert_eq!(first["content"], "The lamp is green");
    let listed = lines(&home, &["events", "--everyone"]);
    assert_eq!(
        (&first, listed.len()),
        (&listed[0], 1),
        "a followed entry is that of the list, with the place after it"
    );
    // A new agent in another process.
    home.remember(&["--user=ann", "--agent=bot", "The door squeaks"]);
    assert_eq!(next()["content"], "The door squeaks");
    home.remember(&["--user=ann", "The roof leaks"]);
    assert_eq!(next()["content"], "The roof leaks");
    child.kill().unwrap();
    child.wait().unwrap();
}

// Coverage: S3-14.2.
#[test]
fn operations_are_counted() {
    let home = Home::new();
    let run = home.run(&["operations"]);
    assert!(run.code == 0 && run.out.contains("No changes between"), "{run:?}");
    let id = home.remember(&["--user=ann", "The lamp is green"]);
    home.remember(&["--user=ben", "The door squeaks"]);
    home.json(&["forget", &id, "--user=ann"]);
    let counts = home.json(&["operations", "--everyone", "--bucket=whole"]);
    let counts: Vec<_> =
        counts["data"].as_array().unwrap().iter().map(|one| (&one["node"], &one["event"], &one["count"])).collect();
    let hotpath = json!("hotpath");
    assert_eq!(counts, [(&hotpath, &json!("ADD"), &json!(2)), (&hotpath, &json!("DELETE"), &json!(1))]);
    assert_eq!(home.json(&["operations", "--user=ben"])["data"].as_array().unwrap().len(), 1);
    assert_eq!(home.json(&["operations", "--everyone", "--node=worker"])["data"], json!([]));
    assert_eq!(home.json(&["operations", "--everyone", "--event=DELETE"])["data"][0]["count"], 1);
    let run = home.run(&["operations", "--everyone", "--bucket=hour"]);
    assert!(["hour", "part", "direct", "DELETE"].iter().all(|word| run.out.contains(word)), "{run:?}");
    check(&home, &["operations", "--bucket=month"], "INVALID_INPUT", 20, "bucket");
    check(&home, &["operations", "--bucket=hour", "--after=2020-01-01"], "INVALID_INPUT", 20, "bucket");
    check(&home, &["operations", "--after=2999-01-01"], "INVALID_INPUT", 20, "after");
    check(&home, &["operations", "--after=soon"], "INVALID_INPUT", 20, "after");
    check(&home, &["operations", "--event=explode"], "INVALID_INPUT", 20, "event");
}
