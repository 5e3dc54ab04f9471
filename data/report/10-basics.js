// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers, colors, tables and frames that every figure of the report uses.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const page = d3.select("#page");
const color = i => `var(--c${i % 10})`;

/** 12345 -> "12,345"; small numbers keep three digits. */
function number(x, digits = 3) {
  if (x === null || x === undefined || !isFinite(x)) return "–";
  if (Math.abs(x) >= 1000 || Number.isInteger(x)) return d3.format(",.0f")(x);
  return d3.format(`.${digits}~r`)(x);
}
/** A rate, as in Support/Units.h: a whole number from 1000, below it three
    digits; halves are rounded up. */
function rateText(x) {
  if (x === null || x === undefined || !isFinite(x)) return "–";
  let digits = 0;
  while (x > 0 && x * 10 ** digits < 100 && digits < 9) ++digits;
  const whole = Math.floor(x * 10 ** digits + 0.5);
  return d3.format(`,.${digits}~f`)(whole / 10 ** digits);
}
/** How the figure of a key, or of a path that ends in it, is shown. */
const shownAs = key => key.endsWith("throughput_per_s") ? rateText : number;
/** Microseconds in the unit that fits, three digits: 0.105 -> "105 ns". */
function duration(us) {
  if (us === null || us === undefined || !isFinite(us)) return "–";
  const [size, unit] = [[1e6, "s"], [1e3, "ms"], [1, "µs"]].find(([s]) => us >= 0.9995 * s) || [1e-3, "ns"];
  return `${d3.format(".3r")(us / size)} ${unit}`;
}
/** 12345678 -> "12.3 M". */
function scaled(x, unit = "") {
  if (x === null || x === undefined || !isFinite(x)) return "–";
  for (const [size, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (Math.abs(x) >= size) return `${d3.format(".3~r")(x / size)} ${prefix}${unit}`;
  return `${d3.format(".3~r")(x)} ${unit}`.trim();
}
/** A tick's label: "0", "0.1", "20k". */
const tick = x => x === 0 ? "0" : Math.abs(x) < 1 ? String(+x.toPrecision(2)) : d3.format("~s")(x);
const symbol = (shape, size) => d3.symbol().type(shape).size(size)();
const percent = x => `${d3.format(".1f")(100 * x)} %`;
const clip = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

/** How wide the labels at the left of a figure are: they end at a length that
    clip leaves. */
const gutter = labels => Math.min(250, 24 + 7 * d3.max(labels, l => l.length));

/** A heading with its section, and a sentence that says what is seen. */
function section(title, words) {
  const part = page.append("section").attr("id", title.toLowerCase().replace(/\W+/g, "-"));
  part.append("h2").text(title);
  if (words) part.append("p").attr("class", "soft").text(words);
  return part;
}
/** A figure of this size with a caption; returns its svg. */
function figure(part, width, height, label, caption) {
  const box = part.append("figure");
  const svg = box.append("svg").attr("viewBox", `0 0 ${width} ${height}`)
    .attr("width", width).attr("height", height)
    .attr("role", "img").attr("aria-label", label);
  if (caption) box.append("figcaption").text(caption);
  return svg;
}
/** Rows of {text, value, path} or plain texts. A cell with `path` shows the
    member of the data that it names; tests read both back. */
function table(part, head, rows, caption) {
  const t = part.append("div").attr("class", "wide").append("table");
  if (caption) t.append("caption").text(caption);
  const isNumber = head.map((_, c) => rows.some(r => typeof r[c] === "object") &&
    rows.every(r => typeof r[c] === "object" || r[c] === "–" || r[c] === ""));
  t.append("thead").append("tr").selectAll("th").data(head).join("th")
    .attr("class", (_, c) => isNumber[c] ? "number" : null).text(h => h);
  t.append("tbody").selectAll("tr").data(rows).join("tr").selectAll("td")
    .data(r => r).join("td").each(function (cell, c) {
      const td = d3.select(this).attr("class", isNumber[c] ? "number" : null);
      if (cell !== null && typeof cell === "object")
        td.text(cell.text).attr("data-path", cell.path || null)
          .attr("data-value", cell.value === undefined ? null : String(cell.value));
      else td.text(cell);
    });
  return t;
}
/** A cell that shows the member of the data at `path`. */
function member(path, show = shownAs(path)) {
  const value = path.split("/").reduce((o, k) => o === undefined || o === null ? o : o[k], data);
  return {text: value === undefined || value === null ? "–" : show(value), value, path};
}
/** How many rows a figure shows before the others fold away. */
const MOST_ROWS = 12;
/** Calls draw(part, rows): with all rows where they are few; otherwise with the
    ten of the largest `weight`, in their order, and again with all of them in
    a fold. `what` is their plural, "operations". */
function leading(part, rows, weight, what, draw) {
  if (rows.length <= MOST_ROWS) return draw(part, rows);
  const most = new Set([...rows].sort((a, b) => weight(b) - weight(a)).slice(0, 10));
  draw(part, rows.filter(r => most.has(r)));
  const fold = part.append("details");
  fold.append("summary").text(`all ${number(rows.length)} ${what}`);
  draw(fold, rows);
}
function key(part, entries) {
  const box = part.append("div").attr("class", "key");
  for (const [name, fill, shape] of entries) {
    const e = box.append("span");
    if (shape) e.append("svg").attr("width", 14).attr("height", 14)
      .style("display", "inline-block").style("vertical-align", "-2px").style("margin-right", "5px")
      .append("path").attr("transform", "translate(7,7)").attr("d", symbol(shape, 50))
      .attr("fill", fill);
    else e.append("i").style("background", fill);
    e.append("span").text(name);
  }
}
/** Labels at every tick, or of a logarithm only at powers of ten. */
function labeled(axis, scale, count) {
  return scale.base
    ? axis.ticks(count, x => Math.abs(Math.log10(x) - Math.round(Math.log10(x))) < 1e-9 ? tick(x) : "")
    : axis.ticks(count).tickFormat(tick);
}
function bottomAxis(svg, x, H, m, name, count = 8) {
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${H - m.b})`)
    .call(labeled(d3.axisBottom(x), x, count).tickSizeOuter(0));
  svg.append("text").attr("class", "soft").attr("x", (x.range()[0] + x.range()[1]) / 2).attr("y", H - 4).attr("text-anchor", "middle").text(name);
}
function axes(svg, x, y, W, H, m, xName, yName) {
  bottomAxis(svg, x, H, m, xName);
  svg.append("g").attr("class", "axis").attr("transform", `translate(${m.l},0)`).call(labeled(d3.axisLeft(y), y, 6).tickSizeOuter(0));
  svg.append("text").attr("class", "soft").attr("transform", `translate(12,${(m.t + H - m.b) / 2}) rotate(-90)`).attr("text-anchor", "middle").text(yName);
}
