//! Rules from the configuration: what is masked, and which agent may see which category.

use crate::bad::check;
use crate::run::Home;

#[test]
fn a_mask_is_reported_and_a_refusal_names_its_rule() {
    let home = Home::new();
    let rules = "[redaction]\nmask = [\"secret\", \"badge\"]\nrefuse = [\"iban\"]\n\
        [[redaction.patterns]]\nname = \"badge\"\nregex = \"B-[0-9]{4}\"\n";
    home.configure(rules);
    let text = "Ana has the badge B-1234 and password=hunter2";
    let receipt = home.json(&["remember", "--user=ana", text]);
    assert_eq!(receipt["redacted"], serde_json::json!(["badge", "secret"]));
    let person = home.run(&["remember", "--user=ana", text]);
    assert!(person.err.contains("masked: badge, secret") || person.out.contains("masked: badge, secret"), "{person:?}");
    let found = home.run(&["recall", "--user=ana", "badge"]);
    assert!(found.out.contains("[badge]") && !found.out.contains("1234"), "{found:?}");
    let refused = ["remember", "--user=ana", "pay to DE89 3704 0044 0532 0130 00"];
    let run = check(&home, &refused, "INVALID_INPUT", 20, "content");
    assert!(run.err.contains("`iban`") && !run.err.contains("3704"), "{run:?}");
    home.configure("[redaction]\nmask = [\"passport\"]\n");
    let wrong = home.run(&["config", "check"]);
    assert!(wrong.code == 19 && wrong.err.contains("passport"), "{wrong:?}");
}

// Coverage: S3-5.2.
#[test]
fn a_categories_file_keeps_an_agent_to_its_list() {
    let home = Home::new();
    home.configure("categories_file = \"categories.yaml\"\n");
    std::fs::write(home.configuration().with_file_name("categories.yaml"), "allowlists:\n  planner: [goals, tasks]\n")
        .unwrap();
    let planner = ["--user=ana", "--agent=planner"];
    let with = |args: &[&'static str]| [args, &planner[..]].concat();
    home.json(&with(&["remember", "--category=goals", "The goal is a boat"]));
    let refused = check(&home, &with(&["remember", "--category=tone", "x"]), "UNAUTHORIZED", 18, "categories");
    assert!(refused.err.contains("`tone`"), "{refused:?}");
    check(&home, &with(&["list", "--category=tone"]), "UNAUTHORIZED", 18, "categories");
    check(&home, &with(&["search", "--category=tone", "x"]), "UNAUTHORIZED", 18, "categories");
    assert_eq!(home.json(&with(&["list", "--category=goals"]))["data"].as_array().unwrap().len(), 1);
    std::fs::write(home.configuration().with_file_name("categories.yaml"), "allowlists:\n  planner: [gaols]\n")
        .unwrap();
    let wrong = home.run(&["config", "check"]);
    assert!(wrong.code == 19 && wrong.err.contains("gaols") && wrong.err.contains("categories.yaml"), "{wrong:?}");
}
