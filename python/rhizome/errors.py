# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can go wrong, by cause. Messages are the program's own."""
from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional, Sequence


class RhizomeError(Exception):
    """A command failed. `reason` and, where there are such, `remedy` and the
    model's `node`; the empty string otherwise."""

    def __init__(self, reason: str, remedy: str = "", node: str = "") -> None:
        super().__init__(f"{reason}\n  remedy: {remedy}" if remedy else reason)
        self.reason = reason
        self.remedy = remedy
        self.node = node


class UsageError(RhizomeError):
    """An option that does not exist, a value that it does not take, or a name
    that nothing has, such as of a device."""


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A node of a model that cannot be built, and what would work."""

    node: str
    op: str
    reason: str
    remedy: str
    line: int = 0  # of a steering file, from 1; 0: there is none

    def __str__(self) -> str:
        name = f"{self.node} ({self.op})" if self.op else self.node
        where = f"line {self.line}: " if self.line else ""
        return f"{name}: {where}{self.reason}" + (
            f"; {self.remedy}" if self.remedy else "")


class Refused(RhizomeError):
    """The model is refused. `refusals` lists every reason; `node`, `reason` and
    `remedy` are the first one's."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        first = refusals[0]
        RhizomeError.__init__(self, first.reason, first.remedy, first.node)
        self.refusals = list(refusals)

    def __str__(self) -> str:
        return "\n".join(str(each) for each in self.refusals)


class GoalError(RhizomeError):
    """The goal cannot be met. `limit` says what binds; `nearest`, if there is a
    plan at all, what the nearest one reaches."""

    def __init__(self, limit: str,
                 nearest: Optional[Mapping[str, Any]]) -> None:
        super().__init__(f"the goal cannot be met: {limit}",
                         "accept_nearest=True takes the nearest plan"
                         if nearest else "")
        self.limit = limit
        self.nearest = nearest
