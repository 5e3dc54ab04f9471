// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks, nodes and their options, alternatives, predictions next to measurements, the
// CPU for comparison, and an estimate of the energy.
"use strict";
(function () {
  if (plan.tasks && plan.tasks.list.length) {
    const part = section("Tasks", `In the order in which they run: the host is one core of ${plan.tasks.host}, copies go over ${plan.tasks.link}.`);
    const copiesOf = (task, to) => plan.tasks.copies.flatMap((c, i) => c.task === task && c.to === to
      ? [["", to === "fpga" ? "host to FPGA" : "FPGA to host", {text: String(c.tensors.length), value: c.tensors.length},
        member(`plan/tasks/copies/${i}/bytes`), member(`plan/tasks/copies/${i}/us`)]] : []);
    table(part, ["task", "place", "operations or tensors", "bytes", "us"], plan.tasks.list.flatMap((t, i) =>
      [...copiesOf(t.name, "fpga"),
        [t.name, t.place, member(`plan/tasks/list/${i}/operations`), "–",
          t.place === "host" ? member(`plan/tasks/list/${i}/host_us`) : "–"],
        ...copiesOf(t.name, "host")]));
    if ((plan.tasks.states || []).length)
      table(part, ["kept from frame to frame", "its next value", "bytes", "where", "why"], plan.tasks.states.map((state, i) =>
        [state.name, state.next, member(`plan/tasks/states/${i}/bytes`), state.home, state.why]));
  }

  const nodes = section("Nodes");
  table(nodes, ["node", "device", "clock MHz", "predicted /s", "interval", "operations", "fullest"], plan.nodes.map((node, n) => {
    const used = Object.entries(node.utilization || {}).sort((a, b) => b[1] - a[1])[0];
    return [node.name, node.device, member(`plan/nodes/${n}/clock_mhz`, x => number(x, 6)),
      node.predicted ? member(`plan/nodes/${n}/predicted/throughput_per_s`) : "–",
      node.predicted ? member(`plan/nodes/${n}/predicted/interval_cycles`) : "–",
      {text: String((node.operations || []).length), value: (node.operations || []).length}, used ? `${used[0]} ${percent(used[1])}` : "–"];
  }));
  const dies = plan.nodes.flatMap((node, n) => (node.dies || []).map((die, d) => ({node, n, die, d})));
  if (dies.length) {
    const kinds = [...new Set(dies.flatMap(({die}) => Object.keys(die.budget)))];
    table(nodes, ["node", "die", plan.kernel ? "units" : "operations", ...kinds, "wires to the next"], dies.map(({node, n, die, d}) => {
      const held = node.operations.filter(o => o.die === die.name), {system, lanes} = plan.kernel || {};
      const units = system ? system.dies.filter(d => d === die.name).length : 0;
      return [node.name, die.name, units ? {text: `${units} × ${lanes} lanes`, value: units} : {text: held.length ? `${held.length}: ${held[0].name} … ${held[held.length - 1].name}` : "–", value: held.length},
        ...kinds.map(k => k in die.resources && k in die.budget
          ? {text: percent(die.resources[k] / die.budget[k]), value: die.resources[k] / die.budget[k]} : "–"),
        die.wires_available ? member(`plan/nodes/${n}/dies/${d}/wires`) : "–"];
    }));
  }
  const fold = nodes.append("details");
  fold.append("summary").text("the option taken for every operation");
  table(fold, ["operation", "", "node", "option", "", "cycles"], plan.nodes.flatMap((node, n) => (node.operations || []).map((o, i) =>
    [o.name, o.op, node.name, o.option, o.text, member(`plan/nodes/${n}/operations/${i}/interval_cycles`)])));

  if ((plan.channels || []).length) {
    // A frame's datagrams with what the medium adds to each.
    const bytesOf = c => {
      const link = plan.links.find(l => l.name === c.link), payload = Math.ceil(c.elements * c.element.width / 8);
      return link ? payload + Math.ceil(payload / link.mtu_bytes) * link.overhead_bytes : payload;
    };
    const rate = plan.predicted.throughput_per_s, ports = new Map();
    for (const c of plan.channels)
      for (const [end, way] of [[c.from, "out"], [c.to, "in"]]) {
        const key = `${end.node} ${way}`, link = plan.links.find(l => l.name === c.link);
        if (!ports.has(key)) ports.set(key, {node: end.node, way, link, bits: 0, tensors: []});
        const port = ports.get(key);
        port.bits += 8 * bytesOf(c) * rate / (c.every || 1);
        port.tensors.push(c.tensor);
      }
    const parties = (data.results.cluster || {}).parties || [];
    const links = section("Links", "What the plan sends over each port at its rate, the datagrams' overhead included, and what the simulated cluster measured. Acknowledgments are not counted.");
    table(links, ["port", "", "link", "tensors", "bit/s", "of the link", "measured"], [...ports.values()].map(p => {
      const i = parties.findIndex(party => party.name === p.node);
      return [p.node, p.way, p.link ? p.link.name : "–", clip([...new Set(p.tensors)].join(", "), 40), {text: scaled(p.bits), value: p.bits},
        p.link ? {text: percent(p.bits / p.link.bits_per_s), value: p.bits / p.link.bits_per_s} : "–",
        i < 0 ? "–" : member(`results/cluster/parties/${i}/${p.way === "out" ? "sending" : "receiving"}`, percent)];
    }));
  }

  const judged = data.results.evaluate;
  if (judged && judged.forms.some(f => f.correct)) {
    const part = section("Accuracy", "On labeled data, as rhizome evaluate measured it.");
    table(part, ["model", "frames", "correct", "accuracy", "classes as the integer model's"], judged.forms.map((form, i) => [form.form,
      ...["frames", "correct"].map(k => member(`results/evaluate/forms/${i}/${k}`)), member(`results/evaluate/forms/${i}/accuracy`, x => d3.format(".2%")(x)),
      form.same_class ? member(`results/evaluate/forms/${i}/same_class`) : "–"]));
  }

  const quantized = data.quantization;
  if (quantized) {
    const part = section("Quantization", `After training: ${quantized.method} over ${number(quantized.frames)} frames. At the outputs ${number(quantized.snr_db)} dB; ${percent(quantized.agreement)} of the frames keep their class.`);
    const value = (i, key, show) => key in quantized.layers[i] ? member(`quantization/layers/${i}/${key}`, show) : "";
    table(part, ["layer", "", "weight bits", "activation bits", "least", "largest", "scale", "zero point", "saturated", "SNR dB"],
      quantized.layers.map((layer, i) => [layer.name, layer.op, value(i, "weight_bits"), value(i, "activation_bits"), value(i, "low"),
        value(i, "high"), value(i, "scale"), value(i, "zero_point"), value(i, "saturated", percent), value(i, "snr_db")]));
  }

  if ((plan.alternatives || []).length) {
    const part = section("Alternatives", "Plans that were considered, and why they were rejected.");
    const rows = plan.alternatives.map((a, i) =>
      [a.what, member(`plan/alternatives/${i}/nodes`), member(`plan/alternatives/${i}/throughput_per_s`), a.why]);
    const show = (part, rows) => table(part, ["plan", "nodes", "rate /s", "why not"], rows);
    show(part, rows.length > MOST_ROWS ? rows.slice(0, 10) : rows);
    if (rows.length > MOST_ROWS) {
      const fold = part.append("details");
      fold.append("summary").text(`the other ${number(rows.length - 10)} plans`);
      show(fold, rows.slice(10));
    }
  }

  const compare = section("Predicted against measured");
  const rows = [];
  for (const [name, result] of Object.entries(data.results)) {
    if (!result || !result.measured) continue;
    for (const k of Object.keys(result.measured)) {
      const said = (result.predicted || plan.predicted)[k], found = result.measured[k];
      if (typeof found !== "number" || typeof said !== "number") continue;
      rows.push([name, k.replace(/_/g, " "), {text: shownAs(k)(said), value: said},
        member(`results/${name}/measured/${k}`), found ? d3.format("+.2%")((said - found) / found) : "–"]);
    }
  }
  if (rows.length) table(compare, ["by", "figure", "predicted", "measured", "prediction off by"], rows);
  else compare.append("p").text("Nothing has been measured yet. rhizome simulate and rhizome synth measure, and redraw this page.");

  const parties = ((data.results.cluster || {}).parties || []);
  if (parties.length) table(compare, ["party", "busy", "link out", "link in"], parties.map((party, i) =>
    [party.name, ...["utilization", "sending", "receiving"].map(k => member(`results/cluster/parties/${i}/${k}`, percent))]),
    "shares of time in the simulated cluster");

  const cpu = section("On a CPU");
  const baseline = data.results.baseline;
  if (baseline && baseline.runs) {
    table(cpu, ["threads", "latency µs", "inferences /s", "plan is faster by"], baseline.runs.map((run, i) =>
      [member(`results/baseline/runs/${i}/threads`), member(`results/baseline/runs/${i}/latency_us`),
        member(`results/baseline/runs/${i}/throughput_per_s`), `${number(plan.predicted.throughput_per_s / run.throughput_per_s)} ×`]));
    cpu.append("p").attr("class", "soft").text(`${baseline.runtime} on ${baseline.cpu}, batch 1, the median of ${number(baseline.repeats)} runs.`);
  } else cpu.append("p").text("Not measured: rhizome report DIR --baseline MODEL.onnx runs ONNX Runtime.");

  if (data.energy) {
    const part = section("Energy, an estimate");
    part.append("p").text("Not measured: " + data.energy.model);
    table(part, ["part", "µJ per inference"], data.energy.parts.map((e, i) => [e.name, member(`energy/parts/${i}/uj`)])
      .concat([["all", member("energy/uj_per_inference")]]));
    part.append("p").attr("class", "soft").text("Sources: " + data.energy.sources.join("; ") + ".");
  }
})();
