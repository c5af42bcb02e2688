"""Settings beside a setting: what differs from fastir's default, and what changing one option makes of it."""

from __future__ import annotations

import math
from typing import Any

from fastir.analyses.identify.columns import Judge
from fastir.analyses.identify.settings import KEPT_DEFAULTS, DataProperties, Options, Setting, State, States, departures
from fastir.analyses.identify.values import SLACK, Target
from fastir.request.conventions import CONVENTIONS


class Neighbours:
    """The neighbours of settings, for runs and the values that are wanted of them."""

    def __init__(self, facts: DataProperties, meanings: list[str], wanted: list[tuple[Judge, Target]]) -> None:
        self.facts = facts
        self.meanings = meanings
        self._wanted = wanted
        self._usual = States("fastir", meanings, facts)
        self._chosen: dict[str, dict[str, Any]] = {}
        self._counts: dict[tuple[str, Any], bool] = {}

    def differences(self, setting: Setting) -> list[str]:
        """The options in which fastir's default differs from a setting, and that change one of its values by itself."""
        chosen = self._choices(setting.convention) | dict(setting.options)
        return [name for name, value in chosen.items() if self._changes_a_value(name, value)]

    def _choices(self, convention: str) -> dict[str, Any]:
        """What a convention chooses for one of the metrics, or for all, and the default does not."""
        if convention not in self._chosen:
            record, default = CONVENTIONS[convention], CONVENTIONS["fastir"]
            self._chosen[convention] = {
                name: chosen
                for request in States(convention, self.meanings, self.facts).requests
                if request is not None
                for name in (*record.choices(), "rel_level")
                if (chosen := record.choice(request.card.name, request.cutoff is not None, name))
                != getattr(default, name, None)
            }
        return self._chosen[convention]

    def _changes_a_value(self, name: str, value: Any) -> bool:
        if (name, value) not in self._counts:
            usual, changed = self._usual.of(()), self._usual.of(((name, value),))
            self._counts[name, value] = any(
                self._differ(judge, usual[place], changed[place])
                for judge, target in self._wanted
                for place in map(self.meanings.index, target.meanings)
            )
        return self._counts[name, value]

    @staticmethod
    def _differ(judge: Judge, one: State | None, other: State | None) -> bool:
        if one is None or other is None or one == other:
            return False
        means = judge.means((one, other), None)
        first, second = means[one].value, means[other].value
        if math.isnan(first) or math.isnan(second):
            return math.isnan(first) != math.isnan(second)
        return abs(first - second) > SLACK

    def of(self, convention: str, options: Options) -> list[tuple[str, Any, tuple[State | None, ...]]]:
        """(option, value, the state of each metric) of each change of one option; also back to what the tool has."""
        states, record, given = States(convention, self.meanings, self.facts), CONVENTIONS[convention], dict(options)
        changes = [pair for pair in departures(self.facts) if given.get(pair[0]) != pair[1]]
        found = []
        for name, value in changes:
            found.append((name, value, states.of(tuple({**given, name: value}.items()))))
        for name in given:
            without = tuple(pair for pair in options if pair[0] != name)
            value = KEPT_DEFAULTS[name] if name in KEPT_DEFAULTS else getattr(record, name)
            if (name, value) not in changes:
                found.append((name, value, states.of(without)))
        return found
