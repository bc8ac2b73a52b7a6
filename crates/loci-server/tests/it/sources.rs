//! What the description cannot show, read from the sources: a schema name that two types use, and optional fields of
//! answers of which it is not said whether they may be null.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A type that is published as a schema.
struct Published {
    name: String,
    place: String,
    /// Whether it is only written, never read: an answer.
    answer: bool,
    /// The lines of its body.
    body: Vec<String>,
}

fn published() -> Vec<Published> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for part in ["loci-types", "loci-engine", "loci-server"] {
        collect(&crates.join(part).join("src"), &mut files);
    }
    let found: Vec<_> = files.iter().flat_map(|file| types(file)).collect();
    assert!(found.len() > 100, "the sources are read wrongly: {} types", found.len());
    found
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The types of a file that derive `ToSchema`. The sources are formatted, so lines tell enough.
fn types(file: &Path) -> Vec<Published> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (mut found, mut attributes) = (Vec::new(), String::new());
    for (index, line) in lines.iter().enumerate() {
        let start = line.trim_start();
        if start.starts_with("#[") || start.starts_with("///") || !attributes.is_empty() && !is_item(start) {
            attributes.push_str(start);
            if start.is_empty() {
                attributes.clear();
            }
            continue;
        }
        if is_item(start) && attributes.contains("ToSchema)") | attributes.contains("ToSchema,") {
            let mut words =
                start.split([' ', '<', '(', '{', ';']).skip_while(|word| !matches!(*word, "struct" | "enum"));
            let own = words.nth(1).unwrap_or_default();
            let renamed =
                attributes.split("as = ").nth(1).map(|rest| rest.split([')', ',']).next().unwrap_or_default().trim());
            let indent = line.len() - start.len();
            let end = |line: &&&str| line.len() - line.trim_start().len() > indent || line.is_empty();
            let body = lines[index + 1..].iter().take_while(end).map(|line| line.trim().to_owned()).collect();
            found.push(Published {
                name: renamed.unwrap_or(own).to_owned(),
                place: format!("{}:{}", file.display(), index + 1),
                answer: attributes.contains("Serialize") && !attributes.contains("Deserialize"),
                body,
            });
        }
        attributes.clear();
    }
    found
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ").trim_start_matches("pub ");
    line.starts_with("struct ") || line.starts_with("enum ")
}

// Coverage: SPEC-8.1.
/// Of two types with one name only one would be published, and the other's answers would be described wrongly.
#[test]
fn no_two_types_have_one_schema_name() {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    // Types that a macro makes are named where it is used.
    for one in published().into_iter().filter(|one| !one.name.starts_with('$')) {
        places.entry(one.name).or_default().push(one.place);
    }
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "give one of each a name of its own with #[schema(as = …)]: {places:#?}");
}

// Coverage: SPEC-8.1.
/// An `Option` in an answer is either left out or null when it is `None`: the type says which.
#[test]
fn optional_fields_of_answers_say_whether_they_are_left_out() {
    let mut unclear = Vec::new();
    for one in published().into_iter().filter(|one| one.answer) {
        let mut attributes = String::new();
        for line in &one.body {
            if line.starts_with("#[") {
                attributes.push_str(line);
            } else if !line.starts_with("///") {
                let optional = line.split_once(": ").is_some_and(|(_, sort)| sort.starts_with("Option<"));
                let said = ["skip_serializing", "required", "flatten", "serde(skip"]
                    .iter()
                    .any(|word| attributes.contains(word));
                if optional && !said {
                    unclear.push(format!("{} {line} ({})", one.name, one.place));
                }
                attributes.clear();
            }
        }
    }
    assert!(unclear.is_empty(), "add skip_serializing_if = \"Option::is_none\" or #[schema(required)]: {unclear:#?}");
}

#[test]
fn operations_are_counted_under_the_ids_of_the_description() {
    let description: serde_json::Value = serde_json::from_str(&loci_server::description()).unwrap();
    let operations =
        description["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
    let ids: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut counted = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for name in literals(&text, "run_operation(").chain(listed(&text)) {
            counted += 1;
            assert!(ids.contains(&name), "{}: `{name}` is not an operationId", file.display());
        }
    }
    assert!(counted > 80, "the sources are read wrongly: {counted}");
}

/// The first string literals on the lines that hold this.
fn literals<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    let calls = text.lines().filter_map(move |line| line.split_once(before));
    calls.filter_map(|(_, rest)| rest.split('"').nth(1)).filter(|name| name.chars().all(char::is_alphanumeric))
}

/// The names in the lists of operations by which times are counted.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    let lists = ["const WRITES:", "const SEARCHES:"].into_iter().filter_map(|list| text.split_once(list));
    lists.flat_map(|(_, rest)| rest.split(';').nth(1).unwrap_or_default().split('"').skip(1).step_by(2))
}
