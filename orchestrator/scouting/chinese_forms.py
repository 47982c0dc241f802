"""The forms of Chinese questions, as regular expressions; the groups are those of `english_forms`."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.scouting.chinese_words import INVERSE, KINDS, TURNED, VERBS
from orchestrator.scouting.question import Intent


def any_of(words: str | tuple[str, ...]) -> str:
    """An alternation of `words`, the longest first."""
    items = words.split("|") if isinstance(words, str) else words
    return "(?:" + "|".join(sorted(items, key=len, reverse=True)) + ")"


DOING = any_of("|".join(verb.doing for verb in VERBS))
_THING = any_of("|".join(verb.things for verb in VERBS))
_TURNED = any_of(tuple(TURNED))
_BASE = any_of(tuple(INVERSE))
_X = r"(?P<x>\S.*?)"
_THINGS_LOOKED_AT = (
    "(?:地方|位置|处|文件|档案|代码|模块|函数|方法|类|包|目录|文件夹|人|行|单元|测试|测试用例|用例|程序|东西|组件|"
    rf"Python文件|{KINDS})"
)
_WHERE = (
    "(?:哪里|哪儿|哪里边|何处|什么地方|什么位置|"
    rf"(?:哪些|哪个|哪几个|哪一个|什么|那些|多少个?|几个|几处){_THINGS_LOOKED_AT}+|哪些|哪)(?:里面|里|中|内|处)?"
)
_WHO = (
    rf"(?:谁|什么人|有谁|{_WHERE}|有(?:哪些|什么|多少|几个){_THINGS_LOOKED_AT}*|什么(?:代码|函数|地方)?|"
    "所有|全部|每一?[个处])"
)
_MORE = r"(?:会|都|有|还|正在|在|曾|直接|间接|真的|实际上?|到底|具体|主要|可能|是|被|也|一共|总共|能|来|去|又)*"
_DOINGS = rf"(?P<doing>{DOING}(?:(?:了|过|到)?(?:和|与|及|以及|或|或者|并|、|, ?|/){DOING})*)"
_DONE_END = r"(?:到|了|过|着|的|到的|过的|到了|起来|下来|在内|出来|出来的|多少次|几次|次数)*"
_THEM = rf"(?:的(?:{_THINGS_LOOKED_AT})+)?"


@dataclass(frozen=True, slots=True)
class Form:
    """One form. `intent` is what it asks, unless `verb` names the group whose word says so."""

    pattern: str
    intent: Intent | None = None
    verb: str = ""


WHOLE = (
    Form(
        rf"(?:在)?{_X}(?:这个)?(?:{KINDS})?(?:里面|里边|里|中|内|下面|下|之中)?(?:都|一共|总共)?(?:有|包含|定义了?|含有|是|声明了?|导出了?|提供了?)"
        rf"(?:了)?(?:些)?(?:什么|啥|哪些|多少个?|几个)(?P<content>(?:{_THINGS_LOOKED_AT}|东西|内容|和|与)*)",
        "contents",
    ),
    Form(
        rf"(?:在)?{_X}(?:里面|里|中|内|下)的?(?:所有|全部)?(?P<content>(?:内容|函数|类型?|方法|常量|变量|成员|符号|文件|定义)(?:和(?:函数|类|方法))?)(?:有哪些|是什么)?",
        "contents",
    ),
    Form(
        rf"(?:有)?(?:哪些|什么|多少个?|几个)(?P<content>(?:{_THINGS_LOOKED_AT}|内容|和|与)+)(?:都)?(?:定义)?(?:在|位于){_X}"
        r"(?:里面|里|中|内|下)",
        "contents",
    ),
    Form(
        rf"{_X}(?:的)?(?:最近|近期|最新)(?:的)?(?:改动|变化|变更|修改|提交|更新)(?:记录|历史)?(?:是什么|有哪些)?",
        "history",
    ),
    Form(
        rf"(?:最近|近期)(?:在)?(?:对|跟|和|与|关于|围绕)?{_X}(?:附近|周围|相关|有关|里|中|上|做)*(?:的|有|了|被|发生|都|过|做了?)*(?:什么|哪些|啥)?"
        r"(?:改动|变化|变更|修改|提交|改变|更新|改)(?:了|过)?(?:什么|哪些|啥|吗)?",
        "history",
    ),
    Form(
        rf"{_X}(?:附近|周围|相关|有关|里|中|上)?(?:最近|近期)(?:有|都|被|发生|做|过|了)*(?:什么|哪些|啥)?(?:改动|变化|变更|修改|提交|改变|更新|改|变)(?:了|"
        rf"过)?(?:什么|哪些|啥|吗)?",
        "history",
    ),
    Form(rf"谁(?:最近|最后|上次|曾)*(?:修改|改动|改|编辑|提交|添加|加|写|引入|删除)(?:了|过)+{_X}", "history"),
    Form(
        r"(?:最近|近期)(?:有|都|的|发生|做|了)*(?:什么|哪些|啥)?(?:改动|变化|变更|修改|提交|改变|更新|改|变)(?:了|过)?(?:什么|哪些|啥|吗)?",
        "history",
    ),
)
"""Forms in which "FILE 里" belongs to the name and is not a place to look in."""

FORMS = (
    Form(
        rf"{_X}(?:之间|中)?,?(?:哪个|哪一个|谁)(?:被)?(?:{DOING}|用)(?:得|的)?(?:次数)?(?:更|比较|最)?(?:多|少|频繁)(?:一些|一点|些)?",
        "compare",
    ),
    Form(rf"比较(?:一下)?{_X}(?:的)?(?:使用|用法|引用|调用)?(?:次数|情况|数量|频率)?", "compare"),
    Form(
        rf"{_X}(?:有没有|是否有?|是不是|有)(?:被|什么|哪些|任何|相关的?|单元)*(?P<doing>测试|覆盖|测到|捕获|抛出)(?:到|过|了|用例|代码)?",
        verb="doing",
    ),
    # is X used at all
    Form(
        rf"{_X}(?:到底|究竟|现在|目前|还)*(?:有没有|是否|是不是)(?:还|在|有|正)*(?:被|地方|人|任何地方|代码|任何代码)*(?:{DOING}|用|使用)(?:到|过|了|着|中)?",
        "alive",
    ),
    Form(
        rf"(?:有没有|是否有|还有没有|有)(?:还|人|地方|代码|任何地方|任何代码|谁|什么)*(?:在|会|还)*{_DOINGS}(?:到|过|了|着)?{_X}",
        verb="doing",
    ),
    Form(rf"{_X}(?:还|仍|现在|目前)*(?:在用|在使用|有用|被使用|被用到|有人用|需要)", "alive"),
    Form(
        rf"{_X}(?:是不是|是否是?|是|算不算)(?:死代码|无用代码|没用的?|没有用的?|多余的?|废弃的?|未使用的?|不用的?)(?:代码|函数|类|方法)?",
        "alive",
    ),
    Form(rf"(?:可以|能|能否|可否|能不能|可不可以)?(?:安全地?|放心)?(?:删除|删掉|去掉|移除|删){_X}", "alive"),
    Form(rf"{_X}(?:可以|能|能否|可否|能不能|可不可以)(?:安全地?|被)?(?:删除|删掉|去掉|移除|删)(?:了|掉)?", "alive"),
    # what does X call
    Form(
        rf"{_X}(?:这个)?(?:{KINDS})?(?:里面|里|中|内)?{_MORE}(?P<base>{_BASE})(?:了|过|到)?(?:些)?(?:什么|哪些|谁|啥|"
        rf"哪个)(?:{_THINGS_LOOKED_AT}|父类|基类|接口|依赖|库|东西|事|事情)*",
        verb="base",
    ),
    Form(
        rf"{_X}(?:是|到底是|究竟是)?(?:做什么|干什么|干嘛|干啥|用来做什么|用来干什么|用来干嘛|做啥|用来做啥)(?:用)?的?",
        "explain",
    ),
    Form(rf"{_X}(?:有|起)(?:什么|啥|何)(?:用处?|作用|功能|用途|意义)", "explain"),
    Form(rf"{_X}(?:是|指的是|表示|代表|到底是|究竟是)(?:什么|啥)(?:意思|东西|作用|{KINDS})?(?:的)?", "explain"),
    Form(
        rf"(?:解释|介绍|描述|概述|总结|讲解|说明|阐述|分析|理解|了解)(?:一下|下)?{_X}(?:的)?(?:作用|功能|含义|用途|是什么|做什么|干什么|怎么工作|如何工作|逻辑|原理)?",
        "explain",
    ),
    Form(rf"{_X}(?:是)?(?:怎么|如何|怎样)(?:工作|运作|运行|起作用|实现)的?", "explain"),
    Form(rf"(?:怎么|如何|怎样)(?:使用|用|调用){_X}", "explain"),
    Form(
        rf"(?:有?(?:谁|哪些|什么)(?:类|类型|结构体|对象|子类)?){_MORE}(?:实现|继承)(?:了|自)*{_X}(?:这个)?(?:接口|类|trait|协议|抽象类)?的?(?:类|类型)?",
        "subclasses",
    ),
    # where is X used
    Form(rf"{_X}(?:这个|那个)?{_MORE}(?:在|从|于|由)?{_MORE}{_WHERE}{_MORE}{_DOINGS}{_DONE_END}{_THEM}", verb="doing"),
    Form(rf"{_X}{_MORE}(?:被|由|让)?(?:谁|{_WHERE}){_MORE}{_DOINGS}{_DONE_END}", verb="doing"),
    Form(rf"{_X}{_MORE}(?:被){_DOINGS}{_DONE_END}(?:在|于)?(?:{_WHERE}|几次|多少次)?{_THEM}", verb="doing"),
    Form(rf"{_X}{_DOINGS}{_DONE_END}(?:在|于){_WHERE}", verb="doing"),
    Form(rf"(?:在)?{_WHO}(?:里面|里|中)?{_MORE}(?:对)?{_DOINGS}(?:到|了|过|着)*(?:的)?{_X}{_THEM}", verb="doing"),
    Form(
        rf"{_MORE}{_DOINGS}(?:到|了|过|着)*{_X}的(?:{_THINGS_LOOKED_AT})+(?:有哪些|在哪里?|是哪些|有多少|都有谁)?",
        verb="doing",
    ),
    Form(
        rf"(?:所有|全部)?(?:对)?{_X}的(?:所有|全部|每个|每一处)?(?P<thing>{_THING})(?:都)?(?:在|有|是)?(?:{_WHERE}|什么|多少|谁)?(?:个|处)?",
        verb="thing",
    ),
    Form(rf"{_X}的(?:所有|全部)?(?P<turned>{_TURNED})(?:都)?(?:是|有)?(?:什么|哪些|啥)?", verb="turned"),
    Form(rf"(?:所有|全部)?对{_X}的(?P<thing>{_THING})", verb="thing"),
    Form(rf"{_X}(?:有|有没有|是否有)(?:什么|哪些|多少)?(?P<thing>{_THING})", verb="thing"),
    Form(rf"{_X}(?:都)?(?:在|位于|出自|来自|在于)(?:{_WHERE})(?:里|中)?(?:定义|出现)?的?", "defined"),
    Form(rf"(?:在)?(?:{_WHERE})(?:有|能找到|可以找到|能看到|是){_X}(?:的定义)?", "defined"),
    Form(rf"(?:{_WHERE})(?:能|可以)?(?:找到|看到){_X}", "defined"),
    Form(rf"{_X}(?:被)?{_DOINGS}(?:了)?(?:多少次|几次|多少处|几处)", verb="doing"),
    Form(rf"(?P<thing>{_THING})(?:of)?{_X}", verb="thing"),
    Form(rf"{_X}(?P<thing>{_THING})", verb="thing"),
)
"""Tried in this order; the first that leaves nothing but names where the name belongs wins."""
