"""A scripted server whose summaries depend on what it is asked, and whose window is enforced."""

from __future__ import annotations

import re

from tests.support.model_script import Turn
from tests.support.model_server import ModelServer
from tests.support.plain_http import Request

_ASKED = "Write the summary that will replace this conversation"
FACT = re.compile(r"FACT-\d+=\w+")
_BYTES_PER_TOKEN = 3.6


class SummarisingServer(ModelServer):
    """Answers a request for a summary with the facts (`FACT-1=x`) that it holds, any other one with "ok".

    Tokens are counted by bytes and reported; a request over `window` is refused as providers do.
    """

    def __init__(self, window: int) -> None:
        super().__init__([])
        self.window = window
        self.summaries = 0
        self.largest = 0
        self._answers: list[Turn] = []

    async def __aenter__(self) -> SummarisingServer:
        await super().__aenter__()
        return self

    def _turn(self, request: Request, serial: int) -> Turn:
        turn = self._answer_to(request)
        self._answers.append(turn)  # the server knows turns by their identity
        return turn

    def _answer_to(self, request: Request) -> Turn:
        refused = self._refusal(request)
        if refused:
            return refused
        tokens = int(len(request.raw) / _BYTES_PER_TOKEN)
        self.largest = max(self.largest, tokens)
        usage = {"input_tokens": tokens, "output_tokens": 2}
        if tokens > self.window:
            message = f"prompt is too long: {tokens} tokens > {self.window} maximum"
            return Turn(status=400, error={"type": "invalid_request_error", "message": message})
        body = str(request.body["messages"])
        if _ASKED not in body:
            return Turn(text="ok", usage=usage)
        self.summaries += 1
        facts = list(dict.fromkeys(FACT.findall(body)))
        return Turn(text="## Findings\n" + "\n".join(facts), usage=usage)
