// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan's nodes and operations, as the figures look them up.
"use strict";
const plan = data.plan, analysis = data.analysis || null;
const nodeIndex = new Map(plan.nodes.map((node, i) => [node.name, i]));

/** The planned operation of a model's node, with its hardware node. Of
    replicas the first stands for all. */
const planned = new Map();
for (const node of plan.nodes)
  for (const o of node.operations || [])
    if (!planned.has(o.name + "/" + o.op)) planned.set(o.name + "/" + o.op, {...o, node});
// What later trips through a body compute has the units of the first one.
for (const body of plan.repeats || []) {
  const all = analysis ? analysis.operations : [];
  let before = body.nth;
  const first = all.findIndex(o => o.node === body.name && o.op === body.op && before-- === 0);
  for (let i = body.length; first >= 0 && i < body.length * body.trips; ++i) {
    const o = all[first + i], like = all[first + i % body.length];
    const p = o && planned.get(like.node + "/" + like.op);
    if (p) planned.set(o.node + "/" + o.op, {...p, trip: Math.floor(i / body.length) + 1});
  }
}
const planOf = o => planned.get(o.node + "/" + o.op);
const generators = [...new Set([...planned.values()].map(o => o.generator))].sort();
