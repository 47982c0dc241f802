"""What one agent said and was told, one JSON object a line, in the session's folder."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from orchestrator.messages import Message, scrub


class Transcript:
    """Appends messages to `path`; the file and its folders are made with the first one, readable by the user alone.

    A disk that cannot be written to is reported once through `failure` and does not end the run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failure: OSError | None = None
        self._file: TextIO | None = None

    def append(self, message: Message) -> None:
        if self.failure is not None:
            return
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._file = self.path.open("x", encoding="utf-8")
                self.path.chmod(0o600)
            self._file.write(scrub(json.dumps(_plain(message), ensure_ascii=False)) + "\n")
            self._file.flush()
        except OSError as error:
            self.failure = error

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _plain(message: Message) -> dict[str, object]:
    """The message without the fields that say nothing."""
    return {key: value for key, value in asdict(message).items() if value not in ("", (), False)}
