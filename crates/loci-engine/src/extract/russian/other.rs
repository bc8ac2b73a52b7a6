//! What do Russian speakers say of what is theirs, and of others?

use super::super::judge::Verdict;
use super::super::read::Draft;
use super::super::word::{Shape, Word, capitalised, join};
use super::clause::{About, Clause, is_dash};
use super::forms::{self, Case, own};
use super::lead::Lead;

/// What is talked about in passing, not remembered.
const TALK: &[&str] = &[
    "код",
    "погода",
    "вопрос",
    "проблема",
    "ошибка",
    "тест",
    "функция",
    "ответ",
    "мысль",
    "идея",
    "голова",
    "день",
    "настроение",
];

impl Clause<'_> {
    /// "Мою сестру зовут Марта".
    pub(super) fn called(&self) -> Option<Draft> {
        let called = self.words.iter().take(5).position(|word| word.is("зовут"))?;
        let start = usize::from(forms::is_mine(self.lower(0)));
        let name = self.words.get(called + 1).filter(|word| word.capital())?;
        let noun = &self.words[start..called];
        if start == 0 || noun.is_empty() || noun.iter().any(|word| !word.speaks() || forms::is_pronoun(&word.lower)) {
            return None;
        }
        let content = format!("{} {} зовут {}", capitalised(&join(noun)), self.case(Case::Genitive), name.text);
        Some(plain(content, Verdict::new("person", "person", 0.9)))
    }

    /// "Мой любимый писатель — Довлатов", "любимый цвет зелёный".
    pub(super) fn favourite(&self) -> Option<Draft> {
        let start = usize::from(forms::is_mine(self.lower(0)));
        if !self.lower(start).starts_with("любим") || self.lower(start + 1).is_empty() {
            return None;
        }
        let joint = self.words.iter().take(7).position(|word| is_dash(word) || word.any(&["это", ":"]));
        let (noun, value) = match joint {
            Some(joint) => {
                let behind = joint + 1 + usize::from(self.lower(joint + 1) == "это");
                (&self.words[start..joint], self.words.get(behind..)?)
            }
            None if self.words.len() >= start + 3 => (&self.words[start..start + 2], &self.words[start + 2..]),
            None => return None,
        };
        let told =
            noun.len() >= 2 && noun.iter().all(|word| word.shape == Shape::Word && !forms::is_third(&word.lower));
        if !told || !value.first().is_some_and(Word::speaks) || value.iter().any(|word| forms::is_third(&word.lower)) {
            return None;
        }
        let head = format!("{} {} —", capitalised(&join(noun)), self.case(Case::Genitive));
        self.told(&head, value, true, About::Speaker, Verdict::new("preference", "preference", 0.9))
    }

    /// "Номер нашей квартиры 36", "код домофона — 1408", "номер квартиры шестьдесят три".
    pub(super) fn numbered(&self) -> Option<Draft> {
        let start = usize::from(forms::is_mine(self.lower(0)));
        let label = self
            .words
            .get(start)
            .filter(|word| word.any(&["номер", "код", "пароль", "этаж", "размер", "адрес", "пин-код", "пин"]))?;
        let counts = |word: &Word| word.digits() || forms::numeral(&word.lower).is_some();
        let at = self.words.iter().take(8).position(counts).filter(|at| *at > start)?;
        let between = &self.words[start + 1..at];
        let mine = start == 1 || between.iter().any(|word| forms::is_mine(&word.lower));
        let noun: Vec<Word> = between
            .iter()
            .filter(|word| !forms::is_mine(&word.lower) && !is_dash(word) && !word.any(&[":", "теперь", "это"]))
            .cloned()
            .collect();
        if noun
            .iter()
            .any(|word| word.shape != Shape::Word || forms::is_pronoun(&word.lower) || forms::is_third(&word.lower))
        {
            return None;
        }
        let home = noun.len() == 1 && noun.iter().all(|word| forms::is_home_thing(&word.lower));
        let whose = if mine || home { format!(" {}", self.case(Case::Genitive)) } else { String::new() };
        if noun.is_empty() && !mine {
            return None;
        }
        let of = if noun.is_empty() { String::new() } else { format!(" {}", join(&noun)) };
        let value = forms::number(&self.words[at..]).unwrap_or_else(|| self.words[at].text.clone());
        let content = format!("{}{of}{whose} — {value}", capitalised(&label.lower));
        Some(plain(content, Verdict::new("environment", "fact", 0.9)))
    }

    /// "Напомни мне купить хлеб", "давай использовать Postgres", "всегда отвечай кратко".
    pub(super) fn asking(&self) -> Option<Draft> {
        match (self.lower(0), self.lower(1)) {
            ("напомни" | "напомните", next) => {
                let from = 1 + usize::from(next == "мне");
                let acts = self.words.iter().any(|word| word.lower.ends_with("ть"));
                let head = format!("{} просит напомнить", self.name);
                acts.then(|| self.draft(&head, from, true, Verdict::new("reminder", "task", 0.85)))?
            }
            ("давай" | "давайте", verb) if verb.ends_with("ть") => {
                self.draft(&format!("{} решил", self.name), 1, true, Verdict::new("decision", "decision", 0.8))
            }
            ("всегда" | "никогда", _) if self.words.iter().any(orders) => {
                let (tail, dates) = self.retold(self.words, true, About::Speaker)?;
                Some(Draft { dates, ..plain(capitalised(&tail), Verdict::new("rule", "preference", 0.8)) })
            }
            _ => None,
        }
    }

    /// "Моя сестра Марта работает в Acme", "двоюродный брат живёт в Риге", "наш кластер работает на ARM64".
    pub(super) fn owned(&self) -> Option<Draft> {
        let start =
            usize::from(matches!(self.lower(0), "мой" | "моя" | "мое" | "мои" | "наш" | "наша" | "наше" | "наши"));
        let relation = (start..start + 3).find(|place| forms::is_relation(self.lower(*place)));
        if start == 0
            && !relation.is_some_and(|place| self.words[..place].iter().all(|word| forms::is_adjective(&word.lower)))
        {
            return None;
        }
        let verb = self.acts(16);
        let birthday = self.lower(1) == "день" && self.lower(2) == "рождения";
        let verb = match verb {
            Some(verb) if verb > start => verb,
            None if birthday && self.words.len() > 3 => 3,
            _ => return None,
        };
        let name_at = (start + 1..verb).find(|place| self.words[*place].capital());
        let noun_end = name_at.or(relation.map(|place| place + 1)).unwrap_or(verb).min(verb);
        let behind = name_at.map_or(noun_end, |at| at + name_length(&self.words[at..verb]));
        let kin = relation.is_some_and(|place| forms::is_kin(self.lower(place))) && self.lower(verb) != "говорит";
        let talk = TALK.iter().any(|stem| self.lower(start).starts_with(stem)) && !birthday;
        if talk || start == 0 && name_at.is_none() && !kin || self.words.len() <= verb + usize::from(!birthday) {
            return None;
        }
        let noun = capitalised(&join(&self.words[start..noun_end]));
        let mut head = format!("{noun} {}", self.case(Case::Genitive));
        if let Some(at) = name_at {
            head = format!("{head} {}", join(&self.words[at..behind]));
        }
        if birthday && verb == 3 && !is_dash(&self.words[3]) {
            let tail = join(&self.words[3..]);
            let content = format!("{head} — {}", tail.trim_end_matches(['.', '!']));
            return Some(plain(content, Verdict::new("date", "fact", 0.9)));
        }
        let between = if relation.is_some() { self.between(&self.words[behind..verb])? } else { String::new() };
        let verdict = self.owned_verdict(start, relation.is_some(), verb)?;
        let about = if relation.is_some() { About::Other } else { About::Speaker };
        self.told(
            format!("{head} {between}").trim(),
            &self.words[verb..],
            !forms::is_past(self.lower(verb)),
            about,
            verdict,
        )
    }

    /// What stands between someone and what they do: when, how, and whether not.
    fn between(&self, words: &[Word]) -> Option<String> {
        let lead = Lead::of(words)?;
        let (times, _) = self.retold(&[lead.times, lead.objects].concat(), true, About::Other)?;
        Some([lead.adverbs.join(" "), times].join(" ").trim().to_owned())
    }

    fn owned_verdict(&self, start: usize, person: bool, verb: usize) -> Option<Verdict> {
        let comes = forms::is_coming(self.lower(verb));
        let (pattern, kind) = match () {
            () if comes && !self.ahead.is_empty() => ("date", "fact"),
            () if comes => return None,
            () if person => ("person", "person"),
            () if self.lower(start).starts_with("проект") || self.lower(start).starts_with("дедлайн") => {
                ("project", "project")
            }
            () => ("environment", "fact"),
        };
        Some(Verdict::new(pattern, kind, 0.85))
    }

    /// "Марта работает в Acme", "порт API — 8080", "офис закрывается в 18:00".
    pub(super) fn other(&self) -> Option<Draft> {
        const THINGS: &[&str] = &[
            "сервер",
            "кластер",
            "офис",
            "баз",
            "сервис",
            "систем",
            "команд",
            "магазин",
            "приложени",
            "проект",
            "порт",
            "сайт",
        ];
        let first = self.words.first()?;
        let starts = |stems: &[&str]| stems.iter().any(|stem| first.lower.starts_with(stem));
        let vague = first.any(&["это", "что", "как", "где", "я", "мы", "там", "тут", "вот", "кто", "никто", "все"]);
        if first.shape != Shape::Word || forms::is_pronoun(&first.lower) || vague {
            return None;
        }
        let verb = self.acts(10).filter(|verb| *verb > 0)?;
        let subject = &self.words[..verb];
        let bare: Vec<Word> =
            subject.iter().filter(|word| !word.any(&["тоже", "теперь", "сейчас", "уже", "кстати"])).cloned().collect();
        let named = bare.iter().skip(1).any(Word::capital) || first.capital() && bare.len() == 1;
        let owned = |word: &Word| word.any(&["наш", "наша", "мой", "моя"]);
        let telling = self.words[verb + 1..].iter().any(|word| word.digits() || word.capital() || owned(word));
        let comes = forms::is_coming(self.lower(verb)) && self.ahead.is_empty();
        let acts = named && self.words[verb].lower.chars().count() > 1;
        if starts(TALK) || comes || self.words.len() <= verb + 1 || !(telling || acts) {
            return None;
        }
        if self.words.get(verb + 1).is_some_and(owned) && self.words.len() > verb + 2 {
            let role = join(&self.words[verb + 2..]);
            let role = role.trim_end_matches(['.', '!']);
            let content = format!("{} — {role} {}", join(subject), self.case(Case::Genitive));
            return Some(plain(content, Verdict::new("person", "person", 0.85)));
        }
        let cyrillic = first.text.chars().any(|c| ('а'..='я').contains(&c));
        let person = named
            && !starts(THINGS)
            && forms::is_personal(self.lower(verb))
            && self.lower(verb + 1) != "на"
            && bare.len() <= 2
            && first.capital()
            && cyrillic;
        let (pattern, kind, sure) = match () {
            () if starts(&["проект", "дедлайн", "срок"]) => ("project", "project", 0.8),
            () if person && telling => ("person", "person", 0.7),
            () if telling => ("statement", "fact", 0.6),
            () => ("statement", "fact", 0.5),
        };
        let unclear = |word: &Word| forms::is_pronoun(&word.lower) || own(&word.lower).is_some() || word.is(",");
        if bare.iter().any(unclear) {
            return None;
        }
        self.told(
            &join(&bare),
            &self.words[verb..],
            !forms::is_past(self.lower(verb)),
            About::Other,
            Verdict::new(pattern, kind, sure),
        )
    }
}

/// How many words are a name with what stands in brackets behind it.
fn name_length(words: &[Word]) -> usize {
    let name = words.iter().take_while(|word| word.capital()).count();
    if !words.get(name).is_some_and(|word| word.is("(")) {
        return name;
    }
    words.iter().position(|word| word.is(")")).map_or(name, |close| close + 1)
}

fn orders(word: &Word) -> bool {
    word.lower.ends_with('й') || word.lower.ends_with("йте")
}

fn plain(content: String, verdict: Verdict) -> Draft {
    Draft { content, verdict, corrects: false, dates: Vec::new(), past: false }
}
