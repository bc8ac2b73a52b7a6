//! French.

use rust_stemmers::Algorithm;

use super::form::*;
use super::{Attribute, Table};

pub(super) const TABLE: Table = Table {
    code: "fr",
    stemmer: Algorithm::French,
    forms: &[
        (EMPTY, "le la les un une des du l d très aussi encore déjà bien tout toute tous toutes même et ou que qu se s y en a ai as ont avons avez est sont \
            suis peut peux plait plaît svp ce cet cette ces environ"),
        (COPULA, "est sont suis était étaient ="),
        (LIMIT | PAST, "était étaient avait avaient autrefois avant ancien ancienne"),
        (LIMIT, "si quand lorsque jusque jusqu sauf pendant avant après peut-être pourrait devrait doit sera seront seulement uniquement presque sinon"),
        (ROLE, "dans en à au aux de du d avec par pour sur sous entre contre depuis jusque selon sans chez vers près côté"),
        (NEGATION, "ne n pas jamais rien personne aucun aucune ni sans plus non"),
        (FIRST, "je j me m moi nous"),
        (MINE, "mon ma mes notre nos"),
        (SECOND, "tu te t toi vous ton ta tes votre vos"),
        (PRONOUN, "il elle ils elles lui leur eux ça cela ceci celui celle ceux ce y en son sa ses"),
        (ASKS, "qui quoi quel quelle quels quelles pourquoi comment où quand combien"),
        (AUXILIARY, "peux peut pourrais pourriez sais est-ce as avez es êtes"),
        (CONDITION, "si"),
        (UNREAL, "peut-être imagine suppose probablement pourrais pourrait serait aurait aimerais voudrais espérons"),
        (ORDER, "aide montre dis donne écris fais cherche explique corrige vérifie regarde crée ajoute commence traduis liste calcule compare ouvre lis envoie"),
        (LASTING, "toujours jamais chaque quotidiennement habituellement normalement souvent généralement d'habitude"),
        (OPENER, "bon ben alors ah oh euh et mais oui non si ok okay d'accord voilà donc au fait merci désolé désolée super bref"),
        (GREETING, "bonjour bonsoir salut coucou merci adieu bye"),
        (REACTION, "super génial cool parfait exactement waouh incroyable félicitations bravo intéressant dommage magnifique"),
        (JOKE, "plaisante blague mdr lol haha"),
        (CHANGE, "maintenant désormais plutôt changé change changement déménagé quitté arrêté nouveau nouvelle nouvel reporté déplacé annulé remplacé \
            dorénavant"),
        (NOW, "maintenant désormais actuellement dorénavant aujourd'hui nouveau nouvelle nouvel"),
        (CORRECTION, "erreur correction trompé trompée fait désolé pardon"),
        (LIFE, "habite habitons vis vit travaille étudie possède aime aimons déteste préfère joue conduis parle enseigne né née marié mariée divorcé divorcée \
            enceinte retraité retraite végan végane végétarien végétarienne allergique préféré préférée anniversaire emploi métier loisir déménagé \
            commencé apprends utilise prends prend acheté mange bois cuisine appelle adore"),
        (DID, "allé allée fait pris acheté vu rencontré trouvé perdu gagné commencé fini donné dit quitté venu visité appris lu écrit signé réservé réussi \
            raté vendu payé reçu décidé choisi couru voyagé passé marié mort née né"),
        (RELATION, "mère maman père papa parents sœur soeur frère femme mari conjoint conjointe copine copain fils fille enfant enfants bébé grand-mère \
            grand-père tante oncle cousin cousine nièce neveu ami amie amis collègue patron patronne chef voisin voisine propriétaire professeur \
            médecin dentiste comptable avocat client équipe chien chienne chat chatte animal belle-mère beau-père ex famille jumeaux"),
        (MANY, "aime aimes adore parle visité connais connaît acheté lu joue prends prend mange bois allergique déteste préfère veux besoin apprends sœur soeur \
            frère fils fille enfant ami amie cousin cousine tante oncle collègue animal chien chat loisir allergie langue client livre enfants amis"),
        (SINGLE, "nom prénom adresse numéro téléphone portable mail email courriel passe code pin anniversaire âge poids taille version port échéance date \
            budget prix salaire loyer limite statut patron patronne femme mari propriétaire préféré préférée capitale employeur poste rôle président \
            dentiste médecin contact siège couleur langue délai"),
        (EVENT, "réunion rendez-vous appel vol train voyage visite examen entretien séance cours fête dîner concert match course opération mariage dose \
            comprimé comprimés paiement facture commande livraison"),
        (AND, "et mais tandis"),
        (BECAUSE, "parce car puisque comme bien qui que dont où"),
        (CONFIRMS, "oui exactement exact correct tout effectivement voilà"),
        (SAYS, "dit pense croit trouve affirme raconte suggère prétend"),
        (VITAL, "allergique allergie intolérance intolérant cœliaque diabète asthme épilepsie enceinte médicament médicaments insuline végan végétarien \
            gluten lactose opération cancer diagnostic sang maladie urgence dose mg"),
        (LIKES, "aime adore déteste préfère préféré préférée plaît plaisent"),
        (PLANS, "décidé prévu prévois compte vais allons choisi veux espère objectif échéance réservé"),
        (SETS, "augmenté baissé réduit changé déplacé reporté avancé fixé prolongé raccourci renommé passé repoussé"),
        (TO, "à au aux"),
        (HAS, "a ont ai avons"),
        (ENDS, "arrêté quitté annulé fini"),
        (INSTEAD, "mais"),
        (TITLE, "monsieur madame m mme m. mme. dr dr. pr"),
        (SINCE, "depuis"),
        (FEELING, "sens sent sentiment sentiments joie heureux heureuse fier fière reconnaissant important spécial inspire inspiré motivé \
            passion soutien courage force moments voyage souvenirs paix liberté positif énergie connexion merveilleux espoir"),
        (SHOWS, "photo photos image images capture selfie"),
        (TIME, "hier demain dernier dernière prochain prochaine semaine mois année an semaines ans été hiver printemps automne"),
        (STYLE, "réponds répondez réponses phrases ton formel style unités émojis puces français anglais bref court courtes tutoie vouvoie"),
        (VAGUE, "chose choses truc trucs quelque quelqu'un tout etc"),
    ],
    same: "km kilomètre kilomètres|m mètre mètres|cm centimètre centimètres|kg kilo kilos kilogramme kilogrammes|g gramme grammes|l litre litres|\
        h heure heures|min minute minutes|s seconde secondes|jour jours|semaine semaines|an ans année années|eur euro euros €|% pourcent|mon lundi|\
        tue mardi|wed mercredi|thu jeudi|fri vendredi|sat samedi|sun dimanche|2 deux|3 trois|4 quatre|5 cinq|7 sept|8 huit|9 neuf|10 dix|11 onze|12 douze|\
        20 vingt|30 trente|100 cent|1000 mille|jan janvier|feb février|mar mars|apr avril|may mai|jun juin|jul juillet|aug août|sep septembre|oct octobre|\
        nov novembre|dec décembre|mère maman|père papa|user je j me m moi|no pas jamais aucun aucune",
    contractions: "j'ai=je ai|j'habite=je habite|j'aime=je aime|j'adore=je adore|j'étais=je étais|j'utilise=je utilise|j'apprends=je apprends|c'est=ce est|\
        n'est=ne est|n'ai=ne ai|n'a=ne a|qu'il=que il|qu'elle=que elle|s'appelle=se appelle|m'appelle=me appelle|d'accord=ok",
    requests: "te souvenir que|retenir que|noter que|souviens-toi que|souviens toi que|souviens-toi de|souviens-toi|rappelle-toi que|rappelle toi que|rappelle-toi|n'oublie pas que|n'oublie pas de|\
        n'oublie pas|n'oubliez pas que|retiens que|retiens bien que|retiens|retenez que|note que|note bien que|note|notez que|prends note que|prends note de|\
        prends note|garde en tête que|garde en tête|garde en mémoire que|garde en mémoire|garde à l'esprit que|enregistre que|enregistre|mémorise que|\
        mémorise|sache que|pour info|pour mémoire|tu dois savoir que|il faut que tu saches que|je veux que tu retiennes que|souvenez-vous que",
    reminders: "rappelle-moi que|rappelle-moi de|rappelle moi de|rappelle-moi|ne me laisse pas oublier",
    phrases: &[
        (CHANGE, "ne plus|n'est plus|au lieu de|à partir de maintenant|changé d'avis|changé de"),
        (NOW, "en ce moment|à présent|à partir de maintenant|ces jours-ci"),
        (JOKE, "je plaisante|c'est une blague|je rigole"),
        (CORRECTION, "je voulais dire|je me suis trompé|je me suis trompée|mon erreur|en fait"),
        (UNREAL, "et si|comme si|pas sûr|pas sûre|un jour|je ne sais pas|on verra|je voudrais|j'aimerais"),
        (GREETING, "bonne journée|bonne soirée|bonne nuit|merci beaucoup|à bientôt|à demain|à plus|ça va|comment vas|comment allez"),
        (REACTION, "ça a l'air|c'est super|c'est génial|bonne chance|pas de problème|bien joué|tant mieux|je vois"),
        (HELP, "besoin d'aide|ne sais pas comment|du mal à|m'assurer"),
        (LASTING, "tous les jours|chaque jour|chaque semaine|toutes les semaines|fois par"),
        (ORDER, "peux-tu|peux tu|pourrais-tu|tu peux|pouvez-vous|aide-moi|dis-moi|montre-moi|donne-moi"),
        (LIFE, "je suis un|je suis une|ans et|grandi à|viens de|m'appelle|je m'appelle"),
        (PLANS, "je vais|on va|j'ai décidé|je dois|je veux"),
        (ENDS, "ne plus|j'ai arrêté|a arrêté"),
    ],
    claims: &[
        (Attribute::Home, "habite à|habite en|habite au|vis à|vit à|vivons à|habitons à|ai déménagé à|a déménagé à"),
        (Attribute::Address, "habite au numéro"),
        (Attribute::Employer, "travaille chez|travaille pour"),
        (Attribute::Name, "me appelle|se appelle|appelle"),
        (Attribute::Born, "suis né en|suis née en|est né en|est née en|suis né le|suis née le|est né le|est née le"),
        (Attribute::Allergy, "suis allergique à|suis allergique aux|suis allergique au|est allergique à|est allergique aux|est allergique au"),
        (Attribute::Language, "parle"),
        (Attribute::Cost, "coûte|coûtent"),
        (Attribute::Weight, "pèse"),
        (Attribute::Hours, "ouvre à|ferme à|commence à|finit à|part à|expire le|commence le|finit le"),
        (Attribute::Port, "écoute sur le port|tourne sur le port"),
        (Attribute::Is, "est|sont|est le|est à|est maintenant|est désormais|="),
    ],
    nouns: &[
        (Attribute::Address, "adresse"), (Attribute::Name, "nom prénom"), (Attribute::Birthday, "anniversaire"), (Attribute::Employer, "employeur"),
        (Attribute::Weight, "poids"), (Attribute::Pronouns, "pronoms"), (Attribute::Home, "ville"), (Attribute::Language, "langue"), (Attribute::Port, "port"),
    ],
};
