# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans: what a design is made of, what it is predicted to reach, and what
would become of it with other choices."""
from __future__ import annotations

import dataclasses
import html
import math
from typing import (TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union)

from .errors import RhizomeError, UsageError
from ._program import Path, Progress

if TYPE_CHECKING:
    from .model import Model
    from .package import Package

_FIELDS = ("clock_mhz", "interval_cycles", "latency_cycles", "latency_us",
           "throughput_per_s", "lut", "ff", "dsp", "bram", "uram", "lutram")

#: The keys of a choice.
_PINS = ("generator", "option", "place", "die", "cut")

#: What --steer may say about an operation, or just the key of its option.
Choice = Union[str, Mapping[str, Any]]


@dataclasses.dataclass(frozen=True)
class Summary:
    """What a design reaches: cycles, microseconds, frames per second, and the
    resources of all nodes. None where it does not apply."""

    clock_mhz: Optional[float] = None
    interval_cycles: Optional[int] = None
    latency_cycles: Optional[int] = None
    latency_us: Optional[float] = None
    throughput_per_s: Optional[float] = None
    lut: Optional[float] = None
    ff: Optional[float] = None
    dsp: Optional[float] = None
    bram: Optional[float] = None
    uram: Optional[float] = None
    lutram: Optional[float] = None

    @staticmethod
    def of(values: Optional[Mapping[str, Any]]) -> "Summary":
        values = values or {}
        return Summary(**{key: values[key] for key in _FIELDS if key in values})

    def _repr_html_(self) -> str:
        return table([(key.replace("_", " "), shown(key, getattr(self, key)))
                      for key in _FIELDS if getattr(self, key) is not None])


@dataclasses.dataclass(frozen=True)
class Operation:
    """What a plan builds an operation of the model from. `option` is its key,
    generator/unit?name=value&name=value; `text` says the same in words."""

    name: str
    op: str
    nth: int
    generator: str
    option: str
    text: str
    interval_cycles: int
    node: str


@dataclasses.dataclass(frozen=True)
class Request:
    """What a plan was made for, so that it can be made again with changes.
    `edits` is what a user chose, `steering` that and what was kept; both have
    the form of a file for --steer. Those who run the commands, above this
    module, say how."""

    model: "Model"
    options: Mapping[str, Any]
    edits: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    steering: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def explore(self, progress: Optional[Progress] = None) -> "Plan":
        """The plan for this request."""
        raise NotImplementedError

    def compile(self, output: Optional[Path], progress: Optional[Progress],
                more: Mapping[str, Any]) -> "Package":
        """Its package in the folder `output`, with more options."""
        raise NotImplementedError


#: What an operation of a plan.json has.
_OPERATION = {"name": str, "op": str, "generator": str, "option": str,
              "text": str, "interval_cycles": (int, float)}


def check(record: Any) -> None:
    """Raises ValueError, with the field, if a plan.json is none. Only what
    is read here is looked at; the program itself checks the rest."""
    def need(value: Any, kind: Any, field: str) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"plan.json: '{field}' is not what it must be")
        return value

    def listed(value: Any, field: str) -> "list[Any]":
        return need(value, list, field)  # type: ignore[no-any-return]

    need(record, dict, "")
    if not isinstance(record.get("schema"), int):
        raise ValueError("plan.json has no 'schema' number")
    for key in _FIELDS:
        value = need(record.get("predicted", {}), dict, "predicted").get(key)
        if value is not None:
            need(value, (int, float), f"predicted.{key}")
    need(record.get("bottleneck", ""), str, "bottleneck")
    for key in ("notes", "alternatives"):
        for i, each in enumerate(listed(record.get(key, []), key)):
            need(each, str if key == "notes" else dict, f"{key}[{i}]")
    for n, node in enumerate(listed(record.get("nodes", []), "nodes")):
        at = f"nodes[{n}]"
        need(need(node, dict, at).get("name"), str, f"{at}.name")
        for key in ("actors", "operations"):
            for i, each in enumerate(listed(node.get(key, []), f"{at}.{key}")):
                need(each, dict, f"{at}.{key}[{i}]")
                need(each.get("nth", 0), int, f"{at}.{key}[{i}].nth")
                for name, kind in (_OPERATION if key == "operations"
                                   else {}).items():
                    need(each.get(name), kind, f"{at}.{key}[{i}].{name}")


class Plan:
    """A plan as `explore` and `compile` print it: `predicted`, `bottleneck`,
    `nodes`, `operations`, and everything else in `json`."""

    def __init__(self, json: Dict[str, Any],
                 request: Optional[Request] = None) -> None:
        self.json = json
        self.predicted = Summary.of(json.get("predicted"))
        self.bottleneck: str = json.get("bottleneck", "")
        self.nodes: List[Dict[str, Any]] = json.get("nodes", [])
        self.notes: List[str] = json.get("notes", [])
        #: What was considered and rejected, with the reason.
        self.alternatives: List[Dict[str, Any]] = json.get("alternatives", [])
        self._request = request

    @property
    def actors(self) -> List[Dict[str, Any]]:
        """Hardware units in the order of the stream, with their intervals."""
        return [actor for node in self.nodes for actor in node.get("actors", [])]

    @property
    def operations(self) -> List[Operation]:
        """The model's operations in hardware, and what builds each of them.
        Replicas of a node are left out."""
        return [Operation(each["name"], each["op"], each.get("nth", 0),
                          each["generator"], each["option"], each["text"],
                          each["interval_cycles"], node["name"])
                for node in self.nodes
                if not node.get("replica_of") and not node.get("rtl_of")
                for each in node.get("operations", [])]

    def __getitem__(self, name: str) -> Operation:
        """The operation of this name, or name:op where several have it."""
        for each in self.operations:
            if name in (each.name, f"{each.name}:{each.op}"):
                return each
        raise KeyError(f"{name!r}; there are " + ", ".join(
            each.name for each in self.operations))

    def edit(self, choices: Mapping[str, Choice] = {}, *,
             splits: Mapping[str, int] = {}, keep: bool = True,
             progress: Optional[Progress] = None, **changes: Any) -> "Plan":
        """The plan with other choices; this one stays as it is.

        choices: for operations by name (or name:op), the key of an option, whole
        or in part, or what --steer takes:

            plan.edit({"conv2": "stream/matvec?pe=4&simd=9",
                       "conv3": {"generator": "dhm"}})

        splits: operations whose output channels are divided, and into how many
        parts. keep: the other operations keep their options; with False they
        are chosen anew around the ones given. changes: other arguments of
        explore, such as goal=. A key that no generator offers raises an error
        that lists similar ones.
        """
        request = self._known()
        names = {name for each in self.operations
                 for name in (each.name, f"{each.name}:{each.op}")}
        for name in (*choices, *splits):
            if name not in names:
                raise UsageError(
                    f"the plan has no operation '{name}'", "it has " + ", ".join(
                        dict.fromkeys(each.name for each in self.operations)))
        nodes = dict(request.edits.get("nodes", {}))
        for name, choice in choices.items():
            pins = {"option": choice} if isinstance(choice, str) else choice
            for key in pins:
                if key not in _PINS:
                    raise UsageError(
                        f"the choice for '{name}' has the key '{key}'",
                        "it may have " + ", ".join(_PINS))
            chosen = "option" in pins or "generator" in pins
            nodes[name] = {**({} if chosen else nodes.get(name, {})), **pins}
        edits: Dict[str, Any] = {"nodes": nodes, "splits": {
            **request.edits.get("splits", {}), **splits}}
        kept = {f"{each.name}:{each.op}": {"option": each.option}
                for each in self.operations
                if keep and each.name not in edits["splits"] and
                not {each.name, f"{each.name}:{each.op}"} & set(nodes)}
        return dataclasses.replace(
            request, options={**request.options, **changes}, edits=edits,
            steering={**edits, "nodes": {**kept, **nodes}}).explore(progress)

    def build(self, output: Optional[Path] = None, *,
              progress: Optional[Progress] = None,
              **options: Any) -> "Package":
        """Compiles this plan into a package in the folder `output`, by default
        the model's name with the suffix .rhz; options are those of compile."""
        return self._known().compile(output, progress, options)

    def _known(self) -> Request:
        if self._request:
            return self._request
        raise RhizomeError("this plan was read from a package",
                           "explore the model and edit that plan, or "
                           "compile(model, plan=package) to build this one")

    def __repr__(self) -> str:
        p = self.predicted
        per_s = f"{rate(p.throughput_per_s)}/s" if p.throughput_per_s else "?"
        return (f"Plan({per_s}, {len(self.nodes)} node"
                f"{'' if len(self.nodes) == 1 else 's'}, "
                f"bottleneck {self.bottleneck!r})")

    def _repr_html_(self) -> str:
        rows = [(each.name, each.op, number(each.interval_cycles), each.text,
                 each.option) for each in self.operations]
        return (self.predicted._repr_html_() +
                f"<p>Bottleneck: {html.escape(self.bottleneck)}</p>" +
                table(rows, ("operation", "kind", "cycles per frame",
                             "built from", "option")))


def number(value: Any) -> str:
    """A number with separators and at most four digits after them."""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def rate(per_second: float) -> str:
    """A rate, as `rhizome` prints it: a whole number from 1000, below it three
    digits; halves are rounded up."""
    digits = 0
    while 0 < per_second * 10 ** digits < 100 and digits < 9:
        digits += 1
    scale = 10 ** digits
    text = f"{math.floor(per_second * scale + 0.5) / scale:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def shown(key: str, value: Any) -> str:
    """A figure of a Summary."""
    return rate(value) if key == "throughput_per_s" else number(value)


def table(rows: Any, head: Any = ()) -> str:
    """An HTML table."""
    def line(cells: Any, tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>"
                                for cell in cells) + "</tr>"
    return ("<table>" + (line(head, "th") if head else "") +
            "".join(line(row, "td") for row in rows) + "</table>")
