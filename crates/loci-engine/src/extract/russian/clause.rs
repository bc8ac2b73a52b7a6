//! What does one Russian clause state?

use super::super::judge::Verdict;
use super::super::lexicon::one_of;
use super::super::read::Draft;
use super::super::when::Dated;
use super::super::word::{Shape, Word, capitalised, join};
use super::forms::{self, Case, declined, own, plural_past, third_of, third_of_we};

/// A clause, the speaker's name, and its dates as they lie ahead or behind.
pub(super) struct Clause<'a> {
    pub(super) words: &'a [Word],
    pub(super) name: &'a str,
    pub(super) ahead: &'a [Dated],
    pub(super) behind: &'a [Dated],
}

impl Clause<'_> {
    /// What it states.
    pub(super) fn read(&self) -> Option<Draft> {
        self.named()
            .or_else(|| self.dative())
            .or_else(|| self.having())
            .or_else(|| self.asking())
            .or_else(|| self.own_verb())
            .or_else(|| self.team_verb())
            .or_else(|| self.owned())
            .or_else(|| self.identity())
            .or_else(|| self.other())
    }

    fn lower(&self, place: usize) -> &str {
        self.words.get(place).map_or("", |word| word.lower.as_str())
    }

    fn case(&self, case: Case) -> String {
        declined(self.name, case)
    }

    /// The rest retold; `ahead` says which way its dates lie.
    fn tail(&self, from: usize, ahead: bool) -> Option<(String, Vec<Dated>)> {
        let times = if ahead { self.ahead } else { self.behind };
        let mut told: Vec<Word> = Vec::new();
        let mut found = Vec::new();
        let mut place = from;
        let mut end = self.words.len();
        while end > from
            && (self.words[end - 1].shape == Shape::Mark && !self.words[end - 1].is(")")
                || self.words[end - 1].any("тоже кстати сейчас теперь уже пожалуйста"))
        {
            end -= 1;
        }
        while place < end {
            let word = &self.words[place];
            let dated = times.iter().find(|dated| word.at.start >= dated.at.start && word.at.end <= dated.at.end);
            if let Some(dated) = dated {
                let length = self.words[place..end].iter().take_while(|word| word.at.end <= dated.at.end).count();
                let ready = told.last().is_some_and(|word| word.any("в на к до с после во"));
                if ready && !dated.preposition.is_empty() {
                    told.pop();
                }
                let text = format!("{} {}", dated.preposition, dated.text);
                if !dated.text.is_empty() {
                    told.push(word.instead(text.trim()));
                }
                found.push(dated.clone());
                place += length.max(1);
                continue;
            }
            match own(&word.lower) {
                Some(own) => told.push(word.instead(own)),
                None if forms::is_pronoun(&word.lower) => {
                    // What is meant is not said here: the words before it must do.
                    let cut = told.iter().rposition(|word| word.any(", и потому когда")).filter(|cut| *cut > 0)?;
                    told.truncate(cut);
                    break;
                }
                None => told.push(word.clone()),
            }
            place += 1;
        }
        Some((join(&told), found))
    }

    fn draft(&self, head: &str, from: usize, ahead: bool, verdict: Verdict) -> Option<Draft> {
        let (tail, dates) = self.tail(from, ahead)?;
        let content = capitalised(format!("{head} {tail}").trim());
        Some(Draft { content, verdict, corrects: false, dates, past: !ahead })
    }

    /// "Меня зовут Ана", "зови меня Ана".
    fn named(&self) -> Option<Draft> {
        let place = match (self.lower(0), self.lower(1)) {
            ("меня", "зовут") | ("зови" | "называй" | "зовите" | "называйте", "меня") | ("мое", "имя") => {
                2
            }
            _ => return None,
        };
        let name = self.words[place..].iter().find(|word| word.capital() || word.shape == Shape::Word)?;
        let whose = if self.name == "Пользователь" {
            "пользователя".to_owned()
        } else {
            self.case(Case::Genitive)
        };
        let content = format!("Имя {whose} — {}", capitalised(&name.text));
        Some(Draft {
            content,
            verdict: Verdict::new("name", "fact", 0.95),
            corrects: false,
            dates: Vec::new(),
            past: false,
        })
    }

    /// "Мне 34 года", "мне нравится чай", "мне нужно купить хлеб".
    fn dative(&self) -> Option<Draft> {
        if !matches!(self.lower(0), "мне" | "нам") {
            return None;
        }
        let mut place = 1;
        while matches!(self.lower(place), "очень" | "еще" | "тоже" | "уже") {
            place += 1;
        }
        let (negated, longer) =
            (self.lower(place) == "не" || self.lower(place + 1) == "не", self.lower(place) == "больше");
        let verb = place + usize::from(negated) + usize::from(longer);
        let who = self.case(Case::Dative);
        let deny = if longer && negated {
            "больше не "
        } else if negated {
            "не "
        } else {
            ""
        };
        match self.lower(verb) {
            liked @ ("нравится" | "нравятся") => self.draft(
                &format!("{who} {deny}{liked}"),
                verb + 1,
                true,
                Verdict::new("preference", "preference", 0.9),
            ),
            duty @ ("нужно" | "надо" | "необходимо") if !negated && self.lower(verb + 1).ends_with("ть") => {
                self.draft(&format!("{who} {duty}"), verb + 1, true, Verdict::new("task", "task", 0.75))
            }
            number if number.parse::<u8>().is_ok() && matches!(self.lower(verb + 1), "лет" | "год" | "года") => {
                self.draft(&format!("{who} {number}"), verb + 1, true, Verdict::new("self", "fact", 0.9))
            }
            _ => None,
        }
    }

    /// "У меня есть кот", "у меня аллергия на орехи", "у нас 3 узла".
    fn having(&self) -> Option<Draft> {
        if self.lower(0) != "у" || !matches!(self.lower(1), "меня" | "нас") {
            return None;
        }
        let who = if self.lower(1) == "нас" {
            format!("У команды {}", self.case(Case::Genitive))
        } else {
            format!("У {}", self.case(Case::Genitive))
        };
        let passing = self
            .words
            .iter()
            .any(|word| word.any("вопрос проблема ошибка идея вопросы просьба баг мысль время времени"));
        let first = self.words.get(2)?;
        let fits = first.any("есть нет аллергия двое трое два две три один одна день диабет астма")
            || first.shape == Shape::Number
            || first.lower.starts_with("перв");
        let event = self.words.iter().any(|word| {
            ["экзамен", "встреч", "собеседован", "свадьб", "рейс", "прием"]
                .iter()
                .any(|stem| word.lower.starts_with(stem))
        });
        let dated = !self.ahead.is_empty();
        if passing || !(fits || event && dated) {
            return None;
        }
        let health = first.any("аллергия диабет астма");
        let verdict = match () {
            () if health => Verdict::new("health", "fact", 0.95),
            () if event => Verdict::new("date", "fact", 0.8),
            () => Verdict::new("self", "fact", 0.85),
        };
        self.draft(&who, 2, true, verdict)
    }

    /// "Напомни мне купить хлеб", "давай использовать Postgres", "всегда отвечай кратко".
    fn asking(&self) -> Option<Draft> {
        match (self.lower(0), self.lower(1)) {
            ("напомни" | "напомните", _) => {
                let from = 1 + usize::from(self.lower(1) == "мне");
                self.words.iter().any(|word| word.lower.ends_with("ть")).then(|| {
                    self.draft(
                        &format!("{} просит напомнить", self.name),
                        from,
                        true,
                        Verdict::new("reminder", "task", 0.85),
                    )
                })?
            }
            ("давай" | "давайте", verb) if verb.ends_with("ть") => self
                .draft(
                    &format!("{} предлагает и решает", self.name),
                    1,
                    true,
                    Verdict::new("decision", "decision", 0.8),
                )
                .map(|draft| Draft {
                    content: draft.content.replace("предлагает и решает", "решил"), ..draft
                }),
            ("всегда" | "никогда", _)
                if self.words.iter().any(|word| word.lower.ends_with("й") || word.lower.ends_with("йте")) =>
            {
                let (tail, dates) = self.tail(0, true)?;
                Some(Draft {
                    content: capitalised(&tail),
                    verdict: Verdict::new("rule", "preference", 0.8),
                    corrects: false,
                    dates,
                    past: false,
                })
            }
            _ => None,
        }
    }

    /// "Я живу в Порту", "больше не курю", "переехал в Лиссабон".
    fn own_verb(&self) -> Option<Draft> {
        let mut place = usize::from(self.lower(0) == "я");
        let spoken = place == 1;
        let start = place;
        while one_of(
            "не больше уже теперь сейчас очень еще всегда обычно часто тоже недавно давно никогда просто \
            реально",
            self.lower(place),
        ) {
            place += 1;
        }
        let kept: Vec<&str> = self.words[start..place]
            .iter()
            .map(|word| word.lower.as_str())
            .filter(|word| one_of("не больше очень всегда обычно часто никогда", word))
            .collect();
        let negated = kept.contains(&"не");
        let ended = negated && kept.contains(&"больше");
        let verb = self.lower(place);
        let verdict = |pattern: &'static str, kind: &'static str, sure: f64| {
            Verdict::new(if ended { "change" } else { pattern }, kind, sure)
        };
        if let Some((third, pattern)) = third_of(verb) {
            let (kind, sure) = match pattern {
                "preference" => ("preference", 0.9),
                "task" => ("task", 0.75),
                "goal" => ("fact", 0.7),
                _ => ("fact", 0.85),
            };
            let bare = place + 1 >= self.words.len() || self.words[place + 1..].iter().all(|word| !word.speaks());
            if bare && !negated
                || pattern == "preference" && matches!(self.lower(place + 1), "это" | "тебя" | "вас" | "его")
            {
                return None;
            }
            let head = [self.name].into_iter().chain(kept).chain([third]).collect::<Vec<_>>().join(" ");
            return self.draft(&head, place + 1, true, verdict(pattern, kind, sure));
        }
        let (pattern, kind, sure) = forms::past_of(verb)?;
        if negated || !spoken && self.words.len() < 2 {
            return None;
        }
        self.draft(
            &format!("{} {}", self.name, self.words[place].text.to_lowercase()),
            place + 1,
            false,
            Verdict::new(pattern, kind, sure),
        )
    }

    /// "Мы используем Postgres", "мы решили взять Redis".
    fn team_verb(&self) -> Option<Draft> {
        let mut place = usize::from(self.lower(0) == "мы");
        let spoken = place == 1;
        let negated = self.words[place..].iter().take(3).any(|word| word.is("не"));
        let longer = self.lower(place) == "больше";
        while one_of("не больше уже теперь сейчас недавно всегда обычно", self.lower(place))
        {
            place += 1;
        }
        let deny = if longer && negated {
            "больше не "
        } else if negated {
            "не "
        } else {
            ""
        };
        let who = format!("Команда {}", self.case(Case::Genitive));
        if let Some(third) = third_of_we(self.lower(place)) {
            let home = self.lower(place) == "живем";
            let head = if home { format!("{} {deny}{third}", self.name) } else { format!("{who} {deny}{third}") };
            return self.draft(
                &head,
                place + 1,
                true,
                Verdict::new(if longer { "change" } else { "environment" }, "fact", 0.8),
            );
        }
        if !spoken && !self.lower(place).ends_with("ли") && !self.lower(place).ends_with("лись") {
            return None;
        }
        let (past, pattern, kind) = plural_past(self.lower(place))?;
        (!negated && self.words.len() > place + 1)
            .then(|| self.draft(&format!("{who} {past}"), place + 1, false, Verdict::new(pattern, kind, 0.85)))?
    }

    /// "Моя сестра Марта работает в Acme", "мой любимый цвет — зелёный", "наш кластер работает на ARM64".
    fn owned(&self) -> Option<Draft> {
        if !one_of("мой моя мое мои наш наша наше наши", self.lower(0)) {
            return None;
        }
        let verb = self
            .words
            .iter()
            .take(8)
            .position(|word| forms::is_third(&word.lower) || word.any("— –") || word.is("-") && !word.glued);
        let birthday = self.lower(1) == "день" && self.lower(2) == "рождения";
        let verb = match verb {
            Some(verb) => verb,
            None if birthday && self.words.len() > 3 => 3,
            None => return None,
        };
        let name_at = (1..verb).find(|place| *place > 1 && self.words[*place].capital()).unwrap_or(verb);
        let noun = join(&self.words[1..name_at]);
        let mut head = format!("{} {}", capitalised(&noun), self.case(Case::Genitive));
        if name_at < verb {
            head = format!("{head} {}", join(&self.words[name_at..verb]));
        }
        let person = forms::is_relation(self.lower(1));
        let taste = self.words[..verb].iter().any(|word| word.lower.starts_with("любим"));
        let (pattern, kind) = match () {
            () if taste => ("preference", "preference"),
            () if person => ("person", "person"),
            () if self.lower(1).starts_with("проект") || self.lower(1).starts_with("дедлайн") => {
                ("project", "project")
            }
            () => ("environment", "fact"),
        };
        let talk =
            ["вопрос", "проблема", "код", "ошибка", "мысль", "идея"].iter().any(|stem| self.lower(1).starts_with(stem));
        if talk || self.words.len() <= verb + usize::from(!birthday) {
            return None;
        }
        let verdict = Verdict::new(pattern, kind, 0.85);
        if birthday && verb == 3 && !self.words[3].any("— – -") {
            let tail = join(&self.words[3..]);
            let content = format!("{head} — {}", tail.trim_end_matches(['.', '!']));
            return Some(Draft {
                content,
                verdict: Verdict::new("date", "fact", 0.9),
                corrects: false,
                dates: Vec::new(),
                past: false,
            });
        }
        self.draft(&head, verb, true, verdict)
    }

    /// "Я медсестра", "я из Порту", "я веган".
    fn identity(&self) -> Option<Draft> {
        if self.lower(0) != "я" {
            return None;
        }
        let place = 1 + usize::from(matches!(self.lower(1), "—" | "-" | "–"));
        let next = self.lower(place);
        if next == "из" && self.words.get(place + 1).is_some_and(Word::capital) {
            return self.draft(&format!("{} родом", self.name), place, true, Verdict::new("self", "fact", 0.9));
        }
        let role = forms::is_role(next) || forms::is_role(self.lower(place + 1)) && self.words.len() <= place + 5;
        role.then(|| self.draft(&format!("{} —", self.name), place, true, Verdict::new("self", "fact", 0.9)))?
    }

    /// "Марта работает в Acme", "порт API — 8080", "офис закрывается в 18:00".
    fn other(&self) -> Option<Draft> {
        let first = self.words.first()?;
        if first.shape != Shape::Word
            || forms::is_pronoun(&first.lower)
            || first.any("это что как где я мы там тут вот")
        {
            return None;
        }
        let verb = self
            .words
            .iter()
            .take(7)
            .position(|word| forms::is_third(&word.lower) || word.any("— –") || word.is("-") && !word.glued)
            .filter(|verb| *verb > 0)?;
        let subject = &self.words[..verb];
        let named = subject.iter().skip(1).any(|word| word.capital()) || first.capital() && subject.len() == 1;
        let telling =
            self.words[verb + 1..].iter().any(|word| word.digits() || word.capital() || word.any("наш наша мой моя"));
        let project = ["проект", "дедлайн", "срок"].iter().any(|stem| first.lower.starts_with(stem));
        let talk = ["код", "погода", "вопрос", "проблема", "ошибка", "тест", "функция", "ответ"]
            .iter()
            .any(|stem| first.lower.starts_with(stem));
        if talk || self.words.len() <= verb + 1 || !(telling || named && self.words[verb].lower.len() > 3) {
            return None;
        }
        let owned = self.words.get(verb + 1).filter(|word| word.any("наш наша мой моя"));
        if owned.is_some() && self.words.len() > verb + 2 {
            let role = join(&self.words[verb + 2..]);
            let content =
                format!("{} — {} {}", join(subject), role.trim_end_matches(['.', '!']), self.case(Case::Genitive));
            return Some(Draft {
                content,
                verdict: Verdict::new("person", "person", 0.85),
                corrects: false,
                dates: Vec::new(),
                past: false,
            });
        }
        let thing = [
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
        ]
        .iter()
        .any(|stem| first.lower.starts_with(stem));
        let person = named
            && !thing
            && forms::is_personal(self.lower(verb))
            && self.lower(verb + 1) != "на"
            && subject.len() <= 2
            && first.capital()
            && first.text.chars().any(|c| ('а'..='я').contains(&c));
        let (pattern, kind, sure) = match () {
            () if project => ("project", "project", 0.8),
            () if person && telling => ("person", "person", 0.7),
            () if telling => ("statement", "fact", 0.6),
            () => ("statement", "fact", 0.5),
        };
        let head = Self::head(subject)?;
        self.draft(&head, verb, true, Verdict::new(pattern, kind, sure))
    }

    /// A subject that names what it means.
    fn head(subject: &[Word]) -> Option<String> {
        let plain = subject.iter().all(|word| !forms::is_pronoun(&word.lower) && own(&word.lower).is_none());
        plain.then(|| join(subject))
    }
}
