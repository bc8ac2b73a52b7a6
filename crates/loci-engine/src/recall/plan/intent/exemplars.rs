//! Example sentences of each intent.
//!
//! An embedder turns them into vectors once; questions are compared with those.

use super::Intent;

/// Sentences that ask for each intent, in English and Russian, about life and about engineering.
pub const EXEMPLARS: &[(Intent, &[&str])] =
    &[(Intent::Why, WHY), (Intent::When, WHEN), (Intent::Who, WHO), (Intent::What, WHAT)];

const WHY: &[&str] = &[
    "Why did we choose this database?",
    "Why was the release postponed?",
    "What caused the outage?",
    "What was the reason for the refund?",
    "Why did she leave her job?",
    "How come the tests are failing on the server?",
    "What led to the decision to move to another city?",
    "Why do I avoid coffee in the evening?",
    "What is the rationale behind the new folder layout?",
    "Why does the nightly backup take so much space?",
    "Почему мы выбрали эту базу данных?",
    "Почему отложили выпуск?",
    "Из-за чего упал сервис?",
    "По какой причине вернули деньги?",
    "Зачем нам нужна вторая очередь?",
    "Почему она ушла с работы?",
    "Что привело к переезду в другой город?",
    "Почему я не пью кофе вечером?",
    "В чём причина утечки памяти?",
    "Отчего тесты падают на сервере?",
];

const WHEN: &[&str] = &[
    "When did we switch to the new database?",
    "When is my sister's birthday?",
    "What date was the last release?",
    "How long did the migration take?",
    "When did I last see the dentist?",
    "What year did they buy the house?",
    "How long have I been learning the piano?",
    "When does the lease of the flat end?",
    "Which month was the outage?",
    "How many days passed between the two deployments?",
    "Когда мы перешли на новую базу данных?",
    "Когда день рождения моей сестры?",
    "Какого числа был последний выпуск?",
    "Как долго шла миграция?",
    "Когда я в последний раз был у зубного врача?",
    "В каком году они купили дом?",
    "Как давно я учусь играть на пианино?",
    "Когда заканчивается аренда квартиры?",
    "В каком месяце был сбой?",
    "Сколько дней прошло между двумя выкатками?",
];

const WHO: &[&str] = &[
    "Who wrote the import script?",
    "Who is responsible for the billing service?",
    "Who came to my birthday party?",
    "Whose idea was it to cache the results?",
    "With whom did I travel to the mountains?",
    "Who recommended that doctor to me?",
    "Who approved the change of the schema?",
    "Which colleague is on call this week?",
    "Who is Anna married to?",
    "Who taught me to cook?",
    "Кто написал скрипт импорта?",
    "Кто отвечает за сервис оплаты?",
    "Кто был на моём дне рождения?",
    "Чья была идея кешировать результаты?",
    "С кем я ездил в горы?",
    "Кто посоветовал мне этого врача?",
    "Кто одобрил изменение схемы?",
    "Кому я отдал ключи от квартиры?",
    "За кем замужем Анна?",
    "Кого мы взяли в команду?",
];

const WHAT: &[&str] = &[
    "What is my favourite food?",
    "What language is the parser written in?",
    "Which port does the server listen on?",
    "What did I buy for the garden?",
    "Where does my brother live?",
    "What did we decide about logging?",
    "Which book am I reading?",
    "What is the name of the staging cluster?",
    "What am I allergic to?",
    "Which tool do we use for load tests?",
    "Какая моя любимая еда?",
    "На каком языке написан разбор?",
    "Какой порт слушает сервер?",
    "Что я купил для сада?",
    "Где живёт мой брат?",
    "Что мы решили о журналах?",
    "Какую книгу я читаю?",
    "Какое имя у тестового кластера?",
    "На что у меня аллергия?",
    "Чем мы измеряем нагрузку?",
];
