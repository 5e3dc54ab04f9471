// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of a kernel's unit: which part works when, the schedules of its loop nests, and
// what is in its memories while the parts of a stage take turns.
"use strict";
(function () {
  const kernel = data.plan && data.plan.kernel;
  if (!kernel) return;
  const kinds = [["reading", color(0)], ["computing", color(2)], ["writing", color(3)]];
  const fillOf = part => kinds[part.startsWith("read ") ? 0 : part.startsWith("write ") ? 2 : 1][1];

  const part = section("Parts of an element", kernel.dataflow
    ? "Stages work at the same time, each on another element; parts of a stage follow each other. An element leaves when the slowest stage has finished."
    : "One element at a time: its parts follow each other.");
  const rows = kernel.stages.flatMap((stage, s) => {
    let start = 0;
    return stage.parts.map((name, p) => {
      const row = {name, stage, s, start, cycles: stage.part_cycles[p]};
      start += row.cycles;
      return row;
    });
  });
  const W = 1030, step = 20, m = {l: gutter(rows.map(r => r.stage.once ? `${r.name}, once` : r.name)), r: 80, t: 6, b: 38}, H = rows.length * step + m.t + m.b;
  const x = d3.scaleLinear().domain([0, d3.max(rows, r => r.start + r.cycles)]).range([m.l, W - m.r]);
  const svg = figure(part, W, H, "the unit's parts over cycles");
  bottomAxis(svg, x, H, m, "cycles");
  rows.forEach((r, k) => {
    const y = m.t + k * step;
    svg.append("text").attr("x", m.l - 8).attr("y", y + step / 2 + 4).attr("text-anchor", "end").attr("font-size", 11)
      .text(clip(r.stage.once ? `${r.name}, once` : r.name, 40));
    svg.append("rect").attr("x", x(r.start)).attr("width", Math.max(1, x(r.start + r.cycles) - x(r.start)))
      .attr("y", y + 3).attr("height", step - 6).attr("fill", fillOf(r.name))
      .append("title").text(`${r.name}: ${number(r.cycles)} cycles`);
    svg.append("text").attr("class", "soft").attr("x", x(r.start + r.cycles) + 5).attr("y", y + step / 2 + 4)
      .attr("font-size", 11).text(number(r.cycles));
  });
  key(part, kinds);

  table(part, ["loop nest", "place", "iterations", "every", "depth", "cycles"], kernel.nests.map((n, i) =>
    [n.name, n.place, ...["iterations", "interval_cycles", "depth_cycles", "cycles"].map(f => member(`plan/kernel/nests/${i}/${f}`))]),
    "an iteration begins every so many cycles; its result is there after as many as the depth");

  // An iteration of a nest: rows of units, boxes from an operation's first cycle
  // to its last one. Operations of a unit that are alike share a box.
  const shown = kernel.nests.slice(0, 12);
  const times = section("Schedules of the loop nests",
    "An iteration by unit: when its operands are read, each operation computes, and its result is written. Lines mark where the next iterations begin."
    + (shown.length < kernel.nests.length ? ` The first ${shown.length} of ${kernel.nests.length} nests; plan.json has all.` : ""));
  for (const nest of shown) {
    const units = d3.groups(nest.operations, o => o.unit).map(([unit, operations]) => {
      const boxes = d3.groups(operations, o => `${o.name} ${o.cycle} ${o.cycles} ${o.copies}`)
        .map(([, same]) => ({...same[0], count: same.length * same[0].copies}))
        .sort((a, b) => d3.ascending(a.cycle, b.cycle));
      const ends = [];
      for (const box of boxes) {
        box.row = ends.findIndex(end => end <= box.cycle);
        if (box.row < 0) box.row = ends.length;
        ends[box.row] = box.cycle + Math.max(1, box.cycles);
      }
      return {unit, boxes, rows: ends.length};
    });
    const top = 20, left = 170, H = top + d3.sum(units, u => u.rows) * step + 10 * units.length + m.b;
    const x = d3.scaleLinear().domain([0, nest.depth_cycles + 1]).range([left, W - m.r]);
    const svg = figure(times, W, H, `an iteration of ${nest.name} by unit`,
      `${nest.name}: an iteration every ${number(nest.interval_cycles)} ${nest.interval_cycles === 1 ? "cycle" : "cycles"}, ${number(nest.depth_cycles)} deep`);
    bottomAxis(svg, x, H, m, "cycle of the iteration", Math.min(8, nest.depth_cycles + 1));
    const begins = d3.range(nest.interval_cycles, nest.depth_cycles + 1, nest.interval_cycles);
    svg.append("rect").attr("x", x(0)).attr("width", x(nest.interval_cycles) - x(0)).attr("y", top - 4)
      .attr("height", H - m.b - top + 8).attr("fill", "var(--ink)").attr("opacity", 0.07);
    svg.append("g").selectAll("line").data(begins).join("line").attr("x1", x).attr("x2", x).attr("y1", top - 4)
      .attr("y2", H - m.b + 4).attr("stroke", "var(--ink)").attr("stroke-dasharray", "2 3").attr("opacity", 0.35);
    svg.append("text").attr("class", "soft").attr("x", x(0)).attr("y", 11).attr("font-size", 11)
      .text(`interval ${number(nest.interval_cycles)}`);
    let y = top;
    units.forEach(({unit, boxes, rows}, u) => {
      svg.append("text").attr("x", left - 8).attr("y", y + step / 2 + 4).attr("text-anchor", "end").attr("font-size", 11).text(unit);
      for (const box of boxes) {
        const w = x(box.cycle + Math.max(1, box.cycles)) - x(box.cycle) - 2, by = y + box.row * step;
        const label = box.count > 1 ? `${box.name} × ${number(box.count)}` : box.name;
        svg.append("rect").attr("x", x(box.cycle) + 1).attr("width", w).attr("y", by + 2).attr("height", step - 4)
          .attr("rx", 3).attr("fill", color(u)).append("title")
          .text(`${label}: ${box.cycles > 1 ? `cycles ${box.cycle} to ${box.cycle + box.cycles - 1}` : `cycle ${box.cycle}`}`);
        if (w > 26)
          svg.append("text").attr("class", "on-fill").attr("x", x(box.cycle) + 1 + w / 2).attr("y", by + step / 2 + 4)
            .attr("text-anchor", "middle").attr("font-size", 11).text(clip(label, Math.floor(w / 6.5)));
      }
      y += rows * step + 10;
    });
  }

  const kept = section("Memories of the unit", "Tensors of a stage that do not live at the same time share a memory; those between stages have a slot for each element on its way.");
  table(kept, ["memory", "kind", "banks", "words", "bits", "slots", "tensors"], kernel.memories.map((s, i) =>
    [s.name, s.kind, ...["banks", "words", "width", "slots"].map(f => member(`plan/kernel/memories/${i}/${f}`)),
      s.tensors.map(t => t.tensor).join(", ")]));
  kernel.stages.forEach((stage, s) => {
    const stores = kernel.memories.filter(store => store.stage === s);
    if (stage.parts.length < 2 || !stores.length) return;
    const H = stores.length * step + m.t + 92;
    const at = d3.scaleBand().domain(d3.range(stage.parts.length)).range([m.l, W - m.r]);
    const svg = figure(kept, W, H, "tensors in memories over the parts of a stage", "from the part that writes a tensor to the last one that reads it");
    stores.forEach((store, k) => {
      const y = m.t + k * step;
      svg.append("text").attr("x", m.l - 8).attr("y", y + step / 2 + 4).attr("text-anchor", "end").attr("font-size", 11).text(store.name);
      store.tensors.forEach((t, i) => {
        const right = at(Math.min(t.last, stage.parts.length - 1)) + at.bandwidth(), w = right - at(t.first) - 2;
        svg.append("rect").attr("x", at(t.first) + 1).attr("width", w).attr("y", y + 2).attr("height", step - 4)
          .attr("rx", 3).attr("fill", color(i)).append("title").text(`${t.tensor} in ${store.name}`);
        svg.append("text").attr("class", "on-fill").attr("x", at(t.first) + 1 + w / 2).attr("y", y + step / 2 + 4)
          .attr("text-anchor", "middle").attr("font-size", 11).text(clip(t.tensor, Math.max(1, Math.floor(w / 7))));
      });
    });
    stage.parts.forEach((name, k) => svg.append("text").attr("class", "soft").attr("font-size", 11)
      .attr("transform", `translate(${at(k) + at.bandwidth() / 2 + 4},${m.t + stores.length * step + 8}) rotate(38)`).text(clip(name, 16)));
  });
})();
