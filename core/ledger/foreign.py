"""Words that make an order of a sentence, in other languages than English: `ANYWHERE` in it, or `LEADING` it."""

from __future__ import annotations

from typing import Final

_GERMAN: Final = (
    r"\b(?:ignorier|missacht|vergiss|vergesst|vergessen sie|übergeh)\w*\b.{0,30}\b(?:alle|vorherig|bisherig|obig"
    r"|anweisung"
    r"|regel|vorgabe|was)\w*",
    r"\b(?:du bist (?:jetzt|nun|ab jetzt|ein)|ab (?:jetzt|sofort|nun) (?:bist|antworte|musst|sollst|immer|darfst))\b",
    r"\b(?:sag|sage|sagen sie|verrate|erwähne)\b.{0,40}\b(?:nicht|nichts|niemandem|nie|niemals)\b",
    r"\b(?:du musst|du sollst|sie müssen|sie sollen|du darfst)\b|\bbitte (?!beachten|geben|warten)\w+",
)
_GERMAN_LEADING: Final = (
    r"(?:führe?|lösche?|sende|schicke?|installiere?|ignoriere?|veröffentliche|gib|schreibe?|starte|antworte"
    r"|verrate|lade"
    r"|kopiere|entferne|deaktiviere|überspringe|vergiss|öffne|nutze|verwende|benutze|setze|ändere|erstelle|lies|zeige?"
    r"|nenne|drucke|übertrage|beende|stoppe|tu|mache?|gehe?|rufe?|bestätige|behaupte|leite|verschweige|melde"
    r"|ersetze) \S",
    r"[a-zäöüß]+en sie \S|(?:niemals|immer|sofort|jetzt|zuerst) \w+en?\b|wichtig: ",
)
_DUTCH: Final = (
    r"\b(?:negeer|vergeet)\b.{0,30}\b(?:alle|eerder|vorige|instruct|regel)\w*|\b(?:je|u) moet\b|\bje bent nu\b"
    r"|\bvanaf nu\b",
    r"\balsjeblieft\b|\bzeg (?:de|het|er)?.{0,20}\bniets?\b",
)
_DUTCH_LEADING: Final = (
    r"(?:verwijder|stuur|voer|geef|doe|toon|schrijf|gebruik|druk|wis|installeer|publiceer|negeer|vergeet|kopieer"
    r"|upload) \S",
)
_NORDIC: Final = (
    r"\b(?:ignorera|ignorer|glöm|glem|bortse)\b.{0,30}\b(?:alla|alle|tidigare|tidligere|instruktion|instruks"
    r"|regler)\w*",
    r"\b(?:du måste|du ska|du skal|du må|från och med nu|fra nå av|fra nu af|du är nu|du er nå|du er nu)\b",
    r"\b(?:ohita|unohda|älä huomioi)\b.{0,30}\b(?:aiemmat|aiempi|kaikki|ohje)\w*|\bsinun (?:täytyy|pitää|tulee)\b",
)
_NORDIC_LEADING: Final = (
    r"(?:radera|slett|slet|kör|kjør|kør|skicka|ta bort|fjern|visa|vis|skriv|installera|poista|lähetä|suorita|älä) \S",
)
_FRENCH: Final = (
    r"\b(?:ignore[rz]?|oublie[rz]?|néglige[rz]?)\b.{0,20}\b(?:toutes?|tous|tout|les|tes|vos|ce)\b.{0,25}"
    r"\b(?:instruction|consigne|règle|ordre|précéd)\w*",
    r"\b(?:vous devez|tu dois|il faut que (?:tu|vous)|veuillez|à partir de maintenant|désormais|tu es (?:maintenant|un)"
    r"|vous êtes (?:maintenant|un)|s'il (?:te|vous) plaît|merci de)\b",
    r"\b(?:ne|n') ?(?:dis|dites|mentionne[rz]?|parle[rz]?|préviens|prévenez|révèle[rz]?"
    r"|exécute[rz]?)\b.{0,12}\b(?:pas|rien|jamais)\b",
)
_FRENCH_LEADING: Final = (
    r"(?:exécute[rz]?|supprime[rz]?|envoie|envoyez|efface[rz]?|installe[rz]|réponds|répondez|affichez|écris"
    r"|écrivez|donne[rz]"
    r"|lance[rz]|publie[rz]|pousse[rz]|transfère|transférez|révèle[rz]|utilise[rz]|télécharge[rz]|désactive[rz]"
    r"|fais|faites"
    r"|agis|agissez|répète|répétez|dis|dites|ouvre[rz]|copie[rz]) (?:le|la|les|l'|un|une|des|ton|ta|tes|votre|vos"
    r"|ce|cette"
    r"|tout|toutes?|moi|en|à|que|comme|immédiatement|maintenant|`|/)(?!\w)",
)
_IBERIAN: Final = (
    r"\b(?:ignor[ae]|olvid[ae]|esque[cç][ae]|desconsidere|omite)\b.{0,20}\b(?:todas?|todos?|las|los|as|os|tudo|lo"
    r"|o|tus|suas)\b.{0,25}"
    r"(?:instruc|instruç|reglas|regras|órdenes|ordens|anterior|dicho|disse)",
    r"\b(?:a partir de (?:ahora|agora)|eres ahora|ahora eres|agora você|você agora é|debes|tienes que|você (?:deve"
    r"|tem que)"
    r"|por favor|no (?:le )?(?:digas|menciones|cuentes|avises)|não (?:mencione|diga|conte|avise))\b",
)
_IBERIAN_LEADING: Final = (
    r"(?:ejecut[ae]|borr[ae]|elimin[ae]|envía|envíe|instal[ae]|responde|revel[ae]|sub[ae]|public[ae]|muestra"
    r"|muestre|escrib[ae]"
    r"|us[ae]|haz|haga|descarg[ae]|desactiv[ae]|actúa|actúe|copi[ae]|abre|apague|exclua|envie|rode|faça|publique"
    r"|mostre|apaga"
    r"|executa|execute|exclui|escreva|baixe|remova|desative|aja|dile) (?:el|la|los|las|lo|un|una|o|a|os|as|um|uma"
    r"|tu|tus|su|seu"
    r"|sua|este|esta|esse|essa|todo|toda|todos|todas|tudo|al|ao|en|em|como|con|com|de|solo|só|inmediatamente|ahora"
    r"|agora|`|/)(?!\w)",
)
_ITALIAN: Final = (
    r"\b(?:ignor[ai]|dimentica|dimenticate|ignorate)\b.{0,20}\b(?:tutt[eio]|le|i|ogni|quanto)\b.{0,25}(?:istruzion"
    r"|regol|ordin|preced|detto)",
    r"\b(?:d'ora in poi|da ora in poi|devi|dovete|sei ora|ora sei|per favore|per piacere|non (?:dire|menzionare"
    r"|rivelare|avvisare))\b",
)
_ITALIAN_LEADING: Final = (
    r"(?:esegui|cancella|elimina|invia|installa|rispondi|mostra|scrivi|pubblica|carica|scarica|usa|fai|apri|copia"
    r"|disattiva"
    r"|rivela|agisci) (?:il|lo|la|i|gli|le|l'|un|uno|una|tutt[oaei]|tuo|tua|questo|questa|subito|ora|come|solo|al"
    r"|alla|`|/)(?!\w)",
)
_ROMANIAN_GREEK: Final = (
    r"\b(?:ignoră|ignorați|uită|uitați)\b.{0,20}(?:instrucțiun|regul|tot|ce)|\b(?:de acum înainte|trebuie să|te rog)\b",
    r"(?:αγνόησε|αγνοήστε|ξέχασε|ξεχάστε).{0,30}(?:οδηγί|εντολ|κανόν|όλ)|(?:από τώρα|πρέπει να|παρακαλώ|μην πεις"
    r"|είσαι τώρα)",
)
_SLAVIC: Final = (
    r"(?:игнорируй|проигнорируй|забудь|забудьте|игнорируйте|не обращай|ігноруй|ігноруйте)\w*.{0,40}"
    r"(?:инструкц|указани|правил|команд|інструкц|вказів|вс[еёі])",
    r"(?:zignoruj|ignoruj|ignorujte|zapomnij|zapomeň|zapomeňte|pomiń|zanemari|ignoriši)\b.{0,40}\b(?:instruk"
    r"|poleceni|pokyn|wszystk|předchoz"
    r"|všech|uputstv|upute|reguł|pravid)\w*",
    r"\b(?:теперь ты|ты теперь|отныне|с этого момента|ты должен|ты обязан|вы должны|пожалуйста|будь ласка|ти повинен"
    r"|не (?:говори|сообщай|упоминай|рассказывай)|od teraz|musisz|musíš|musíte|od teď|jesteś teraz|proszę|prosím"
    r"|nie mów|neříkej)\b",
)
_SLAVIC_LEADING: Final = (
    r"(?:выполни|удали|отправь|запусти|установи|ответь|покажи|выведи|сделай|напиши|скопируй|загрузи|опубликуй"
    r"|отключи|сотри"
    r"|перешли|скажи|дай|открой|передай|раскрой|видали|надішли|виконай|напиши)(?:те)?\b",
    r"(?:wykonaj|usuń|wyślij|uruchom|pokaż|ujawnij|zainstaluj|wyłącz|opublikuj|napisz|spusť|smaž|pošli|odešli"
    r"|nainstaluj|vypiš"
    r"|obriši|pošalji|pokreni) \S",
)
_TURKIC: Final = (
    r"(?:talimat|komut|kural|söylenen)\w*.{0,30}(?:yok ?say|unut|görmezden|dikkate alma)|\b(?:bundan sonra"
    r"|artık sen|sen artık|lütfen|şu andan itibaren)\b",
    r"\b(?:gönder|sil|çalıştır|yazdır|paylaş|yükle|söyleme|açıkla|kapat|göster)(?:[iıuü]n(?:[iıuü]z)?)?[.!]?\Z",
)
_UGRIC: Final = (
    r"\b(?:hagyd figyelmen kívül|felejtsd el|töröld|futtasd|küldd|mostantól|kérlek)\b",
    r"\b(?:abaikan|lupakan)\b.{0,20}\b(?:instruksi|perintah|aturan|semua)\w*|\b(?:mulai sekarang|(?:kamu"
    r"|anda) harus|tolong|jangan (?:beri|kata|sebut))\w*",
    r"bỏ qua .{0,20}(?:hướng dẫn|chỉ dẫn|lệnh)|từ (?:giờ|bây giờ)|bạn phải|(?:\A|[.!] )hãy |(?:โปรด|กรุณา)"
    r"|(?:ละเว้น|เพิกเฉย|ลืม).{0,20}คำสั่ง",
)
_CHINESE: Final = (
    r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會).{0,12}(?:指令|指示|提示|规则|規則|要求|内容|內容|说明"
    r"|說明|一切|所有)",
    r"[你您](?:现在|現在|从现在|必须|必須|应该|應該|要|是一|不需要)|从现在[起开]|從現在[起開]|(?:请|請)(?!求)"
    r"|不要(?:告[诉訴]|提及|透露|向)|务必|務必|切勿",
)
_CHINESE_LEADING: Final = (r"立即|马上|立刻|马上|删掉|删除(?:所|全|整|该|数据)|把|将|運行|执行下|發送|发送",)
_JAPANESE: Final = (
    r"(?:指示|命令|指令|プロンプト|ルール|制約|これまで|以前).{0,10}(?:無視|忘れ)|これから(?:は|あなた)"
    r"|あなたは(?:今|これ)|今後は",
    r"(?:て|で)(?:ください|下さい|はいけません|くれ)|(?:なさい|せよ|しろ|するな|すること|してはならない)(?:[。!！]|\Z)",
)
_KOREAN: Final = (
    r"(?:지시|명령|지침|프롬프트|규칙|이전).{0,10}(?:무시|잊)|지금부터|당신은 (?:이제|지금)|너는 (?:이제|지금)",
    r"(?:하세요|십시오|으세요|해라|하라|해 ?줘|해 ?주세요|마세요|말라|마라|말 것|보내라|보내줘)(?:[.!\s]|\Z)",
)
_SEMITIC: Final = (
    r"(?:تجاهل|تجاهلي|تجاهلوا|انس|انسى|أهمل).{0,20}(?:التعليمات|الأوامر|القواعد|كل|جميع|ما سبق)|يجب (?:عليك|أن)"
    r"|من الآن فصاعد|أنت الآن"
    r"|لا تخبر|لا تذكر|يرجى|الرجاء|من فضلك|قم ب",
    r"(?:התעלם|תתעלם|התעלמי|שכח|תשכח).{0,20}(?:הוראות|הנחיות|כללים|כל)|מעכשיו|עליך ל|אל ת(?:גיד|ספר|זכיר)|בבקשה"
    r"|אתה עכשיו",
    r"(?:نادیده بگیر|فراموش کن|از این پس|شما باید|تو باید|لطفا|لطفاً)",
)
_SEMITIC_LEADING: Final = (
    r"و?(?:احذف|أرسل|ارسل|نفذ|نفّذ|شغل|شغّل|اكتب|اطبع|انسخ|ارفع|اعرض|امسح|ثبت)|מחק|שלח|הרץ|הצג|הדפס",
)
_INDIC: Final = (
    r"(?:निर्देश|आदेश|नियम).{0,20}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल)|कृपया|अब से|आपको .{0,30}(?:होगा|चाहिए)",
    r"(?:कीजिए|करो|भेजें|भेजो|हटाएं|हटाओ|हटा दो|चलाएं|चलाओ|बताएं|करें|मत बताना)(?:[।.!]|\Z)|উপেক্ষা কর|দয়া করে"
    r"|புறக்கணி|దయచేసి",
)

ANYWHERE: Final = (
    *(*_GERMAN, *_DUTCH, *_NORDIC, *_FRENCH, *_IBERIAN, *_ITALIAN, *_ROMANIAN_GREEK, *_SLAVIC, *_TURKIC, *_UGRIC),
    *(*_CHINESE, *_JAPANESE, *_KOREAN, *_SEMITIC, *_INDIC),
)
LEADING: Final = (
    *(*_GERMAN_LEADING, *_DUTCH_LEADING, *_NORDIC_LEADING, *_FRENCH_LEADING, *_IBERIAN_LEADING, *_ITALIAN_LEADING),
    *(*_SLAVIC_LEADING, *_CHINESE_LEADING, *_SEMITIC_LEADING),
)
