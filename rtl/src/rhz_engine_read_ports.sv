// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The readers of an engine at its memory ports: load and weights at each, fetch at port
// 0. A port's readers are served round robin, burst by burst, and base_i, a multiple of
// 4 KiB, is where what lies behind a port begins. fault_o is high for a cycle after an
// answer that is SLVERR or DECERR.
module rhz_engine_read_ports #(
  parameter int PortBits = 128,
  parameter int Ports    = 1,
  parameter int Bursts   = 16
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [Ports*52-1:0]       base_i,
  output logic                      fault_o,
  input  logic                      fetch_arvalid,
  output logic                      fetch_arready,
  input  logic [63:0]               fetch_araddr,
  input  logic [7:0]                fetch_arlen,
  output logic                      fetch_rvalid,
  input  logic [Ports-1:0]          load_arvalid,
  output logic [Ports-1:0]          load_arready,
  input  logic [63:0]               load_araddr,
  input  logic [7:0]                load_arlen,
  output logic [Ports-1:0]          load_rvalid,
  input  logic [Ports-1:0]          weights_arvalid,
  output logic [Ports-1:0]          weights_arready,
  input  logic [63:0]               weights_araddr,
  input  logic [7:0]                weights_arlen,
  output logic [Ports-1:0]          weights_rvalid,
  output logic [Ports*PortBits-1:0] rdata_o,
  output logic [Ports-1:0]          m_axi_arvalid,
  input  logic [Ports-1:0]          m_axi_arready,
  output logic [Ports*64-1:0]       m_axi_araddr,
  output logic [Ports*8-1:0]        m_axi_arlen,
  input  logic [Ports-1:0]          m_axi_rvalid,
  output logic [Ports-1:0]          m_axi_rready,
  input  logic [Ports*PortBits-1:0] m_axi_rdata,
  input  logic [Ports*2-1:0]        m_axi_rresp,
  input  logic [Ports-1:0]          m_axi_rlast
);
  logic [Ports-1:0] faults;
  assign rdata_o = m_axi_rdata;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    localparam int Readers = (p == 0) ? 3 : 2;
    logic [Readers-1:0] arvalid, arready, rvalid;
    logic [Readers*64-1:0] araddr;
    logic [Readers*8-1:0] arlen;
    logic unused;
    assign unused = &{1'b0, m_axi_rresp[2*p]};
    if (p == 0) begin : gen_with_fetch
      assign arvalid = {fetch_arvalid, weights_arvalid[p], load_arvalid[p]};
      assign araddr  = {fetch_araddr, weights_araddr, load_araddr};
      assign arlen   = {fetch_arlen, weights_arlen, load_arlen};
      assign fetch_arready = arready[2];
      assign fetch_rvalid  = rvalid[2];
    end else begin : gen_without_fetch
      assign arvalid = {weights_arvalid[p], load_arvalid[p]};
      assign araddr  = {weights_araddr, load_araddr};
      assign arlen   = {weights_arlen, load_arlen};
    end
    assign load_arready[p]    = arready[0];
    assign weights_arready[p] = arready[1];
    assign load_rvalid[p]     = rvalid[0];
    assign weights_rvalid[p]  = rvalid[1];
    rhz_engine_requests #(.Readers(Readers), .Bursts(Bursts)) u_requests (
      .clk_i, .rst_ni, .base_i(base_i[p*52 +: 52]), .s_axi_arvalid(arvalid),
      .s_axi_arready(arready), .s_axi_araddr(araddr), .s_axi_arlen(arlen),
      .s_axi_rvalid(rvalid), .m_axi_arvalid(m_axi_arvalid[p]),
      .m_axi_arready(m_axi_arready[p]), .m_axi_araddr(m_axi_araddr[p*64 +: 64]),
      .m_axi_arlen(m_axi_arlen[p*8 +: 8]), .m_axi_rvalid(m_axi_rvalid[p]),
      .m_axi_rready(m_axi_rready[p]), .m_axi_rlast(m_axi_rlast[p])
    );
    assign faults[p] = m_axi_rvalid[p] && m_axi_rready[p] && m_axi_rresp[2*p+1];
  end
  always_ff @(posedge clk_i) fault_o <= rst_ni && faults != '0;
endmodule
