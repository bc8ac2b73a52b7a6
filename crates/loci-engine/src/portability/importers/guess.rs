//! Guesses the format of a file by its name and the field names of its first entry.

use super::SourceFormat;

/// The format of a file that is called so and begins so.
pub fn guess(name: &str, head: &[u8]) -> Option<SourceFormat> {
    let ends = |end: &str| name.to_lowercase().ends_with(end);
    if [".md", ".markdown", ".mdown"].into_iter().any(ends) {
        return Some(SourceFormat::Markdown);
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with(['{', '[']) {
        // Words that are no JSON are notes if their name says that they are text.
        return (ends(".txt") && !text.is_empty()).then_some(SourceFormat::Markdown);
    }
    let (outer, inner) = fields(text);
    let wrapped = ["results", "memories", "items", "conversations"];
    let listed = outer.len() <= 4 && outer.iter().any(|name| wrapped.contains(&name.as_str()));
    let names = if listed && !outer.iter().any(|name| name == "content" || name == "memory") { inner } else { outer };
    let has = |name: &str| names.iter().any(|known| known == name);
    if has("loci") {
        Some(SourceFormat::Loci)
    } else if has("chat_messages") {
        Some(SourceFormat::Claude)
    } else if has("mapping") {
        Some(SourceFormat::Chatgpt)
    } else if has("observations") && has("name") || has("relationType") {
        Some(SourceFormat::McpMemory)
    } else if (has("namespace") || has("prefix")) && has("key") && has("value") {
        Some(SourceFormat::Langgraph)
    } else if has("memory") {
        Some(SourceFormat::Mem0)
    } else if text.starts_with('{') && (has("content") || has("type")) {
        Some(SourceFormat::Loci)
    } else {
        None
    }
}

/// The names of the fields of the first object, and those of the objects right within it. The text may be cut short.
fn fields(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    let mut depth = 0_usize;
    let mut rest = text.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        match character {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            '"' => {
                let mut end = None;
                while let Some((place, character)) = rest.next() {
                    match character {
                        '\\' => drop(rest.next()),
                        '"' => {
                            end = Some(place);
                            break;
                        }
                        _ => {}
                    }
                }
                let Some(end) = end else { break };
                if text[end + 1..].trim_start().starts_with(':') {
                    let name = text[at + 1..end].to_owned();
                    match depth {
                        1 => outer.push(name),
                        2 => inner.push(name),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    (outer, inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name_and_its_fields() {
        use SourceFormat::*;
        for (name, head, expect) in [
            ("notes.MD", "", Some(Markdown)),
            ("notes.txt", "some words", Some(Markdown)),
            ("notes.txt", "", None),
            ("x", "some words", None),
            ("x.jsonl", "{\"loci\":\"export\",\"format\":1}", Some(Loci)),
            ("x.jsonl", "{\"content\":\"with \\\"mapping\\\": in it\"}", Some(Loci)),
            ("x.jsonl", "{\"content\":\"x\",\"metadata\":{\"mapping\":1,\"chat_messages\":2}}", Some(Loci)),
            ("x.jsonl", "{\"type\":\"memory\",\"id\":\"x\"}", Some(Loci)),
            ("x.json", "[{\"uuid\":\"x\",\"name\":\"n\",\"chat_messages\":[", Some(Claude)),
            ("x.json", "[ {\"title\":\"t\", \"create_time\":1, \"mapping\" : {\"a", Some(Chatgpt)),
            ("x.json", "{\"conversations\":[{\"title\":\"t\",\"mapping\":{", Some(Chatgpt)),
            (
                "x.json",
                "{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"p\",\"observations\":[]}\n",
                Some(McpMemory),
            ),
            ("x.json", "{\"type\":\"relation\",\"from\":\"A\",\"to\":\"B\",\"relationType\":\"r\"}", Some(McpMemory)),
            ("x.json", "{\"results\":[{\"id\":\"1\",\"memory\":\"m\"}]}", Some(Mem0)),
            ("x.json", "\u{feff}[{\"id\":\"1\",\"memory\":\"m\",\"user_id\":\"u\"}]", Some(Mem0)),
            ("x.json", "{\"memory\":\"m\"}\n", Some(Mem0)),
            ("x.json", "[{\"namespace\":[\"a\"],\"key\":\"k\",\"value\":{\"memory\":1}}]", Some(Langgraph)),
            ("x.json", "{\"a\":1}", None),
            ("x.json", "[1,2]", None),
            ("x.json", "[{\"never", None),
        ] {
            assert_eq!(guess(name, head.as_bytes()), expect, "{name} {head}");
        }
    }
}
