// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several readers at one memory port: bursts are granted round robin (rhz_mem_grants),
// one a cycle, several in a row to those that Turns gives more, so that their shares
// follow their needs and the memory seldom goes on elsewhere; beats go back in the
// order of the grants. A request reaches the memory a cycle after its grant; beats pass
// without delay. Bursts is what the readers may have on their way in all.
module rhz_mem_arbiter #(
  parameter int DataWidth = 64,
  parameter int Readers   = 2,
  parameter int Bursts    = 8,
  parameter     Turns     = ""
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [Readers-1:0]    s_axi_arvalid,
  output logic [Readers-1:0]    s_axi_arready,
  input  logic [Readers*64-1:0] s_axi_araddr,
  input  logic [Readers*8-1:0]  s_axi_arlen,
  output logic [Readers-1:0]    s_axi_rvalid,
  input  logic [Readers-1:0]    s_axi_rready,
  output logic [DataWidth-1:0]  s_axi_rdata,
  output logic                  s_axi_rlast,
  output logic                  m_axi_arvalid,
  input  logic                  m_axi_arready,
  output logic [63:0]           m_axi_araddr,
  output logic [7:0]            m_axi_arlen,
  input  logic                  m_axi_rvalid,
  output logic                  m_axi_rready,
  input  logic [DataWidth-1:0]  m_axi_rdata,
  input  logic                  m_axi_rlast
);
  logic done, unused_grant, unused;
  logic [Readers-1:0] owner, unused_chosen;
  assign unused = &{1'b0, unused_grant, unused_chosen};
  rhz_mem_grants #(.Count(Readers), .Bursts(Bursts), .Turns(Turns)) u_grants (
    .clk_i, .rst_ni, .s_axi_avalid(s_axi_arvalid), .s_axi_aready(s_axi_arready),
    .s_axi_aaddr(s_axi_araddr), .s_axi_alen(s_axi_arlen), .m_axi_avalid(m_axi_arvalid),
    .m_axi_aready(m_axi_arready), .m_axi_aaddr(m_axi_araddr), .m_axi_alen(m_axi_arlen),
    .grant_o(unused_grant), .chosen_o(unused_chosen), .done_i(done), .owner_o(owner)
  );
  assign done         = m_axi_rvalid && m_axi_rready && m_axi_rlast;
  assign m_axi_rready = (owner & s_axi_rready) != '0;
  assign s_axi_rvalid = m_axi_rvalid ? owner : '0;
  assign s_axi_rdata  = m_axi_rdata;
  assign s_axi_rlast  = m_axi_rlast;
endmodule
