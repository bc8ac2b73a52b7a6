//! Earlier names of commands, which keep working.
//!
//! The words of the command line are rewritten before they are parsed, so that the parser knows one name for each command.

use std::ffi::OsString;

/// Earlier names, and what they stand for now.
const ALIASES: &[(&str, &[&str])] = &[
    ("query", &["recall", "--pack"]),
    ("search", &["recall", "--strategy", "semantic"]),
    ("supersede", &["memory", "supersede"]),
    ("correct", &["memory", "correct"]),
    ("confirm", &["memory", "confirm"]),
    ("resolve", &["memory", "resolve"]),
    ("pin", &["memory", "pin"]),
    ("chain", &["memory", "chain"]),
    ("edges", &["memory", "links"]),
    ("explain", &["memory", "explain"]),
    ("weak", &["memory", "fading"]),
    ("summarize", &["session", "summarize"]),
    ("summarise", &["session", "summarize"]),
    ("stats", &["store", "stats"]),
    ("maintain", &["store", "maintain"]),
    ("jobs", &["store", "jobs"]),
    ("events", &["store", "events"]),
    ("operations", &["store", "operations"]),
    ("doctor", &["store", "doctor"]),
    ("migrate", &["store", "migrate"]),
    ("reembed", &["store", "reembed"]),
    ("vectors", &["store", "vectors"]),
    ("restore-backup", &["backup", "restore"]),
    ("erase", &["user", "erase"]),
    ("eval", &["dev", "eval"]),
    ("bench", &["dev", "bench"]),
];

/// Long global options that take a value, which is not the command.
const WITH_VALUE: &[&str] = &["--data", "--config", "--server", "--key", "--ca"];

/// The letters of the short ones.
const LETTERS_WITH_VALUE: &[u8] = b"dcsk";

/// Replaces an earlier name of a command by its present one.
pub(crate) fn resolve(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let Some(place) = command_place(&words) else { return words };
    if words[place] == "help" {
        words.remove(place);
        words.push("--help".into());
        return words;
    }
    if let Some((_, present)) = ALIASES.iter().find(|(earlier, _)| words[place] == **earlier) {
        words.splice(place..=place, present.iter().map(OsString::from));
    } else if words[place] == "backup" {
        name_backup_command(&mut words, place);
    }
    words
}

/// `loci backup FILE` made a backup; flags made it verify or repeat.
fn name_backup_command(words: &mut Vec<OsString>, place: usize) {
    let present = ["create", "verify", "schedule", "restore"];
    let Some(next) = next_word(words, place + 1) else { return };
    let asks_for_help = words[place + 1..].iter().any(|word| word == "--help" || word == "-h");
    if present.iter().any(|name| words[next] == **name) || asks_for_help {
        return;
    }
    let given = |flag: &str| words.iter().position(|word| word == flag);
    let file = words[next].to_string_lossy();
    // A word that is neither a command nor like a file is a misspelt command, for which no file is written.
    let is_file = file.contains(['.', '/', '\\']) || given("--since").is_some() || given("--base").is_some();
    let command = match (given("--verify"), given("--every")) {
        (Some(flag), _) => {
            words.remove(flag);
            "verify"
        }
        (None, Some(_)) => "schedule",
        (None, None) if is_file => "create",
        (None, None) => return,
    };
    words.insert(place + 1, command.into());
}

/// The name of the command as it was given, for errors.
pub(crate) fn command_name(words: &[OsString]) -> String {
    command_place(words).map_or_else(String::new, |place| words[place].to_string_lossy().into_owned())
}

/// The position of the command, which is the first word that is neither a global option nor its value.
fn command_place(words: &[OsString]) -> Option<usize> {
    next_word(words, 1)
}

/// The position of the first word from `place` on that is neither an option nor the value of a global option.
fn next_word(words: &[OsString], mut place: usize) -> Option<usize> {
    while let Some(word) = words.get(place).and_then(|word| word.to_str()) {
        match word {
            _ if takes_next_word(word) => place += 2,
            _ if word.len() > 1 && word.starts_with('-') => place += 1,
            _ => return Some(place),
        }
    }
    None
}

/// Whether the value of a global option is the next word: `--data DIR`, `-d DIR`, and in a cluster `-jd DIR`, but not
/// `-dDIR`.
fn takes_next_word(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default().as_bytes();
    let first_with_value = letters.iter().position(|letter| LETTERS_WITH_VALUE.contains(letter));
    WITH_VALUE.contains(&word) || first_with_value.is_some_and(|place| place + 1 == letters.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_names_are_rewritten_and_nothing_else() {
        for (given, expect) in [
            ("loci pin 7 --off", "loci memory pin 7 --off"),
            ("loci --data stats stats --json", "loci --data stats store stats --json"),
            ("loci --ca ca.pem stats", "loci --ca ca.pem store stats"),
            ("loci --data=x --json edges 7", "loci --data=x --json memory links 7"),
            ("loci remember pin", "loci remember pin"),
            ("loci memory pin 7", "loci memory pin 7"),
            ("loci query tea --limit 3", "loci recall --pack tea --limit 3"),
            ("loci backup a --since b", "loci backup create a --since b"),
            ("loci backup --verify a b --json", "loci backup verify a b --json"),
            ("loci backup dir --every 1s", "loci backup schedule dir --every 1s"),
            ("loci backup restore a", "loci backup restore a"),
            ("loci restore-backup a", "loci backup restore a"),
            ("loci backup --json create a", "loci backup --json create a"),
            ("loci backup -q create a", "loci backup -q create a"),
            ("loci backup -d dir verify a", "loci backup -d dir verify a"),
            ("loci backup -jd dir restore a", "loci backup -jd dir restore a"),
            ("loci backup --json ./a", "loci backup create --json ./a"),
            ("loci backup a.backup", "loci backup create a.backup"),
            ("loci backup creat", "loci backup creat"),
            ("loci backup --help", "loci backup --help"),
            ("loci backup", "loci backup"),
            ("loci -jd dir stats", "loci -jd dir store stats"),
            ("loci help recall", "loci recall --help"),
            ("loci help", "loci --help"),
            ("loci -qd dir chain X", "loci -qd dir memory chain X"),
            ("loci -ddir stats", "loci -ddir store stats"),
            ("loci", "loci"),
        ] {
            let read = resolve(given.split(' ').map(OsString::from));
            let read: Vec<_> = read.iter().map(|word| word.to_str().unwrap()).collect();
            assert_eq!(read.join(" "), expect);
        }
    }
}
