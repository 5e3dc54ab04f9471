// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents below the head, the page's foot, and the sign that all scripts came to their ends.
"use strict";
const parts = page.selectAll("section").nodes();
if (parts.length > 3) {
  const contents = page.insert("nav", "section").attr("aria-label", "contents");
  contents.selectAll("a").data(parts).join("a").attr("href", part => `#${part.id}`)
    .text(part => part.querySelector("h2").textContent);
}
page.append("footer").text(`Rhizome ${data.version}; drawn with D3 ${d3.version}. The page contains all its data and loads nothing.`);
document.body.dataset.drawn = "yes";
