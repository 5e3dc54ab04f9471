// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where weights live, what else fills the memories of the chip, and what each
// channel of a memory outside carries at the plan's rate.
"use strict";
(function () {
  const HOMES = [["rom", "in the bitstream", 6], ["block", "loaded into block RAM", 0],
    ["ultra", "loaded into UltraRAM", 7], ["streamed", "read for every frame", 1], ["", "no weights, only buffers", 3]];
  const nodes = plan.nodes.map((node, n) => [node, n]).filter(([node]) => !node.rtl_of);
  const outside = nodes.some(([node]) => (node.segments || []).length);
  const rowsOf = nodes.map(([node, n]) => rows(node, n));
  if (!outside && !rowsOf.some(r => r.length)) return;
  const part = section("Memories", "What each operation keeps in block RAM and UltraRAM" +
    (outside ? ", what it reads from memories outside the chip, and how busy their channels are at the plan's rate." : ".") +
    (batch() > 1 ? ` Some weights are read once for up to ${batch()} frames that follow each other: one alone takes as long as all of them, ${duration(latency())}; under full load each is on its way for up to ${duration(latency() + waits())}.` : "") +
    (plan.bottleneck_kind === "memory" && !plan.kernel ? ` The memory limits the rate: the units alone would reach ${number(alone(nodes))} per second.` : ""));
  nodes.forEach(([node, n], i) => {
    if (!rowsOf[i].length && !(node.segments || []).length) return;
    if (nodes.length > 1) part.append("h3").text(`${node.name}, ${node.device}`);
    if (rowsOf[i].length)
      leading(part, rowsOf[i], r => r.bram + 8 * r.uram + r.bytes / (d3.max(rowsOf[i], q => q.bytes) || 1), "operations",
        (part, list) => homes(part, node, list));
    for (const memory of node.memories || []) channels(node, n, memory);
  });

  /** The rate at which the slowest unit would run if nothing waited for a memory. */
  function alone(of) {
    return d3.min(of, ([node]) => node.clock_mhz * 1e6 / d3.max(node.operations, o => o.interval_cycles));
  }

  /** The latency of a frame alone, and for how long one may wait in the places of layers for batches, in µs. */
  function latency() {
    return plan.predicted.latency_us;
  }
  function waits() {
    return d3.max(nodes, ([node]) => d3.sum(node.actors || [], a => a.config && a.config.Patience ? +a.config.Places : 0) * node.predicted.interval_cycles / node.clock_mhz);
  }

  /** The most frames that share weights which are read from a memory. */
  function batch() {
    return d3.max(nodes.flatMap(([node]) => node.operations || []), o => +(/[?&]batch=(\d+)/.exec(o.option) || [0, 1])[1]) || 1;
  }

  /** The operations with memories: blocks of either kind, bytes a frame. */
  function rows(node, n) {
    const params = new Map((analysis ? analysis.operations : []).map(o => [o.node, o.param_bytes]));
    const found = new Map();
    const of = name => found.get(name) || found.set(name, {name, bram: 0, uram: 0, bytes: 0, home: ""}).get(name);
    for (const a of node.actors || []) {
      const row = of(a.nodes.join(", ") || a.name);
      row.bram += a.resources.bram || 0;
      row.uram += a.resources.uram || 0;
    }
    const owner = new Map((node.actors || []).map(a => [a.name, a.nodes.join(", ")]));
    for (const s of node.segments || [])
      if (s.bytes_per_frame) of(owner.get(s.file.split("/").pop()) || s.file).bytes += s.bytes_per_frame;
    for (const o of node.operations || []) {
      const row = of(o.name), said = /[?&]weights=(\w+)/.exec(o.option);
      row.home = said ? said[1] : row.home || (params.get(o.name) > 0 && row.bram > 0 && /conv|dense|matmul/.test(o.op) ? "rom" : "");
    }
    return [...found.values()].filter(r => r.bram || r.uram || r.bytes);
  }

  function homes(part, node, list) {
    const panels = [["bram", "block RAM", x => number(x)], ["uram", "UltraRAM", x => number(x)],
      ["bytes", "bytes a frame", x => scaled(x, "B")]].filter(([k]) => list.some(r => r[k]));
    const W = 1030, step = 20, m = {l: 250, r: 12, t: 20, b: 38}, H = list.length * step + m.t + m.b;
    const each = (W - m.l - m.r - 30 * (panels.length - 1)) / panels.length;
    const svg = figure(part, W, H, `memories of ${node.name} by operation`);
    list.forEach((r, k) => svg.append("text").attr("x", m.l - 8).attr("y", m.t + k * step + step / 2 + 4)
      .attr("text-anchor", "end").text(clip(r.name, 36)));
    panels.forEach(([what, title, show], p) => {
      const left = m.l + p * (each + 30);
      const x = d3.scaleLinear().domain([0, d3.max(list, r => r[what])]).range([left, left + each - 62]).nice(4);
      svg.append("text").attr("class", "soft").attr("x", left).attr("y", 12).text(title);
      svg.append("g").attr("class", "axis").attr("transform", `translate(0,${H - m.b})`)
        .call(d3.axisBottom(x).ticks(4).tickFormat(tick).tickSizeOuter(0));
      list.forEach((r, k) => {
        if (!r[what]) return;
        const yy = m.t + k * step;
        svg.append("rect").attr("x", left).attr("y", yy + 3).attr("height", step - 6).attr("width", x(r[what]) - left)
          .attr("fill", color(HOMES.find(h => h[0] === r.home)[2]));
        svg.append("text").attr("x", x(r[what]) + 4).attr("y", yy + step / 2 + 4).attr("font-size", 11).text(show(r[what]));
      });
    });
    key(part, HOMES.filter(h => list.some(r => r.home === h[0])).map(([, words, c]) => [words, color(c)]));
  }

  /** A bar per channel: bytes a second by segment, beside what it can give. */
  function channels(node, n, memory) {
    const ports = (node.ports.memory || []).map((p, i) => [p, i]).filter(([p]) => p.memory === memory.name)
      .sort(([a], [b]) => a.bank - b.bank);
    if (!d3.sum(ports, ([p]) => p.bytes_per_frame)) return;
    const rate = node.predicted.throughput_per_s, peak = memory.bytes_per_s / memory.banks;
    const W = 1030, step = 24, m = {l: 250, r: 130, t: 6, b: 38}, H = ports.length * step + m.t + m.b;
    const x = d3.scaleLinear().domain([0, Math.max(peak, d3.max(ports, ([p]) => p.bytes_per_frame * rate))]).range([m.l, W - m.r]);
    const all = d3.sum(ports, ([p]) => p.bytes_per_frame) * rate;
    const svg = figure(part, W, H, `channels of ${memory.name}`,
      `${memory.name}: ${scaled(all, "B/s")} of ${scaled(memory.bytes_per_s, "B/s")} (${percent(all / memory.bytes_per_s)}), ` +
      `${ports.length} of ${memory.banks} channels in use. A color is a segment; hover for its name.`);
    bottomAxis(svg, x, H, m, "bytes per second");
    ports.forEach(([port, i], k) => {
      const yy = m.t + k * step, used = port.bytes_per_frame * rate;
      svg.append("text").attr("x", m.l - 8).attr("y", yy + step / 2 + 4).attr("text-anchor", "end").text(`${memory.name}, channel ${port.bank}`);
      svg.append("rect").attr("x", m.l).attr("y", yy + 4).attr("width", x(peak) - m.l).attr("height", step - 8)
        .attr("fill", "var(--panel)").attr("stroke", "var(--line)").attr("data-path", `plan/nodes/${n}/ports/memory/${i}/bytes_per_frame`)
        .attr("data-value", String(port.bytes_per_frame));
      let at = 0;
      (node.segments || []).forEach((s, j) => {
        if (s.memory !== memory.name || s.bank !== port.bank || !s.bytes_per_frame) return;
        svg.append("rect").attr("x", x(at)).attr("y", yy + 4).attr("height", step - 8).attr("width", x(at + s.bytes_per_frame * rate) - x(at))
          .attr("fill", color(j)).attr("stroke", "var(--paper)").attr("stroke-width", 0.6)
          .append("title").text(`${s.file.split("/").pop()}: ${scaled(s.bytes, "B")}, read ${number(s.bytes_per_frame / s.bytes)} times a frame, ${scaled(s.bytes_per_frame * rate, "B/s")}`);
        at += s.bytes_per_frame * rate;
      });
      svg.append("text").attr("x", W - m.r + 10).attr("y", yy + step / 2 + 4).text(`${scaled(used, "B/s")} (${percent(used / peak)})`);
    });
  }
})();
