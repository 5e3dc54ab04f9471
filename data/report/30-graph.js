// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The network as a graph with a row per depth; the fill shows the hardware node,
// the outline the generator.
"use strict";
(function () {
  if (!analysis) return;
  const ops = analysis.operations;
  const part = section("Network", "Every operation in the order of its inputs. " +
    "The fill is the hardware node, the band at the left the generator that builds it. " +
    "Edges show shapes, channels last, and the elements' widths: u8 is 8 unsigned bits, s18 are 18 signed ones.");
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
  const boxWidth = 330, boxHeight = 26, gap = 22, between = 18;
  const edges = ops.flatMap((o, i) => o.from.map(f => [f, i]))
    .concat(analysis.outputs.map((f, i) => [f, ops.length + i]));
  const {at, ways, width, height, widest, textAt} = layout(rows, edges);
  const svg = figure(part.append("div").attr("class", "scroll"), width, height, "network graph");
  for (const {points} of ways) {
    const [[x0, y0], ...rest] = points;
    let d = `M${x0},${y0}`, [px, py] = [x0, y0];
    for (const [x, y] of rest) {
      const half = (py + y) / 2;
      d += x === px ? ` V${y}` : ` C${px},${half} ${x},${half} ${x},${y}`;
      [px, py] = [x, y];
    }
    svg.append("path").attr("class", "edge").attr("d", d);
  }
  const box = (id, text, fill, band, tip) => {
    const [x, y] = at.get(id);
    const g = svg.append("g").attr("transform", `translate(${x - boxWidth / 2},${y - boxHeight / 2})`);
    g.append("rect").attr("width", boxWidth).attr("height", boxHeight).attr("rx", 5).attr("fill", "var(--paper)");
    g.append("rect").attr("width", boxWidth).attr("height", boxHeight).attr("rx", 5)
      .attr("fill", fill || "var(--panel)").attr("fill-opacity", fill ? 0.28 : 1).attr("stroke", fill || "var(--line)");
    if (band) g.append("rect").attr("width", 8).attr("height", boxHeight).attr("rx", 3).attr("fill", band);
    g.append("text").attr("x", boxWidth / 2).attr("y", boxHeight / 2 + 4).attr("text-anchor", "middle").text(clip(text, 50));
    g.append("title").text(tip || text);
    // The option is printed next to its operation if there is room.
    if (widest === 1 && tip) g.append("text").attr("class", "soft").attr("x", textAt - x + boxWidth / 2).attr("y", boxHeight / 2 + 4)
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
  // What an edge carries, once for all readers of a value.
  const told = new Set();
  for (const {from, points} of ways) {
    if (told.has(from)) continue;
    told.add(from);
    svg.append("text").attr("class", "soft over").attr("x", points[0][0] + 7).attr("y", points[0][1] + 14).attr("font-size", 10).text(carried(carriedFrom(from)));
  }
  key(part, plan.nodes.filter(n => !n.rtl_of).map(n => [`${n.name} (${n.device})`, color(nodeIndex.get(n.name))])
    .concat(generators.map((g, i) => [`generator ${g}`, color(3 + i)])));

  /** Places the boxes in their rows so that edges which skip rows run between
      boxes: such an edge has a place in every row that it passes, shared by
      all readers of one value. Places are ordered by their neighbors' (a few
      sweeps), then moved as close to them as the order allows. */
  function layout(rows, edges) {
    const places = [], byId = new Map();
    const place = (row, size, id) => {
      const p = {row, size, above: [], below: [], x: 0};
      places.push(p);
      if (id !== undefined) byId.set(id, p);
      return p;
    };
    rows.forEach((row, y) => (row || []).forEach(id => place(y, boxWidth, id)));
    const join = (a, b) => {
      if (a.below.includes(b)) return;
      a.below.push(b);
      b.above.push(a);
    };
    const trunks = new Map(), chains = [];
    for (const [from, to] of edges) {
      const a = byId.get(from), b = byId.get(to);
      if (!a || !b) continue;
      const trunk = trunks.get(from) || trunks.set(from, []).get(from), chain = [a];
      for (let y = a.row + 1; y < b.row; ++y)
        chain.push(trunk[y] = trunk[y] || place(y, 8));
      chain.push(b);
      chain.forEach((p, k) => k && join(chain[k - 1], p));
      chains.push({from, chain});
    }
    const levels = Array.from(rows, (_, y) => places.filter(p => p.row === y));
    levels.forEach(level => level.forEach((p, i) => { p.x = i; }));
    const mean = list => list.length ? d3.mean(list, p => p.x) : undefined;
    for (let sweep = 0; sweep < 6; ++sweep)
      for (const level of sweep % 2 ? [...levels].reverse() : levels) {
        level.forEach(p => { p.want = mean(sweep % 2 ? p.below : p.above) ?? p.x; });
        level.sort((a, b) => a.want - b.want);
        level.forEach((p, i) => { p.x = i - (level.length - 1) / 2; });
      }
    for (const level of levels) {
      let x = 0;
      for (const p of level) {
        p.offset = x + p.size / 2;
        x += p.size + between;
      }
      // Boxes begin one under the other, whatever runs next to them.
      const middle = d3.mean(level.filter(p => p.size === boxWidth), p => p.offset) ?? (x - between) / 2;
      level.forEach(p => { p.x = p.offset - middle; });
    }
    // Least squares under the order: neighbors that would overlap move as one.
    for (let sweep = 0; sweep < 8; ++sweep)
      for (const level of sweep % 2 ? [...levels].reverse() : levels) {
        const blocks = [];
        for (const p of level) {
          // Boxes follow boxes, edges follow what they join.
          const all = [...p.above, ...p.below], boxes = all.filter(q => q.size === boxWidth);
          const near = p.size === boxWidth && boxes.length ? boxes : all;
          let block = {sum: (mean(near) ?? p.x) - p.offset, weight: 1, members: [p]};
          block.sum *= block.weight = p.size < boxWidth ? 1 : 1000;
          while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight > block.sum / block.weight) {
            const before = blocks.pop();
            block = {sum: before.sum + block.sum, weight: before.weight + block.weight, members: before.members.concat(block.members)};
          }
          blocks.push(block);
        }
        for (const block of blocks)
          for (const p of block.members) p.x = block.sum / block.weight + p.offset;
      }
    const widest = Math.max(...levels.map(level => level.filter(p => p.size === boxWidth).length));
    const left = d3.min(places, p => p.x - p.size / 2), right = d3.max(places, p => p.x + p.size / 2);
    // A single column leaves its right side to the options.
    const width = Math.max(widest === 1 ? 1010 : 700, right - left + (widest === 1 ? 600 : 40));
    const shift = widest === 1 ? 20 - left : (width - left - right) / 2;
    const y = p => p.row * (boxHeight + gap) + boxHeight / 2 + 4;
    const at = new Map([...byId].map(([id, p]) => [id, [p.x + shift, y(p)]]));
    const ways = chains.map(({from, chain}) => ({from, points: chain.flatMap((p, k) => {
      const x = p.x + shift, [top, bottom] = [y(p) - boxHeight / 2, y(p) + boxHeight / 2];
      return k === 0 ? [[x, bottom]] : k === chain.length - 1 ? [[x, top]] : [[x, top], [x, bottom]];
    })}));
    return {at, ways, width, widest, textAt: right + shift + 12, height: rows.length * (boxHeight + gap) + 8};
  }
})();
