// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an engine's cycles go: its layers, who waits for whom, and when each of its
// units works on which of them.
"use strict";
(function () {
  const engines = data.engines || [];
  if (!engines.length) return;
  const UNITS = ["load", "weights", "matrix", "vector", "store"];
  const part = section("Engine", "Where the cycles of a frame go, layer by layer. Ideal are a layer's products by those " +
    "that the array makes in a cycle. A layer takes the cycles by which its unit ends later with it than those of the layers before with theirs.");
  engines.forEach((engine, e) => {
    if (engines.length > 1) part.append("h3").text(`${engine.node}, ${engine.unit}`);
    const all = engine.layers.map((l, i) => ({...l, i}));
    const simulated = ((data.results.simulate || {}).engines || []).findIndex(s => s.unit === engine.unit);
    timeline(part, engine, e);
    leading(part, all, l => l.predicted_cycles, "layers", (part, layers) => rows(part, engine, e, layers, simulated));
    const fold = part.append("details");
    fold.append("summary").text("what each unit does");
    uses(fold, e, all);
  });

  function rows(part, engine, e, layers, simulated) {
    const cell = (l, key) => member(`engines/${e}/layers/${l.i}/${key}`);
    const found = simulated < 0 ? () => [] : l => [member(`results/simulate/engines/${simulated}/layers/${l.i}/measured_cycles`)];
    table(part, ["layer", "unit", "ideal", "predicted", ...(simulated < 0 ? [] : ["measured"]), "of the array", "waits for", "weights B", "loaded B", "stored B"],
      layers.map(l => [clip(l.name, 38), l.unit, l.products ? cell(l, "ideal_cycles") : "–", cell(l, "predicted_cycles"), ...found(l),
        share(l),
        waits((l.units[l.unit] || {}).waits, 0.01 * l.predicted_cycles),
        ...["weights", "loaded", "stored"].map(key => cell(l, `bytes/${key}`))]),
      `${engine.in} × ${engine.out} products a cycle, ${number(engine.cycles)} cycles predicted, ${percent(d3.sum(engine.layers, l => l.ideal_cycles) / engine.cycles)} of the array; bytes of ${engine.memory}`);
  }

  /** Of the products that the array could make while the layer has it. */
  function share(l) {
    const own = l.units.matrix;
    if (!own || !l.products) return "–";
    const value = l.ideal_cycles / (own.works + d3.sum(Object.values(own.waits)));
    return {text: percent(value), value};
  }

  /** "weights 1,234, load 56": the two largest, if they are not small. */
  function waits(by, least) {
    const most = Object.entries(by || {}).filter(([whom, n]) => whom !== "itself" && n > least)
      .sort((a, b) => b[1] - a[1]).slice(0, 2);
    return most.map(([whom, n]) => `${whom} ${number(n)}`).join(", ");
  }

  /** Cycles of work, and of waiting by what for. */
  function uses(part, e, layers) {
    table(part, ["layer", ...UNITS.flatMap(u => [u, "waits for"])], layers.map(l => [clip(l.name, 38),
      ...UNITS.flatMap(u => [l.units[u] ? member(`engines/${e}/layers/${l.i}/units/${u}/works`) : "", waits((l.units[u] || {}).waits, 0)])]));
  }

  function timeline(part, engine, e) {
    const W = 1030, step = 30, m = {l: 70, r: 20, t: 22, b: 38}, H = UNITS.length * step + m.t + m.b;
    const x = d3.scaleLinear().domain([0, engine.cycles]).range([m.l, W - m.r]);
    const svg = figure(part, W, H, `timeline of the units of ${engine.unit}`,
      "When each unit works on which layer, as predicted; the paler, the more it waits meanwhile. Hover for names.");
    bottomAxis(svg, x, H, m, "cycles");
    UNITS.forEach((unit, row) => {
      const yy = m.t + row * step;
      svg.append("text").attr("x", m.l - 8).attr("y", yy + step / 2 + 4).attr("text-anchor", "end").text(unit);
      engine.timeline[unit].forEach(([layer, begin, end, runs], k) => svg.append("rect").attr("x", x(begin)).attr("width", Math.max(0.4, x(end) - x(begin)))
        .attr("y", yy + 3).attr("height", step - 6).attr("fill", color(layer)).attr("fill-opacity", 0.25 + 0.75 * runs / Math.max(1, end - begin))
        .attr("data-path", `engines/${e}/timeline/${unit}/${k}/1`).attr("data-value", String(begin))
        .append("title").text(`${unit}, ${engine.layers[layer].name}: cycles ${number(begin)} to ${number(end)}, ${percent(runs / Math.max(1, end - begin))} of them at work`));
    });
    // Names of the layers whose main unit works long enough for them.
    let free = m.l;
    engine.layers.forEach((l, i) => {
      const own = engine.timeline[l.unit].filter(p => p[0] === i);
      if (!own.length) return;
      const from = x(own[0][1]), to = x(own[own.length - 1][2]), room = Math.floor((to - Math.max(from, free)) / 6.5);
      if (room < 4) return;
      const name = clip(l.name, room);
      svg.append("text").attr("x", Math.max(from, free)).attr("y", m.t - 6).attr("font-size", 11).style("fill", color(i)).text(name);
      free = Math.max(from, free) + name.length * 6.5 + 6;
    });
  }
})();
