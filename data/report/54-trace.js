// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers on data (rhizome trace): how large the values are that each rounds,
// which of them its codes hold, and what that costs.
"use strict";
(function () {
  const trace = data.results.trace;
  if (!trace) return;
  const one = trace.kernel ? "nest" : "layer", frames = trace.kernel ? "elements" : "frames";
  const part = section(trace.kernel ? "Nests on data" : "Layers on data",
    `${number(trace.frames)} ${frames} of ${trace.data}: the values that each ${one} rounds, by magnitude. ` +
    "A gray band shows what its codes hold, from one step to the last code; values to its right " + (trace.kernel ? "do not fit (red)." : "saturate (red)."));
  const layers = trace.layers, shown = layers.filter(l => l.octaves.counts.length);
  if (trace.worst) {
    const said = part.append("p");
    said.append("b").attr("class", "bad").text(`${trace.worst} ${trace.kernel ? "is the first to mend" : "saturates"}. `);
    const output = trace.outputs[0], without = trace.snr_without_saturation_db;
    if (without !== null && output && output.snr_db !== null)
      said.append("span").text(`The outputs have a signal-to-noise ratio of ${number(output.snr_db)} dB; if ${trace.kernel ? "all values fitted" : "no layer saturated"}, they would have ${number(without)} dB.`);
  }
  if (trace.same_class !== null)
    part.append("p").text(`${number(trace.same_class)} of ${number(trace.frames)} frames have their largest output where the network without rounding has it.`);

  // What saturates, and what costs the outputs the most, comes first.
  if (shown.length)
    leading(part, shown, l => (l.saturated || 0) * 1e6 + (l.lost_db || 0), `${one}s`, draw);
  const faults = layers.filter(l => l.finding);
  if (faults.length) {
    const list = part.append("ul");
    for (const l of faults) {
      const item = list.append("li");
      item.append("b").attr("class", l.finding.kind === "saturated" ? "bad" : null).text(`${l.name} `);
      item.append("span").text(`(${l.op}): ${l.finding.reason}.` +
        gained(l.finding.gain_db) + ` Remedy: ${l.finding.remedy}.`);
    }
  } else part.append("p").text((trace.kernel ? "Every nest's values fit" : "No layer saturates") + ", and none leaves two bits unused.");
  const fold = part.append("details");
  fold.append("summary").text("the figures");
  const cell = (i, key, show) => member(`results/trace/layers/${i}/${key}`, show);
  table(fold, [one, "", "bits", "holds from", "to", "values from", "to", "integer from", "to", "saturated", "SNR dB", "lost dB"],
    layers.map((l, i) => [l.name, l.op, cell(i, "bits"), cell(i, "lowest"), cell(i, "highest"),
      l.real ? cell(i, "real/low") : "–", l.real ? cell(i, "real/high") : "–",
      l.integer ? cell(i, "integer/low") : "–", l.integer ? cell(i, "integer/high") : "–",
      cell(i, "saturated", percent), cell(i, "snr_db"), cell(i, "lost_db")])
      .concat(trace.outputs.map((o, i) => [o.name, "output", "–", "–", "–", o.real ? member(`results/trace/outputs/${i}/real/low`) : "–",
        o.real ? member(`results/trace/outputs/${i}/real/high`) : "–", o.integer ? member(`results/trace/outputs/${i}/integer/low`) : "–",
        o.integer ? member(`results/trace/outputs/${i}/integer/high`) : "–", "–", member(`results/trace/outputs/${i}/snr_db`), "–"])));

  // What the outputs gain without this fault alone.
  function gained(db) {
    if (db === null) return "";
    return " Without that the outputs would " + (Math.abs(db) < 0.05 ? "gain nothing."
      : `have ${number(Math.abs(db))} dB ${db < 0 ? "less" : "more"}.`);
  }

  function draw(part, shown) {
    const W = 1030, step = 44, m = {l: 230, r: 290, t: 6, b: 38}, H = shown.length * step + m.t + m.b;
    const log = v => Math.log2(Math.abs(v));
    const reach = l => Math.max(log(l.lowest || l.scale), log(l.highest || l.scale));
    const first = d3.min(shown, l => Math.min(l.octaves.first, Math.floor(log(l.scale)))), last =
      d3.max(shown, l => Math.max(l.octaves.first + l.octaves.counts.length, Math.ceil(reach(l))));
    // Far below a step values are zeros to every format.
    const low = Math.max(first, d3.min(shown, l => Math.floor(log(l.scale))) - 4);
    const x = d3.scaleLinear().domain([low, last]).range([m.l, W - m.r]);
    const svg = figure(part, W, H, `magnitudes of the values of every ${one}`);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${H - m.b})`)
      .call(d3.axisBottom(x).tickValues(x.ticks(10).filter(Number.isInteger)).tickFormat(n => n >= 0 && n < 14 ? number(2 ** n) : `2^${n}`).tickSizeOuter(0));
    svg.append("text").attr("class", "soft").attr("x", (m.l + W - m.r) / 2).attr("y", H - 4).attr("text-anchor", "middle").text("magnitude of the values");
    shown.forEach((l, k) => {
      const yy = m.t + k * step, base = yy + step - 8, total = d3.sum(l.octaves.counts) + l.octaves.zeros;
      const bad = l.finding && l.finding.kind === "saturated";
      const i = layers.indexOf(l);
      svg.append("text").attr("x", m.l - 8).attr("y", yy + step / 2 + 4).attr("text-anchor", "end").text(clip(`${l.name} · ${l.op}`, 32));
      const from = Math.max(low, log(l.scale)), to = Math.max(from, reach(l));
      svg.append("rect").attr("x", x(from)).attr("width", x(to) - x(from)).attr("y", yy + 4).attr("height", step - 12)
        .attr("fill", "var(--line)").attr("fill-opacity", 0.55);
      const y = d3.scaleSqrt().domain([0, d3.max(l.octaves.counts) || 1]).range([0, step - 14]);
      l.octaves.counts.forEach((n, o) => {
        const at = l.octaves.first + o;
        if (at < low || !n) return;
        svg.append("rect").attr("x", x(at) + 0.5).attr("width", Math.max(1, x(at + 1) - x(at) - 1)).attr("y", base - y(n)).attr("height", y(n))
          .attr("fill", at >= to - 1e-6 ? "var(--bad)" : color(0))
          .append("title").text(`${l.name}: ${percent(n / total)} of the values are from 2^${at} to 2^${at + 1}`);
      });
      svg.append("line").attr("x1", m.l).attr("x2", W - m.r).attr("y1", base).attr("y2", base).attr("stroke", "var(--line)");
      svg.append("text").attr("x", W - m.r + 10).attr("y", yy + 16).text(l.format || `${l.bits} bits, step ${number(l.scale)}`);
      svg.append("text").attr("x", W - m.r + 10).attr("y", yy + 32).attr("class", bad ? "worse" : "soft").style("fill", bad ? "var(--bad)" : null)
        .attr("data-path", `results/trace/layers/${i}/saturated`).attr("data-value", String(l.saturated))
        .text([l.saturated > 0 ? `${percent(l.saturated)} ${trace.kernel ? "do not fit" : "saturate"}` : "", l.snr_db !== null ? `${number(l.snr_db)} dB` : ""].filter(t => t).join(", "));
    });
  }
})();
