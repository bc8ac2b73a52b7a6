//! Are the right things named, and nothing else?

use super::super::{Mention, Speaker};
use super::mentions;
use loci_types::EntityType;

fn show(mentions: &[Mention]) -> String {
    let one = |mention: &Mention| {
        let aliases = if mention.aliases.is_empty() { String::new() } else { format!(" ({})", mention.aliases.join(", ")) };
        format!("{} {}{aliases}", mention.name, mention.entity_type)
    };
    mentions.iter().map(one).collect::<Vec<_>>().join("; ")
}

const ROWS: &[(&str, &str)] = &[
    ("I live in Porto", "Porto place"),
    ("I moved to Vilnius last year", "Vilnius place"),
    ("I moved to Xanadu last year", "Xanadu place"),
    ("I work at Acme", "Acme organization"),
    ("She joined Acme Corp", "Acme Corp organization"),
    ("I studied at Coimbra University", "Coimbra University organization"),
    ("my sister Marta is a nurse", "Marta person"),
    ("My boss, Linda, is away", "Linda person"),
    ("Marta works at Siemens", "Marta person; Siemens organization"),
    ("Bob is our SRE", "Bob person"),
    ("I met Robert Smith yesterday", "Robert Smith person"),
    ("Dr. Lee is my dentist", "Dr. Lee person"),
    ("Project Atlas uses Rust", "Project Atlas project; Rust tool"),
    ("the Atlas project is late", "Atlas project"),
    ("we deploy using Terraform", "Terraform tool"),
    ("it is written in Zig", "Zig tool"),
    ("we switched from Jira to Linear", "Jira tool; Linear tool"),
    ("our cluster runs on ARM64", "ARM64 tool"),
    ("we use postgres and Redis", "postgres tool; Redis tool"),
    ("see https://docs.example.org/page?x=1", "docs.example.org tool"),
    ("ask @bob about it", "@bob person"),
    ("Robert (everyone calls him Bob) lives in Rome", "Robert person (Bob); Rome place"),
    ("Robert, aka Bob, lives in Rome", "Robert person (Bob); Rome place"),
    ("Bob, i.e. Robert Smith, lives here", "Robert Smith person (Bob)"),
    ("We use Postgres, or PG for short", "Postgres tool (PG)"),
    ("we run k8s (Kubernetes) at work", "Kubernetes tool (k8s)"),
    ("The office closes at 6pm on Monday", ""),
    ("In March I was ill", ""),
    ("I am fine", ""),
    ("Deployments happen on Fridays", ""),
    ("Yesterday was nice", ""),
    ("Please fix the build", ""),
    ("it failed with ERR-7731", ""),
    ("nothing here", ""),
    ("", ""),
    ("I speak Portuguese", "Portuguese concept"),
    ("I love Radiohead", "Radiohead concept"),
    ("we have a dog named Rex", "Rex person"),
    ("I work for a startup called Nimbus", "Nimbus organization"),
    ("Carla's birthday is in June", "Carla person"),
    ("Моя сестра Марта работает в Siemens", "Марта person; Siemens organization"),
    ("Я живу в Порту", "Порту place"),
    ("Я говорил с Марией", "Мария person"),
    ("Мария любит чай", "Мария person"),
    ("Проект Атлас использует Rust", "Проект Атлас project; Rust tool"),
    ("Привет! Как дела", ""),
];

#[test]
fn things_are_found_by_name() {
    assert!(ROWS.len() >= 40);
    let wrong: Vec<String> = ROWS
        .iter()
        .map(|(text, expect)| (text, expect, show(&mentions(text, Speaker::User(None), &[]))))
        .filter(|(_, expect, found)| **expect != found)
        .map(|(text, expect, found)| format!("{text}\n  want {expect}\n  have {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_known_is_found_in_any_spelling() {
    let known = [Mention { name: "Robert Smith".into(), entity_type: EntityType::Person, aliases: vec!["Bob".into()] }];
    for text in ["bob is here", "I met robert smith", "Bob's car"] {
        assert_eq!(show(&mentions(text, Speaker::Assistant, &known)), "Robert Smith person (Bob)", "{text}");
    }
    assert_eq!(show(&mentions("I like tea", Speaker::User(Some("Ana")), &[])), "Ana person");
    assert_eq!(show(&mentions("tea is nice", Speaker::Named("Ana"), &[])), "");
}
