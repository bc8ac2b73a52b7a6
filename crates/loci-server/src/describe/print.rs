//! Prints the description so that people can read it and compare versions: what fits on a line stands on one.

use serde_json::Value;

/// Maximum length of a line that holds a whole object or list, without its indentation.
const LINE: usize = 110;

/// The value as text with two spaces of indentation for each level.
pub(crate) fn print(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Value, level: usize, text: &mut String) {
    let line = value.to_string();
    let (open, close, parts): (_, _, Vec<(String, &Value)>) = match value {
        Value::Object(fields) if line.len() > LINE => {
            let key = |name: &String| format!("{}: ", Value::from(name.as_str()));
            ('{', '}', fields.iter().map(|(name, value)| (key(name), value)).collect())
        }
        Value::Array(items) if line.len() > LINE => {
            ('[', ']', items.iter().map(|item| (String::new(), item)).collect())
        }
        _ => return text.push_str(&line),
    };
    text.push(open);
    for (index, (key, value)) in parts.into_iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&"  ".repeat(level + 1));
        text.push_str(&key);
        write(value, level + 1, text);
    }
    text.push('\n');
    text.push_str(&"  ".repeat(level));
    text.push(close);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_printed_is_the_same_value() {
        let long = "x".repeat(LINE);
        let value = json!({ "short": { "a": [1, 2] }, "long": [{ "b\"": long }, null, []], "empty": {} });
        let text = print(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(text.contains("\n  \"short\": {\"a\":[1,2]}"), "{text}");
    }
}
