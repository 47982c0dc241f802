"""Ends commands when orch itself is killed: a small process outside of all sandboxes that waits for orch's end.

It reads from a pipe that only orch can write. When orch is gone, however it went, the pipe ends, and what still runs
is killed. The kernel's own signal at a parent's death does not serve: it goes by the thread that started a command.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress

from orchestrator.shell_env import SHELL_ID

_DONE = "done"
_SCRIPT = f"""
groups=
while read -r line; do groups=$line; done
[ "$groups" = {_DONE} ] && exit
for group in $groups; do kill -KILL -- "-$group"; done
for file in $(grep -las "{SHELL_ID}=$1" /proc/[0-9]*/environ); do
  pid=${{file#/proc/}}
  kill -KILL "${{pid%/environ}}"
done
"""


class Lifeline:
    """The waiting process of one session, whose commands carry marks that begin with `prefix`."""

    def __init__(self, prefix: str) -> None:
        reading, self._writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "orch-lifeline", prefix],
                cwd="/",
                env={"PATH": os.defpath, "LC_ALL": "C"},
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            os.close(self._writing)
            raise
        finally:
            os.close(reading)

    def watch(self, groups: Iterable[int]) -> None:
        """The process groups to kill when orch is gone."""
        self._tell(" ".join(map(str, groups)))

    def close(self) -> None:
        """Nothing is left to kill."""
        self._tell(_DONE)
        os.close(self._writing)
        self._process.wait()

    def _tell(self, line: str) -> None:
        with suppress(BrokenPipeError):  # somebody killed it; commands run on without it
            os.write(self._writing, f"{line}\n".encode())
