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
const planOf = o => planned.get(o.node + "/" + o.op);
const generators = [...new Set([...planned.values()].map(o => o.generator))].sort();
