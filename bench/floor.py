"""The least that a client can do: the same conversations over bare aiohttp, with no checks, no events, no transcript.

    python bench/floor.py URL FOLDER QUESTION

Speaks streaming chat completions to `URL`. It knows three tools: `read_file` (below FOLDER), `delegate` (the same loop
again, all calls of a message at once) and `report` (which ends a loop).
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import aiohttp


class Conversation:
    """One loop: ask, run the calls, ask again."""

    def __init__(self, session: aiohttp.ClientSession, url: str, folder: Path) -> None:
        self._session = session
        self._url = f"{url}/chat/completions"
        self._folder = folder
        self._messages: list[dict[str, Any]] = [{"role": "system", "content": "You answer questions about code."}]

    async def run(self, task: str) -> str:
        self._messages.append({"role": "user", "content": task})
        while True:
            reply = await self._ask()
            self._messages.append(reply)
            calls = reply.get("tool_calls")
            if not calls or calls[0]["function"]["name"] == "report":
                return json.dumps(reply)
            async with asyncio.TaskGroup() as group:
                results = [group.create_task(self._call(**call["function"])) for call in calls]
            for call, result in zip(calls, results, strict=True):
                self._messages.append({"role": "tool", "tool_call_id": call["id"], "content": result.result()})

    async def _ask(self) -> dict[str, Any]:
        body = json.dumps({"model": "scripted", "stream": True, "messages": self._messages})
        headers = {"Content-Type": "application/json"}
        text, calls = "", list[dict[str, Any]]()
        async with self._session.post(self._url, data=body.encode(), headers=headers) as answer:
            async for line in answer.content:
                if not line.startswith(b"data: {"):
                    continue
                for choice in json.loads(line[6:])["choices"]:
                    delta = choice["delta"]
                    text += delta.get("content") or ""
                    for fragment in delta.get("tool_calls") or ():
                        _add(calls, fragment)
        return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}

    async def _call(self, name: str, arguments: str) -> str:
        given = json.loads(arguments)
        if name == "delegate":
            return await Conversation(self._session, self._url.removesuffix("/chat/completions"), self._folder).run(
                given["task"]
            )
        first = given["offset"] - 1
        lines = (self._folder / given["path"]).read_text(encoding="utf-8").split("\n")
        return "\n".join(lines[first : first + given["limit"]])


def _add(calls: list[dict[str, Any]], fragment: dict[str, Any]) -> None:
    """Put a piece of a streamed call to the others."""
    index, function = fragment["index"], fragment["function"]
    if index == len(calls):
        calls.append(
            {"id": fragment["id"], "type": "function", "function": {"name": function["name"], "arguments": ""}}
        )
    calls[index]["function"]["arguments"] += function.get("arguments") or ""


async def main(url: str, folder: str, question: str) -> None:
    """Ask the question and print the last reply."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=256)) as session:
        print(await Conversation(session, url, Path(folder)).run(question))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
