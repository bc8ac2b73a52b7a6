//! Which words belong together?
//!
//! Closed lists that the rules of extraction share. A list is one string with spaces between its
//! words; two words that belong together are joined by `_`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The number of a list, for [`within`].
pub(crate) type List = usize;

macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident = $words:expr;)*) => {
        lists!(@number 0; $($name)*);
        static LISTS: &[&str] = &[$($words),*];
    };
    (@number $n:expr; $name:ident $($rest:ident)*) => {
        pub(crate) const $name: List = $n;
        lists!(@number $n + 1; $($rest)*);
    };
    (@number $n:expr;) => {};
}

lists! {
    ADVERBS = "really just also still always never usually often currently now actually only even already recently \
        finally totally absolutely literally honestly definitely mostly rarely sometimes generally normally typically \
        basically simply truly officially kinda personally mainly primarily completely occasionally frequently hardly \
        barely seriously strictly both all once ever presently nowadays regularly strongly highly fully soon lately \
        much quite very pretty so largely then therefore";
    HABITS = "always usually often never rarely sometimes generally normally typically mostly regularly frequently \
        occasionally";
    HEDGES = "probably maybe perhaps possibly apparently presumably supposedly";
    // Adverbs that add nothing to a statement that is kept.
    EMPTY = "really just also currently now actually even already totally absolutely literally honestly definitely \
        basically simply truly officially kinda personally finally seriously presently nowadays probably maybe perhaps \
        apparently soon lately recently so very pretty quite then therefore once all still ever completely";
    AUXILIARIES = "am is are was were has have had does do did will would can could may might must should shall";
    DETERMINERS = "a an the my our your his her their its this that these those every each some any no";
    PREPOSITIONS = "in on at by for with of to from into about over under after before since until till through during \
        between against within without via per as like near around towards toward onto";
    SUBORDINATORS = "because since when while if unless although though which who whom whose where so that until whereas \
        whenever after before as but";
    RELATIONS = "sister brother mother father mom mum dad wife husband partner girlfriend boyfriend fiance fiancee son \
        daughter kid child cousin uncle aunt nephew niece grandmother grandfather grandma grandpa friend colleague \
        coworker boss manager mentor mentee landlord landlady neighbour neighbor roommate flatmate twin stepson \
        stepdaughter stepmother stepfather godson goddaughter ex spouse teammate lead doctor dentist therapist lawyer \
        accountant coach teacher tutor trainer supervisor sibling parent";
    // One at a time.
    UNIQUE = "mother father mom mum dad wife husband partner girlfriend boyfriend fiance fiancee boss manager landlord \
        landlady spouse lead doctor dentist therapist supervisor cto ceo cfo coo owner maintainer roommate";
    PETS = "retriever labrador poodle terrier beagle corgi spaniel bulldog dachshund husky dog cat puppy kitten horse parrot rabbit hamster fish turtle bird pony snake lizard tortoise";
    FEMALE = "sister mother mom mum wife girlfriend fiancee daughter aunt niece grandmother grandma landlady stepmother \
        stepdaughter goddaughter";
    MALE = "brother father dad husband boyfriend fiance son uncle nephew grandfather grandpa landlord stepfather stepson \
        godson";
    ROLES = "engineer developer dev swe programmer designer manager lead nurse doctor teacher lawyer accountant architect analyst \
        scientist researcher student professor writer editor journalist artist musician chef cook baker pilot driver \
        mechanic electrician plumber carpenter farmer gardener barista waiter waitress consultant director founder \
        cofounder co-founder ceo cto cfo coo sre devops pm intern contractor freelancer recruiter marketer salesperson \
        photographer translator interpreter librarian pharmacist dentist vet veterinarian therapist psychologist surgeon \
        physician paramedic midwife firefighter soldier sailor administrator admin sysadmin dba tester qa actor actress \
        singer dancer coach trainer tutor lecturer postdoc apprentice retiree secretary assistant clerk cashier \
        receptionist biologist chemist physicist economist historian philosopher mathematician statistician geologist \
        astronomer maintainer owner president chairman head supervisor technician operator welder tailor butcher \
        bartender hairdresser blogger streamer podcaster vp entrepreneur banker broker auditor planner buyer specialist \
        strategist copywriter paralegal judge attorney officer detective guard policeman principal";
    TRAITS = "vegan vegetarian pescatarian married divorced engaged widowed pregnant diabetic retired unemployed \
        self-employed left-handed right-handed ambidextrous dyslexic autistic asthmatic bilingual trilingual lactose \
        lactose-intolerant gluten-intolerant celiac coeliac colour-blind color-blind colorblind colourblind \
        nearsighted short-sighted deaf blind jewish muslim christian catholic buddhist hindu atheist agnostic gay bi \
        bisexual lesbian queer trans nonbinary introverted extroverted teetotal sober kosher halal portuguese russian \
        german french spanish italian british english american canadian polish ukrainian brazilian indian chinese \
        japanese korean dutch swedish norwegian danish finnish irish scottish turkish greek mexican australian \
        hypertensive anaemic anemic intolerant adhd epileptic";
    FEELINGS = "fine good ok okay tired happy sad hungry back here ready sure sorry glad bored excited stuck confused \
        curious lost late busy sick cold sleepy done in out home off wondering stressed exhausted angry upset annoyed \
        frustrated nervous worried afraid scared well great alright better worse hot thirsty drunk alone free available \
        unavailable online offline away early awake asleep impressed surprised amazed grateful thankful pleased \
        disappointed overwhelmed joking kidding serious right wrong close new blocked able unable down up over through \
        about lol not there sooo so very pretty quite really too just";
    TOOLS = "postgres postgresql mysql sqlite redis kafka rabbitmq mongodb mongo elasticsearch kubernetes k8s docker \
        podman helm terraform pulumi ansible aws gcp azure vercel netlify heroku cloudflare github gitlab bitbucket jira \
        linear slack notion discord teams zoom figma rust go golang python typescript javascript java kotlin swift \
        scala ruby php c c++ c# elixir haskell react vue svelte angular nextjs next.js django flask fastapi rails \
        spring fastify express kysely drizzle prisma graphql grpc nginx caddy linux macos windows ubuntu debian fedora \
        arch nixos vim neovim emacs vscode intellij zed obsidian anki git svn mercurial jenkins circleci buildkite \
        grafana prometheus datadog sentry snowflake bigquery spark airflow dbt pytorch tensorflow pandas numpy npm pnpm \
        yarn bun deno node node.js webpack vite bazel cargo poetry uv pip playwright cypress jest vitest pytest qdrant \
        pgvector supabase firebase dynamodb s3 lambda ecs eks fly.io railway hetzner openai claude gpt";
    ATTRIBUTES = "port url deadline status version language name address email phone number birthday age timezone stack \
        repo repository branch password username budget salary rent price size height weight colour color title role job \
        employer city country capital owner lead manager host hostname region zone domain endpoint path license licence \
        framework database editor os phone diet allergy nationality hometown pronouns goal anniversary date limit quota \
        schedule retention timeout threshold codename nickname locale currency tone style handle account id";
    // What someone "has" for this minute only.
    PASSING = "question questions problem problems idea ideas issue issues doubt doubts feeling look bug bugs error errors \
        time minute second moment trouble fun something nothing everything lot lots point request favour favor suspicion \
        hunch file function list string table code script dataset variable array class method exception warning \
        message snippet query chance choice clue thought thoughts concern concerns suggestion suggestions text image headache cold fever flu \
        hangover cough cramp stomachache task tasks followup follow-up one two";
    // Subjects that are about the talk itself.
    TALK = "problem question issue thing point idea answer weather code function error output result text image reason \
        example link bug first second third rest following above below snippet sentence paragraph message response reply \
        joke difference trick catch good bad same other next last truth bottom fact matter day morning world life time \
        test build query loop stacktrace trace log logs script exception";
    PRAISE = "great nice cool amazing awesome good bad fine funny weird annoying broken slow fast down up terrible horrible \
        lovely beautiful interesting boring wonderful perfect excellent crazy sad fun hard easy difficult wrong right \
        correct incorrect true false ok okay failing working crashing complicated confusing clear unclear important \
        helpful useful useless ready done here there back better worse best worst tasty delicious stupid silly odd \
        strange missing empty huge small big next likely unlikely possible impossible similar different fantastic";
    GREETINGS = "hi hello hey thanks thank thx cheers bye goodbye goodnight welcome lol haha hahaha yes no yeah yep nope ok \
        okay sure cool nice great perfect awesome wow hmm please congratulations congrats sorry morning evening";
    // What an assistant is asked to do right now.
    ORDERS = "translate write show tell explain summarise summarize list give make generate create find search help draft \
        convert compare print look check run fix add remove rewrite refactor describe suggest recommend calculate \
        compute count sort format read open close send play stop start try let wait do continue go say answer reply \
        repeat rephrase paraphrase shorten expand improve edit correct implement debug test review analyse analyze \
        imagine pretend suppose assume consider think guess see ask put set get take turn change update delete \
        forget ignore keep call name remind remember note save store use prepare plan schedule book order buy move rename \
        replace split merge draw plot build define clean proofread brainstorm outline walk talk please design";
    DUTY_NOT = "go think know see understand be talk ask say admit sleep leave run figure decide wait rest stop eat look \
        relax hear agree disagree apologize apologise mention add note tell do have make use get";
    EVENTS = "wedding birthday anniversary exam flight appointment interview launch demo release conference surgery party \
        trip deadline graduation concert marathon race holiday vacation presentation meeting retro review checkup \
        check-up deposition audit move";
    GOALS = "learn become visit move buy travel lose run start quit retire live study build launch ship save improve read \
        master finish publish climb hike stop switch get write work own open grow reach pass migrate";
    PLACES = "porto lisbon london paris berlin madrid rome moscow tokyo amsterdam vienna prague warsaw dublin munich hamburg \
        barcelona milan oslo stockholm copenhagen helsinki zurich geneva brussels budapest athens istanbul kyiv tbilisi \
        riga vilnius tallinn belgrade zagreb sofia bucharest boston chicago seattle austin denver portland toronto \
        vancouver montreal sydney melbourne auckland singapore bangkok delhi mumbai bangalore bengaluru beijing shanghai \
        seoul osaka kyoto dubai cairo lagos nairobi lima bogota santiago portugal spain france germany italy japan china \
        india brazil canada mexico australia england scotland ireland wales poland ukraine russia georgia serbia greece \
        turkey sweden norway denmark finland netherlands belgium austria switzerland europe asia africa america \
        california texas coimbra braga faro";
    CALENDAR = "january february march april may june july august september october november december jan feb mar apr jun \
        jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays \
        thursdays fridays saturdays sundays mon tue wed thu fri sat sun christmas easter halloween spring summer autumn \
        winter today tomorrow yesterday";
    NUMBERS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
        eighteen nineteen twenty";
}

static WORDS: LazyLock<HashMap<&'static str, u64>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (number, list) in LISTS.iter().enumerate() {
        for word in list.split_whitespace() {
            *words.entry(word).or_insert(0) |= 1_u64 << number;
        }
    }
    words
});

/// Whether a word in lower case is in a list.
pub(crate) fn within(list: List, lower: &str) -> bool {
    WORDS.get(lower).is_some_and(|lists| lists & (1 << list) != 0)
}

/// The number that a word names: "two" is 2.
pub(crate) fn number(lower: &str) -> Option<usize> {
    LISTS[NUMBERS].split_whitespace().position(|word| word == lower).map(|place| place + 1)
}

/// One of a noun: "nodes" is "node".
pub(crate) fn singular(noun: &str) -> String {
    match noun {
        "children" => "child".to_owned(),
        "people" => "person".to_owned(),
        "mice" => "mouse".to_owned(),
        _ if noun.ends_with("ies") && noun.len() > 4 => format!("{}y", &noun[..noun.len() - 3]),
        _ if ["ses", "xes", "ches", "shes"].iter().any(|end| noun.ends_with(end)) => noun[..noun.len() - 2].to_owned(),
        _ if noun.ends_with('s') && !noun.ends_with("ss") && !noun.ends_with("us") && noun.len() > 3 => {
            noun[..noun.len() - 1].to_owned()
        }
        _ => noun.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_do_not_run_out_of_bits() {
        assert!(LISTS.len() <= 64);
        assert!(within(RELATIONS, "sister") && !within(RELATIONS, "porto"));
        assert_eq!(number("two"), Some(2));
        for (many, one) in
            [("nodes", "node"), ("boxes", "box"), ("cities", "city"), ("children", "child"), ("bus", "bus")]
        {
            assert_eq!(singular(many), one);
        }
    }
}
