"""The main program of a worker process: files in on descriptor 0, results out on descriptor 1, both framed.

A request is one JSON line `{"task", "arguments", "files": [[path, size], …]}` followed by the bytes of the files; the
answer is a line with its length and then a JSON list with one result a file. It ends when its input does, so that it
never outlives the process that started it.
"""

from __future__ import annotations

import json
from typing import BinaryIO

from orchestrator.code.tasks import RUNNERS


def main() -> None:
    with open(0, "rb", closefd=False) as requests, open(1, "wb", closefd=False) as answers:
        while line := requests.readline():
            answer = json.dumps(_answer(json.loads(line), requests)).encode("ascii")
            answers.write(b"%d\n%b" % (len(answer), answer))
            answers.flush()


def _answer(request: dict[str, object], content: BinaryIO) -> list[object]:
    run = RUNNERS[str(request["task"])]
    files, arguments = request["files"], request["arguments"]
    assert isinstance(files, list) and isinstance(arguments, list)
    return [run(path, content.read(size), *arguments) for path, size in files]
