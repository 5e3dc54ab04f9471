// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bandwidth and parameters of every operation at the plan's rate.
"use strict";
(function () {
  if (!analysis) return;
  const part = section("Bandwidth and parameters", "The data that each operation reads at the plan's rate, and its constants.");
  const rate = plan.predicted.throughput_per_s || 0;
  const rows = analysis.operations.map((o, i) => ({o, i, bandwidth: o.input_bytes * rate}));
  leading(part, rows, r => Math.max(r.bandwidth / (d3.max(rows, q => q.bandwidth) || 1),
    r.o.param_bytes / (d3.max(rows, q => q.o.param_bytes) || 1)), "operations", draw);
  const fold = part.append("details");
  fold.append("summary").text("the figures");
  table(fold, ["operation", "", "MACs", "operations", "params B", "in B", "out B", "op/B stream", "op/B engine"],
    analysis.operations.map((o, i) => [o.node, o.op, ...["macs", "flops", "param_bytes", "input_bytes", "output_bytes", "intensity_stream", "intensity_engine"]
      .map(k => member(`analysis/operations/${i}/${k}`))]));
  function draw(part, rows) {
    const W = 1030, step = 20, m = {l: 250, r: 12, t: 20, b: 38}, H = rows.length * step + m.t + m.b, half = (W - m.l - m.r - 30) / 2;
    const svg = figure(part, W, H, "bandwidth and parameters per operation");
    const panel = (left, title, value, path, unit, fill) => {
      const x = d3.scaleLinear().domain([0, d3.max(rows, value) || 1]).range([left, left + half - 62]).nice(4);
      svg.append("text").attr("class", "soft").attr("x", left).attr("y", 12).text(title);
      svg.append("g").attr("class", "axis").attr("transform", `translate(0,${H - m.b})`).call(d3.axisBottom(x).ticks(4).tickFormat(tick).tickSizeOuter(0));
      rows.forEach((r, k) => {
        const yy = m.t + k * step;
        svg.append("rect").attr("x", left).attr("y", yy + 3).attr("height", step - 6).attr("width", Math.max(0, x(value(r)) - left)).attr("fill", fill)
          .attr("data-path", path(r)).attr("data-value", path(r) ? String(r.o.param_bytes) : null);
        if (value(r) > 0) svg.append("text").attr("x", x(value(r)) + 4).attr("y", yy + step / 2 + 4).attr("font-size", 11).text(scaled(value(r), unit));
      });
    };
    rows.forEach((r, k) => svg.append("text").attr("x", m.l - 8).attr("y", m.t + k * step + step / 2 + 4).attr("text-anchor", "end")
      .text(clip(`${r.o.node} · ${r.o.op}`, 36)));
    panel(m.l, "activations in, B/s", r => r.bandwidth, () => null, "B/s", color(0));
    panel(m.l + half + 30, "parameters, B", r => r.o.param_bytes, r => `analysis/operations/${r.i}/param_bytes`, "B", color(1));
  }
})();
