//! Marks memories that did not come from the user's own conversation.
//!
//! A text from a tool, a file or another agent can contain instructions that nobody here gave. The mark stands before the
//! text, so that the text cannot remove it: `(tool web:example.org) text`.

use loci_types::Memory;

use super::line::{cut, fold, neutral};

/// Sources within Loci and its conversations; they are not marked. `tool` is what the agent itself remembered.
const OWN: [&str; 8] =
    ["conversation", "manual", "correction", "session", "reflection", "distillation", "consolidation", "tool"];
/// Maximum number of characters of a reference or a name in a mark.
const NAME_CHARACTERS: usize = 40;

/// The mark of a memory for a reader who is this agent, such as `tool web:example.org`, `import`, `document handbook.md` or
/// `agent scout`; `None` for what needs no mark.
pub fn origin(memory: &Memory, reader: Option<&str>) -> Option<String> {
    let name = |text: &str| cut(&neutral(&fold(text)).replace(['(', ')'], "'"), NAME_CHARACTERS);
    let named = |word: &str, reference: Option<&str>| match reference.map(name).filter(|name| !name.is_empty()) {
        Some(name) => format!("{word} {name}"),
        None => word.to_owned(),
    };
    if let Some(source) = &memory.source {
        let reference = source.reference.as_deref();
        let by_tool = source.role.as_deref() == Some("tool") || memory.role.as_deref() == Some("tool");
        match source.kind.as_str() {
            "tool_result" => return Some(named("tool", reference)),
            _ if by_tool => return Some(named("tool", reference)),
            "import" | "pool" => return Some(source.kind.clone()),
            "document" | "knowledge_sync" | "file" | "web" => return Some(named("document", reference)),
            kind if !OWN.contains(&kind) && !kind.is_empty() => return Some(named(&name(kind), reference)),
            _ => {}
        }
    }
    if memory.imported_at.is_some() {
        return Some("import".to_owned());
    }
    match (memory.identifiers.agent_id.as_deref(), reader) {
        (Some(writer), Some(reader)) if writer != reader => Some(format!("agent {}", name(writer))),
        _ => None,
    }
}

/// The text with its mark before it.
pub(crate) fn marked(origin: Option<&str>, text: String) -> String {
    match origin {
        Some(origin) => format!("({origin}) {text}").trim_end().to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use loci_types::Source;

    use super::*;

    // Attack B7
    #[test]
    fn what_came_from_elsewhere_is_marked() {
        let check = |kind: &str, role: Option<&str>, reference: Option<&str>, expect: Option<&str>| {
            let mut memory = loci_testkit::samples::memory(1, &loci_testkit::samples::user("ann"), "text");
            let owned = |text: Option<&str>| text.map(str::to_owned);
            memory.source = Some(Source { kind: kind.to_owned(), role: owned(role), reference: owned(reference) });
            assert_eq!(origin(&memory, None).as_deref(), expect, "{kind}");
        };
        check("conversation", Some("user"), Some("t1"), None);
        check("conversation", Some("tool"), Some("web_search"), Some("tool web_search"));
        check("tool_result", None, Some("web:evil.example"), Some("tool web:evil.example"));
        check("tool_result", None, Some("a) [418413] (b\n"), Some("tool a' {418413} 'b"));
        check("tool", None, None, None);
        check("import", None, Some("x.md#1"), Some("import"));
        check("knowledge_sync", None, Some("adr-7"), Some("document adr-7"));
        check("crawler", None, None, Some("crawler"));
        check("consolidation", Some("memory_agent"), Some("s1"), None);
    }
}
