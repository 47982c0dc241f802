"""Chinese questions, simplified and traditional, with and without spaces and quotes."""

from __future__ import annotations

import pytest

from tests.support.asked import asked

QUESTIONS = {
    "param_type 在哪里被用到？": "used param_type",
    "foo在哪里被调用了": "callers foo",
    "在哪里用到了 `foo`": "used foo",
    "哪里使用了foo": "used foo",
    "列出所有调用 foo 的地方": "callers foo",
    "帮我找一下 foo 的所有引用": "used foo",
    "哪些代码依赖 foo": "used foo",
    "get_text_stdin 是在哪里定义的": "defined get_text_stdin",
    "foo 的定义在哪里": "defined foo",
    "foo 在哪": "defined foo",
    "哪些地方调用了 augment_usage_errors": "callers augment_usage_errors",
    "谁调用了 foo？": "callers foo",
    "foo 被谁调用": "callers foo",
    "foo 的调用者有哪些": "callers foo",
    "哪些文件 import 了 style": "imports style",
    "哪些文件导入了 style": "imports style",
    "src/app.py 导入了什么": "file_imports path:src/app.py",
    "src/app.py 里有什么": "contents path:src/app.py",
    "foo 是做什么的": "explain foo",
    "foo 有什么用": "explain foo",
    "解释 `foo` 函数": "explain foo",
    "foo 的作用是什么": "explain foo",
    "foo 调用了哪些函数": "callees foo",
    "Base 的子类有哪些": "subclasses Base",
    "谁实现了 Handler 接口": "subclasses Handler",
    "foo 还有没有被使用": "alive foo",
    "foo 是死代码吗": "alive foo",
    "可以删除 foo 吗": "alive foo",
    "文本“未找到”在哪里": "text text:未找到",
    "foo 和 bar 哪个用得更多": "compare foo, bar",
    "最近 foo 有什么改动": "history foo",
    "最近改了什么": "history",
    "foo 在哪里赋值": "assigned foo",
    "foo 在哪里配置": "configured foo",
    "foo 的测试在哪里": "tested foo",
    "foo 有没有测试": "tested foo",
    "foo 返回什么": "returns foo",
    "哪里捕获了 FooError": "caught FooError",
    "哪些类在 src/app.py 里": "contents path:src/app.py",
    "src/app.py 里有多少个函数": "contents path:src/app.py",
    "foo 的文档在哪里": "documented foo",
    "哪里抛出了 ValueError": "raised ValueError",
    "Session 类的 get 方法在哪里被调用": "callers Session.get",
    "Session.get 在哪里定义": "defined Session.get",
    "foo 和 bar 在哪里被使用": "used foo, bar",
    "foo 在哪里定义，谁调用了它": "defined foo; callers foo",
    "用户名 在哪里使用": "used 用户名",
    "谁在测试里调用了 foo": "callers foo in tests",
    "foo 在测试中哪里被使用": "used foo in tests",
    "哪些测试用到了 foo": "used foo in tests",
    "foo 在哪里使用，不包括测试": "used foo not in tests",
    "除了 src/legacy 以外，foo 在哪里被使用": "used foo not in path:src/legacy",
    "foo 在 src/ 下哪里被用到": "used foo in path:src/",
    "只看 *.py，foo 在哪里被使用？": "used foo in endings:.py",
    "哪些 Python 文件导入了 foo": "imports foo in endings:.py .pyi .ipynb",
    "get 在 Session 里哪里被用到": "used get in word:Session",
    "foo 在哪個檔案被使用？": "used foo",
    "誰呼叫了 foo": "callers foo",
    "如何重构认证模块？": "unknown",
    "为什么 foo 会失败": "unknown",
}


@pytest.mark.parametrize(("question", "understood"), QUESTIONS.items(), ids=QUESTIONS)
def test_a_question_is_understood(question: str, understood: str) -> None:
    assert asked(question) == understood
