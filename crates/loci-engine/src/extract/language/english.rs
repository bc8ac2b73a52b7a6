//! English.

use rust_stemmers::Algorithm;

use super::form::*;
use super::{Attribute, Table};

pub(super) const TABLE: Table = Table {
    code: "en",
    stemmer: Algorithm::English,
    forms: &[
        (EMPTY, "a an the this that these those there here very really quite just also too so such rather pretty even \
            still yet already again once back forward"),
        (EMPTY, "and or of as it its itself own about around approximately roughly ca some any all both each every please kind sort bit lot"),
        (EMPTY, "do does did have has had having be been being get gets got getting am is are can"),
        (COPULA, "is are am equals = was were"),
        (COPULA | CHANGE, "became becomes remains"),
        (LIMIT | PAST, "was were had used former formerly previously ago"),
        (LIMIT, "if when whenever unless until till only except while during before after once maybe perhaps might may \
            could would should must will shall did almost nearly instead otherwise"),
        (ROLE, "in at on to from with for by over under between against than as into onto through via near per within \
            across behind beside towards toward until since before after above below off out up down versus vs"),
        (NEGATION, "not no never none nobody nothing neither nor without cannot can't don't doesn't didn't won't isn't \
            aren't wasn't weren't haven't hasn't hadn't"),
        (FIRST, "i me myself we us ourselves"),
        (MINE, "my mine our ours"),
        (SECOND, "you your yours yourself u ur ya'll y'all"),
        (PRONOUN, "it they them their theirs he him his she her hers this that these those one ones same both such there \
            its"),
        (ASKS, "who what whom whose which why how where when"),
        (AUXILIARY, "do does did is are was were am can could will would shall should have has had may might"),
        (CONDITION, "if unless whenever"),
        (UNREAL, "would wish imagine suppose supposing assume maybe perhaps might hypothetically probably hopefully \
            could whether pretend someday"),
        (ORDER, "help show tell give write make find explain fix check look create add start run summarise summarize list \
            draft generate translate open read send let suggest recommend compare calculate convert describe search \
            google use try keep put set book order call email schedule plan"),
        (LASTING, "always never usually normally often every everyday daily weekly monthly regularly rarely ever"),
        (OPENER, "well so oh ah um uh hmm hm anyway anyways btw fyi also and but plus ok okay k kk yeah yep yup yes no \
            nope nah hey look listen right sure actually honestly basically like now then lol haha hehe heh wow \
            great cool nice thanks thx sorry true indeed exactly"),
        (GREETING, "hi hello hey heya hiya greetings morning evening afternoon bye goodbye cheers thanks thank thx welcome \
            ciao goodnight night regards"),
        (REACTION, "wow great cool nice awesome amazing congrats congratulations sounds looks seems lovely haha lol good \
            glad sorry sure exactly absolutely definitely totally fantastic wonderful brilliant perfect excellent \
            interesting impressive beautiful sweet aww neat yay ugh yikes ouch wild ew fun agreed indeed seriously \
            proud inspiring incredible"),
        (JOKE, "kidding joking joke lmao  rofl jk sarcasm lol haha hahaha"),
        (CHANGE, "now anymore longer instead changed changes change switched swapped replaced moved quit stopped married divorced separated retired resigned \
            renamed updated update cancelled canceled postponed rescheduled new formerly nowadays lately"),
        (NOW, "now currently nowadays today presently lately already actually new newly just recently"),
        (CORRECTION, "actually meant correction wrong mistake mistyped mistaken misspoke oops incorrect sorry typo"),
        (LIFE, "live lives lived living work works worked working study studies studied studying own owns \
            play plays drive drives speak speaks teach teaches born married \
            divorced engaged pregnant retired graduated allergic vegan vegetarian diabetic favourite favorite \
            birthday anniversary job career hobby hobbies moved joined started founded learning practise practice \
            train volunteer wear wears use uses using take takes took bought rent rents sleep eat eats drink drinks \
            cook grow grew raised adopted studied called named based"),
        (DID, "went got had made took bought saw met found lost won started finished began began gave told said left \
            came became joined moved visited attended learned learnt read wrote built launched signed booked passed \
            failed broke hurt sold sent paid received decided chose picked planted painted ran swam hiked travelled \
            traveled flew drove spent tried quit adopted hired fired graduated married divorced died born celebrated \
            opened closed created taught watched played finished organised organized hosted donated applied accepted \
            rejected promoted fixed injured recovered caught stayed invited helped planned"),
        (RELATION, "mother mom mum father dad parents sister brother sibling siblings wife husband partner girlfriend \
            boyfriend fiance fiancee son daughter child children kid kids baby grandmother grandma grandfather \
            grandpa granddaughter grandson aunt uncle cousin niece nephew friend friends colleague colleagues \
            coworker coworkers boss manager supervisor neighbour neighbor roommate flatmate landlord landlady \
            teacher tutor doctor dentist therapist accountant lawyer client clients customer team dog dogs puppy cat \
            cats kitten pet pets mentor coach buddy classmate classmates horse parrot rabbit hamster bro sis mother-in-law father-in-law sister-in-law \
            brother-in-law ex stepson stepdaughter twins family"),
        (MANY, "like likes love loves enjoy enjoys speak speaks visit visited know knows met bought read reads saw watch \
            watched play plays take takes took eat eats drink drinks allergic own owns hate hates dislike dislikes \
            prefer prefers want wants need needs learn learns study use uses collect collects went ran"),
        (MANY, "sister brother son daughter child kid friend cousin aunt uncle colleague coworker pet dog cat hobby \
            allergy language skill client customer book friends sisters brothers sons daughters children kids \
            cousins colleagues pets dogs cats hobbies allergies languages skills clients customers books member \
            members interest interests"),
        (SINGLE, "name nickname surname address number phone email e-mail mail password passcode pin code birthday age \
            weight height size version port host hostname url deadline budget price cost salary rent rate limit \
            status owner lead leader manager boss wife husband spouse fiance fiancee landlord landlady favourite \
            favorite capital timezone zone language default primary main current diet pronouns employer job title \
            role chair chairman ceo cto headquarters location color colour model threshold timeout total balance \
            quota capacity length width depth duration region branch database editor key id doctor dentist gp \
            therapist contact wifi wi-fi"),
        (EVENT, "meeting appointment call flight train trip visit exam interview session class lesson party dinner lunch \
            concert game match race marathon checkup check-up operation surgery wedding dose tablet tablets pill \
            pills payment invoice order delivery delivery shift game run ride workout"),
        (AND, "and but while whereas"),
        (BECAUSE, "because since so as cause cuz coz which who whom where although though whereas"),
        (CONFIRMS, "yes yeah yep yup yea ya correct right exactly true indeed definitely absolutely sure aye"),
        (SAYS, "says said thinks think claims claim believes told tells reckons insists suggests argues swears mentioned"),
        (VITAL, "allergic allergy allergies intolerant intolerance diabetic diabetes asthma epilepsy pregnant medication \
            medicine insulin coeliac celiac vegan vegetarian kosher halal gluten lactose surgery operation cancer \
            diagnosed disease disability emergency anaphylaxis penicillin dose mg pacemaker infarct \
            attack"),
        (LIKES, "like likes love loves enjoy enjoys prefer prefers hate hates dislike dislikes favourite favorite fan \
            adore adores detest fond"),
        (PLANS, "decided decide plan plans planning going gonna chose chosen settled agreed booked want wants wanna hope \
            hoping intend goal deadline due"),
        (SETS, "raised raise increased lowered reduced cut changed moved pushed put postponed rescheduled delayed \
            shifted set bumped upgraded downgraded switched extended shortened renamed updated migrated dropped up"),
        (TO, "to into"),
        (HAS, "has have had contains includes"),
        (ENDS, "stopped quit gave left dropped cancelled canceled ended finished"),
        (INSTEAD, "but rather instead"),
        (TITLE, "mr mrs ms miss dr prof sir madam mr. mrs. ms. dr. prof. st st."),
        (SINCE, "since"),
        (FEELING, "feel feels felt feeling feelings joy happy happiness proud pride grateful thankful lucky glad appreciate appreciated special \
            important meaningful reminder reminds remind reminded inspire inspires inspired inspiring motivates motivated motivation \
            passion passionate support supportive supporting acceptance accepting courage strength strong moments moment journey \
            memories peace peaceful freedom positive positivity creativity creative energy connection connected connect growth amazing \
            awesome powerful wonderful incredible beautiful rewarding fulfilling vibe vibes bond hope dreams spirit kindness"),
        (SHOWS, "pic pics photo photos picture pictures image images screenshot selfie snap"),
        (TIME, "yesterday today tomorrow tonight ago last next week weekend month year weeks months years recently spring summer autumn \
            winter morning evening"),
        (STYLE, "answer answers reply replies respond response responses sentence sentences tone formal informal formally style wording units metric imperial emoji emojis \
            bullet bullets jargon english german spanish french russian language concise brief briefly short simple address"),
        (VAGUE, "thing things stuff something anything everything someone everyone somewhere way lot whatever etc"),
    ],
    same: "km kilometre kilometres kilometer kilometers kms|m metre metres meter meters|cm centimetre centimetres \
        centimeter centimeters|kg kilo kilos kilogram kilograms kgs|g gram grams|t tonne tonnes ton tons|mg \
        milligram milligrams|l litre litres liter liters|h hour hours hr hrs|min minute minutes mins|s second \
        seconds sec secs|day days|week weeks|month months|year years yr yrs|eur euro euros €|usd dollar dollars $ \
        bucks|gbp pound pounds £|% percent pct|mon monday mondays|tue tuesday tuesdays tues|wed wednesday \
        wednesdays|thu thursday thursdays thur thurs|fri friday fridays|sat saturday saturdays|sun sunday sundays|1 \
        one first 1st|2 two second 2nd twice|3 three third 3rd|4 four fourth 4th|5 five fifth 5th|6 six sixth 6th|7 \
        seven seventh 7th|8 eight eighth 8th|9 nine ninth 9th|10 ten tenth 10th|11 eleven 11th|12 twelve 12th|20 \
        twenty 20th|30 thirty 30th|100 hundred|1000 thousand|jan january|feb february|mar march|apr april|jun \
        june|jul july|aug august|sep september sept|oct october|nov november|dec december|max maximum most|min. \
        minimum least|favourite favorite|colour color|mother mom mum|father dad|phone telephone mobile|email e-mail \
        mail e-mailed|child kid|user i me|user's my mine|we us|no not never none cannot",
    contractions: "i'm=i am|im=i am|i've=i have|ive=i have|i'll=i will|i'd=i would|id=i would|we're=we are|we've=we \
        have|we'll=we will|we'd=we would|it's=it is|that's=that is|thats=that is|he's=he is|she's=she is|shes=she \
        is|they're=they are|they've=they have|they'll=they will|you're=you are|youre=you are|you've=you \
        have|you'll=you will|there's=there is|theres=there is|here's=here is|what's=what is|whats=what is|who's=who \
        is|where's=where is|let's=let us|lets=let us|lemme=let me|gonna=going to|wanna=want to|don't=do not|dont=do \
        not|doesn't=does not|doesnt=does not|didn't=did not|didnt=did not|can't=can not|cant=can not|cannot=can \
        not|won't=will not|wont=will not|isn't=is not|isnt=is not|aren't=are not|wasn't=was not|weren't=were \
        not|haven't=have not|hasn't=has not|hadn't=had not|shouldn't=should not|wouldn't=would not|couldn't=could \
        not|pls=please|plz=please",
    requests: "remember that|remember this|remember|do not forget that|do not forget|never forget that|never forget|keep in mind that|keep in \
        mind|bear in mind that|bear in mind|make a note that|make a note of|make a note|take a note that|take a note|take note that|take \
        note of|take note|note that|note down that|note down|please note that|write down that|write down|write this down|jot down \
        that|jot down|jot this down|for the record|for your records|for future reference|for later|save this|store that|store this|log \
        that|record that|memorise that|memorise|memorize that|memorize|commit to memory that|commit to memory|add to your memory \
        that|add to your memory|add to memory|put in your memory|keep a note that|keep a note of|keep a record of|keep a record that|you \
        should know that|you should know|you need to know that|i want you to know that|just so you know|so you know|hold on to this|do \
        remember that|do remember|file away|mark down|mark down that|note :|note my|note our|save my|save our|store my|store our|record \
        my|log my|make a mental note that|make a mental note|put this in your memory|put it in your notes|put that in your notes|add \
        this to your notes|add to your notes|keep track of|keep track that|know that|hang on to the fact that|please be aware that|be \
        aware that|do keep in mind|this is important :|important :|for reference|let it be known that|be sure to remember|make sure you \
        remember|make sure to remember|try to remember|take it down|pin this|i want you to remember|i need you to remember|i would like \
        you to remember",
    reminders: "remind me to|remind me that|remind me about|remind me of|remind me|remember to|do not let me forget to|do \
        not let me forget",
    phrases: &[
        (CHANGE, "no longer|not any more|any more|gave up|give up|used to|changed my mind|from now on|as of|instead of|not \
            anymore|pushed back|put back|brought forward|moved to|switched to|now on|these days|turned out|turns out"),
        (NOW, "these days|right now|at the moment|as of now|at present|by now|from now on"),
        (JOKE, "just kidding|only kidding|just joking|april fool"),
        (CORRECTION, "i meant|i mean|my mistake|my bad|i was wrong|got it wrong|i misspoke|not true|to correct|let me \
            correct|scratch that"),
        (UNREAL, "what if|if only|as if|not sure|no idea|one day|some day|might be|could be|would be|thinking \
            about|thinking of|considering|i wish|let us say|in theory|not decided|undecided"),
        (GREETING, "good morning|good evening|good afternoon|good night|good to see|nice to meet|nice to see|great to \
            see|see you|talk soon|talk to you|take care|have a great|have a good|have a nice|thank you|thanks \
            for|how are you|how have you|what is up|long time"),
        (REACTION, "sounds like|sounds good|looks like|that is great|that is awesome|that is cool|that is amazing|that is \
            so|good for you|good job|well done|good luck|no problem|no worries|of course|so cool|so happy for|so \
            glad|so sorry|i agree|me too|same here|fair enough|good point|makes sense|got it|i see|can not wait|must \
            be|must have|must feel|way to go|keep it up|you too|how cool|i bet"),
        (HELP, "need help|make sure|having trouble|not sure how|not sure what|figure out|struggling with|getting this error|getting an error|help me|wondering|trying to understand|staring at"),
        (SHOWS, "here is|here are|check out|take a look|look at this"),
        (LASTING, "every day|every week|every month|every year|each day|each week|all the time|from now on|most days|on \
            weekends|twice a|once a|times a"),
        (ORDER, "can you|could you|would you|will you|can u|could u|help me|tell me|show me|give me|let us|let me|do \
            you|i need you to|i want you to|i would like you to"),
        (LIFE, "passed away|grew up|came from|comes from|come from|i am a|i am an|we are a|years old|have been|has \
            been|signed up|broke up|got engaged|got married|fell in love|working on|trained as|my first"),
        (VITAL, "heart attack|blood pressure|blood thinner|passed away|emergency contact|type 1|type 2"),
        (PLANS, "going to|plan to|want to|would love to|would like to|hope to|looking forward|decided to|due on|due \
            by|need to|have to"),
        (ENDS, "no longer|gave up|not any more|not anymore"),
        (INSTEAD, "but rather"),
    ],
    claims: &[
        (Attribute::Home, "live in|lives in|am living in|is living in|moved to|have moved to|has moved to|relocated to|am based \
            in|is based in|are based in|reside in|resides in"),
        (Attribute::Address, "live at|lives at|reside at|resides at"),
        (Attribute::Employer, "work at|works at|work for|works for|am working at|is working at|am working for|is working for|am \
            employed at|am employed by|is employed at|is employed by"),
        (Attribute::Name, "am called|is called|am named|is named|go by|goes by|are called|was renamed to|is now called"),
        (Attribute::Born, "was born in|was born on|were born in|were born on|born in|born on"),
        (Attribute::Allergy, "am allergic to|is allergic to|are allergic to|is intolerant to|am intolerant to"),
        (Attribute::Language, "speak|speaks"),
        (Attribute::Cost, "costs|cost"),
        (Attribute::Weight, "weigh|weighs"),
        (Attribute::Hours, "opens at|open at|closes at|starts at|start at|ends at|begins at|runs at|run at|leaves at|departs \
            at|arrives at|expires on|expires in|expires after|expire after|ends on|starts on"),
        (Attribute::Port, "runs on port|run on port|listens on port|listen on port|listens on"),
        (Attribute::Is, "is|are|=|is set to|are set to|is at|is on|are on|is in|is due|is due on|is due by|is scheduled for|is \
            running|is still|will be on|will be at|has been set to|stands at|takes"),
    ],
    nouns: &[
        (Attribute::Address, "address"), (Attribute::Name, "name"), (Attribute::Birthday, "birthday"), (Attribute::Employer, "employer"),
        (Attribute::Weight, "weight"), (Attribute::Pronouns, "pronouns"), (Attribute::Home, "city hometown"), (Attribute::Port, "port"),
    ],
};
