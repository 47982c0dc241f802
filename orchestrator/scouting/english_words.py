"""The words of English questions about code, as data. Alternatives are separated by `|`, and may hold spaces."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.scouting.names import word_set
from orchestrator.scouting.question import Intent


@dataclass(frozen=True, slots=True)
class Verb:
    """The forms of one kind of question.

    `done` stands after "is" (where is X called), `doing` before the name (who calls X), `things` in "the callers of X".
    """

    intent: Intent
    done: str
    doing: str
    things: str


VERBS = (
    Verb(
        "used",
        "used|referenced|referred to|mentioned|accessed|consumed|needed|utilised|utilized|employed|read|touched|"
        "applied|"
        "relied on|relied upon|depended on|depended upon|passed|passed in|passed around|leveraged|returned|"
        "checked|exported|registered|emitted|consulted|occurring|appearing|queried|printed|logged|shown|displayed|"
        "awaited",
        "use|uses|using|used|reference|references|referencing|refer to|refers to|referring to|mention|mentions|"
        "mentioning|"
        "access|accesses|accessing|consume|consumes|consuming|need|needs|needing|depend on|depends on|depend upon|"
        "depends upon|depending on|rely on|relies on|relying on|touch|touches|read|reads|reading|contain|contains|"
        "containing|utilise|utilises|utilize|utilizes|employ|employs|apply|applies|pass|passes|return|returns|"
        "returning|"
        "check|checks|print|prints|log|logs|say|says|show|shows|"
        "have|has",
        "use|uses|usage|usages|using|reference|references|occurrence|occurrences|mention|mentions|dependent|dependents|"
        "dependants|user|users|consumer|consumers|use site|use sites|usage site|usage sites|use cases|hits|appearances|"
        "places|references and uses",
    ),
    Verb(
        "callers",
        "called|invoked|executed|run|triggered|instantiated|constructed|created|fired|launched",
        "call|calls|calling|invoke|invokes|invoking|execute|executes|executing|run|runs|running|trigger|triggers|"
        "triggering|instantiate|instantiates|instantiating|construct|constructs|constructing|create|creates|creating|"
        "await|awaits|awaiting|called",
        "caller|callers|call site|call sites|callsite|callsites|call-site|call-sites|call|calls|invocation|invocations|"
        "instantiation|instantiations|calling code|calling functions|calls made",
    ),
    Verb(
        "defined",
        "defined|declared|implemented|located|found|introduced|living|situated|coded|stored|specified|kept",
        "define|defines|defining|declare|declares|declaring",
        "definition|definitions|declaration|declarations|location|source|source code|implementation|code|home|origin|"
        "definition site|body|line",
    ),
    Verb(
        "imports",
        "imported|included|required|loaded|import",
        "import|imports|importing|imported|source|sources|sourcing|include|includes|including|require|requires|requiring|load|loads|loading",
        "import|imports|importer|importers|import site|import sites|import statement|import statements|import line|"
        "import lines|includes|inclusions",
    ),
    Verb(
        "tested",
        "tested|covered|exercised|verified|asserted",
        "test|tests|testing|cover|covers|covering|exercise|exercises|exercising|verify|verifies|assert|asserts",
        "test|tests|test case|test cases|unit test|unit tests|test coverage|coverage|test file|test files|test "
        "suite|spec|specs|"
        "test functions|testing",
    ),
    Verb(
        "documented",
        "documented|described|explained",
        "document|documents|documenting|describe|describes|describing",
        "doc|docs|documentation|docstring|docstrings|doc string|manual|readme section|documentation page",
    ),
    Verb(
        "assigned",
        "assigned|set|initialised|initialized|modified|mutated|changed|updated|written|written to|overwritten|"
        "reassigned|"
        "bound|populated|filled|altered|reset",
        "assign|assigns|assigning|set|sets|setting|modify|modifies|modifying|mutate|mutates|change|changes|"
        "changing|update|"
        "updates|updating|write|writes|write to|writes to|writing to|overwrite|overwrites|initialise|initialises|"
        "initialize|"
        "initializes|initializing|reset|resets|assigned to",
        "assignment|assignments|initialisation|initialization|writes|write sites|mutations",
    ),
    Verb(
        "configured",
        "configured",
        "configure|configures|configuring",
        "configuration|configurations|config|settings for|configuration options|config option|config options",
    ),
    Verb(
        "raised",
        "raised|thrown",
        "raise|raises|raising|throw|throws|throwing",
        "raise statements|throw statements|raise sites",
    ),
    Verb(
        "caught",
        "caught|handled|rescued",
        "catch|catches|catching|handle|handles|handling|rescue|rescues|rescuing",
        "except clauses|except lines|except blocks|catch blocks|catch clauses|exception handlers",
    ),
    Verb(
        "subclasses",
        "subclassed|extended|inherited|inherited from|implemented by|derived from|overridden|overriden",
        "subclass|subclasses|subclassing|extend|extends|extending|inherit|inherits|inheriting|inherit from|"
        "inherits from|"
        "inheriting from|derive from|derives from|derived from|deriving from|implement|implements|implementing|"
        "override|"
        "overrides|overriding|are derived from|is derived from|are subclasses of|is a subclass of|are children of",
        "subclass|subclasses|sub-classes|subtype|subtypes|derived class|derived classes|child class|child classes|"
        "children|"
        "implementations|implementers|implementors|implementing classes|descendants|overrides|child types|"
        "implementing types",
    ),
)

INVERSE: dict[str, Intent] = {
    **dict.fromkeys(("call", "invoke", "execute", "run", "use", "trigger", "call into", "instantiate"), "callees"),
    **dict.fromkeys(
        ("import", "include", "require", "depend on", "load", "pull in", "rely on", "need"), "file_imports"
    ),
    **dict.fromkeys(("do", "mean", "represent", "accomplish", "stand for", "take", "accept", "expect"), "explain"),
    **dict.fromkeys(("return", "give back", "yield"), "returns"),
    **dict.fromkeys(("look like", "implement", "raise", "throw", "produce", "compute", "handle"), "explain"),
    **dict.fromkeys(
        ("contain", "define", "export", "provide", "expose", "declare", "have", "hold", "offer"), "contents"
    ),
    **dict.fromkeys(("consist of", "have in it", "consist in", "comprise"), "contents"),
    **dict.fromkeys(("inherit from", "inherit", "extend", "subclass", "derive from", "override"), "bases"),
}
"""The verb of "what does X …": the question turned round."""

TURNED: dict[str, Intent] = {
    **dict.fromkeys(("callees", "callee", "called functions", "outgoing calls"), "callees"),
    **dict.fromkeys(("dependencies", "dependency", "imported modules", "imports list"), "file_imports"),
    **dict.fromkeys(("base class", "base classes", "bases", "parent class", "parent classes", "parents"), "bases"),
    **dict.fromkeys(("superclass", "superclasses", "ancestors", "interfaces", "supertypes"), "bases"),
    **dict.fromkeys(("signature", "docstring", "parameters", "arguments", "args", "params"), "explain"),
    **dict.fromkeys(("return type", "return value", "return values", "return lines"), "returns"),
    **dict.fromkeys(("purpose", "meaning", "role", "responsibility"), "explain"),
    **dict.fromkeys(("point", "job", "value", "default", "default value", "behaviour", "behavior", "type"), "explain"),
    **dict.fromkeys(("contents", "content", "outline", "structure", "symbols", "members", "methods"), "contents"),
    **dict.fromkeys(("functions", "classes", "fields", "exports", "overview", "files", "attributes"), "contents"),
    **dict.fromkeys(("properties", "types", "functions and classes", "classes and functions", "layout"), "contents"),
    **dict.fromkeys(("constants", "variables", "structs", "interfaces in", "api", "public api"), "contents"),
    **dict.fromkeys(("history", "git history", "git log", "changes", "recent changes", "latest changes"), "history"),
    **dict.fromkeys(("last changes", "commits", "recent commits", "last commits", "modifications", "edits"), "history"),
    **dict.fromkeys(("latest commits", "last commit", "last change", "blame", "git blame", "log"), "history"),
}
"""The noun of "the … of X", where it is not a noun of `VERBS`."""

CONTENT_KINDS = {
    "function": "function",
    "class": "class",
    "method": "method",
    "field": "field",
    "attribute": "field",
    "property": "field",
    "constant": "constant",
    "variable": "variable",
    "interface": "interface",
    "enum": "enum",
    "struct": "struct",
    "trait": "trait",
    "macro": "macro",
    "type": "type",
    "函数": "function",
    "类": "class",
    "方法": "method",
    "字段": "field",
    "属性": "field",
    "常量": "constant",
    "变量": "variable",
    "接口": "interface",
    "枚举": "enum",
    "结构体": "struct",
    "宏": "macro",
    "类型": "type",
}
"""The kind of definitions that a word, in the singular, asks for."""

LEADS = (
    "please|pls|hey|hi|hello|ok|okay|so|well|now|also|and|then|thanks|kindly|quickly|just|first|"
    "can you|could you|would you|will you|can i|i want|i need|i'd like|i would like|we need|we want|let me|let's|"
    "do you know|does anyone know|tell me|let me know|help me|help|to|know|me|us|see|learn|figure out|work out|"
    "find out|find|find me|show|show me|list|list me|give|give me|get|get me|search|search for|look for|look up|locate|"
    "display|print|identify|enumerate|check|check if|check whether|determine|report|return|output|name|count|grep|"
    "grep for|"
    "go to|jump to|open|if|whether|wondering|i wonder|i am looking for|i'm looking for|looking for|i am trying to|"
    "i'm trying to|try to|trace|where can i find|where i can find|where to find|where do i find|where could i find|"
    "where might i find"
)
"""What may stand before the question proper, any number of them."""

QUANTITIES = (
    "all|every|each|any|the|of the|some|both|a list of|list of|everything|everyone|anything|places|place|"
    "code|lines|spots|locations|location|a|an|single|various|different|full|complete|exact|of|other|only|current|"
    "known|remaining|actual|main|precise"
)
"""What may stand between the verb "find" and the thing to be found."""

TAILS = (
    "please|pls|thanks|thank you|here|now|right now|currently|exactly|anywhere|at all|actually|today|in general|"
    "any more|anymore|anyway|somewhere|everywhere|overall|in total|in detail|briefly|to me|for me|"
    "(?:in|across|throughout|within|inside|over|of) (?:this|the|our|my|your|that) (?:whole |entire |full |current "
    "|given )?"
    "(?:repo|repository|project|code ?base|source code|source tree|sources?|source|code|workspace|package|library|app|"
    "application|program|tree|system|folder|directory)|in here|in code|in it"
)
"""What may stand after the question and says nothing; a regular expression."""

DETERMINERS = (
    "the|a|an|this|that|these|those|my|our|your|its|their|all|any|each|every|some|both|either|another|such|called|named"
)

KINDS = (
    "function|functions|method|methods|class|classes|variable|variables|constant|constants|module|modules|package|"
    "packages|"
    "field|fields|attribute|attributes|property|properties|decorator|decorators|type|types|struct|structs|enum|enums|"
    "interface|interfaces|trait|traits|macro|macros|symbol|symbols|identifier|identifiers|name|parameter|parameters|"
    "argument|arguments|option|flag|setting|exception|exceptions|file|files|folder|directory|dir|command|helper|hook|"
    "component|object|objects|instance|instances|constructor|endpoint|global|typedef|namespace|fixture|key|keyword|"
    "library|dependency|subroutine|procedure|routine|call|alias|mixin|protocol|record|signal|event|error|header|script|"
    "text|string|message|error message|phrase|word|words|literal|line|sentence|log message|comment"
)
"""Nouns that say what sort of thing a name is: "the `send` method", "the class Session"."""

TEXT_KINDS = frozenset(
    {"text", "string", "message", "error message", "phrase", "literal", "sentence", "log message", "words"}
)
"""After one of these the name is to be found letter by letter."""

FILE_KINDS = frozenset({"file", "files", "folder", "directory", "dir", "script", "header"})

STOP_WORDS = word_set(
    "a an the i we you he she it they my our your me us this that these those is are was were be been am do does did "
    "has have had can could will would shall should may might must to of in on at by for from with without about as "
    "if then than so but not no and or how why what when where who which there here wrong right best better good bad "
    "into onto over under between through after before again just only same"
)
"""Words that are no part of a name when several plain words stand where a name belongs."""

CONNECTORS = word_set("by for from to of with in on at and or not is as into if")
"""Those of them that may stand inside one: "user by id"."""
