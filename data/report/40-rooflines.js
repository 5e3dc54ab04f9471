// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For each device two views of the same roofs: over operational intensity, as
// usual, and in iterations per second of every operation.
"use strict";
(function () {
  if (!analysis || !analysis.devices.length) return;
  const part = section("Rooflines", "The rate that each resource alone would allow. Weights may stay on chip " +
    "(stream: operations per input byte) or come from DRAM (engine: operations per input and parameter byte). A multiplication and its addition are two operations.");
  const total = analysis.total;
  analysis.devices.forEach((device, d) => {
    part.append("h3").text(`${device.device} at ${number(device.clock_mhz, 5)} MHz` + (device.link ? `, ${device.link}` : ""));
    classic(part, device, d);
    perLayer(part, device, d);
    roofTable(part, device, d);
  });

  /** Where frames come from: a network, or the streams of a card's shell. */
  function border(device) {
    return device.link ? "network" : "border streams";
  }

  function rateOf(o) {
    const p = planOf(o);
    return p && p.interval_cycles ? p.node.clock_mhz * 1e6 / p.interval_cycles : null;
  }

  function classic(part, device, d) {
    const compute = d3.max(Object.values(device.whole.compute)) * total.flops;
    const bandwidths = [[border(device), device.network_bits_per_s / 8], ["DRAM", device.dram_bytes_per_s],
      ["on chip", device.on_chip_bytes_per_s]].filter(b => b[1] > 0 && isFinite(b[1]));
    const points = analysis.operations.map((o, i) => ({o, i, flops: o.flops,
      at: (plan.predicted.throughput_per_s || 0) * o.flops})).filter(p => p.flops > 0 && p.at > 0);
    if (!points.length || !(compute > 0)) return;
    const intensities = points.flatMap(p => [p.o.intensity_stream, p.o.intensity_engine]).filter(x => x > 0);
    const W = 1030, H = 340, m = {l: 62, r: 150, t: 12, b: 40};
    const x = d3.scaleLog().domain([Math.min(0.1, d3.min(intensities) / 2), d3.max(intensities) * 4]).range([m.l, W - m.r]);
    const y = d3.scaleLog().domain([d3.min(points, p => p.at) / 3, compute * 4]).range([H - m.b, m.t]);
    const svg = figure(part, W, H, `roofline of ${device.device}`,
      "Filled: weights on chip; hollow: weights from DRAM. Height: what the plan's rate requires of the operation. Hover for names.");
    axes(svg, x, y, W, H, m, "operations per byte", "operations per second");
    const clipId = `clip${d}`;
    svg.append("clipPath").attr("id", clipId).append("rect").attr("x", m.l).attr("y", m.t).attr("width", W - m.l - m.r).attr("height", H - m.t - m.b);
    bandwidths.forEach(([name, bytes], k) => {
      const [x0, x1] = x.domain(), ridge = Math.min(x1, compute / bytes);
      if (ridge <= x0) return;
      svg.append("path").attr("clip-path", `url(#${clipId})`).attr("stroke", color(k)).attr("fill", "none").attr("stroke-width", 1.8)
        .attr("d", d3.line()([[x(x0), y(x0 * bytes)], [x(ridge), y(ridge * bytes)]]));
    });
    svg.append("line").attr("x1", m.l).attr("x2", W - m.r).attr("y1", y(compute)).attr("y2", y(compute))
      .attr("stroke", "var(--ink)").attr("stroke-width", 1.8);
    svg.append("text").attr("x", W - m.r + 6).attr("y", y(compute) + 4).text(`compute ${scaled(compute, "op/s")}`);
    for (const p of points)
      for (const [kind, intensity] of [["stream", p.o.intensity_stream], ["engine", p.o.intensity_engine]])
        if (intensity > 0)
          svg.append("circle").attr("cx", x(intensity)).attr("cy", y(p.at)).attr("r", 4.5)
            .attr("fill", kind === "stream" ? "var(--accent)" : "var(--paper)").attr("stroke", "var(--accent)").attr("stroke-width", 1.5)
            .attr("data-path", `analysis/operations/${p.i}/intensity_${kind}`).attr("data-value", String(intensity))
            .append("title").text(`${p.o.node} (${p.o.op}), ${kind}: ${number(intensity)} op/B, ${scaled(p.at, "op/s")}`);
    key(part, bandwidths.map(([name, bytes], k) => [`${name} ${scaled(bytes, "B/s")}`, color(k)]));
  }

  function perLayer(part, device, d) {
    const all = analysis.operations.map((o, i) => ({o, roofs: device.operations[i], i}));
    // What would allow an operation the least counts the most.
    const least = r => Math.min(...[r.roofs.network, r.roofs.on_chip, ...Object.values(r.roofs.compute)].filter(v => v > 0));
    leading(part, all, r => 1 / (rateOf(r.o) || least(r)), "operations",
      (part, rows) => roofs(part, rows.concat([{o: {node: "all", op: ""}, roofs: device.whole, i: -1}]), device));
  }

  function roofs(part, rows, device) {
    const kinds = [["network", d3.symbolDiamond, color(0)], ["dram", d3.symbolSquare, color(1)], ["on_chip", d3.symbolTriangle, color(2)]];
    const names = [...new Set(rows.flatMap(r => Object.keys(r.roofs.compute)))].filter(n => n !== "any").sort();
    const values = rows.flatMap(r => kinds.map(k => r.roofs[k[0]]).concat(Object.values(r.roofs.compute))).filter(v => v > 0);
    if (plan.predicted.throughput_per_s) values.push(plan.predicted.throughput_per_s);
    const W = 1030, step = 20, m = {l: gutter(rows.map(r => `${r.o.node}${r.o.op ? " · " + r.o.op : ""}`)), r: 20, t: 8, b: 38}, H = rows.length * step + m.t + m.b;
    const x = d3.scaleLog().domain([d3.min(values) / 2, d3.max(values) * 2]).range([m.l, W - m.r]);
    const svg = figure(part, W, H, `roofs of ${device.device} in iterations per second`,
      "Iterations per second that each roof would allow the operation; the line is the plan's rate.");
    bottomAxis(svg, x, H, m, "iterations per second");
    rows.forEach((r, k) => {
      const yy = m.t + k * step + step / 2;
      svg.append("line").attr("x1", m.l).attr("x2", W - m.r).attr("y1", yy).attr("y2", yy).attr("stroke", "var(--line)").attr("stroke-width", 0.6);
      svg.append("text").attr("x", m.l - 8).attr("y", yy + 4).attr("text-anchor", "end").text(clip(`${r.o.node}${r.o.op ? " · " + r.o.op : ""}`, 36));
      const mark = (value, shape, fill, name) => value > 0 && svg.append("path").attr("d", symbol(shape, 46))
        .attr("transform", `translate(${x(value)},${yy})`).attr("fill", fill).append("title").text(`${name}: ${scaled(value)}/s`);
      for (const [name, shape, fill] of kinds) mark(r.roofs[name], shape, fill, name === "network" ? border(device) : name.replace("_", " "));
      names.forEach((g, i) => mark(r.roofs.compute[g], d3.symbolCircle, color(3 + i), `compute, ${g}`));
      if (r.i >= 0) mark(rateOf(r.o), d3.symbolCross, "var(--ink)", "the option taken");
    });
    const rate = plan.predicted.throughput_per_s;
    if (rate) svg.append("line").attr("x1", x(rate)).attr("x2", x(rate)).attr("y1", m.t).attr("y2", H - m.b)
      .attr("stroke", "var(--ink)").attr("stroke-dasharray", "4 3");
    key(part, [[border(device), color(0), d3.symbolDiamond],
      ...(device.dram_bytes_per_s ? [["DRAM", color(1), d3.symbolSquare]] : []), ["on-chip memory", color(2), d3.symbolTriangle],
      ...names.map((g, i) => [`compute, ${g}`, color(3 + i), d3.symbolCircle]), ["the option taken", "var(--ink)", d3.symbolCross]]);
  }

  function roofTable(part, device, d) {
    const fold = part.append("details");
    fold.append("summary").text("the figures");
    const row = (o, path) => [o.node || "all", member(`${path}/network`, scaled), member(`${path}/on_chip`, scaled), member(`${path}/dram`, scaled),
      ...["on_chip", "dram"].flatMap((_, k) => {
        const a = member(`${path}/attainable/${k}`, x => x).value;
        return a.possible ? [member(`${path}/attainable/${k}/per_s`, scaled), a.bound] : ["–", "no room"];
      })];
    table(fold, ["operation", border(device), "on chip", "DRAM", "weights on chip", "bound", "weights in DRAM", "bound"],
      analysis.operations.map((o, i) => row(o, `analysis/devices/${d}/operations/${i}`)).concat([row({node: "all"}, `analysis/devices/${d}/whole`)]),
      "iterations per second");
  }
})();
