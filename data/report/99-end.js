// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page's foot, and the sign that all scripts came to their ends.
"use strict";
page.append("footer").text(`Rhizome ${data.version}; drawn with D3 ${d3.version}. The page contains all its data and loads nothing.`);
document.body.dataset.drawn = "yes";
