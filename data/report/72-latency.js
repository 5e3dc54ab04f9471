// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each operation adds to the first frame's latency, from the timeline.
"use strict";
(function () {
  if (!analysis) return;
  const ends = new Map(), begins = new Map(); // cycles of the first frame, by the model's node
  const nodes = Object.keys(data.timelines);
  if (nodes.length !== 1) return; // clocks and links lie between several
  for (const a of data.timelines[nodes[0]].actors) {
    if (!a.spans.length) continue;
    const [first, last] = a.spans[0];
    ends.set(a.node, Math.max(ends.get(a.node) || 0, last));
    begins.set(a.node, Math.min(begins.has(a.node) ? begins.get(a.node) : Infinity, first));
  }
  // Operations of one name are one layer here. Its share is by how much it ends
  // after the last of those that it reads; only those on the longest way count.
  const reads = new Map();
  analysis.operations.forEach(o => {
    if (!reads.has(o.node)) reads.set(o.node, new Set());
    o.from.forEach(f => f >= 0 && analysis.operations[f].node !== o.node && reads.get(o.node).add(analysis.operations[f].node));
  });
  const latest = names => d3.greatest(names.filter(n => ends.has(n)), n => ends.get(n));
  const rows = [];
  let at = latest(analysis.outputs.filter(f => f >= 0).map(f => analysis.operations[f].node));
  const seen = new Set();
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    const before = latest([...(reads.get(at) || [])]);
    rows.unshift({name: at, cycles: ends.get(at) - (before === undefined ? 0 : ends.get(before))});
    at = before;
  }
  const total = d3.max([...ends.values()]);
  const rest = total - d3.sum(rows, r => r.cycles);
  if (rest > 0) rows.push({name: "output port", cycles: rest});
  if (rows.length < 2) return;
  const clock = data.timelines[nodes[0]].clock_mhz;
  const part = section("Latency", `How much later than the one before each layer on the longest way gives its last value of the first frame: ${number(total)} cycles in all, ${duration(total / clock)}.`);
  leading(part, rows, r => r.cycles, "layers", draw);

  function draw(part, rows) {
    const W = 1030, step = 20, m = {l: gutter(rows.map(r => r.name)), r: 170, t: 4, b: 8}, H = rows.length * step + m.t + m.b;
    const x = d3.scaleLinear().domain([0, d3.max(rows, r => r.cycles) || 1]).range([m.l, W - m.r]);
    const svg = figure(part, W, H, "latency by layer");
    rows.forEach((r, k) => {
      const yy = m.t + k * step;
      svg.append("text").attr("x", m.l - 8).attr("y", yy + step / 2 + 4).attr("text-anchor", "end").text(clip(r.name, 38));
      svg.append("rect").attr("x", m.l).attr("y", yy + 3).attr("height", step - 6).attr("width", Math.max(0, x(r.cycles) - m.l)).attr("fill", color(2));
      svg.append("text").attr("x", Math.max(m.l, x(r.cycles)) + 6).attr("y", yy + step / 2 + 4).text(`${number(r.cycles)} cycles, ${percent(r.cycles / total)}`);
    });
  }
})();
