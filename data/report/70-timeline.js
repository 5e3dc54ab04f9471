// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When each actor works on each of the first frames.
"use strict";
(function () {
  const names = Object.keys(data.timelines);
  if (!names.length) return;
  const part = section("Timeline", "From the empty pipeline: when each actor first and last works on a frame. " +
    "The source always offers and the sink always accepts.");
  names.forEach(name => {
    const all = data.timelines[name].actors.map((a, k) => ({...a, k}));
    if (names.length > 1) part.append("h3").text(name);
    // The longest work on a frame: these bound the rate and the latency.
    leading(part, all, a => d3.max(a.spans, s => s[1] - s[0]) || 0, "actors", (part, actors) => draw(part, name, actors));
  });

  function draw(part, name, actors) {
    const frames = d3.max(actors, a => a.spans.length) || 0, end = d3.max(actors, a => d3.max(a.spans, s => s[1])) || 1;
    const W = 1030, step = 18, m = {l: gutter(actors.map(a => a.name)), r: 20, t: 6, b: 38}, H = actors.length * step + m.t + m.b;
    const x = d3.scaleLinear().domain([0, end]).range([m.l, W - m.r]);
    const svg = figure(part, W, H, `timeline of ${name}`);
    bottomAxis(svg, x, H, m, "cycles");
    actors.forEach((a, row) => {
      const yy = m.t + row * step;
      svg.append("text").attr("x", m.l - 8).attr("y", yy + step / 2 + 4).attr("text-anchor", "end").attr("font-size", 11).text(clip(a.name, 40));
      // Frames overlap in an actor's pipeline, so that each gets half the row.
      a.spans.forEach(([first, last], f) => svg.append("rect").attr("x", x(first)).attr("width", Math.max(1, x(last + 1) - x(first)))
        .attr("y", yy + 2 + (f % 2) * (step - 4) / 2).attr("height", (step - 4) / 2).attr("fill", color(f))
        .attr("data-path", `timelines/${name}/actors/${a.k}/spans/${f}/0`).attr("data-value", String(first))
        .append("title").text(`${a.name}, frame ${f}: cycles ${number(first)} to ${number(last)}`));
    });
    key(part, d3.range(frames).map(f => [`frame ${f}`, color(f)]));
  }
})();
