"""What the scout says, in English and Chinese. The tables have the same keys and the same fields in both languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orchestrator.scouting.nouns import NOUNS, SYMBOL_KINDS, TITLES
from orchestrator.scouting.places import KINDS, Place, count_kinds, files_of
from orchestrator.scouting.question import Language

_SENTENCES: Mapping[str, tuple[str, str]] = {
    "in_scope": ("in", "位于"),
    "more": ("+{count} more", "另有 {count} 个"),
    "yes": ("Yes. {said}", "是的。{said}"),
    "no": ("No. {said}", "没有。{said}"),
    "inside": (" in {regions}", "在 {regions} 中"),
    "outside": (" outside {regions}", "在 {regions} 之外"),
    "lines": (" between lines {first} and {last}", "第 {first} 到 {last} 行之间"),
    "either": (" or ", "或"),
    "region_tests": ("tests", "测试"),
    "region_docs": ("the documentation", "文档"),
    "region_endings": ("{text} files", "{text} 文件"),
    "elsewhere": ("; elsewhere: {kinds} in {files}", "；其他地方：{files}中有 {kinds}"),
    "variables": ("; not counted: {count} of that name", "；未计入：{count}"),
    "unsure": ("; {count} more on objects whose type is not known", "；另有 {count} 处，其对象的类型未知"),
    "and_more": ("… and {count} more in {files}: {names}", "……另有 {count} 处，在 {files}中：{names}"),
    "more_files": ("{names}, and {files} more", "{names}，以及另外 {files}"),
    # --- used
    "used": (
        "{name} is used in {count} in {files}: {kinds}{unsure}{defined}{variables}{mentioned}.",
        "{name} 在 {files}中有 {count}使用：{kinds}{unsure}{defined}{variables}{mentioned}。",
    ),
    "defined_at": ("; defined at {at}", "；定义于 {at}"),
    "defined_times": ("; defined {times} times, first at {at}", "；共有 {times} 处定义，第一处在 {at}"),
    "used_maybe": (
        "{name} is used nowhere for certain{unsure}{defined}{variables}{mentioned}.",
        "{name} 没有确定的使用{unsure}{defined}{variables}{mentioned}。",
    ),
    "not_defined": ("; not defined in this workspace", "；未在本工作区中定义"),
    "is_module": ("; it is the module at {path}", "；它是位于 {path} 的模块"),
    "mentioned": ("; also named in {kinds}", "；另外在 {kinds}中被提到"),
    "unused": (
        "{name} is not used anywhere: beyond its {definitions} at {at} no code names it{variables}{mentioned}.",
        "{name} 没有被使用：除了 {at} 的 {definitions}之外，没有代码提到它{variables}{mentioned}。",
    ),
    "unused_there": (
        "{name} is not used{where}{elsewhere}{defined}{variables}{mentioned}.",
        "{name} {where}没有被使用{elsewhere}{defined}{variables}{mentioned}。",
    ),
    "only_mentioned": (
        "{name} occurs in no code{where}{elsewhere}; it is named in {kinds}.",
        "{name} {where}没有出现在代码中{elsewhere}；只在 {kinds}中被提到。",
    ),
    "tests_only": ("All its uses are in tests.", "所有使用都在测试中。"),
    "defined_in_tests": ("It is defined in tests only.", "它只在测试中定义。"),
    "plain_word": (
        "`{name}` is also a plain word: {kinds} may mean something else.",
        "`{name}` 也是普通单词：{kinds}里的不一定指这个名字。",
    ),
    "by_name": (
        "There are {count} definitions of this name; uses are found by name, and which of them is meant is told "
        "only where imports say so: {shares}.",
        "这个名字有 {count} 处定义；使用按名字查找，只有在导入能说明时才能区分：{shares}。",
    ),
    "share": ("{count} of the uses belong to {at}", "{count} 处使用属于 {at}"),
    "share_unknown": ("{count} cannot be told apart", "{count} 处无法区分"),
    # --- defined
    "defined": ("{name} is defined at {at}{scope}.", "{name} 定义于 {at}{scope}。"),
    "defined_many": (
        "{name} is defined in {count} in {files}, first at {at}.",
        "{name} 在 {files}中有 {count} 处定义，第一处在 {at}。",
    ),
    "scope": (" in `{scope}`", "（位于 `{scope}` 中）"),
    "not_here": (
        "{name} is not defined in this workspace; it comes from outside, see the {kinds}.",
        "{name} 未在本工作区中定义，它来自外部，参见 {kinds}。",
    ),
    "the_module": ("{name} is the module at {path}.", "{name} 是位于 {path} 的模块。"),
    "here": (" in this workspace", "本工作区中"),
    "nowhere_defined": (
        "No definition of {name} is in this workspace{mentioned}.",
        "本工作区中没有 {name} 的定义{mentioned}。",
    ),
    # --- callers and imports
    "called": (
        "{name} is called in {count} in {files}, from {functions}{unsure}{defined}.",
        "{name} 在 {files}中有 {count}被调用，来自 {functions}{unsure}{defined}。",
    ),
    "called_surely": (
        "{name} is called in {count} in {files} for certain, from {functions}{unsure}{defined}.",
        "{name} 在 {files}中确定有 {count}被调用，来自 {functions}{unsure}{defined}。",
    ),
    "called_maybe": (
        "No call of {name} is certain{unsure}{defined}.",
        "没有确定的 {name} 调用{unsure}{defined}。",
    ),
    "not_called": (
        "Nothing calls {name} by name{where}{elsewhere}{defined}.",
        "{where}没有代码按名字调用 {name}{elsewhere}{defined}。",
    ),
    "module_level": ("module level", "模块顶层"),
    "other_references": (
        "{kinds} that are not calls are not listed; it may also be called through them (passed on, registered, "
        "decorated).",
        "另有 {kinds}不是直接调用，未列出；也可能通过它们被调用（作为参数传递、注册、装饰器）。",
    ),
    "imported": ("{name} is imported by {files} ({count}){defined}.", "{name} 被 {files}导入（{count}）{defined}。"),
    "not_imported": (
        "No file{where} imports {name} by name{elsewhere}{defined}.",
        "{where}没有文件按名字导入 {name}{elsewhere}{defined}。",
    ),
    "same_file": ("It is used in {files} without an import.", "有 {files}不经导入就使用了它。"),
    # --- other kinds
    "tested": (
        "{name} is named in {count} in {files} of tests, in {functions}.",
        "{name} 在 {files}测试文件中出现 {count}，涉及 {functions}。",
    ),
    "not_tested": (
        "No test{where} names {name}{elsewhere}; it may still be tested through other code{defined}.",
        "{where}没有测试提到 {name}{elsewhere}；它仍可能通过其他代码被测试{defined}。",
    ),
    "documented": ("{name} is documented in {count} in {files}.", "{name} 在 {files}中有 {count}文档。"),
    "not_documented": (
        "No documentation{where} names {name}{elsewhere}{defined}.",
        "{where}没有文档提到 {name}{elsewhere}{defined}。",
    ),
    "assigned": ("{name} is assigned in {count} in {files}.", "{name} 在 {files}中有 {count}赋值。"),
    "not_assigned": (
        "Nothing assigns to {name}{where}{elsewhere}{defined}.",
        "{where}没有代码给 {name} 赋值{elsewhere}{defined}。",
    ),
    "configured": ("{name} is set or configured in {count} in {files}.", "{name} 在 {files}中有 {count}设置或配置。"),
    "not_configured": (
        "No configuration file or assignment{where} sets {name}{elsewhere}{defined}.",
        "{where}没有配置文件或赋值设置 {name}{elsewhere}{defined}。",
    ),
    "raised": ("{name} is raised in {count} in {files}{defined}.", "{name} 在 {files}中有 {count}抛出{defined}。"),
    "not_raised": (
        "Nothing raises {name} by name{where}{elsewhere}{defined}.",
        "{where}没有代码抛出 {name}{elsewhere}{defined}。",
    ),
    "caught": ("{name} is caught in {count} in {files}{defined}.", "{name} 在 {files}中有 {count}捕获{defined}。"),
    "not_caught": (
        "Nothing catches {name} by name{where}{elsewhere}{defined}.",
        "{where}没有代码按名字捕获 {name}{elsewhere}{defined}。",
    ),
    "subclassed": (
        "{name} has {count}: {direct} direct, {indirect} indirect{defined}.",
        "{name} 有 {count}：直接 {direct} 个，间接 {indirect} 个{defined}。",
    ),
    "subclassed_many": (
        "{classes} classes are called {name}; they have {count} together: {each}.",
        "有 {classes} 个类叫做 {name}；合计 {count}：{each}。",
    ),
    "no_root": ("not certain which", "无法确定属于哪个"),
    "which_class": (
        "Ask about one of them by its module (module.NAME) for that one alone: {names}.",
        "如只想看其中一个，请带上模块名提问（module.NAME）：{names}。",
    ),
    "elsewhere_subclasses": ("; elsewhere: {count}", "；其他地方：{count}"),
    "not_subclassed": (
        "Nothing extends or implements {name} by name{where}{elsewhere}{defined}.",
        "{where}没有类型继承或实现 {name}{elsewhere}{defined}。",
    ),
    "overridden": (
        "{name} is defined in {count} types; each may override another.",
        "{name} 在 {count} 个类型中定义，可能互相重写。",
    ),
    "implicit": (
        "Go interfaces are implemented without being named; only embedding is found here.",
        "Go 的接口是隐式实现的，这里只能找到嵌入。",
    ),
    "alive": ("Yes, {name} is used: {kinds} in {files}.", "是的，{name} 有被使用：在 {files}中有 {kinds}。"),
    "alive_in_tests": (
        "Only in tests: {name} has {kinds} there and none in other code.",
        "只在测试中使用：{name} 在测试中有 {kinds}，其他代码中没有。",
    ),
    "imports_only": (
        "Hardly: {name} is imported ({kinds}), and nothing else names it.",
        "几乎没有：{name} 只被导入（{kinds}），此外没有代码提到它。",
    ),
    "dead": (
        "No, nothing{where} uses {name} by name{elsewhere}{defined}.",
        "没有，{where}没有代码按名字使用 {name}{elsewhere}{defined}。",
    ),
    "limits": (
        "Limits: only names in the text are seen. Dynamic access (getattr, reflection, strings), entry points, "
        "templates and code outside this workspace are not.",
        "局限：只能看到文本中的名字，看不到动态访问（getattr、反射、字符串）、入口点、模板以及工作区之外的代码。",
    ),
    "more_used": ("{first} is used more: {counts}.", "{first} 用得更多：{counts}。"),
    "less_used": ("They are used equally often: {counts}.", "它们的使用次数相同：{counts}。"),
    "share_name": (
        "; {count} share the name, so they may be of any of them",
        "；{count}同名，使用可能属于其中任何一个",
    ),
    "of_root": ("{count} of {at}", "{count} 个属于 {at}"),
    "uncertain": ("{count} not certain which", "{count} 个无法确定属于哪个"),
    "count_of": ("{name} {count} ({kinds})", "{name} {count}（{kinds}）"),
    # --- explain, contents
    "explained": ("{name} is a {kind} at {at}{scope}.", "{name} 是一个 {kind}，位于 {at}{scope}。"),
    "explained_many": (
        "{name} is defined {count} times; first a {kind} at {at}{scope}.",
        "{name} 有 {count} 处定义，第一处是位于 {at} 的 {kind}{scope}。",
    ),
    "says": ("Its documentation: {doc}", "它的文档：{doc}"),
    "says_at": ("Documentation of {at}: {doc}", "{at} 的文档：{doc}"),
    "no_doc": ("It has no documentation of its own.", "它没有自己的文档。"),
    "called_by": ("Called from {functions} ({count}).", "被 {functions}调用（{count}）。"),
    "signature": ("Signature: {code}", "签名：{code}"),
    "calls": ("{name} makes {count} to {functions}.", "{name} 中有 {count}，涉及 {functions}。"),
    "calls_nothing": ("{name} calls nothing.", "{name} 没有调用任何东西。"),
    "file_imports": ("{path} has {count}.", "{path} 有 {count}。"),
    "no_imports": ("{path} imports nothing.", "{path} 没有导入任何东西。"),
    "contents": ("{path} has {count}: {kinds}.", "{path} 有 {count}：{kinds}。"),
    "contents_of_kind": ("{path} has {kinds}{others}.", "{path} 有 {kinds}{others}。"),
    "no_such_kind": ("{path} has no {kinds}{others}.", "{path} 没有{kinds}{others}。"),
    "other_kinds": ("; not listed: {kinds}", "；未列出：{kinds}"),
    "returns": ("{name} at {at} has {count}: {values}.", "位于 {at} 的 {name} 有 {count}：{values}。"),
    "returns_nothing": ("{name} at {at} has no return line.", "位于 {at} 的 {name} 没有返回语句。"),
    "what_returned": (
        "These are the lines that return; what comes back from them in each case needs a language model to tell.",
        "以上是返回语句；要说明各种情况下返回什么，需要语言模型。",
    ),
    "empty": ("No definitions are found in {path}.", "在 {path} 中没有找到定义。"),
    "folder": (
        "{path} has {files} ({kinds}) with {symbols}.",
        "{path} 中有 {files}（{kinds}），其中有 {symbols}。",
    ),
    "no_path": ("There is no file or folder {path} in this workspace.", "本工作区中没有文件或文件夹 {path}。"),
    "bases": ("{name} extends {bases}.", "{name} 继承自 {bases}。"),
    "no_bases": ("{name} at {at} names no base.", "位于 {at} 的 {name} 没有写明基类。"),
    # --- text, history, unknown
    "text": ("{text} stands in {count} in {files}.", "{text} 在 {files}中出现 {count}。"),
    "text_elsewhere": (
        "{text} does not stand{where}; elsewhere it does in {count} in {files}.",
        "{where}没有 {text}；其他地方有 {count}，在 {files}中。",
    ),
    "text_loosely": (
        "{text} does not stand anywhere as written; in another case or with other words in between it does in "
        "{count} in {files}.",
        "没有与 {text} 完全相同的文本；{files}中有 {count}在大小写不同或夹有其他词的情况下包含它。",
    ),
    "no_text": ("{text} does not stand in any file.", "没有任何文件包含 {text}。"),
    "history": ("{count} touched {name} lately.", "最近有 {count}涉及 {name}。"),
    "no_history": ("No commit touched {name}.", "没有提交涉及 {name}。"),
    "history_failed": ("What changed cannot be told: {reason}", "无法得知改动：{reason}"),
    "no_git_tool": (
        "What changed around {name} cannot be told: no tool for git is at hand. `git log -L` or `git log "
        "-S{bare}` would say.",
        "无法得知 {name} 附近的改动：没有可用的 git 工具。可以用 `git log -L` 或 `git log -S{bare}` 查看。",
    ),
    "unknown_name": ("{name} is not found in this workspace.", "在本工作区中没有找到 {name}。"),
    "unknown_in_part": (
        "{name} is not found in what could be searched of this workspace.",
        "在本工作区能够搜索的部分中没有找到 {name}。",
    ),
    "search_failed": ("The search could not be done: {reason}", "搜索无法完成：{reason}"),
    "did_you_mean": ("Did you mean {names}?", "你是指 {names} 吗？"),
    "no_near": ("No name close to it is found either.", "也没有找到相近的名字。"),
    "read_as": ("{asked} is not found; this is about {name}.", "没有找到 {asked}，以下是 {name} 的结果。"),
    "no_owner": (
        "There is no {dotted} to be found; this is about every {name}.",
        "没有找到 {dotted}，以下是所有 {name} 的结果。",
    ),
    "filtered": ("Not counted: {count} outside the part asked for.", "未计入：所问范围之外还有 {count}。"),
    "all_filtered": (
        "{name} does not occur in the part asked for; outside it are {count} in {files}.",
        "{name} 没有出现在所问的范围内；范围之外有 {count}，在 {files}中。",
    ),
    "out_of_reach": (
        "This question needs a language model; none is configured, and the built-in scout answers only what code "
        "can answer exactly.",
        "这个问题需要语言模型；当前没有配置模型，内置的 scout 只能回答代码本身可以精确回答的问题。",
    ),
    "kinds_answered": (
        "It can tell: where X is used, defined, called, imported, assigned, configured, tested or documented; who "
        "calls X and what X calls; "
        "what imports a file and what a file imports; what X does (signature, documentation, callers); what is in "
        "a file or folder; "
        "what extends X; whether X is used at all; where a text stands; which of A and B is used more.",
        "它可以回答：X 在哪里使用、定义、调用、导入、赋值、配置、测试或有文档；"
        "谁调用 X、X 调用什么；谁导入某文件、某文件导入什么；"
        "X 是做什么的（签名、文档、调用者）；某文件或文件夹里有什么；"
        "什么继承了 X；X 是否被使用；某段文本在哪里；A 和 B 哪个用得更多。",
    ),
    "configure": (
        "To use a model: set a key such as OPENAI_API_KEY or ANTHROPIC_API_KEY, or give --model; `orch doctor` "
        "shows what is configured.",
        "要使用模型：设置密钥，例如 OPENAI_API_KEY 或 ANTHROPIC_API_KEY，"
        "或使用 --model；`orch doctor` 会显示当前配置。",
    ),
    "not_answered": ("Not answered: {question}", "未回答：{question}"),
    "no_match": ("None of its words is found among the definitions.", "在定义中没有找到问题里的词。"),
    "not_asked": ("The question names nothing to look for.", "问题中没有可以查找的名字。"),
    "tool_missing": (
        "The tool {tool} is not offered here, so kinds are guessed from the lines themselves.",
        "这里没有 {tool} 工具，因此类别是根据行内文字推测的。",
    ),
    "tools_missing": (
        "The tools for this question are not offered here: {tools}.",
        "这里没有回答该问题所需的工具：{tools}。",
    ),
    "unfinished": (
        "The search was stopped before its end; places may be missing.",
        "搜索在完成之前被停止，可能有遗漏。",
    ),
    "tool_note": ("Note: {note}", "注意：{note}"),
    "not_all": ("Only the first {count} are listed; {total} match.", "只列出前 {count} 处，共有 {total} 处匹配。"),
    "workspace": ("This workspace", "本工作区"),
    "alias": (
        "Some files import it under another name ({names}); uses of that name are not listed here.",
        "有些文件以别的名字导入它（{names}），那些名字的使用未在此列出。",
    ),
    # --- the parent
    "verdict": ("Checked against the files: {counts}.", "已与文件核对：{counts}。"),
    "verified": ("verified", "处已核实"),
    "moved": ("moved", "处行号有变"),
    "unverified": ("unverified", "处未核实"),
    "sub_agent_ended": (
        "The search ended early ({reason}); what follows may be incomplete.",
        "搜索提前结束（{reason}），以下内容可能不完整。",
    ),
    "sub_agent_failed": ("The search failed: {reason}", "搜索失败：{reason}"),
    "no_question": (
        "Ask a question about the code, for example: where is NAME used",
        "请提一个关于代码的问题，例如：NAME 在哪里被使用",
    ),
}


class Words:
    """The words of one language."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self._at = 1 if language == "zh" else 0
        self.comma = "、" if self._at else ", "
        self.colon = "：" if self._at else ": "

    def say(self, key: str, **values: object) -> str:
        """The sentence `key` with its fields filled in."""
        return _SENTENCES[key][self._at].format(**values)

    def title(self, key: str) -> str:
        """The heading of a group of places."""
        return TITLES[key][self._at]

    def count(self, number: int, noun: str) -> str:
        """`1 call`, `12 calls`."""
        one, many, chinese = NOUNS[noun]
        return f"{number:,} {chinese}" if self._at else f"{number:,} {one if number == 1 else many}"

    def kinds(self, places: Iterable[Place]) -> str:
        """`1 definition, 3 calls`, in the order in which kinds are shown."""
        counts = count_kinds(places)
        return self.comma.join(self.count(counts[kind], kind) for kind in KINDS if counts[kind])

    def symbol_kind(self, kind: str, count: int = 1) -> str:
        """`class`, for more than one `classes`."""
        if self._at:
            return SYMBOL_KINDS.get(kind, kind)
        if count == 1:
            return kind
        return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}{'es' if kind.endswith('s') else 's'}"

    def files(self, places: Iterable[Place]) -> str:
        return self.count(files_of(places), "file")

    def listed(self, items: Iterable[str], limit: int = 8) -> str:
        """Items in a row, the rest counted as `+3`."""
        every = tuple(items)
        shown = self.comma.join(every[:limit])
        more = self.say("more", count=len(every) - limit)
        return f"{shown}{self.comma}{more}" if len(every) > limit else shown


def code(text: str) -> str:
    """`text` as inline code in Markdown, whatever backquotes it holds."""
    text = " ".join(text.split())
    if "`" not in text:
        return f"`{text}`"
    fence = "``" if "``" not in text else "```"
    return f"{fence} {text} {fence}"
