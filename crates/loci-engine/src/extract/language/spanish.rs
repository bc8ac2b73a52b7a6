//! Spanish.

use rust_stemmers::Algorithm;

use super::form::*;
use super::{Attribute, Table};

pub(super) const TABLE: Table = Table {
    code: "es",
    stemmer: Algorithm::Spanish,
    forms: &[
        (EMPTY, "el la los las un una unos unas lo muy también ya aún todavía tan más menos casi solo mismo misma y e o u que se le les ha he han hemos \
            haber es son está están soy estoy puede puedo todo toda todos todas favor este esta estos estas ese esa eso esto"),
        (COPULA, "es son soy está están estoy era eran fue fueron ="),
        (LIMIT | PAST, "era eran fue fueron había antes antiguamente estaba"),
        (LIMIT, "si cuando hasta sólo solamente excepto mientras durante antes después quizá quizás tal puede podría debería debe será serán salvo"),
        (ROLE, "en a al de del con por para sobre bajo entre contra desde hasta según sin tras hacia ante durante"),
        (NEGATION, "no nunca jamás nada nadie ningún ninguna ninguno tampoco ni sin"),
        (FIRST, "yo me mí nosotros nosotras nos conmigo"),
        (MINE, "mi mis mío mía míos mías nuestro nuestra nuestros nuestras"),
        (SECOND, "tú te ti tu tus usted ustedes vos os su sus contigo"),
        (PRONOUN, "él ella ello ellos ellas lo la los las le les este esta esto ese esa eso aquel aquello allí ahí su sus"),
        (ASKS, "qué quién quiénes cuál cuáles cómo dónde cuándo cuánto cuánta cuántos cuántas por"),
        (AUXILIARY, "puedes podrías puede podría sabes tienes hay es son está están quieres"),
        (CONDITION, "si salvo"),
        (UNREAL, "ojalá quizá quizás tal acaso supongo imagina probablemente podría sería habría tendría gustaría"),
        (ORDER, "ayúdame muestra muéstrame dime dame escribe haz busca explica explícame arregla revisa mira crea añade empieza traduce enumera calcula \
            compara abre lee envía pon"),
        (LASTING, "siempre nunca cada diario diariamente semanalmente normalmente habitualmente suelo suele generalmente"),
        (OPENER, "bueno pues ah oh eh oye mira y pero sí no vale ok okay claro además por cierto entonces así gracias perdón perdona genial bien"),
        (GREETING, "hola buenos buenas adiós gracias saludos chao chau"),
        (REACTION, "genial guay estupendo bien perfecto claro exacto vaya increíble felicidades enhorabuena interesante maravilloso fantástico lástima"),
        (JOKE, "broma bromeo jaja jajaja chiste"),
        (CHANGE, "ahora cambiado cambié cambio cambios mudado mudé dejado dejé nuevo nueva cambia aplazado aplazó pospuesto trasladado movido \
            cancelado sustituido reemplazado actualmente"),
        (NOW, "ahora actualmente hoy ya nuevo nueva últimamente"),
        (CORRECTION, "corrección error equivoqué equivocado perdón quise realidad"),
        (LIFE, "vivo vive vivimos trabajo trabaja estudio estudia tengo tiene amo odio prefiero prefiere juego juega conduzco hablo habla enseño nací nació \
            casado casada divorciado divorciada embarazada jubilado jubilada vegano vegana vegetariano vegetariana alérgico alérgica favorito favorita \
            cumpleaños aniversario empleo trabajo afición mudado empecé aprendo uso toma tomo compré como come bebo cocino llamo llama encanta encantan gusta"),
        (DID, "fui fue hice hizo compré compró vi vio conocí encontré perdí gané empecé terminé di dije dejé vine visité aprendí leí escribí firmé \
            reservé aprobé suspendí vendí pagué recibí decidí elegí corrí viajé volé pasé casé murió nació compramos fuimos hicimos conocimos"),
        (RELATION, "madre mamá padre papá padres hermana hermano hermanos esposa esposo mujer marido pareja novia novio hijo hija hijos bebé abuela abuelo nieta \
            nieto tía tío prima primo sobrina sobrino amigo amiga amigos colega compañero compañera jefe jefa vecino vecina casero casera profesor \
            profesora médico médica dentista contable abogado cliente equipo perro perra gato gata mascota suegra suegro ex familia gemelos"),
        (MANY, "gusta gustan encanta encantan amo habla hablo visité conozco conoce compré leí juego juega tomo toma como come bebo alérgico alérgica odio \
            prefiero quiero necesito aprendo hermana hermano hijo hija amigo amiga primo prima tía tío colega mascota perro gato afición alergia idioma \
            cliente libro hijos hermanos amigos perros gatos"),
        (SINGLE, "nombre apellido dirección número teléfono móvil correo email contraseña clave pin código cumpleaños edad peso altura talla versión puerto \
            plazo fecha presupuesto precio sueldo salario alquiler límite estado jefe jefa esposa esposo marido mujer casero casera favorito favorita \
            capital empleador empleo puesto presidente dentista médico contacto sede color idioma"),
        (EVENT, "reunión cita llamada vuelo tren viaje visita examen entrevista sesión clase fiesta cena concierto partido carrera operación boda dosis \
            pastilla pastillas pago factura pedido entrega turno"),
        (AND, "y e pero mientras"),
        (BECAUSE, "porque pues como aunque quien cual donde"),
        (CONFIRMS, "sí exacto correcto claro cierto efectivamente vale"),
        (SAYS, "dice dijo piensa cree opina asegura afirma contó cuenta sugiere"),
        (VITAL, "alérgico alérgica alergia intolerancia intolerante celíaco celíaca diabetes diabético asma epilepsia embarazada medicación medicina insulina \
            vegano vegana vegetariano gluten lactosa operación cáncer diagnóstico sangre enfermedad emergencia dosis mg"),
        (LIKES, "gusta gustan encanta encantan amo odio odia prefiero prefiere favorito favorita adoro detesto"),
        (PLANS, "decidido decidí plan planeo pienso voy vamos elegido quiero quiere espero objetivo plazo reservado"),
        (SETS, "subido bajado reducido cambiado movido aplazado pospuesto adelantado trasladado fijado ampliado acortado renombrado aumentado cambió movió \
            aplazó subió bajó trasladó"),
        (TO, "a al para hasta"),
        (HAS, "tiene tienen tengo tenemos"),
        (ENDS, "dejado dejé dejó cancelado terminado"),
        (INSTEAD, "sino"),
        (TITLE, "señor señora sr sra sr. sra. dr dr. dra dra. don doña"),
        (SINCE, "desde"),
        (FIRST, "soy estoy tengo vivo trabajo estudio hablo prefiero odio uso tomo necesito quiero vivimos tenemos somos voy fui hice compré nací"),
        (FEELING, "siento siente sentimiento sentimientos alegría feliz orgulloso orgullosa agradecido agradecida importante especial inspira \
            inspirado motivado pasión apoyo valor fuerza momentos viaje recuerdos paz libertad positivo energía conexión maravilloso \
            esperanza"),
        (SHOWS, "foto fotos imagen imágenes captura selfie"),
        (TIME, "ayer hoy mañana anoche pasado pasada próximo próxima semana mes año semanas meses años verano invierno primavera otoño"),
        (STYLE, "responde respóndeme contesta contéstame respuestas frases tono formal informal estilo unidades emojis viñetas español inglés breve corto cortas tutéame usted"),
        (VAGUE, "cosa cosas algo alguien todo etc"),
    ],
    same: "km kilómetro kilómetros|m metro metros|cm centímetro centímetros|kg kilo kilos kilogramo kilogramos|g gramo gramos|l litro litros|h hora horas|\
        min minuto minutos|s segundo segundos|día días|semana semanas|mes meses|año años|eur euro euros €|% ciento|mon lunes|tue martes|\
        wed miércoles|thu jueves|fri viernes|sat sábado sábados|sun domingo domingos|1 uno|2 dos|3 tres|4 cuatro|5 cinco|6 seis|7 siete|8 ocho|9 nueve|\
        10 diez|11 once|12 doce|20 veinte|30 treinta|100 cien ciento|1000 mil|jan enero|feb febrero|mar marzo|apr abril|may mayo|jun junio|jul julio|\
        aug agosto|sep septiembre|oct octubre|nov noviembre|dec diciembre|madre mamá|padre papá|user yo me mí|no nunca jamás ningún ninguna",
    contractions: "",
    requests: "puedes recordar que|podrías recordar que|puedes anotar que|podrías anotar que|puedes guardar que|puedes apuntar que|quiero que anotes que|\
        recuerda que|recuerda|recuérdalo|acuérdate de que|acuérdate que|acuérdate de|no olvides que|no te olvides de que|no te olvides que|no te olvides de|\
        no olvides|ten en cuenta que|ten en cuenta|ten presente que|ten presente|toma nota de que|toma nota que|toma nota de|toma nota|anota que|anota|\
        anótate que|apunta que|apunta|apúntate que|guarda que|guarda|guárdate que|memoriza que|memoriza|que conste que|para que lo sepas|para que sepas|\
        debes saber que|tienes que saber que|quiero que sepas que|quiero que recuerdes que|para el futuro|para más tarde|registra que|registra|\
        recuerde que|tenga en cuenta que|anote que|conserva que|mantén en mente que",
    reminders: "recuérdame que|recuérdame de|recuérdame|no me dejes olvidar que|no me dejes olvidar",
    phrases: &[
        (CHANGE, "ya no|en lugar de|en vez de|a partir de ahora|desde ahora|he cambiado|ha cambiado|cambiado de idea|cambié de opinión|dejé de|he dejado de"),
        (NOW, "hoy en día|en este momento|por ahora|a partir de ahora|desde ahora"),
        (JOKE, "es broma|en broma|estoy bromeando"),
        (CORRECTION, "quise decir|quería decir|me equivoqué|mi error|no es cierto|en realidad"),
        (UNREAL, "tal vez|y si|como si|no sé si|algún día|no estoy seguro|no estoy segura|a lo mejor|me gustaría"),
        (GREETING, "buenos días|buenas tardes|buenas noches|muchas gracias|hasta luego|hasta pronto|hasta mañana|cómo estás|qué tal"),
        (REACTION, "suena bien|qué bien|qué bueno|me alegro|buena suerte|no hay problema|de acuerdo|bien hecho|lo siento"),
        (HELP, "necesito ayuda|no sé cómo|tengo problemas|asegurarme de"),
        (LASTING, "todos los días|cada día|cada semana|cada mes|todas las semanas|veces al|vez al"),
        (ORDER, "puedes|podrías|me puedes|ayúdame a|dime|vamos a ver"),
        (LIFE, "soy un|soy una|años de edad|crecí en|vengo de|me llamo|tengo años"),
        (PLANS, "voy a|vamos a|he decidido|tengo que|quiero"),
        (ENDS, "ya no|dejé de|dejó de|he dejado de|ha dejado de"),
    ],
    claims: &[
        (Attribute::Home, "vivo en|vive en|vivimos en|me he mudado a|me mudé a|se ha mudado a|se mudó a|resido en|reside en"),
        (Attribute::Address, "vivo en la calle|vive en la calle"),
        (Attribute::Employer, "trabajo en|trabaja en|trabajo para|trabaja para"),
        (Attribute::Name, "me llamo|se llama|se llaman"),
        (Attribute::Born, "nací en|nació en|nací el|nació el"),
        (Attribute::Allergy, "soy alérgico a|soy alérgica a|es alérgico a|es alérgica a"),
        (Attribute::Language, "hablo|habla"),
        (Attribute::Cost, "cuesta|cuestan"),
        (Attribute::Weight, "peso|pesa"),
        (Attribute::Hours, "abre a las|cierra a las|empieza a las|termina a las|sale a las|vence el|empieza el|termina el"),
        (Attribute::Port, "escucha en el puerto|corre en el puerto"),
        (Attribute::Is, "es|son|está en|es el|es a las|es ahora|ahora es|="),
    ],
    nouns: &[
        (Attribute::Address, "dirección"), (Attribute::Name, "nombre"), (Attribute::Birthday, "cumpleaños"), (Attribute::Employer, "empleador"),
        (Attribute::Weight, "peso"), (Attribute::Pronouns, "pronombres"), (Attribute::Home, "ciudad"), (Attribute::Language, "idioma"),
        (Attribute::Port, "puerto"),
    ],
};
