//! German.

use rust_stemmers::Algorithm;

use super::form::*;
use super::{Attribute, Table};

pub(super) const TABLE: Table = Table {
    code: "de",
    stemmer: Algorithm::German,
    forms: &[
        (EMPTY, "der die das den dem des ein eine einen einem einer eines sehr auch schon noch so ganz ja doch mal halt eben \
            eigentlich etwa ungefähr circa ca wohl denn dann da und oder dass es sich hat haben habe hast werden wird kann können \
            bitte alle alles ist sind bin dieser diese dieses"),
        (COPULA, "ist sind bin war waren beträgt ="),
        (LIMIT | PAST, "war waren hatte hatten früher ehemals vormals damals"),
        (LIMIT, "wenn falls bis nur außer während bevor nachdem vielleicht eventuell könnte würde sollte muss soll will wollen fast \
            statt stattdessen solange sobald"),
        (ROLE, "in im ins an am ans auf aus bei beim mit nach von vom vor zu zum zur für über unter zwischen gegen durch um ab seit \
            bis als neben pro hinter ohne"),
        (NEGATION, "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder noch ohne"),
        (FIRST, "ich mich mir wir uns"),
        (MINE, "mein meine meinen meinem meiner meines unser unsere unseren unserem unserer unseres"),
        (SECOND, "du dich dir dein deine deinen deinem deiner ihr euch euer"),
        (PRONOUN, "es er sie ihn ihm ihnen sein seine seinen seinem dies das diese dieser dieses jener dort da davon damit dafür darüber dazu"),
        (ASKS, "wer was wen wem wessen welche welcher welches warum wieso weshalb wie wo wohin woher wann"),
        (AUXILIARY, "ist sind bin bist war waren hat habe hast haben kann kannst können könnt könnte könntest soll sollte wird wirst würde \
            willst weißt darf dürfen machst gibt gibst"),
        (CONDITION, "wenn falls sofern"),
        (UNREAL, "würde würden hätte wäre vielleicht eventuell vermutlich möglicherweise hoffentlich ob angenommen könnte"),
        (ORDER, "hilf zeig zeige sag sage gib schreib schreibe mach mache such suche erklär erkläre prüf prüfe schau erstelle füge fang \
            übersetze liste berechne rechne vergleiche öffne lies schick lass"),
        (LASTING, "immer nie niemals jeden jede jedes täglich wöchentlich monatlich meistens normalerweise oft gewöhnlich regelmäßig"),
        (OPENER, "also ach oh na naja tja hm äh ähm übrigens und aber ja nein nee doch okay ok gut so genau stimmt klar eigentlich \
            ehrlich jedenfalls außerdem danke super toll prima entschuldigung sorry hey hallo"),
        (GREETING, "hallo hi hey servus moin tschüss tschüs danke dankeschön grüße gruß guten"),
        (REACTION, "toll super prima klasse schön wunderbar genau stimmt klar wow cool interessant glückwunsch gratuliere schade herrlich \
            spannend lustig perfekt großartig"),
        (JOKE, "scherz spaß witz haha hihi lol aprilscherz"),
        (CHANGE, "jetzt nun inzwischen mittlerweile neuerdings stattdessen statt geändert änderung änderungen gewechselt wechselt umgezogen \
            gekündigt verschoben verlegt abgesagt ersetzt neu neue neuer neues neuen aufgehört mehr"),
        (NOW, "jetzt nun inzwischen mittlerweile neuerdings aktuell derzeit momentan heutzutage heute neu neue neuer neues neuen"),
        (CORRECTION, "eigentlich korrektur falsch irrtum vertippt meinte verwechselt sorry entschuldigung"),
        (LIFE, "wohne wohnt wohnen lebe lebt leben arbeite arbeitet arbeiten studiere studiert besitze liebe liebt hasse hasst mag mögen spiele \
            spielt fahre fährt spreche spricht heiße heißt geboren verheiratet geschieden verlobt schwanger rente pensioniert vegan vegetarisch \
            vegetarier vegetarierin lieblings geburtstag hochzeitstag beruf hobby umgezogen angefangen gegründet lerne lernen nehme nimmt \
            gekauft trinke trinkt esse isst koche kocht gehe allergisch allergie"),
        (DID, "ging war hatte machte nahm kaufte sah traf fand verlor gewann begann gab sagte verließ kam wurde besuchte lernte las schrieb baute \
            unterschrieb buchte bestand zog fuhr flog verbrachte heiratete starb gekauft gefunden verloren gewonnen angefangen bekommen gelernt \
            gelesen geschrieben gebaut gebucht bestanden gezogen gefahren geflogen gestorben gegangen gemacht getroffen besucht entschieden"),
        (RELATION, "mutter mama vater papa vati mutti eltern schwester bruder geschwister frau mann partner partnerin freundin freund sohn tochter kind \
            kinder baby oma opa großmutter großvater enkel enkelin enkelkind tante onkel cousin cousine nichte neffe kollege kollegin kollegen chef \
            chefin nachbar nachbarin mitbewohner vermieter vermieterin lehrer lehrerin arzt ärztin zahnarzt zahnärztin steuerberater kunde kundin team \
            hund katze kater haustier pferd schwiegermutter schwiegervater ex familie zwillinge"),
        (MANY, "mag mögen liebe liebt spreche spricht besucht besuchte kenne kennt traf gekauft gelesen spiele spielt nehme nimmt esse isst trinke \
            trinkt allergisch hasse hasst brauche will lerne schwester bruder sohn tochter kind freund freundin cousin cousine tante onkel kollege \
            kollegin haustier hund katze hobby allergie sprache kunde buch kinder hunde katzen schwestern brüder freunde"),
        (SINGLE, "name nachname vorname adresse nummer telefonnummer handynummer telefon email e-mail mail passwort kennwort pin code geburtstag alter \
            gewicht größe version port host frist deadline abgabetermin budget preis gehalt miete limit status chef chefin frau mann ehemann ehefrau \
            verlobter verlobte vermieter vermieterin lieblingsessen lieblingsfarbe lieblingsbuch hauptstadt standard arbeitgeber beruf rolle vorsitzende \
            vorsitzender zahnarzt zahnärztin hausarzt hausärztin steuerberater ansprechpartner ansprechpartnerin standort farbe schwelle muttersprache"),
        (EVENT, "treffen termin besprechung anruf flug zug reise besuch prüfung interview sitzung kurs stunde feier abendessen konzert spiel rennen \
            operation hochzeit dosis tablette tabletten zahlung rechnung bestellung lieferung schicht probe ausflug"),
        (AND, "und aber sondern während"),
        (BECAUSE, "weil da denn sodass welche welcher obwohl damit"),
        (CONFIRMS, "ja jawohl genau stimmt richtig korrekt klar natürlich"),
        (SAYS, "sagt sagte meint meinte findet behauptet glaubt denkt erzählt erzählte schlägt"),
        (VITAL, "allergisch allergie unverträglichkeit zöliakie diabetes asthma epilepsie schwanger medikament medikamente insulin vegan vegetarisch \
            gluten glutenfrei laktose operation krebs diagnose blut krankheit notfall dosis mg"),
        (LIKES, "mag liebe liebt hasse hasst bevorzuge bevorzugt lieber lieblings gern gerne ungern gefällt"),
        (PLANS, "entschieden beschlossen plane planen vorhabe möchte will wollen ziel frist fällig gebucht vereinbart werde"),
        (SETS, "erhöht gesenkt reduziert geändert verschoben verlegt vorgezogen gesetzt umgestellt verlängert verkürzt umbenannt gewechselt"),
        (TO, "auf zu nach"),
        (HAS, "hat haben habe hatte"),
        (ENDS, "aufgehört gekündigt beendet abgesagt"),
        (INSTEAD, "sondern"),
        (TITLE, "herr frau dr dr. prof prof. hr. fr."),
        (SINCE, "seit ab"),
        (FEELING, "fühle fühlt gefühl gefühle freude glücklich stolz dankbar wichtig besonders schön inspiriert motiviert leidenschaft \
            unterstützung mut kraft momente reise erinnerungen frieden freiheit positiv energie verbindung wunderbar toll hoffnung"),
        (SHOWS, "foto fotos bild bilder screenshot selfie"),
        (TIME, "gestern heute morgen letzte letzten letztes nächste nächsten nächstes woche monat jahr wochen monate jahre frühling sommer \
            herbst winter neulich vorgestern"),
        (STYLE, "antworte antworten antwort sätze satz ton förmlich formell stil einheiten metrisch emoji emojis stichpunkte stichpunkten deutsch englisch duze duzen siezen \
            kurz knapp einfach sprich du sie"),
        (VAGUE, "ding dinge sache sachen zeug etwas irgendwas irgendwie jemand alles usw"),
    ],
    same: "km kilometer|m meter|cm zentimeter|kg kilo kilos kilogramm|g gramm|t tonne tonnen|l liter|h stunde stunden|min minute minuten|s sekunde sekunden|\
        tag tage tagen|woche wochen|monat monate monaten|jahr jahre jahren|eur euro euros €|% prozent|mon montag montags|tue dienstag dienstags|\
        wed mittwoch mittwochs|thu donnerstag donnerstags|fri freitag freitags|sat samstag samstags sonnabend|sun sonntag sonntags|1 eins|2 zwei zweimal|\
        3 drei|4 vier|5 fünf|6 sechs|7 sieben|8 acht|9 neun|10 zehn|11 elf|12 zwölf|20 zwanzig|30 dreißig|100 hundert|1000 tausend|jan januar jänner|\
        feb februar|mar märz|apr april|may mai|jun juni|jul juli|aug august|sep september|oct oktober|nov november|dec dezember|mutter mama mutti|\
        vater papa vati|user ich mich mir|no nicht kein keine keinen keinem keiner nie niemals",
    contractions: "ich's=ich es|hab=habe|hab's=habe es|geht's=geht es|gibt's=gibt es|ist's=ist es",
    requests: "dir merken dass|dir merken|sich merken dass|dir notieren dass|dir aufschreiben dass|merk dir dass|merk dir bitte dass|merk dir bitte|merk dir|merke dir dass|merke dir bitte|merke dir|merken sie sich dass|merken sie sich|\
        denk daran dass|denk daran|denk dran dass|denk dran|vergiss nicht dass|vergiss nicht|vergiss bitte nicht dass|vergiss bitte nicht|notiere dass|\
        notiere dir dass|notiere dir|notiere|notier dir dass|notier dir|notier|schreib dir auf dass|schreib dir auf|schreib auf dass|schreib auf|\
        speichere dass|speichere|speicher dass|speicher|behalte im kopf dass|behalte im kopf|behalte im gedächtnis dass|behalte im gedächtnis|\
        behalt im kopf dass|behalt im kopf|halte fest dass|halte fest|halt fest dass|halt fest|nur damit du es weißt|damit du es weißt|\
        damit du bescheid weißt|zur info|fürs protokoll|für später|für die zukunft|du solltest wissen dass|du sollst wissen dass|du musst wissen dass|\
        behalte bitte dass|nimm zur kenntnis dass|bitte beachte dass|beachte dass|präg dir ein dass|präg dir ein|präge dir ein dass|präge dir ein",
    reminders: "erinnere mich daran dass|erinnere mich daran|erinnere mich an|erinnere mich|erinner mich daran|erinner mich an|erinner mich|\
        lass mich nicht vergessen",
    phrases: &[
        (CHANGE, "nicht mehr|kein mehr|nur noch|ab jetzt|von jetzt an|ab sofort|meinung geändert|statt dessen|anstatt"),
        (NOW, "ab jetzt|ab sofort|zur zeit|im moment|von nun an"),
        (JOKE, "nur spaß|war ein witz|nur ein scherz"),
        (CORRECTION, "ich meinte|ich meine|mein fehler|da lag ich falsch|ich habe mich geirrt|stimmt nicht"),
        (UNREAL, "was wäre|als ob|nicht sicher|keine ahnung|eines tages|irgendwann mal|ich überlege|noch nicht entschieden|mal sehen"),
        (GREETING, "guten morgen|guten tag|guten abend|gute nacht|vielen dank|bis bald|bis später|bis dann|wie geht|schönen tag|auf wiedersehen"),
        (REACTION, "klingt gut|hört sich|sieht gut|das ist toll|das ist schön|gut gemacht|viel glück|kein problem|ach so|freut mich|finde ich gut"),
        (HELP, "brauche hilfe|weiß nicht wie|komme nicht weiter|habe probleme|hilf mir"),
        (LASTING, "jeden tag|jede woche|jeden monat|jedes jahr|immer wieder|die ganze zeit|mal am tag|mal die woche"),
        (ORDER, "kannst du|könntest du|würdest du|können sie|könnten sie|hilf mir|sag mir|zeig mir|gib mir|lass uns"),
        (LIFE, "bin ein|bin eine|aufgewachsen|komme aus|kommt aus|jahre alt"),
        (PLANS, "habe vor|freue mich|muss bis|will ich"),
        (ENDS, "nicht mehr|aufgehört"),
    ],
    claims: &[
        (Attribute::Home, "wohne in|wohnt in|wohnen in|lebe in|lebt in|leben in|wohne jetzt in|wohnt jetzt in|bin nach|ist nach|gezogen nach"),
        (Attribute::Address, "wohne am|wohne in der|wohnt am|wohne im"),
        (Attribute::Employer, "arbeite bei|arbeitet bei|arbeite für|arbeitet für|arbeite jetzt bei|arbeitet jetzt bei|bin bei|ist angestellt bei"),
        (Attribute::Name, "heiße|heißt|heißt jetzt"),
        (Attribute::Born, "bin geboren am|wurde geboren am|geboren am|geboren in|geboren im"),
        (Attribute::Allergy, "bin allergisch gegen|ist allergisch gegen|bin allergisch auf|ist allergisch auf"),
        (Attribute::Language, "spreche|spricht"),
        (Attribute::Cost, "kostet|kosten"),
        (Attribute::Weight, "wiege|wiegt"),
        (Attribute::Hours, "öffnet um|schließt um|beginnt um|endet um|läuft um|fährt um|läuft ab am|beginnt am|endet am"),
        (Attribute::Port, "läuft auf port|lauscht auf port"),
        (Attribute::Is, "ist|sind|beträgt|ist am|ist um|=|ist jetzt|sind jetzt|ist nun"),
    ],
    nouns: &[
        (Attribute::Address, "adresse anschrift"), (Attribute::Name, "name"), (Attribute::Birthday, "geburtstag"), (Attribute::Employer, "arbeitgeber"),
        (Attribute::Weight, "gewicht"), (Attribute::Pronouns, "pronomen"), (Attribute::Home, "wohnort heimatstadt"), (Attribute::Language, "muttersprache"),
    ],
};
