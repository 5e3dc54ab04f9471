// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The head of the report: the goal, and what the plan promises.
"use strict";
(function () {
  page.append("h1").text(plan.model);
  const where = plan.cluster
    ? `${plan.nodes.length} of the nodes of ${plan.cluster}` : plan.device + (plan.board ? ` on ${plan.board}` : "");
  page.append("p").attr("class", "soft").text(plan.goal ? `${where}, goal ${plan.goal}` : where);
  const p = plan.predicted, measured = (data.results.cluster ||
    ((plan.channels || []).length ? null : data.results.simulate) || {}).measured;
  const tiles = [
    [`${rateText(p.throughput_per_s)} /s`, "predicted rate", "plan/predicted/throughput_per_s"],
    [duration(p.latency_us !== undefined ? p.latency_us : p.latency_cycles / p.clock_mhz), "predicted latency of one request", null],
    [plan.bottleneck || "–", "bounds the rate", null],
    [String(plan.nodes.length), plan.nodes.length === 1 ? "node" : "nodes", null],
    [number(p.lut), "LUTs predicted", "plan/predicted/lut"],
    [number(p.dsp), "DSP blocks predicted", "plan/predicted/dsp"]];
  if (plan.bound_per_s) tiles.splice(1, 0, [`${rateText(plan.bound_per_s)} /s`, "bound: no plan is faster", "plan/bound_per_s"]);
  if (measured && measured.throughput_per_s)
    tiles.splice(1, 0, [`${rateText(measured.throughput_per_s)} /s`, "measured rate", null]);
  const box = page.append("div").attr("class", "tiles");
  for (const [value, name, path] of tiles) {
    const tile = box.append("div").attr("class", "tile");
    const shown = path ? member(path) : {};
    tile.append("b").text(value).attr("data-path", path)
      .attr("data-value", path ? String(shown.value) : null);
    tile.append("span").text(name);
  }
})();
