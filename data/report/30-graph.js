// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The network as a graph with a row per depth; the fill shows the hardware node,
// the outline the generator.
"use strict";
(function () {
  if (!analysis) return;
  const ops = analysis.operations;
  const part = section("Network", "Every operation in the order of its inputs. " +
    "The fill is the hardware node, the band at the left the generator that builds it. " +
    "At the edges stand shapes, channels last, and the elements' widths: u8 is 8 bits without a sign, s18 18 with one.");
  const carried = c => c && c.shape ? `${c.shape.filter((d, i) => i || d !== 1).join("×") || "1"} ${c.signed ? "s" : "u"}${c.bits}` : "";
  const carriedFrom = f => f < 0 ? (analysis.inputs || [])[-1 - f] : ops[f].result;
  const inputs = Math.max(0, ...ops.flatMap(o => o.from.map(f => -f)));
  const depth = [];
  ops.forEach((o, i) => {
    depth[i] = 1 + Math.max(0, ...o.from.map(f => f < 0 ? 0 : depth[f]));
  });
  const rows = [];
  for (let i = 0; i < inputs; ++i) (rows[0] = rows[0] || []).push(-1 - i);
  ops.forEach((_, i) => (rows[depth[i]] = rows[depth[i]] || []).push(i));
  const last = rows.length;
  rows[last] = analysis.outputs.map((_, i) => ops.length + i);
  const boxWidth = 330, boxHeight = 26, gap = 20, widest = Math.max(...rows.map(r => (r || []).length));
  const width = Math.max(widest === 1 ? 1010 : 700, widest * (boxWidth + 20) + 20), height = rows.length * (boxHeight + gap) + 8;
  const at = new Map();
  // A single column leaves its right side to the options.
  const middle = widest === 1 ? boxWidth / 2 + 100 : width / 2;
  rows.forEach((row, y) => (row || []).forEach((id, x) => at.set(id, [
    middle + (x - (row.length - 1) / 2) * (boxWidth + 20), y * (boxHeight + gap) + boxHeight / 2 + 4])));
  const svg = figure(part.append("div").attr("class", "scroll"), width, height, "network graph");
  let skipped = 0;
  const told = new Set();
  const link = (a, b) => {
    const [x0, y0] = at.get(a), [x1, y1] = at.get(b);
    const top = y0 + boxHeight / 2, end = y1 - boxHeight / 2;
    // Edges that skip rows go around the boxes between, each on a line of its own.
    const side = end - top > boxHeight + 2 * gap ? -(boxWidth / 2 + 24 + 12 * (skipped++ % 6)) : 0;
    const d = side
      ? `M${x0},${top} C${x0},${top + gap} ${x0 + side},${top} ${x0 + side},${top + gap + 8} V${end - gap - 8} C${x1 + side},${end} ${x1},${end - gap} ${x1},${end}`
      : `M${x0},${top} C${x0},${(top + end) / 2} ${x1},${(top + end) / 2} ${x1},${end}`;
    svg.append("path").attr("class", "edge").attr("d", d);
    // Once for all readers, except where boxes stand too close.
    if (told.has(a)) return;
    told.add(a);
    svg.append("text").attr("class", "soft").attr("x", x0 + 6).attr("y", top + gap / 2 + 3).attr("font-size", 10).text(carried(carriedFrom(a)));
  };
  ops.forEach((o, i) => o.from.forEach(f => link(f, i)));
  analysis.outputs.forEach((f, i) => at.has(f) && link(f, ops.length + i));
  const box = (id, text, fill, band, tip) => {
    const [x, y] = at.get(id);
    const g = svg.append("g").attr("transform", `translate(${x - boxWidth / 2},${y - boxHeight / 2})`);
    g.append("rect").attr("width", boxWidth).attr("height", boxHeight).attr("rx", 5)
      .attr("fill", fill || "var(--panel)").attr("fill-opacity", fill ? 0.28 : 1).attr("stroke", fill || "var(--line)");
    if (band) g.append("rect").attr("width", 8).attr("height", boxHeight).attr("rx", 3).attr("fill", band);
    g.append("text").attr("x", boxWidth / 2).attr("y", boxHeight / 2 + 4).attr("text-anchor", "middle").text(clip(text, 50));
    g.append("title").text(tip || text);
    // The option is printed next to its operation if there is room.
    if (widest === 1 && tip) g.append("text").attr("class", "soft").attr("x", boxWidth + 10).attr("y", boxHeight / 2 + 4)
      .attr("font-size", 11).text(clip(tip.split("\n")[1] || "", 90));
  };
  for (let i = 0; i < inputs; ++i) box(-1 - i, inputs > 1 ? `input ${i}` : "input");
  ops.forEach((o, i) => {
    const p = planOf(o);
    box(i, `${o.node} · ${o.op}`, color(p ? nodeIndex.get(p.node.name) : 6),
      p ? color(3 + generators.indexOf(p.generator)) : null,
      p ? `${o.node} (${o.op})\n${p.node.name}${p.trip ? `, trip ${p.trip}` : ""}, ${p.option}\n${p.text}\n${p.interval_cycles} cycles a frame` : `${o.node} (${o.op})`);
  });
  analysis.outputs.forEach((_, i) => box(ops.length + i, analysis.outputs.length > 1 ? `output ${i}` : "output"));
  key(part, plan.nodes.filter(n => !n.rtl_of).map(n => [`${n.name} (${n.device})`, color(nodeIndex.get(n.name))])
    .concat(generators.map((g, i) => [`generator ${g}`, color(3 + i)])));
})();
