//! Do statements fall into the right parts?

use super::*;

/// subject | attribute | value | flags: `1` single, `-` negated.
fn show(text: &str) -> String {
    claim_of(text).map_or_else(String::new, |claim| {
        let flags = format!("{}{}", if claim.single { "1" } else { "" }, if claim.negated { "-" } else { "" });
        format!("{}|{}|{}|{flags}", claim.subject, claim.attribute, claim.value)
    })
}

pub(crate) const CLAIMS: &[(&str, &str)] = &[
    ("User's cluster has 3 nodes", "user's cluster|count of node|3|1"),
    ("User's cluster has 5 nodes (scaled from 3 in Feb 2026)", "user's cluster|count of node|5|1"),
    ("The user's cluster has five nodes.", "user's cluster|count of node|5|1"),
    ("Ana lives in Porto", "ana|city|porto|1"),
    ("Ana moved to Lisbon", "ana|city|lisbon|1"),
    ("Ana moved to Lisbon in the week of 2026-05-25", "ana|city|lisbon|1"),
    ("Ana no longer lives in Porto", "ana|city|porto|1-"),
    ("Ana is based in New York", "ana|city|new york|1"),
    ("Ana lives in Lisbon, not Porto", "ana|city|lisbon|1"),
    ("Ana prefers tea over coffee", "ana|prefers of coffee and tea|tea|1"),
    ("Ana prefers coffee to tea", "ana|prefers of coffee and tea|coffee|1"),
    ("Ana prefers dark mode", "ana|prefers|dark mode|"),
    ("Ana likes tea", "ana|likes|tea|"),
    ("Ana loves tea", "ana|likes|tea|"),
    ("Ana does not like tea", "ana|likes|tea|-"),
    ("Ana no longer likes tea", "ana|likes|tea|-"),
    ("Ana hates tea", "ana|likes|tea|-"),
    ("Ana cannot stand olives", "ana|likes|olives|-"),
    ("The API port is 8080", "api|port|8080|1"),
    ("Project Atlas deadline is March 1", "project atlas|deadline|march 1|1"),
    ("The deadline for Project Atlas is March 1", "project atlas|deadline|march 1|1"),
    ("Project Atlas's deadline is March 1", "project atlas|deadline|march 1|1"),
    ("Ana works at Acme", "ana|employer|acme|1"),
    ("Ana reports to Lea", "ana|manager|lea|1"),
    ("The weekly sync is at 11:30", "weekly sync|time|11:30|1"),
    ("Staging Redis is on version 7", "staging redis|version|7|1"),
    ("Helix is Ana's favourite editor", "ana|favourite editor|helix|1"),
    ("Ana's team keeps backups for three weeks", "backup|retention|21 days|1"),
    ("Ana goes swimming on Saturdays", "ana|days of swim|saturday|1"),
    ("Ana has a vet appointment on 3 June 2026", "vet|appointment|3 june 2026|1"),
    ("Ana works at Acme as a nurse", "ana|employer|acme|1"),
    ("Ana joined Acme Corp", "ana|employer|acme corp|1"),
    ("Ana left Acme", "ana|employer|acme|1-"),
    ("Ana is allergic to peanuts", "ana|allergic to|peanuts|"),
    ("Use tabs for indentation", "indentation|use|tabs|1"),
    ("Use spaces for indentation", "indentation|use|spaces|1"),
    ("Always use tabs for indentation", "indentation|use|tabs|1"),
    ("Never deploy on Fridays", "rule|deploy|on fridays|-"),
    ("Ana's favourite colour is green", "ana|favourite colour|green|1"),
    ("Ana's favorite color is red", "ana|favourite colour|red|1"),
    ("Preferred name is Ana", "user|name|ana|1"),
    ("User's preferred name is Ana", "user|name|ana|1"),
    ("I live in Porto", "user|city|porto|1"),
    ("Ana is 34 years old", "ana|age|34|1"),
    ("Ana is a nurse", "ana|job|nurse|1"),
    ("Ana has two kids", "ana|count of kid|2|1"),
    ("Ana has a dog", "ana|has|dog|"),
    ("Ana does not have a car", "ana|has|car|-"),
    ("Ana uses Rust for backends", "ana|uses for backends|rust|1"),
    ("Ana uses Rust", "ana|uses|rust|"),
    ("User's team switched from Jira to Linear", "user's team|uses|linear|"),
    ("User's team no longer uses Jira", "user's team|uses|jira|-"),
    ("Ana quit smoking", "ana|does|smoke|-"),
    ("Ana no longer smokes", "ana|does|smoke|-"),
    ("Ana's sister Marta works at Acme", "marta|employer|acme|1"),
    ("Marta is Ana's sister", "ana|sister|marta|"),
    ("Bob is Ana's manager", "ana|manager|bob|1"),
    ("Ana's manager is Alice", "ana|manager|alice|1"),
    ("User's email is ana@example.org", "user|email|ana@example.org|1"),
    ("User's team renamed Atlas to Zephyr", "atlas|name|zephyr|1"),
    ("Ana was born in Porto", "ana|birthplace|porto|1"),
    ("Ana was born on 12 June 1990", "ana|birthday|12 june 1990|1"),
    ("The office closes at 6pm", "office|closes at|6pm|1"),
    ("Ana speaks French", "ana|speaks|french|"),
    ("Ana wants to learn Japanese", "ana|goal|learn japanese|"),
    ("User wants the assistant to always answer in Portuguese", "user|language|portuguese|1"),
    ("User's cluster runs on ARM64", "user's cluster|runs on|arm64|"),
    ("Ana's wedding is on 12 June 2026", "ana|wedding|12 june 2026|1"),
    ("Does Ana live in Porto?", ""),
    ("", ""),
    ("Пользователь живёт в Лиссабоне", "пользователь|city|лиссабон|1"),
    ("Пользователь переехал в Лиссабон", "пользователь|city|лиссабон|1"),
    ("Пользователь любит чай", "пользователь|likes|ча|"),
    ("Пользователь не любит чай", "пользователь|likes|ча|-"),
    ("Пользователю нравится чай", "пользователь|likes|ча|"),
    ("Пользователю 34 года", "пользователь|age|34|1"),
    ("Имя пользователя — Ана", "пользователь|name|ана|1"),
    ("Пользователь больше не курит", "пользователь|does|кур|-"),
    ("У пользователя аллергия на орехи", "пользователь|allergic to|орех|"),
    ("Порт API — 8080", "api|port|8080|1"),
    ("Любимый цвет пользователя — зелёный", "пользователь|favourite цвет|зелен|1"),
];

#[test]
fn statements_are_taken_apart() {
    let wrong: Vec<String> = CLAIMS
        .iter()
        .filter(|(text, expect)| show(text) != *expect)
        .map(|(text, expect)| format!("{text}\n  want {expect}\n  have {}", show(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(CLAIMS.len() >= 40);
}

#[test]
fn some_claims_need_consent() {
    for (text, expect) in [
        ("User's preferred name is Ana", Some("name")),
        ("Ana lives in Porto", Some("city")),
        ("Ana's sister lives in Porto", None),
        ("User wants the assistant to always answer in Portuguese", Some("language")),
        ("Ana wants to learn Japanese", Some("goals")),
        ("Ana prefers short answers", Some("tone")),
        ("User's pronouns are she/her", Some("pronouns")),
        ("Ana likes tea", None),
        ("Ana no longer lives in Porto", None),
    ] {
        assert_eq!(claim_of(text).as_ref().and_then(consent_field), expect, "{text}");
    }
}
