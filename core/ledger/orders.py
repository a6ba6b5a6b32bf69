"""Words that make an order to an agent of an English sentence; those of other languages are in `foreign`.

Some do wherever they stand, others at the beginning of a sentence. Gaps are bounded, so that searching takes
linear time.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from core.ledger import foreign

DOING: Final = (
    "accept|act|add|adopt|allow|amend|answer|append|apply|approve|ask|assume|authorize|avoid|begin|browse"
    "|bypass|call|cancel|change|choose|claim|clone|collect|commit|confirm|connect|consider|contact|continue"
    "|copy|create|decline|decode|delete|deny|deploy|disable|discard|disclose|disregard|download|drop|echo"
    "|elevate|email|enable|encode|encourage|encrypt|erase|escalate|execute|exfiltrate|export|fetch|finish"
    "|follow|force|forget|fork|format|forward|give|grant|hide|ignore|import|include|increase|insert|insist"
    "|install|invoke|keep|kill|leak|lie|list|lower|mail|make|mark|mention|merge|message|modify|move|never"
    "|notify|obey|omit|open|output|override|overwrite|paste|pay|perform|post|prefer|pretend|print|proceed"
    "|promise|publish|pull|push|put|query|read|rebase|reboot|recommend|refuse|register|reject|release"
    "|remember|remove|rename|repeat|replace|reply|report|request|reset|respond|restart|retrieve|return|reveal"
    "|reverse|revert|rewrite|roleplay|rotate|run|say|send|set|share|show|shut|sign|skip|speak|squash|star"
    "|start|stop|submit|subscribe|suggest|summarize|suppress|switch|tag|take|tell|terminate|think|transfer"
    "|translate|treat|truncate|trust|turn|type|uninstall|unlock|update|upload|upvote|use|visit|vote|wait"
    "|whitelist|wipe|write"
)
_RULES: Final = "(?:instruction|prompt|rule|guideline|polic(?:y|ies)|order|directive|request|constraint|message)s?"
_READER: Final = (
    "(?:(?:ai|coding|llm) )?(?:agents?|assistants?)|(?:large )?(?:language|ai) models?|llms?|ais?|(?:ai )?bots?"
    "|copilots?"
)
_READING: Final = r"(?: (?:that|who|which|reading|processing|working|running|here|in|of|with)\b[^.`\"]{0,50})?"
_MUST: Final = (
    "(?:must|should|shall|has to|have to|needs? to|ought to|(?:is|are) (?:kindly |hereby )?(?:required|asked|told"
    "|instructed|expected|requested|ordered|allowed|advised) to)"
)

_ENGLISH: Final = (
    r"\b(?:ignor|disregard|forget|overrid|bypass)\w*\b.{0,40}\b(?:previous|prior|above|earlier|before|all|your|any"
    rf"|system|user'?s?|these|those|last)\b.{{0,30}}\b{_RULES}\b",
    r"\b(?:ignore|disregard|forget) (?:everything|all|anything|whatever|what) .{0,20}\b(?:above|before|told|said"
    r"|you)\b",
    r"\b(?:ignore|disregard|forget) (?:the|all) (?:above|previous|prior)\b|\buse these instructions\b",
    r"\binstructions? (?:that )?you\b.{0,40}\b(?:outdated|void|obsolete|no longer|wrong)\b",
    rf"\b(?:(?:{_READER}){_READING} |you (?:will )?(?:now )?){_MUST}(?: (?:first|now|always|never|not|also"
    rf"|immediately|please))*"
    rf" (?:{DOING}|do)\b",
    r"\b(?:from now on(?! is)|henceforth|you are now|you're now)\b|\bthe real task\b",
    r"\byour (?:next (?:step|action|task)|(?:real|new|only) (?:task|goal|job)|(?:task|job|goal|mission) is)\b",
    r"\bplease (?:do not |don't |never |also |now |then )*(?!note\b)[a-z]+\b|,? please[.!]?\Z",
    r"\byou are (?:(?:now )?(?:a|an|the|no longer|free|allowed|permitted|authorized|going to|to|not to|not allowed) )",
    r"\byou (?:can|may) (?:now )?(?:skip|ignore|bypass|claim|pretend)\b|\bnecessary that you\b|\bconsider yourself\b",
    r"\b(?:whoever|anyone (?:who )?|everyone (?:who )?|if you(?:'re| are)?) ?(?:reads?|reading) this\b",
    r"\bbefore (?:continuing|proceeding|answering|replying|doing anything)\b",
    r"\bas an? (?:ai|assistant|agent|language model|llm),? (?:you|it is)\b"
    r"|\bif you are an? (?:ai|agent|assistant|(?:large )?language model|llm)\b",
    r"\b(?:agents?|ais?|assistants?|models?) reading this\b",
    rf"\b(?:could|can|would|will) you (?:please |kindly )?(?:{DOING})\b|\b(?:need|want|like|expect|ask"
    rf"|tell)s? you to\b",
    r"\b(?:action|step) (?:is )?(?:required|expected) (?:from|by|of) (?:the |you|any )"
    r"|\bdear (?:\w+ )?(?:assistant|agent|ai|model|reader)\b",
    r"\b(?:do not|don't|never|without) (?:mention|tell|inform|ask|notify|reveal|warn|alert)\w*\b.{0,30}"
    r"\b(?:users?|humans?|operator|developer|confirmation|anyone|them)\b",
    r"\b(?:reveal|print|repeat|output|show)\b.{0,30}\b(?:system|hidden) prompt\b",
)
_SPEAKERS: Final = (
    r"<\|im_start\|>\s*(?:system|user|assistant)\b|\[/?inst\]|<<sys>>|</?(?:system|assistant|instructions?)>",
    r"\A\W{0,3}\[(?:system|admin|developer|assistant)\]|<!--\s*(?:ai|agents?|assistant|llm|note to)\b",
)
_LEADING: Final = (
    rf"(?:please|kindly|immediately|always|never|urgent|important|attention)[,:]? (?:(?:please|now|immediately"
    rf"|do not) )*"
    rf"(?:{DOING}|do)\b",
    r"(?:do not|don't|dont) [a-z]+\b",
    r"(?:act as|behave as|remember to|hey,? (?:agent|assistant|ai|you))\b",
    r"do (?:whatever|what|as|exactly|everything)\b|(?:make|be) sure (?:to|that you|you)\b",
    r"(?:before|after) (?:doing|answering|you|anything|starting|continuing)\b.{0,40}, *(?:\w+ly )?"
    rf"(?:{DOING}|do)\b",
    r"(?:system|assistant|user|developer|human|ai) ?: *"
    r"(?:you|sure|i|i'll|now|ignore|please|do|run|from|new|the user|okay|ok|reply)\b",
    r"(?:override|new policy|new rule|new instructions?|important instructions?) ?:",
    r"(?:helpful|good|well-behaved|obedient) (?:\w+ )?(?:models?|assistants?|agents?|ais?) (?:will|would|should|always"
    r"|never)\b",
    r"(?:always|never) (?!\w*(?:ed|ing|s)\b|(?:null|on|true|false|empty|set|zero|none|the|a|in|at|an|been"
    r"|seen)\b)[a-z]{3,}\b",
    r"it is (?:very |absolutely )?(?:important|crucial|mandatory|required|essential|necessary|vital|imperative)"
    r" (?:that you|for you|to (?:always|never|not))\b",
    rf"(?:let's|let us|let me|go ahead and|feel free to|try to|you may|you can) (?:{DOING})\b",
    r"(?:(?:note|message|instructions?|hint|reminder|warning) (?:to|for)|attention|hi|hello|hey|dear|@|to),? ?"
    r"(?:the |all |any |every )?(?:(?:ai |coding )?(?:agents?|assistants?|bots?)|ais?|ai models?|llms?|copilot|claude"
    r"|chatgpt|gpt|gemini)\b ?[:,!–-]",
    rf"(?:claude|chatgpt|gpt|copilot|gemini|assistant|agent|bot), (?:{DOING})\b",
)


@functools.cache
def anywhere() -> tuple[re.Pattern[str], ...]:
    """What makes an order of a text wherever it stands; compiled when first needed, as that takes a while."""
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*_ENGLISH, *_SPEAKERS, *foreign.ANYWHERE))


@functools.cache
def leading() -> tuple[re.Pattern[str], ...]:
    """What makes an order of a sentence that begins with it."""
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*_LEADING, *foreign.LEADING))


IMPERATIVE: Final = re.compile(
    rf"(?i:(?:(?:now|then|and|and then|also|first|next|so|just|finally),? )?(?:{DOING})) "
    r"(?:[`\"'/~.]|(?:the|a|an|all|any|every|each|your|this|that|these|those|it|them|me|us|only|no|with|sudo|whatever"
    r"|investigating|reading|checking|verifying|everything|anything|nothing|something|everyone|anyone|as|at|on|into|for"
    r"|secrets?|passwords?|credentials|keys|tokens|tests|logging|checks?|permissions?|admin|root|access|to|from|in"
    r"|[A-Z]{2,}|rm|curl|wget|bash|sh|npm|npx|pip|git|make"
    r"|docker|kubectl|python3?|node|chmod|chown|ssh|nc)\b"
    r"|https?:)(?<![Uu]se `)"
)
"""An English verb with its object at the beginning of a sentence; an order unless the sentence states something."""

STATES: Final = re.compile(
    r"(?i)(?<!you)[ `](?:is|are|was|were|has|have|had|takes?|took|fails?|can|cannot|does|goes|(?:add|affect|chang"
    r"|delet|fail"
    r"|mov|remov|renam|updat|happen|creat)e?d|(?:accept|add|allow|appl|belong|block|build|call|caus|contain|count|cover"
    r"|creat|delet|depend|end|equal|exit|expect|expir|get|giv|happen|hold|ignor|keep|lead|list|listen|load|log"
    r"|look|mak|map"
    r"|match|mean|need|open|point|print|produc|rais|read|redirect|refer|reject|remain|remov|report|requir|return"
    r"|run|send"
    r"|serv|set|show|start|stay|stop|stor|succeed|support|throw|trigger|updat|upload|us|wait|work|writ"
    r"|yield)(?:e?s|ies))\b"
)
"""A verb in the third person: the sentence says what something does."""
