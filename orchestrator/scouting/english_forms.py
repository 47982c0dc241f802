"""The forms of English questions, as regular expressions built from the words of `english_words`.

Spaces in a form stand for one space. Groups: `x` holds the words for the name (`y` a second one), `place` and `by` say
where to look, `noun` what is looked through; `done`, `doing`, `thing`, `base` and `turned` hold the word that says
what is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.scouting.english_words import INVERSE, QUANTITIES, TURNED, VERBS
from orchestrator.scouting.marks import MARK
from orchestrator.scouting.question import Intent


def any_of(words: str | tuple[str, ...]) -> str:
    """An alternation of `words`, the longest first."""
    items = words.split("|") if isinstance(words, str) else words
    return "(?:" + "|".join(sorted(items, key=len, reverse=True)) + ")"


DONE = any_of("|".join(verb.done for verb in VERBS))
DOING = any_of("|".join(verb.doing for verb in VERBS))
_DOING_NOW = any_of(
    "|".join(word for verb in VERBS for word in verb.doing.split("|") if word.split()[0].endswith("ing"))
)
THING = any_of("|".join(verb.things for verb in VERBS))
_TURNED = any_of(tuple(TURNED))
_BASE = any_of(tuple(INVERSE))

_ADVERB = any_of(
    "still|even|ever|actually|really|currently|all|being|been|be|get|gets|getting|got|first|usually|always|directly|"
    "mostly|also|originally|now|exactly|only|not|never|indirectly|commonly|often"
)
_ADV = rf"(?:{_ADVERB} )*"
_BE = any_of("is|are|was|were|has|have|gets|get|got|do|does|did|can|could|will|would|might|may|should|has been")
_PLACES = any_of(
    "file|files|place|places|module|modules|function|functions|class|classes|folder|folders|line|lines|part|parts|"
    "package|packages|of the files|methods|method|test|tests|spots"
)
_WHERE = (
    rf"(?:(?:where(?:abouts)?|(?:in|from|at|on|by) (?:which|what)(?: {_PLACES})+|(?:which|what) {_PLACES})(?:'s|s|"
    rf" all| else)?"
    r"|when|how(?: often| frequently| many times| much)?)"
)
_WE = any_of("we|you|i|they|it|one|people|someone|anyone|the code|the project|the app|the library|the program")
_JOIN = r"(?:, (?:and |or )?| and | or | and/or )"
_DONES = rf"(?P<done>{DONE}(?:{_JOIN}{DONE})*)"
_DOINGS = rf"(?P<doing>{DOING}(?:{_JOIN}{DOING})*)"
_QUANTITY = rf"(?:{any_of(QUANTITIES)} )*"
_THINGS = rf"(?P<thing>{THING}(?:{_JOIN}{_QUANTITY}{THING})*)"
_OF = any_of("of|for|to|on|from|about|with|against")
_AUX = any_of(
    "is|are|can|will|would|might|may|must|currently|actually|directly|still|also|ever|really|should|currently|all"
)
_THAT = r"(?:that|which|who)"
_END = r"(?: (?:from|in|at|on|by|with|to|for))?"
_CONTENT = any_of(
    "content|contents|outline|structure|symbol|symbols|function|functions|class|classes|method|methods|definitions|"
    "member|members|attributes|files|fields|overview|exports|types|structs|constants|variables|interfaces|enums|"
    "modules|folders|things|layout|api|names|traits|macros"
)
_CONTAINER = any_of("folder|file|class|module|package|directory|dir|header|script|struct|interface|trait|enum")
_HERE = (
    r"(?:this|our|my|the whole) (?:repo|repository|project|code ?base|package|library|app|workspace|folder|directory)"
)
_FILE_X = rf"(?:the )?(?P<x>{_HERE}|(?:{_CONTAINER} )?(?:{MARK}|\S+?)(?: {_CONTAINER})?)"
_X = r"(?P<x>\S.*?)"
_NO_ASKING = r"(?!(?:who|whom|which|what|where|when|why|how) )"
_SOME = any_of("any|some|still|other|no|a")
_CHANGES = "changed modified edited touched wrote added introduced committed created removed updated written deleted"
_CHANGED = any_of(tuple(_CHANGES.split()))
_USELESS = any_of(
    "dead|dead code|unused|obsolete|needed|necessary|in use|redundant|orphaned|unreferenced|used|referenced|alive|"
    "useful|"
    "reachable|used or not|used or unused|used or dead|superfluous"
)
_IS = r"(?:'s|s| is| are| was| were)?"


@dataclass(frozen=True, slots=True)
class Form:
    """One form. `intent` is what it asks, unless `verb` names the group whose word says so.

    `first` are the words one of which has to come first, `needs` those one of which has to be there: what a glance can
    rule out need not be compiled.
    """

    pattern: str
    intent: Intent | None = None
    verb: str = ""
    first: str = ""
    needs: str = ""

    def may_fit(self, words: Sequence[str]) -> bool:
        """Whether a clause of these words, in lower case, is worth a closer look."""
        if self.first and words and words[0].partition("'")[0] not in self.first.split():
            return False
        return not self.needs or not set(self.needs.split()).isdisjoint(words)


WHOLE = (
    Form(
        rf"what{_IS}(?: all)? (?:in|inside|within|under) {_FILE_X}",
        "contents",
        first="what",
        needs="in inside within under",
    ),
    Form(
        rf"(?:what |which |how many )?{_QUANTITY}(?P<content>{_CONTENT}(?:{_JOIN}{_CONTENT})*)(?: {_THAT})?"
        rf"(?: are| is)?(?: there)?(?: defined| declared| exported| found| contained)? "
        rf"(?:in|inside|within|under|by) {_FILE_X}",
        "contents",
        needs="in inside within under by",
    ),
    Form(
        r"(?:what|which)(?P<content>(?: \S+){0,2}?) (?:are|is|lives?) (?:there |defined |found )?"
        rf"(?:in|inside|within) {_FILE_X}",
        "contents",
        first="what which",
        needs="in inside within",
    ),
    Form(
        rf"how many (?P<content>{_CONTENT}(?:{_JOIN}{_CONTENT})*) (?:does|do) {_FILE_X} "
        r"(?:have|contain|define|declare)",
        "contents",
        first="how",
        needs="does do",
    ),
    Form(
        rf"(?:what|which)(?: (?:things?|stuff|code|has|have|was|been|recently|lately|just|else|files?))* "
        rf"(?:changed|modified|happened)(?: (?:recently|lately|last))?"
        rf"(?: (?:in|around|about|with|near|for|to|on|within|under) {_X})?(?: (?:recently|lately))?",
        "history",
        first="what which",
        needs="changed modified happened",
    ),
    Form(
        r"(?:(?:recent|latest|last|the|most recent|all|git) )*(?:changes?|commits?|modifications?|edits?|history|"
        r"log|blame)"
        rf"(?: (?:to|in|of|around|for|on|touching|about|near) {_X})?",
        "history",
        needs="change changes commit commits modification modifications edit edits history log blame",
    ),
    Form(
        rf"(?:who|when)(?: (?:was|did|has|have|were|last|recently|we|they|people|most recently))* {_CHANGED} "
        rf"{_X}(?: last| recently)?",
        "history",
        first="who when",
        needs="changed modified edited touched wrote added introduced committed "
        "created removed updated written deleted",
    ),
    Form(
        rf"when(?: (?:was|were|has|have)) {_X} (?:been |last |first |recently |most )*{_CHANGED}",
        "history",
        first="when",
        needs=_CHANGES,
    ),
    Form(
        rf"how (?:has|have|did) {_X} (?:been )?changed?(?: (?:recently|lately|over time))?",
        "history",
        first="how",
        needs="change changed",
    ),
)
"""Forms in which "in FILE" belongs to the name and is not a place to look in."""

_COMPARE = (
    Form(
        rf"which(?: one)? (?:of|out of|between|among) {_X} (?:is|are|gets?|has|have) .*\b(?:more|most|less|least|"
        rf"fewer)\b.*",
        "compare",
        first="which",
        needs="more most less least fewer",
    ),
    Form(
        rf"(?:what|which)(?: one)? (?:is|are|gets?) (?:{DONE} |common |popular )?(?:the )?(?:more|most|less|least)"
        rf"(?: often| frequently| {DONE}| common| popular)*(?:[:,]| between)? {_X}",
        "compare",
        first="what which",
        needs="more most less least",
    ),
    Form(
        rf"(?:is|are) {_X} {DONE} (?:more|less)(?: often| frequently)? than (?P<y>.+)",
        "compare",
        first="is are",
        needs="than",
    ),
    Form(
        r"compare (?:the )?(?:(?:usages?|uses?|number of uses) of )?(?P<x>.+?) (?:and|with|to|vs\.?|versus|"
        r"against) (?P<y>.+)",
        "compare",
        first="compare",
    ),
    Form(r"(?P<x>\S+) (?:vs\.?|versus) (?P<y>\S+)", "compare", needs="vs versus"),
    Form(
        rf"{_X}[,:]? which(?: one)? (?:is|gets?) {DONE} (?:more|less|most|least)(?: often)?",
        "compare",
        needs="more less most least",
    ),
)

_TURNED_ROUND = (
    Form(
        r"(?:what|which|who|whom)(?: (?:all|else|exactly))* (?P<noun>(?:\S+ ){0,5}?)(?:does|do|did|will|would|can) "
        rf"{_X} (?:(?:actually|directly|itself) )*(?P<base>{_BASE})(?: (?:from|on|to|with|in|directly|for|exactly|"
        rf"like))?",
        verb="base",
        first="what which who whom",
        needs="does do did will would can",
    ),
    Form(
        rf"how (?:does|do|did|is|are) {_X} (?:work|behave|function|operate|get done)",
        "explain",
        first="how",
        needs="work behave function operate done",
    ),
    Form(
        rf"what{_IS} the (?:purpose|point|meaning|role|job|use|function|responsibility|idea) (?:of|for|behind) {_X}",
        "explain",
        first="what",
        needs="of for behind",
    ),
    Form(
        rf"(?:what|which) (?:is|are|gets?) (?:called|invoked|used) (?:by|inside|within|from) {_X}",
        "callees",
        first="what which",
        needs="called invoked used",
    ),
    Form(
        rf"(?:(?:what|which) )?(?:\S+ ){{0,2}}?(?:is |are |gets? )?(?:imported|included|required) (?:by|in|inside|"
        rf"into) {_X}",
        "file_imports",
        needs="imported included required",
    ),
    Form(
        rf"(?:\S+ )?(?:calls|functions called|methods called) (?:made )?(?:by|inside|within) {_X}",
        "callees",
        needs="calls called",
    ),
    Form(
        rf"(?:(?:what|which){_IS} )?{_QUANTITY}(?P<turned>{_TURNED}) (?:of|for|in|to) {_X}",
        verb="turned",
        needs="of for in to",
    ),
    Form(rf"(?:what|which){_IS} {_X}(?:'s|') (?P<turned>{_TURNED})", verb="turned", first="what which", needs="s '"),
)

_AT_ALL = (
    Form(rf"(?:is|are|was|were) {_X} {_ADV}{_USELESS}", "alive", first="is are was were"),
    Form(
        r"(?:(?:can|could|may|should|do) (?:i|we|you|one) |(?:is it |it is )?(?:safe|ok|okay|possible) to )(?:safely )?"
        rf"(?:remove|delete|drop|get rid of) {_X}(?: safely)?",
        "alive",
        needs="remove delete drop rid",
    ),
    Form(
        r"(?:does|do|is|are|has) (?:anything|anyone|anybody|any code|something|someone|somebody|any \S+) "
        rf"(?:else )?{_ADV}{_DOINGS} {_X}",
        verb="doing",
        first="does do is are has",
        needs="anything anyone anybody any something someone somebody",
    ),
    Form(
        rf"(?:is|are) there (?:{_SOME} )*{_THINGS} (?:of|for|to|in) {_X}(?: left)?",
        verb="thing",
        first="is are",
        needs="there",
    ),
    Form(
        rf"(?:does|do|did) {_X} have (?:{_SOME} )*{_THINGS}(?: left)?", verb="thing", first="does do did", needs="have"
    ),
    Form(rf"(?:does|do) {_X} (?:still |even )?exist", "defined", first="does do", needs="exist"),
    Form(rf"(?:does|do|did|can|will) (?P<by>\S+) {_ADV}{_DOINGS} {_X}", verb="doing", first="does do did can will"),
    Form(
        rf"(?:is|are|was|were|has|have|does|do) {_X} {_ADV}{_DONES}(?: (?:by|from|in) (?P<by>\S+))?{_END}",
        verb="done",
        first="is are was were has have does do",
    ),
)

_WHERE_FORMS = (
    Form(
        rf"{_WHERE}(?: in (?P<place>\S+))? {_BE} {_X} {_ADV}{_DONES}(?: (?:by|from) (?P<by>\S+)| (?:as|to|with|"
        rf"for) .+)?{_END}",
        verb="done",
    ),
    Form(
        rf"where(?:'s|s) {_X} {_ADV}{_DONES}(?: (?:by|from) (?P<by>\S+))?{_END}",
        verb="done",
        first="where wheres",
    ),
    Form(
        rf"(?:where (?:are|is) )?{_QUANTITY}(?:{_WHERE} )?{_X} (?:is|are|was|were|gets?|being) {_ADV}{_DONES}(?: "
        rf"(?:by|from) (?P<by>\S+))?{_END}",
        verb="done",
        needs="is are was were get gets being",
    ),
    Form(
        rf"(?:{_WHERE} )(?:do|does|did|can|could|would|should|have) {_WE} {_ADV}{_DOINGS} {_X}",
        verb="doing",
        needs="does do did can could would should have",
    ),
    Form(
        rf"how (?:many|much) {_THINGS} (?:does|do|of) {_X}(?: (?:have|has|get|are there))?",
        verb="thing",
        first="how",
        needs="many much",
    ),
    Form(
        rf"how (?:many|much) {_THINGS} (?:are|is) (?:there )?(?:of|for|to) {_X}",
        verb="thing",
        first="how",
        needs="many much",
    ),
    Form(
        rf"how many (?P<noun>(?:\S+ ){{0,5}}?)(?:{_THAT} )?(?:{_AUX} )*{_DOINGS} {_X}",
        verb="doing",
        first="how",
        needs="many",
    ),
    Form(
        rf"(?:{_WHERE}|what|which){_IS} {_QUANTITY}{_THINGS} {_OF} {_X}",
        verb="thing",
        first="where whereabouts what which in from at on by when how",
        needs="of for to on from about with against",
    ),
    Form(
        rf"(?:where|what|which|who)(?:'s|s| is| are) {_X}(?:'s|')? {_THINGS}",
        verb="thing",
        first="where what which who wheres",
    ),
    Form(
        rf"where (?:does|do|did) {_X} {_ADV}(?:come from|live|reside|sit|stand|originate|exist)",
        "defined",
        first="where",
        needs="does do did",
    ),
    Form(
        rf"where (?:does|do|did) {_X} {_ADV}(?:occur|appear|show up|happen|turn up|come up|crop up)(?: in)?",
        "used",
        first="where",
        needs="does do did",
    ),
    Form(
        rf"where (?:does|do|did|can|could) {_X} {_ADV}{_DONES}{_END}",
        verb="done",
        first="where",
        needs="does do did can could",
    ),
    Form(rf"where (?:does|do) it (?:say|print|log|show)s? {_X}", "used", first="where", needs="it"),
    Form(rf"where(?:'s|s| is| are| was| were) {_X}", "defined", first="where wheres"),
)

_WHO_FORMS = (
    Form(
        r"(?:who|whom|what|which|that|everything|everyone|anything|code|all)(?: (?:all|else|of the))*(?: in "
        r"(?P<place>\S+))? "
        rf"(?P<noun>(?:\S+ ){{0,5}}?)(?:{_THAT} )?(?:{_AUX} )*{_DOINGS} {_X}",
        verb="doing",
        first="who whom what which that everything everyone anything code all",
    ),
    Form(
        rf"(?:who|what|which|all|every|any) (?P<noun>(?:\S+ ){{0,5}})(?:in (?P<place>\S+) )?(?:{_THAT} "
        rf")?(?:{_AUX} )*{_DOINGS} {_X}",
        verb="doing",
        first="who what which all every any",
    ),
    Form(rf"(?P<noun>(?:\S+ ){{1,5}}?){_THAT} (?:{_AUX} )*{_DOINGS} {_X}", verb="doing", needs="that which who"),
    Form(rf"(?P<noun>(?:\S+ ){{1,4}}?)(?P<doing>{_DOING_NOW}) {_X}", verb="doing"),
)

_NOUN_FORMS = (
    Form(rf"{_QUANTITY}{_THINGS} {_OF} {_X}", verb="thing", needs="of for to on from about with against"),
    Form(rf"{_NO_ASKING}{_X}(?:'s|') {_THINGS}", verb="thing", needs="s '"),
    Form(rf"{_NO_ASKING}{_X}(?:'s|') (?P<turned>{_TURNED})", verb="turned", needs="s '"),
    Form(rf"{_NO_ASKING}{_X} {_THINGS}", verb="thing"),
    Form(
        rf"{_NO_ASKING}{_X} (?P<turned>callees|signature|docstring|base class(?:es)?|parameters|contents|outline|"
        rf"methods)",
        verb="turned",
        needs="callees signature docstring base parameters contents outline methods",
    ),
)

_EXPLAIN_PLAINLY = (
    Form(
        r"(?:explain|describe|summari[sz]e|document|understand|introduce|clarify|what about|how about|(?:more )?about|"
        r"(?:some |an? )?(?:details?|info|information|explanation|description|summary|overview) (?:of|on|about|for)|"
        rf"walk me through)(?: to me)? (?:what |how |why )?{_X}(?: (?:does|do|works?|is|means?|is for))?",
        "explain",
    ),
)

_EXPLAIN = (
    Form(
        rf"(?:what{_IS}|who(?:'s|s| is| are)) {_X} (?:for|about|used for|meant for|good for|supposed to do|doing|"
        rf"all about|"
        rf"responsible for)",
        "explain",
        first="what whats who",
    ),
    Form(rf"what (?:exactly |kind of \S+ |sort of \S+ )?(?:is|are|was|were) {_X}", "explain", first="what"),
    Form(rf"what(?:'s|s) {_X}", "explain", first="what whats"),
    Form(rf"what {_X} (?:does|do|is|means?|is for)", "explain", first="what"),
    Form(rf"what happens (?:in|inside|when) {_X}(?: (?:is|gets) \S+)?", "explain", first="what", needs="happens"),
    Form(rf"how (?:(?:do|can|should|would|could) (?:i|we|you|one) |to ){DOING} {_X}", "explain", first="how"),
)

FORMS = (*_COMPARE, *_TURNED_ROUND, *_AT_ALL, *_WHERE_FORMS, *_WHO_FORMS, *_EXPLAIN_PLAINLY, *_NOUN_FORMS, *_EXPLAIN)
"""Tried in this order; the first that leaves nothing but names where the name belongs wins."""
