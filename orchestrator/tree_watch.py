"""What commands change in a git work tree, found by comparing the tree before and after them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from orchestrator.checkpoint_store import CheckpointStore
from orchestrator.file_states import Change, State
from orchestrator.former_content import MAX_FILE, FormerContent, workspace_relative
from orchestrator.git_tree import GitTree, Listing, NotWatched
from orchestrator.held_content import HeldContent
from orchestrator.path_names import shown_path
from orchestrator.tree_files import Found, TreeFiles, is_settled
from orchestrator.tree_scan import Snapshot, TreeScan, changed_between

MAX_FILES = 200_000
"""Files of the largest tree that is compared; one look at it takes a second or two."""

MANY = 100
"""Changed files from which on they are written to the disk together, not each for itself."""

Tell = Callable[[str, str, str], None]


class TreeWatch:
    """Compares the tree below `root` with what it was. The caller sees to it that one call runs at a time.

    Raises `OSError` when the disk does not take what is to be kept.
    """

    def __init__(
        self,
        tree: TreeFiles,
        store: CheckpointStore,
        prepare: Callable[[], None],
        shadow: Path,
        own: Sequence[Path],
        notice: Tell,
    ) -> None:
        """`prepare` makes the store; `own` are folders of orch, which do not count when they lie in the workspace."""
        self._tree = tree
        self._store = store
        self._prepare = prepare
        self._git = GitTree(tree.root)
        self._scan = TreeScan(tree.root, [each for each in (workspace_relative(p, tree.root) for p in own) if each])
        self._held = HeldContent(shadow)
        self._former = FormerContent(tree, self._git, self._held, store)
        self._base: Snapshot | None = None
        self._listing: Listing | None = None
        self._notice = notice
        self._said: set[str] = set()

    def begin(self) -> None:
        """From here on changes count. A tree that cannot be compared is said once and then left alone."""
        self._base = None
        try:
            listing, base = self._look()
            if len(listing.tracked) + len(listing.others) > MAX_FILES:
                raise NotWatched(f"it has more than {MAX_FILES:,} files")
        except NotWatched as reason:
            self._say("watched", f"what commands change here cannot be undone: {reason}", "edits can be")
            return
        late = self._former.learn(base)
        self._base = base
        if late:
            self._say(
                "late", f"what commands change in {late:,} of the files here cannot be undone", "there are too many"
            )
        if listing.nested:
            names = ", ".join(shown_path(name) for name in listing.nested[:3])
            more = f" and {len(listing.nested) - 3} more" if len(listing.nested) > 3 else ""
            self._say(
                "nested", f"what commands change in {names}{more} cannot be undone", "each is a repository of its own"
            )

    @property
    def watching(self) -> bool:
        return self._base is not None

    def changes(self, skip: Collection[str]) -> list[Change]:
        """What changed since the last look; from here on that is what counts. `skip`: paths being edited right now."""
        base = self._base
        if base is None:
            return []
        listing, now = self._look_again(base)
        differing = changed_between(base, now, self._former.may_hide_a_change)
        self._tell_of_head(base.listing, listing)
        found = self._compared([path for path in differing if path not in skip], base)
        base = self._base = base._replace(listing=listing)
        self._tell_of_lost(found)
        return found

    def changes_at(self, paths: Iterable[str]) -> list[Change]:
        """The same for these paths alone, of which an edit is about to change each."""
        if self._base is None:
            return []
        known = self._base.keys
        new = {path for path in paths if path not in known and self._tree.look(path, hold=0).key is not None}
        seen = set(self._listed_now(self._base).others) & new if new else new  # what git ignores is not new
        return self._compared(sorted({path for path in paths if path in known} | seen), self._base)

    def settle(self, path: str, found: Found) -> None:
        """What stands at `path` now was made by an edit and has been recorded."""
        if self._base is not None:
            self._set(path, found, self._base, time.time_ns() - 1_000_000_000, stored=True)

    def end(self) -> None:
        """No command runs any more."""
        self._base = None

    def close(self) -> None:
        """Give up what is held aside; the next `begin` starts anew."""
        self._base = None
        self._former.forget()
        self._held.close()

    # --- comparing ---------------------------------------------------------------------------------------------------

    def _compared(self, paths: Sequence[str], base: Snapshot) -> list[Change]:
        found: list[Change] = []
        inodes = frozenset(key[4] for key in base.keys.values()) if paths else frozenset()
        sync = len(paths) <= MANY
        for path, before, data in self._former.states(paths, base):
            at = time.time_ns()
            standing = self._tree.look(path, hold=MAX_FILE)
            after = standing.state
            differs = not before.same(after) and not before.kind == after.kind == "other"
            if differs and not _was_there_unseen(before, standing, base.began_ns, inodes):
                self._prepare()
                for content in (data, standing.data):
                    if content is not None:
                        self._store.keep(content, sync=sync)
                found.append(Change(path, before, after, how="shell"))
            self._set(path, standing, base, at, stored=bool(found) and found[-1].path == path)
        if found and not sync:
            os.sync()
        return found

    def _set(self, path: str, found: Found, base: Snapshot, at: int, *, stored: bool) -> None:
        base.keys.pop(path, None)
        base.folders.pop(path, None)
        if found.state.kind == "folder":
            base.folders[path] = found.state.mode
        elif found.key is not None:
            base.keys[path] = found.key
        self._former.note(path, found, at, stored=stored)

    # --- looking -----------------------------------------------------------------------------------------------------

    def _look(self) -> tuple[Listing, Snapshot]:
        """What git lists and how it is. Raises `NotWatched`.

        Mostly the list is what it was: those files are looked at while git is at work.
        """
        began = time.time_ns()
        former = self._listing
        early: list[Snapshot] = []
        listing = self._git.list_files(
            lambda: early.append(self._scan.look(former, began)) if former is not None else None
        )
        self._listing = listing
        return listing, early[0] if early and listing is former else self._scan.look(listing, began)

    def _look_again(self, base: Snapshot) -> tuple[Listing, Snapshot]:
        """The same after a command; what was listed before where it took the repository away."""
        try:
            return self._look()
        except NotWatched:
            return base.listing, self._scan.look(base.listing, time.time_ns())

    def _listed_now(self, base: Snapshot) -> Listing:
        try:
            return self._git.list_files()
        except NotWatched:
            return base.listing

    # --- telling -----------------------------------------------------------------------------------------------------

    def _tell_of_head(self, before: Listing, after: Listing) -> None:
        if before.head != after.head:
            self._say(
                "head",
                "a command moved HEAD; undo brings back files, not commits and branches",
                "see `git reflog`",
                "info",
            )

    def _tell_of_lost(self, changes: Sequence[Change]) -> None:
        lost = [shown_path(change.path) for change in changes if not change.before.restorable]
        if lost:
            names = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
            why = f"only files up to {MAX_FILE // 1024**2} MB are kept for that, and 200 MB in all"
            self._notice("warning", f"what a command changed in {names} cannot be undone", why)

    def _say(self, topic: str, message: str, hint: str, level: str = "warning") -> None:
        """Each topic once a session."""
        if topic not in self._said:
            self._said.add(topic)
            self._notice(level, message, hint)


def _was_there_unseen(before: State, standing: Found, began_ns: int, inodes: frozenset[int]) -> bool:
    """Whether a file was ignored before and is not now: it looks new, but no command made it.

    A file whose folder was moved keeps its times as well, but its inode was known under another name.
    """
    if before.kind != "missing" or standing.key is None or standing.state.kind == "folder":
        return False
    return is_settled(standing.key, began_ns) and standing.key[4] not in inodes
