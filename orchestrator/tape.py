"""What `--record` and `--replay` make of a run's models, and the cache of their replies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError
from orchestrator.model import Model
from orchestrator.providers import load_providers

if TYPE_CHECKING:
    from orchestrator.code.json_store import JsonStore
    from orchestrator.recording import Recorder
    from orchestrator.replay import Replay
    from orchestrator.run_text import RunText
    from orchestrator.wiring import Setup

Notify = Callable[[str, str, str], None]
"""Level, message, hint."""
_CACHE_BYTES = 256_000_000


class Tape:
    """With nothing recorded, replayed or cached it changes nothing. `notify` is to be set when a run begins."""

    def __init__(self) -> None:
        self.notify: Notify = lambda level, message, hint: None
        self._recorder: Recorder | None = None
        self._replay: Replay | None = None
        self._store: JsonStore | None = None
        self._text: RunText | None = None

    def tell(self, level: str, message: str, hint: str) -> None:
        """Say something by way of what `notify` is then."""
        self.notify(level, message, hint)

    @property
    def replays(self) -> bool:
        return self._replay is not None

    def replayed(self, asked: str) -> Model | None:
        """The model that was recorded when `asked` was; empty: the session's own. `None` when nothing is replayed."""
        return None if self._replay is None else self._replay.model(asked)

    def around(self, model: Model, asked: str) -> Model:
        """`model` as the run is to use it."""
        if self._store is not None and self._text is not None:
            from orchestrator.model_cache import CachedModel

            model = CachedModel(model, self._store, self._text)
        return model if self._recorder is None else self._recorder.wrap(model, asked)

    def close(self) -> None:
        """The run is over: what is left of a recording is said."""
        if self._recorder is not None:
            self._recorder.close()
        if self._replay is not None and self._replay.note:
            self.notify("warning", self._replay.note, "")


def open_tape(setup: Setup, record: str | None, replay: str | None) -> Tape:
    """Open the files of `--record` and `--replay`. Raises `UsageError` for one that cannot be used."""
    tape = Tape()
    cached = setup.loaded.config.cache.model and setup.use_cache
    if not (record or replay or cached):
        return tape
    if record and replay:
        raise UsageError("--record and --replay cannot go together", "give one of them")
    from orchestrator.run_text import RunText, secret_values

    secrets = secret_values(setup.env, load_providers().values())
    tape._text = text = RunText(workspace=setup.workspace, state=setup.places.state, secrets=secrets)
    if record:
        from orchestrator.recording import Recorder, require_outside

        require_outside(Path(record), setup.workspace)
        tape._recorder = Recorder(Path(record), text, notice=tape.tell)
    elif replay:
        from orchestrator.replay import Replay, read_recording

        tape._replay = Replay(read_recording(Path(replay)), text)
    if cached and not replay:
        from orchestrator.code.json_store import JsonStore

        tape._store = JsonStore(setup.places.cache / "models", _CACHE_BYTES)
    return tape
