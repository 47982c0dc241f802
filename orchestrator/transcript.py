"""What one agent said and was told, one JSON object a line, in the session's folder."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, fields
from io import FileIO
from pathlib import Path
from typing import Literal

from orchestrator.messages import Attachment, Message, scrub

_FIELDS = tuple(field.name for field in fields(Message))


class Transcript:
    """Appends messages to `path`; the file and its folders are made with the first one, readable by the user alone.

    A disk that cannot be written to is reported once through `failure` and does not end the run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failure: OSError | None = None
        self._file: FileIO | None = None
        self._mode: Literal["xb", "ab"] = "xb"

    def append(self, message: Message) -> None:
        if self.failure is not None:
            return
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._file = open(self.path, self._mode, buffering=0, opener=_private)  # noqa: SIM115  # `close` closes it
                self._mode = "ab"
            self._file.write(_line(message))
        except OSError as error:
            self.failure = error

    def close(self) -> None:
        """Until the next message."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _in_short(attachment: Attachment) -> dict[str, object]:
    """What an image was, without itself."""
    data = attachment.data.encode()
    digest = hashlib.sha256(data).hexdigest()
    return {"name": attachment.name, "media_type": attachment.media_type, "base64": len(data), "sha256": digest}


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _line(message: Message) -> bytes:
    """The message as JSON, without the fields that say nothing."""
    values = {name: getattr(message, name) for name in _FIELDS}
    values["attachments"] = tuple(map(_in_short, message.attachments))
    said = {name: value for name, value in values.items() if value not in ("", (), False)}
    return scrub(json.dumps(said, ensure_ascii=False, default=asdict)).encode() + b"\n"
