# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans: what a design is made of, and what it is predicted to reach."""
from __future__ import annotations

import dataclasses
import html
from typing import Any, Dict, List, Mapping, Optional

_FIELDS = ("clock_mhz", "interval_cycles", "latency_cycles", "latency_us",
           "throughput_per_s", "lut", "ff", "dsp", "bram", "uram", "lutram")


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
        return table([(key.replace("_", " "), number(getattr(self, key)))
                      for key in _FIELDS if getattr(self, key) is not None])


class Plan:
    """A plan as `explore` and `compile` print it: `predicted`, `bottleneck`,
    `nodes`, and everything else in `json`."""

    def __init__(self, json: Dict[str, Any]) -> None:
        self.json = json
        self.predicted = Summary.of(json.get("predicted"))
        self.bottleneck: str = json.get("bottleneck", "")
        self.nodes: List[Dict[str, Any]] = json.get("nodes", [])
        self.notes: List[str] = json.get("notes", [])

    @property
    def actors(self) -> List[Dict[str, Any]]:
        """Hardware units in the order of the stream, with their intervals."""
        return [actor for node in self.nodes for actor in node.get("actors", [])]

    def __repr__(self) -> str:
        p = self.predicted
        rate = f"{p.throughput_per_s:,.0f}/s" if p.throughput_per_s else "?"
        return (f"Plan({rate}, {len(self.nodes)} node"
                f"{'' if len(self.nodes) == 1 else 's'}, "
                f"bottleneck {self.bottleneck!r})")

    def _repr_html_(self) -> str:
        rows = [(actor["name"], actor["kind"],
                 number(actor.get("interval_cycles")))
                for actor in self.actors]
        return (self.predicted._repr_html_() +
                f"<p>Bottleneck: {html.escape(self.bottleneck)}</p>" +
                table(rows, ("unit", "kind", "cycles per frame")))


def number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(rows: Any, head: Any = ()) -> str:
    def line(cells: Any, tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>"
                                for cell in cells) + "</tr>"
    return ("<table>" + (line(head, "th") if head else "") +
            "".join(line(row, "td") for row in rows) + "</table>")
