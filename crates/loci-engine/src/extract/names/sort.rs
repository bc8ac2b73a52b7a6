//! What sort of thing is a name, by what stands around it?

use loci_types::EntityType;

use super::super::lexicon::{self, within};
use super::super::word::{Shape, Word};

const COMPANY_ENDS: &[&str] = &[
    "corp",
    "inc",
    "ltd",
    "gmbh",
    "llc",
    "labs",
    "university",
    "institute",
    "bank",
    "foundation",
    "group",
    "co",
    "company",
    "corporation",
    "college",
    "school",
    "studios",
    "software",
    "systems",
];

/// What sort of thing a name is, by what stands around it; nothing: no name after all.
pub(super) fn sort(words: &[Word], place: usize, length: usize) -> Option<EntityType> {
    let run = &words[place..place + length];
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let before = place.checked_sub(1).map_or("", lower);
    let two_before = place.checked_sub(2).map_or("", lower);
    let after = lower(place + length);
    let first = run[0].lower.strip_suffix("'s").unwrap_or(&run[0].lower);
    let last = run[length - 1].lower.as_str();
    if first == "project" && length > 1 || before == "project" || after == "project" {
        return Some(EntityType::Project);
    }
    if within(lexicon::RELATIONS, before)
        || matches!(first.trim_end_matches('.'), "dr" | "mr" | "mrs" | "ms" | "prof")
        || within(lexicon::ROLES, before) && before != "head"
    {
        return Some(EntityType::Person);
    }
    if COMPANY_ENDS.contains(&last) && length > 1 {
        return Some(EntityType::Organization);
    }
    let acts = matches!(
        after,
        "works"
            | "lives"
            | "likes"
            | "loves"
            | "hates"
            | "prefers"
            | "said"
            | "says"
            | "told"
            | "thinks"
            | "wants"
            | "asked"
            | "went"
            | "married"
            | "knows"
            | "enjoys"
            | "moved"
            | "joined"
            | "approves"
            | "manages"
            | "leads"
            | "left"
            | "speaks"
            | "teaches"
            | "studies"
            | "got"
            | "called"
            | "plays"
            | "handles"
            | "reviews"
            | "sent"
            | "wrote"
            | "owns"
            | "started"
            | "quit"
    ) || after == "is" && words.get(place + length + 1).is_some_and(|next| next.shape == Shape::Number);
    if within(lexicon::PLACES, first) && acts && titled(run) {
        return Some(EntityType::Person);
    }
    if within(lexicon::PLACES, first) && length <= 2 && !matches!(before, "at" | "using" | "with") {
        return Some(EntityType::Place);
    }
    if length == 1 && within(lexicon::TRAITS, first) {
        return Some(EntityType::Concept);
    }
    let acronym = length == 1 && run[0].text.chars().all(|c| c.is_uppercase()) && !within(lexicon::TOOLS, first);
    if acronym
        && !matches!(before, "at" | "joined" | "left" | "using")
        && !(before == "for" && two_before.starts_with("work"))
    {
        return None;
    }
    if matches!(before, "в" | "во") && two_before.starts_with("работа") {
        return Some(EntityType::Organization);
    }
    if within(lexicon::TOOLS, first) || within(lexicon::TOOLS, last) || uses(words, place) {
        return Some(EntityType::Tool);
    }
    if matches!(before, "called" | "named") && place > 1 {
        let what = words[..place - 1].iter().rev().take(4).find_map(|word| match () {
            () if word.any(&["startup", "company", "firm", "agency", "band", "bank", "shop", "store", "school"]) => {
                Some(EntityType::Organization)
            }
            () if word.any(&["project", "app", "game"]) => Some(EntityType::Project),
            () if word.any(&["tool", "library", "service", "language", "framework", "network", "wifi", "branch"]) => {
                Some(EntityType::Tool)
            }
            () if word.any(&["town", "village", "city"]) => Some(EntityType::Place),
            () => None,
        });
        if what.is_some() {
            return what;
        }
    }
    let moved = before == "to"
        && matches!(
            two_before,
            "moved"
                | "move"
                | "moving"
                | "relocated"
                | "flying"
                | "fly"
                | "trip"
                | "went"
                | "going"
                | "travelled"
                | "traveled"
        );
    let dwells = words[..place].iter().rev().take(5).any(|word| word.any(DWELLING));
    let lives = before == "in"
        && dwells
        && !matches!(
            two_before,
            "written"
                | "write"
                | "code"
                | "coded"
                | "built"
                | "program"
                | "programming"
                | "interested"
                | "believe"
                | "develop"
                | "wrote"
                | "rewrote"
        );
    let employed = matches!(before, "at" | "for")
        && matches!(
            two_before,
            "work"
                | "works"
                | "working"
                | "worked"
                | "job"
                | "employed"
                | "hired"
                | "started"
                | "engineer"
                | "developer"
                | "manager"
                | "nurse"
                | "intern"
        );
    let role = matches!(after, "is" | "was" | ",")
        && words
            .iter()
            .skip(place + length + 1)
            .take(6)
            .any(|word| within(lexicon::RELATIONS, &word.lower) || within(lexicon::ROLES, &word.lower));
    let company = before == "with"
        && matches!(
            two_before,
            "met"
                | "meet"
                | "meeting"
                | "work"
                | "works"
                | "working"
                | "talked"
                | "talk"
                | "spoke"
                | "speak"
                | "lunch"
                | "call"
                | "dinner"
                | "live"
                | "lives"
                | "chatted"
                | "coffee"
        )
        || before == "to"
            && matches!(
                two_before,
                "report" | "reports" | "married" | "engaged" | "talk" | "talked" | "spoke" | "speak" | "belongs"
            );
    let met = company
        || matches!(
            before,
            "met"
                | "meet"
                | "called"
                | "named"
                | "told"
                | "asked"
                | "and"
                | "am"
                | "hired"
                | "married"
                | "me"
                | "by"
                | "from"
                | "ask"
                | "ping"
                | "cc"
        ) && titled(run);
    let alias = matches!(after, "(" | ",") && titled(run) && place == 0;
    match () {
        () if moved || lives && titled(run) => Some(EntityType::Place),
        () if employed || matches!(before, "joined" | "left" | "leaving" | "joining" | "leave" | "join") => {
            Some(EntityType::Organization)
        }
        () if acts && titled(run) || role => Some(EntityType::Person),
        () if run[0].owner() && titled(run) => Some(EntityType::Person),
        () if before == "at" => Some(EntityType::Organization),
        () if before == "from"
            && two_before != "switched"
            && two_before != "migrated"
            && titled(run)
            && (place < 2 || matches!(two_before, "am" | "is" | "come" | "comes")) =>
        {
            Some(EntityType::Place)
        }
        () if before == "is"
            && matches!(
                two_before,
                "name"
                    | "manager"
                    | "boss"
                    | "wife"
                    | "husband"
                    | "sister"
                    | "brother"
                    | "lead"
                    | "cto"
                    | "ceo"
                    | "cfo"
                    | "sre"
                    | "pm"
                    | "owner"
                    | "doctor"
                    | "dentist"
                    | "friend"
            ) =>
        {
            Some(EntityType::Person)
        }
        () if met && titled(run) || alias => Some(EntityType::Person),
        () if run.iter().any(|word| word.text.contains(|c: char| c.is_ascii_digit()))
            || run[0].text.chars().skip(1).any(char::is_uppercase) =>
        {
            // "ERR-7731" is an identifier, "ARM64" a thing that is used.
            (!run[0].text.contains('-')).then_some(EntityType::Tool)
        }
        () => Some(EntityType::Concept),
    }
}

/// Words behind which "in" leads to a place.
const DWELLING: &[&str] = &[
    "live",
    "lives",
    "living",
    "lived",
    "based",
    "born",
    "grew",
    "house",
    "flat",
    "office",
    "apartment",
    "moved",
    "located",
    "stay",
    "staying",
    "arrived",
    "settled",
    "is",
    "am",
    "was",
    "are",
    "be",
    "hotel",
    "school",
    "bakery",
    "home",
    "restaurant",
    "studied",
    "conference",
    "team",
    "wedding",
    "met",
    "work",
    "works",
    "worked",
    "from",
    "been",
    "arrive",
    "village",
    "city",
];

/// One capital, then small letters, in every word.
pub(super) fn titled(run: &[Word]) -> bool {
    run.iter().all(|word| word.text.chars().skip(1).all(|c| !c.is_uppercase() && !c.is_ascii_digit()))
}

/// Whether a tool is named here: "using Terraform", "written in Rust".
pub(super) fn uses(words: &[Word], place: usize) -> bool {
    let lower = |steps: usize| place.checked_sub(steps).map_or("", |at| words[at].lower.as_str());
    matches!(
        lower(1),
        "using"
            | "use"
            | "uses"
            | "used"
            | "via"
            | "runs"
            | "installed"
            | "upgraded"
            | "prefers"
            | "learn"
            | "learning"
    ) || (matches!(lower(1), "in" | "with")
        && matches!(
            lower(2),
            "written"
                | "write"
                | "writes"
                | "built"
                | "code"
                | "coded"
                | "program"
                | "build"
                | "develop"
                | "rewrote"
                | "wrote"
                | "programming"
        ))
        || (matches!(lower(1), "to" | "from" | "with" | "over")
            && matches!(
                lower(2),
                "switched" | "migrated" | "switch" | "migrate" | "switching" | "migrating" | "go" | "went" | "stick"
            ))
        || (lower(1) == "on" && matches!(lower(2), "runs" | "deployed" | "hosted" | "run" | "running"))
}
