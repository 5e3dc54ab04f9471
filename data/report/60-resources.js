// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resources of every node relative to its budget, with the cost model's error
// bars, and what synthesis measured.
"use strict";
(function () {
  const part = section("Resources", "Predicted share of each node's budget. The bars contain nine of ten designs; a line marks the result of synthesis.");
  const names = ["lut", "ff", "dsp", "bram", "uram"];
  plan.nodes.forEach((node, n) => {
    if (node.rtl_of) return;
    const p = node.predicted && node.predicted.lut !== undefined ? [`plan/nodes/${n}/predicted`, node.predicted] : ["plan/predicted", plan.predicted];
    const copies = plan.nodes.filter(other => other.rtl_of === node.name).length + 1;
    part.append("h3").text(`${node.name}: ${node.device}` + (copies > 1 ? `, and ${copies - 1} like it` : "") +
      (node.clock_mhz ? ` at ${number(node.clock_mhz, 5)} MHz` : ""));
    const measured = measuredOf(node);
    const rows = names.filter(k => node.budget[k] > 0 && p[1][k] !== undefined);
    const W = 1030, step = 26, m = {l: 64, r: 330, t: 4, b: 34}, H = rows.length * step + m.t + m.b;
    const most = Math.max(1, ...rows.map(k => ((p[1][k] || 0) + (p[1][k + "_error"] || 0)) / node.budget[k]));
    const x = d3.scaleLinear().domain([0, most]).range([m.l, W - m.r]);
    const svg = figure(part, W, H, `resources of ${node.name}`);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${H - m.b})`).call(d3.axisBottom(x).ticks(5, "~%").tickSizeOuter(0));
    rows.forEach((k, i) => {
      const yy = m.t + i * step, value = p[1][k] || 0, error = p[1][k + "_error"] || 0, all = node.budget[k];
      svg.append("text").attr("x", m.l - 8).attr("y", yy + step / 2 + 4).attr("text-anchor", "end").text(k.toUpperCase());
      svg.append("rect").attr("x", m.l).attr("y", yy + 4).attr("width", x(most) - m.l).attr("height", step - 8).attr("fill", "var(--panel)").attr("stroke", "var(--line)");
      svg.append("rect").attr("x", m.l).attr("y", yy + 4).attr("width", x(value / all) - m.l).attr("height", step - 8)
        .attr("fill", color(nodeIndex.get(node.name))).attr("data-path", `${p[0]}/${k}`).attr("data-value", String(value));
      if (error > 0)
        svg.append("path").attr("stroke", "var(--ink)").attr("fill", "none").attr("stroke-width", 1.4)
          .attr("d", errorBar(x(Math.max(0, value - error) / all), x((value + error) / all), yy + step / 2, 4));
      if (measured && measured[k] !== undefined)
        svg.append("line").attr("x1", x(measured[k] / all)).attr("x2", x(measured[k] / all)).attr("y1", yy + 1).attr("y2", yy + step - 1)
          .attr("stroke", "var(--bad)").attr("stroke-width", 2.5);
      svg.append("text").attr("x", W - m.r + 12).attr("y", yy + step / 2 + 4)
        .text(`${number(value)}${error ? " ± " + number(error) : ""} of ${number(all)} (${percent(value / all)})` +
          (measured && measured[k] !== undefined ? `, measured ${number(measured[k])}` : ""));
    });
    if (node.block_bits > 0 && !data.plan.kernel)
      part.append("p").attr("class", "soft").text(`${percent(node.held_bits / node.block_bits)} of the block memory's ${number(node.block_bits)} bits hold data.`);
  });

  function errorBar(x0, x1, y, h) {
    return `M${x0},${y} H${x1} M${x0},${y - h} v${2 * h} M${x1},${y - h} v${2 * h}`;
  }
})();

/** Resources that synthesis measured for a node, if it was synthesized. */
function measuredOf(node) {
  // Tools that place and route know more than synthesis alone.
  const results = Object.values(data.results).filter(r => r && (r.nodes || []).some(n => n.measured));
  const synth = results.find(r => r.flow) || results[0];
  if (!synth) return null;
  const found = synth.nodes.find(n => n.name === node.name);
  return found ? found.measured : plan.nodes.length === 1 ? synth.measured || null : null;
}
