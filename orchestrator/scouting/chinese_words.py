"""The words of Chinese questions about code, as data; `|` separates alternatives."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.scouting.question import Intent


@dataclass(frozen=True, slots=True)
class Verb:
    """`doing` are the verbs, `things` what follows 的 (X 的调用者)."""

    intent: Intent
    doing: str
    things: str


VERBS = (
    Verb("imports", "导入|引入|import|include|require|包含|加载", "导入|导入处|引入|导入语句|导入位置"),
    Verb(
        "callers",
        "调用|呼叫|执行|实例化|创建|构造|触发|运行",
        "调用者|调用方|调用处|调用点|调用位置|调用|调用的地方|被调用处|调用情况|实例化|上游",
    ),
    Verb(
        "used",
        "使用|用到|引用|提到|依赖于|依赖|访问|出现|读取|提及|用上|用着|需要|用|参考|返回",
        "使用|用法|引用|使用处|使用位置|使用情况|引用处|引用位置|使用者|所有使用|所有引用|用例|用途处|出现位置|使用的地方|引用的地方",
    ),
    Verb(
        "defined",
        "定义|声明|实现|位于|写|编写|放|存放|存|引进",
        "定义|声明|源码|源代码|代码|位置|定义处|定义位置|实现代码|实现|出处",
    ),
    Verb("tested", "测试|覆盖|测到|验证", "测试|测试用例|单元测试|测试代码|测试覆盖|测试覆盖率|测试文件"),
    Verb("documented", "文档化|记录|说明|描述|记载", "文档|说明文档|文档说明|注释文档|docstring|说明"),
    Verb(
        "assigned",
        "赋值|设置|修改|改动|初始化|更新|写入|改变|重置|改写|设定",
        "赋值|赋值处|初始化|设置|修改处|写入|设置处",
    ),
    Verb("configured", "配置", "配置|配置项|配置处|配置位置"),
    Verb("raised", "抛出|引发|raise|throw", "抛出处|抛出位置"),
    Verb("caught", "捕获|捕捉|处理|catch|except", "捕获处|捕获位置|捕获|异常处理"),
    Verb(
        "subclasses",
        "继承自|继承于|继承|派生自|派生|实现了接口|扩展|重写|覆写",
        "子类|派生类|实现类|实现者|所有子类|子类型|后代|子类列表|全部子类",
    ),
)

TURNED: dict[str, Intent] = {
    "返回值": "returns",
    **dict.fromkeys(("被调用者", "被调函数", "下游", "下游调用"), "callees"),
    **dict.fromkeys(("依赖", "依赖项", "依赖关系"), "file_imports"),
    **dict.fromkeys(("父类", "基类", "超类", "祖先", "接口"), "bases"),
    **dict.fromkeys(("作用", "功能", "用途", "含义", "意思", "签名", "参数", "函数签名", "职责", "目的"), "explain"),
    **dict.fromkeys(("默认值", "值", "类型", "原理", "工作原理", "逻辑", "介绍"), "explain"),
    **dict.fromkeys(
        ("内容", "成员", "方法", "函数", "类", "结构", "大纲", "符号", "字段", "属性", "文件", "概览", "目录"),
        "contents",
    ),
    **dict.fromkeys(
        ("历史", "修改历史", "提交历史", "提交记录", "改动", "变更", "最近改动", "最近的改动", "变更记录"), "history"
    ),
    **dict.fromkeys(("最近变更", "最近的修改", "最近修改", "修改记录", "变化", "最近变化"), "history"),
}
"""What follows 的, where it is not a thing of `VERBS`."""

INVERSE: dict[str, Intent] = {
    "返回": "returns",
    **dict.fromkeys(("调用", "执行", "用到", "使用"), "callees"),
    **dict.fromkeys(("导入", "引入", "import", "依赖", "引用"), "file_imports"),
    **dict.fromkeys(("包含", "定义", "声明", "提供", "导出", "有", "含有"), "contents"),
    **dict.fromkeys(("继承自", "继承", "实现", "扩展"), "bases"),
    **dict.fromkeys(("做", "干", "表示", "代表", "接受", "接收"), "explain"),
}
"""The verb of X 调用了什么."""

KINDS = (
    "函数|方法|类|变量|常量|模块|包|文件夹|文件|目录|接口|属性|字段|参数|装饰器|宏|结构体|枚举|类型|符号|标识符|名字|名称|异常|选项|配置项|"
    "对象|实例|组件|脚本|头文件|命名空间|关键字|构造函数|特征|库"
)
FILE_KINDS = frozenset({"文件", "文件夹", "目录", "脚本", "头文件"})
TEXT_KINDS = "文本|字符串|文字|字样|消息|错误信息|错误消息|提示|提示信息|报错|内容|短语|日志|这句话|句子|报错信息"
DETERMINERS = (
    "这个|那个|该|此|名为|叫做|名叫|叫|所有的?|全部的?|每个|每一个|任何|这些|那些|一下|一个|关于|对于|对|跟|和|与|把|将|"
    "给|到|了"
)

LEADS = (
    "请问|请你|请|麻烦你?|帮我|帮忙|帮|给我|告诉我|我想知道|我要知道|我想看看|我想|想知道|想问一下|问一下|能不能|能否|可以|可否|你能|能|"
    "找出|找到|找一下|找|查找|查一下|查找一下|查询|查|搜索|搜一下|搜|列出|列一下|列举|展示|显示|看看|看一下|看|定位|统计|数一下|检查|确认|"
    "一下|一找|出|说说|讲讲|说明一下|你好|您好|那么|现在|下|有没有人知道|知道"
)
TAILS = (
    "吗|呢|啊|呀|吧|谢谢|可以吗|好吗|呐|嘛|整个项目(?:里|中)|"
    "(?:在)?(?:这个|本|整个|该)?(?:项目|仓库|代码库|代码|工程|库)(?:里面|里|中|内|之中)"
)

TRADITIONAL = str.maketrans(
    "裡裏義調誰檔變數過這個們類庫測試導從動說關對實現讀寫時間問題什麼麽哪嗎經還會開啟處執運構發擴為與碼專題總結覽檢視尋覆蓋錯誤訊單詞幾種級聲釋組織組網絡頭體屬資料夾該繼讓無應當儲設賦創",
    "里里义调谁档变数过这个们类库测试导从动说关对实现读写时间问题什么么哪吗经还会开启处执运构发扩为与码专题总结览检视寻覆盖错误讯单词几种级声释组织组网络头体属资料夹该继让无应当储设赋创",
)
"""Traditional characters to simplified ones, for the words that questions use."""
