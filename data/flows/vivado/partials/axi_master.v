{{! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception }}
{{! An AXI4 master that reads, writes or does both: its ports in a module. }}
{{#reads}}
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} ARADDR" *)
  (* X_INTERFACE_PARAMETER = "PROTOCOL AXI4, READ_WRITE_MODE READ_{{#writes}}WRITE{{/writes}}{{^writes}}ONLY{{/writes}}, DATA_WIDTH {{data_width}}, ADDR_WIDTH 64, ID_WIDTH 0, MAX_BURST_LENGTH {{burst}}, NUM_READ_OUTSTANDING 32,{{#writes}} NUM_WRITE_OUTSTANDING 32,{{/writes}} SUPPORTS_NARROW_BURST 0" *)
  output wire [63:0] {{port}}_araddr,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} ARLEN" *)
  output wire [7:0] {{port}}_arlen,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} ARSIZE" *)
  output wire [2:0] {{port}}_arsize,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} ARBURST" *)
  output wire [1:0] {{port}}_arburst,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} ARCACHE" *)
  output wire [3:0] {{port}}_arcache,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} ARPROT" *)
  output wire [2:0] {{port}}_arprot,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} ARVALID" *)
  output wire {{port}}_arvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} ARREADY" *)
  input  wire {{port}}_arready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} RDATA" *)
  input  wire [{{data_msb}}:0] {{port}}_rdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} RRESP" *)
  input  wire [1:0] {{port}}_rresp,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} RLAST" *)
  input  wire {{port}}_rlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} RVALID" *)
  input  wire {{port}}_rvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} RREADY" *)
  output wire {{port}}_rready,
{{/reads}}
{{#writes}}
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} AWADDR" *)
{{^reads}}
  (* X_INTERFACE_PARAMETER = "PROTOCOL AXI4, READ_WRITE_MODE WRITE_ONLY, DATA_WIDTH {{data_width}}, ADDR_WIDTH 64, ID_WIDTH 0, MAX_BURST_LENGTH {{burst}}, NUM_WRITE_OUTSTANDING 32, SUPPORTS_NARROW_BURST 0" *)
{{/reads}}
  output wire [63:0] {{port}}_awaddr,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} AWLEN" *)
  output wire [7:0] {{port}}_awlen,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} AWSIZE" *)
  output wire [2:0] {{port}}_awsize,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} AWBURST" *)
  output wire [1:0] {{port}}_awburst,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} AWCACHE" *)
  output wire [3:0] {{port}}_awcache,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} AWPROT" *)
  output wire [2:0] {{port}}_awprot,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} AWVALID" *)
  output wire {{port}}_awvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} AWREADY" *)
  input  wire {{port}}_awready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} WDATA" *)
  output wire [{{data_msb}}:0] {{port}}_wdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} WSTRB" *)
  output wire [{{strobe_msb}}:0] {{port}}_wstrb,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} WLAST" *)
  output wire {{port}}_wlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} WVALID" *)
  output wire {{port}}_wvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} WREADY" *)
  input  wire {{port}}_wready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} BRESP" *)
  input  wire [1:0] {{port}}_bresp,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} BVALID" *)
  input  wire {{port}}_bvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 {{port}} BREADY" *)
  output wire {{port}}_bready,
{{/writes}}
