// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equal blocks of the model that are one body in hardware: its layers, the trips
// of a frame through them, and what a unit for each block would take.
"use strict";
(function () {
  const bodies = (plan.repeats || []).map((body, i) => ({...body, i, ...layersOf(body)})).filter(b => b.layers.length);
  if (!bodies.length) return;
  const part = section("Bodies", "Equal blocks of the model share their units: a frame passes them once for each block, every time with the constants of that block.");
  for (const body of bodies) {
    if (bodies.length > 1) part.append("h3").text(`${body.layers[0].name} to ${body.layers[body.layers.length - 1].name}`);
    draw(body);
    compare(body);
  }
  table(part, ["first layer", "operations", "trips", "cycles a trip", "of a frame's interval"], bodies.map(b => {
    const path = `plan/repeats/${b.i}`;
    return [b.name, member(`${path}/length`), member(`${path}/trips`), member(`${path}/cycles_per_trip`),
      {text: percent(b.trips * b.cycles_per_trip / b.node.predicted.interval_cycles)}];
  }), "Cycles for which the slowest unit of a body is busy; a trip begins while the one before is still under way, as far as its layers let it: an attention waits for all of a frame. If all trips of a frame take the whole interval, the body limits the rate.");

  /** The operations between a body's entry and its end, and their node. */
  function layersOf(body) {
    for (const node of plan.nodes) {
      const all = node.operations || [];
      const at = all.findIndex(o => o.op === "enter" && o.name === body.name);
      if (at >= 0) return {node, layers: all.slice(at + 1, at + 1 + body.length)};
    }
    return {layers: []};
  }

  /** The layers as boxes in rows, with the way back to the first one. */
  function draw(body) {
    const W = 1030, w = 158, h = 40, gap = 24, each = 5, left = 64;
    const rows = Math.ceil(body.layers.length / each), top = 40;
    const H = top + rows * (h + gap) + 8;
    const svg = figure(part, W, H, `a body of ${body.length} operations, ${body.trips} trips`);
    const slowest = d3.max(body.layers, o => o.interval_cycles);
    const at = k => [left + (k % each) * (w + gap), top + Math.floor(k / each) * (h + gap)];
    svg.append("defs").append("marker").attr("id", `body${body.i}`).attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4)
      .attr("markerWidth", 7).attr("markerHeight", 7).attr("orient", "auto").append("path").attr("d", "M0,0L8,4L0,8z").attr("fill", "currentColor");
    const way = (points, dashed) => svg.append("path").attr("d", d3.line()(points)).attr("fill", "none").attr("stroke", "currentColor")
      .attr("stroke-opacity", 0.6).attr("stroke-dasharray", dashed ? "5 4" : null).attr("marker-end", `url(#body${body.i})`);
    body.layers.forEach((o, k) => {
      const [x, y] = at(k);
      svg.append("rect").attr("x", x).attr("y", y).attr("width", w).attr("height", h).attr("rx", 4)
        .attr("fill", color(o.interval_cycles === slowest ? 1 : 0)).attr("fill-opacity", 0.22).attr("stroke", color(o.interval_cycles === slowest ? 1 : 0))
        .append("title").text(`${o.name}: ${o.option}, ${number(o.interval_cycles / body.trips)} cycles a trip`);
      svg.append("text").attr("x", x + 8).attr("y", y + 17).text(clip(o.name, 22));
      svg.append("text").attr("class", "soft").attr("x", x + 8).attr("y", y + 33).text(`${clip(o.op, 13)}, ${number(o.interval_cycles / body.trips)}`);
      if (k === 0) way([[left - 40, y + h / 2], [x, y + h / 2]]);
      else if (k % each) way([[x - gap, y + h / 2], [x, y + h / 2]]);
      else way([[at(k - 1)[0] + w, y - gap - h / 2], [at(k - 1)[0] + w + 12, y - gap - h / 2], [at(k - 1)[0] + w + 12, y - gap / 2],
        [x - 14, y - gap / 2], [x - 14, y + h / 2], [x, y + h / 2]]);
    });
    const [x, y] = at(body.layers.length - 1), right = left + each * (w + gap) + 6;
    way([[x + w, y + h / 2], [right, y + h / 2], [right, 22], [left - 26, 22], [left - 26, top + h / 2 - 2]], true);
    svg.append("text").attr("x", left).attr("y", 14).text(`${number(body.trips)} trips a frame; the slowest unit is busy for ${number(body.cycles_per_trip)} cycles in each`);
    way([[right, y + h / 2], [right + 44, y + h / 2]]);
  }

  /** What the body takes, and what units for each block would. */
  function compare(body) {
    const kinds = [["lut", "LUT"], ["ff", "FF"], ["dsp", "DSP"], ["bram", "block RAM"], ["uram", "UltraRAM"]]
      .filter(([k]) => body.apart[k] || body.resources[k]);
    const path = `plan/repeats/${body.i}`;
    table(part, ["", ...kinds.map(k => k[1])], [
      ["one body", ...kinds.map(([k]) => cell(`${path}/resources/${k}`))],
      ["a unit for each block", ...kinds.map(([k]) => cell(`${path}/apart/${k}`))]],
    "Predicted. Units for each block are those of the body, without its borders and with the constants of one block.");
  }
  function cell(path) {
    const c = member(path, x => number(x));
    return c.text === "–" ? {text: "0"} : c;
  }
})();
