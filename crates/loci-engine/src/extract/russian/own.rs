//! What do Russian speakers say of themselves?

use super::super::judge::Verdict;
use super::super::read::Draft;
use super::super::word::{Shape, Word, capitalised};
use super::clause::{About, Clause};
use super::forms::{self, Case, plural_past, third_of, third_of_we};
use super::lead::{Lead, time_length};

impl Clause<'_> {
    /// "Меня зовут Ана", "зови меня Ана".
    pub(super) fn named(&self) -> Option<Draft> {
        let place = match (self.lower(0), self.lower(1)) {
            ("меня", "зовут") | ("зови" | "называй" | "зовите" | "называйте", "меня") | ("мое", "имя") => {
                2
            }
            _ => return None,
        };
        let name = self.words[place..].iter().find(|word| word.capital() || word.shape == Shape::Word)?;
        let content = format!("Имя {} — {}", self.case(Case::Genitive), capitalised(&name.text));
        let verdict = Verdict::new("name", "fact", 0.95);
        Some(Draft { content, verdict, corrects: false, dates: Vec::new(), past: false })
    }

    /// "Мне 34 года", "мне нравится чай", "мне нужно купить хлеб".
    pub(super) fn dative(&self) -> Option<Draft> {
        if !matches!(self.lower(0), "мне" | "нам") {
            return None;
        }
        let mut place = 1;
        while matches!(self.lower(place), "очень" | "еще" | "тоже" | "уже") {
            place += 1;
        }
        let longer = self.lower(place) == "больше";
        let negated = self.lower(place + usize::from(longer)) == "не";
        let verb = place + usize::from(negated) + usize::from(longer);
        let who = self.case(Case::Dative);
        let deny = denial(longer, negated);
        match self.lower(verb) {
            liked @ ("нравится" | "нравятся") => {
                let verdict = Verdict::new("preference", "preference", 0.9);
                self.draft(&format!("{who} {deny}{liked}"), verb + 1, true, verdict)
            }
            duty @ ("нужно" | "надо" | "необходимо") if !negated && self.lower(verb + 1).ends_with("ть") => {
                self.draft(&format!("{who} {duty}"), verb + 1, true, Verdict::new("task", "task", 0.75))
            }
            number => {
                let unit = (verb + 1..verb + 3).find(|at| matches!(self.lower(*at), "лет" | "год" | "года"))?;
                let digits = number.parse::<u8>().ok().map(|number| number.to_string());
                let age = digits.or_else(|| forms::number(&self.words[verb..unit]))?;
                self.draft(&format!("{who} {age}"), unit, true, Verdict::new("self", "fact", 0.9))
            }
        }
    }

    /// "У меня есть кот", "у меня аллергия на орехи", "у нас 3 узла".
    pub(super) fn having(&self) -> Option<Draft> {
        const PASSING: &[&str] = &[
            "вопрос",
            "проблема",
            "ошибка",
            "идея",
            "вопросы",
            "просьба",
            "баг",
            "мысль",
            "время",
            "времени",
            "сил",
            "слов",
            "настроения",
        ];
        const EVENTS: &[&str] = &["экзамен", "встреч", "собеседован", "свадьб", "рейс", "прием"];
        if self.lower(0) != "у" || !matches!(self.lower(1), "меня" | "нас") {
            return None;
        }
        let whose = self.case(Case::Genitive);
        let who = if self.lower(1) == "нас" { format!("У команды {whose}") } else { format!("У {whose}") };
        let first = self.words.get(2)?;
        let health = first.any(&["аллергия", "диабет", "астма", "непереносимость", "гипертония"]);
        let fits = health
            || first.any(&["есть", "нет", "день"])
            || forms::numeral(&first.lower).is_some()
            || first.shape == Shape::Number
            || first.lower.starts_with("перв");
        let event = self.words.iter().any(|word| EVENTS.iter().any(|stem| word.lower.starts_with(stem)));
        let passing = self.words.iter().any(|word| word.any(PASSING));
        if passing || !(fits || event && !self.ahead.is_empty()) {
            return None;
        }
        let verdict = match () {
            () if health => Verdict::new("health", "fact", 0.95),
            () if event => Verdict::new("date", "fact", 0.8),
            () => Verdict::new("self", "fact", 0.85),
        };
        self.draft(&who, 2, true, verdict)
    }

    /// "Я живу в Порту", "кофе больше не пью", "по субботам хожу на плавание", "переехала в Лиссабон".
    pub(super) fn own_verb(&self) -> Option<Draft> {
        let from = usize::from(self.lower(0) == "я");
        let place = (from..self.words.len().min(from + 9)).find(|place| self.is_own(*place))?;
        let lead = Lead::of(&self.words[from..place])?;
        match self.present(place) {
            Some((third, pattern)) => self.does(place, &lead, third, pattern),
            None => self.did(place, &lead, from == 1),
        }
    }

    fn is_own(&self, place: usize) -> bool {
        self.present(place).is_some() || forms::past_of(self.lower(place)).is_some()
    }

    /// The third person of the verb at a place, and what it speaks of.
    fn present(&self, place: usize) -> Option<(&'static str, &'static str)> {
        let endures = place >= 2 && self.lower(place - 2) == "терпеть" && self.lower(place - 1) == "не";
        if self.lower(place) == "могу" && endures {
            return Some(("может", "preference"));
        }
        third_of(self.lower(place))
    }

    /// What the speaker does, and goes on to do.
    fn does(&self, place: usize, lead: &Lead, third: &str, pattern: &'static str) -> Option<Draft> {
        let rest = &self.words[place + 1..];
        let rest = &rest[..super::split::stated(rest)];
        let bare = lead.objects.is_empty() && lead.times.is_empty() && rest.iter().all(|word| !word.speaks());
        let next = rest.first().map_or("", |word| word.lower.as_str());
        let often = !lead.times.is_empty()
            || lead.now
            || lead.adverbs.iter().any(|adverb| !matches!(adverb.as_str(), "не" | "очень" | "терпеть" | "совсем"))
            || (0..rest.len()).any(|place| time_length(&rest[place..]) > 0);
        let passing = match self.lower(place) {
            "хочу" => matches!(
                next,
                "есть"
                    | "спать"
                    | "пить"
                    | "домой"
                    | "сказать"
                    | "спросить"
                    | "узнать"
                    | "понять"
                    | ","
            ),
            "знаю" => lead.negated() || matches!(next, "," | "что" | "как" | "где" | "кто"),
            "говорю" => {
                !(next == "на"
                    || next.starts_with("по-")
                    || lead.objects.iter().any(|word| word.lower.starts_with("по-")))
            }
            _ => pattern == "habit" && !often,
        };
        let started = self.words[..place].iter().any(|word| word.is("сейчас")) && self.momentary(place);
        let vague = pattern == "preference" && matches!(next, "это" | "тебя" | "вас" | "его");
        if passing || started || vague || bare && !lead.negated() {
            return None;
        }
        let (kind, sure) = match pattern {
            "preference" => ("preference", 0.9),
            "task" => ("task", 0.75),
            "goal" => ("fact", 0.7),
            _ => ("fact", 0.85),
        };
        let pattern = match pattern {
            _ if lead.ended() || lead.now => "change",
            "habit" => "self",
            pattern => pattern,
        };
        let head = self.head(lead, third)?;
        let words = [lead.objects.as_slice(), rest].concat();
        self.told(&head, &words, true, About::Speaker, Verdict::new(pattern, kind, sure))
    }

    /// The speaker, when and how, and the verb.
    fn head(&self, lead: &Lead, verb: &str) -> Option<String> {
        let (times, _) = self.retold(&lead.times, true, About::Speaker)?;
        let mut parts = vec![self.name.to_owned()];
        parts.extend(Some(times).filter(|times| !times.is_empty()));
        parts.extend(lead.adverbs.iter().cloned());
        parts.push(verb.to_owned());
        Some(parts.join(" "))
    }

    /// Whether a verb tells what is going on rather than what is so.
    fn momentary(&self, place: usize) -> bool {
        matches!(
            self.lower(place),
            "пью" | "ем" | "пишу" | "готовлю" | "играю" | "веду" | "принимаю" | "хожу" | "говорю"
        )
    }

    /// What the speaker did, and what has been so since.
    fn did(&self, place: usize, lead: &Lead, spoken: bool) -> Option<Draft> {
        let verb = self.lower(place);
        let (pattern, kind, sure) = forms::past_of(verb)?;
        let rest = &self.words[place + 1..];
        let one = !verb.ends_with("ли") && !verb.ends_with("лись");
        let bare = rest.iter().all(|word| !word.speaks());
        if lead.negated() || !one || !spoken && (bare || !lead.nobody()) {
            return None;
        }
        let head = self.head(lead, &self.words[place].text.to_lowercase())?;
        let words = [&rest[..super::split::stated(rest)], lead.objects.as_slice()].concat();
        self.told(&head, &words, false, About::Speaker, Verdict::new(pattern, kind, sure))
    }

    /// "Мы используем Postgres", "мы решили взять Redis".
    pub(super) fn team_verb(&self) -> Option<Draft> {
        let mut place = usize::from(self.lower(0) == "мы");
        let spoken = place == 1;
        let negated = self.words[place..].iter().take(3).any(|word| word.is("не"));
        let longer = self.lower(place) == "больше";
        while matches!(
            self.lower(place),
            "не" | "больше" | "уже" | "теперь" | "сейчас" | "недавно" | "всегда" | "обычно" | "все"
        ) {
            place += 1;
        }
        let deny = denial(longer, negated);
        let who = format!("Команда {}", self.case(Case::Genitive));
        if let Some(third) = third_of_we(self.lower(place)) {
            let home = forms::is_home(self.lower(place));
            let head = if home { format!("{} {deny}{third}", self.name) } else { format!("{who} {deny}{third}") };
            let pattern = if longer { "change" } else { "environment" };
            return self.draft(&head, place + 1, true, Verdict::new(pattern, "fact", 0.8));
        }
        if !spoken && !self.lower(place).ends_with("ли") && !self.lower(place).ends_with("лись") {
            return None;
        }
        let (past, pattern, kind) = plural_past(self.lower(place))?;
        if negated || self.words.len() <= place + 1 {
            return None;
        }
        self.draft(&format!("{who} {past}"), place + 1, false, Verdict::new(pattern, kind, 0.85))
    }

    /// "Я медсестра", "я из Порту", "я веган".
    pub(super) fn identity(&self) -> Option<Draft> {
        if self.lower(0) != "я" {
            return None;
        }
        let place = 1 + usize::from(matches!(self.lower(1), "—" | "-" | "–"));
        let next = self.lower(place);
        let verdict = Verdict::new("self", "fact", 0.9);
        if next == "из" && self.words.get(place + 1).is_some_and(Word::capital) {
            return self.draft(&format!("{} родом", self.name), place, true, verdict);
        }
        let role = forms::is_role(next) || forms::is_role(self.lower(place + 1)) && self.words.len() <= place + 5;
        role.then(|| self.draft(&format!("{} —", self.name), place, true, verdict))?
    }
}

fn denial(longer: bool, negated: bool) -> &'static str {
    match (longer, negated) {
        (true, true) => "больше не ",
        (false, true) => "не ",
        _ => "",
    }
}
