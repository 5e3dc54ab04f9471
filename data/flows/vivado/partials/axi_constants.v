{{! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception }}
{{! What does not vary in the requests of an AXI4 master. }}
{{#reads}}
  assign {{port}}_arsize = 3'd{{size_log2}};
  assign {{port}}_arburst = 2'b01;
  assign {{port}}_arcache = 4'b0011;
  assign {{port}}_arprot = 3'b000;
{{/reads}}
{{#writes}}
  assign {{port}}_awsize = 3'd{{size_log2}};
  assign {{port}}_awburst = 2'b01;
  assign {{port}}_awcache = 4'b0011;
  assign {{port}}_awprot = 3'b000;
{{/writes}}
