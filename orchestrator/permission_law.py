"""The rules in force in one workspace: those of the configuration and those that the user granted there."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from orchestrator.errors import ConfigError
from orchestrator.grants import Grants
from orchestrator.permission_patterns import PatternError
from orchestrator.permission_rules import Rule, Rules
from orchestrator.permission_verdict import Source

Test = Callable[[Rule], bool]


class Allowed(NamedTuple):
    """The rule that allows something, and whether it is one of the configuration or a grant."""

    rule: Rule
    by: Source


class Law:
    """Rules and grants. A grant counts from the moment it is made, in every process of the workspace."""

    def __init__(self, rules: Rules, grants: Grants) -> None:
        self._rules = rules
        self._grants = grants
        self._texts: tuple[str, ...] = ()
        self._granted: tuple[Rule, ...] = ()
        self._unsaved: tuple[Rule, ...] = ()

    def denying(self, test: Test) -> Rule | None:
        """The first deny rule that `test` holds for."""
        return next(filter(test, self._rules.deny), None)

    def asking(self, test: Test) -> Rule | None:
        return next(filter(test, self._rules.ask), None)

    def allowing(self, test: Test) -> Allowed | None:
        rule = next(filter(test, self._rules.allow), None)
        if rule is not None:
            return Allowed(rule, "rule")
        rule = next(filter(test, self.granted), None)
        return None if rule is None else Allowed(rule, "grant")

    @property
    def granted(self) -> tuple[Rule, ...]:
        texts = self._grants.rules()
        if texts != self._texts:
            self._texts, self._granted = texts, tuple(Rule.parse(text) for text in texts)
        return (*self._granted, *self._unsaved)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know when asked once more: why former grants do not count."""
        self._grants.rules()
        return (f"what was allowed for always does not count: {problem}",) if (problem := self._grants.problem) else ()

    def has_command_limits(self, tool: str) -> bool:
        """Whether a deny or ask rule is about some commands of `tool`, which a text may hide."""
        return any(rule.tool == tool and rule.pattern is not None for rule in (*self._rules.deny, *self._rules.ask))

    def keep(self, text: str) -> None:
        """Grant a rule from now on; if it cannot be saved, for this run. Raises `ConfigError` when it is malformed."""
        try:
            rule = Rule.parse(text)
        except PatternError as error:
            raise ConfigError(f"the rule `{text}` is wrong: {error}") from None
        try:
            self._grants.add(str(rule))
        except OSError as error:
            self._unsaved = (*self._unsaved, rule)
            self._grants.warn(f"`{rule}` holds for this run only, since it cannot be kept: {error.strerror or error}")
