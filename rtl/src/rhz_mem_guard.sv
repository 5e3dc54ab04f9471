// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands between a design that is reset while it reads (clear_ni) and its memory, which
// is not: a request that was not yet taken stays until it is, and beats that were
// requested before are dropped. Until the last of them the design's requests wait.
// Otherwise everything passes in the same cycle.
module rhz_mem_guard #(
  parameter int Width = 64
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clear_ni,
  input  logic s_axi_arvalid,
  output logic s_axi_arready,
  input  logic [63:0] s_axi_araddr,
  input  logic [7:0] s_axi_arlen,
  output logic s_axi_rvalid,
  input  logic s_axi_rready,
  output logic [Width-1:0] s_axi_rdata,
  output logic s_axi_rlast,
  output logic m_axi_arvalid,
  input  logic m_axi_arready,
  output logic [63:0] m_axi_araddr,
  output logic [7:0] m_axi_arlen,
  input  logic m_axi_rvalid,
  output logic m_axi_rready,
  input  logic [Width-1:0] m_axi_rdata,
  input  logic m_axi_rlast
);
  // Of more beats than a chip has room for.
  localparam int OwedW = 20;

  // Beats that the memory owes, and a request that it has not taken.
  logic [OwedW-1:0] owed_q, asked;
  logic was_cleared_q, waits_q, is_dropping, may_ask;
  logic [63:0] addr_q;
  logic [7:0] len_q;
  assign is_dropping   = was_cleared_q && (waits_q || owed_q != '0);
  assign may_ask       = clear_ni || waits_q;
  assign m_axi_arvalid = is_dropping ? waits_q : (s_axi_arvalid && may_ask);
  assign m_axi_araddr  = is_dropping ? addr_q : s_axi_araddr;
  assign m_axi_arlen   = is_dropping ? len_q : s_axi_arlen;
  assign s_axi_arready = m_axi_arready && may_ask && !is_dropping;
  assign m_axi_rready  = s_axi_rready || is_dropping;
  assign s_axi_rvalid  = m_axi_rvalid && !is_dropping;
  assign s_axi_rdata   = m_axi_rdata;
  assign s_axi_rlast   = m_axi_rlast;
  assign asked = (m_axi_arvalid && m_axi_arready) ? OwedW'(m_axi_arlen) + OwedW'(1) : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owed_q        <= '0;
      waits_q       <= 1'b0;
      was_cleared_q <= 1'b0;
    end else begin
      owed_q        <= owed_q + asked - OwedW'(m_axi_rvalid && m_axi_rready);
      waits_q       <= m_axi_arvalid && !m_axi_arready;
      was_cleared_q <= !clear_ni || is_dropping;
      addr_q        <= m_axi_araddr;
      len_q         <= m_axi_arlen;
    end
  end
endmodule
