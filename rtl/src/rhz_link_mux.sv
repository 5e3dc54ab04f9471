// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datagrams of several sources on one stream, whole and in turn; m_tdest is the
// source's dest_i. While hold_i no new one begins; idle_o: none is under way.
module rhz_link_mux #(
  parameter int Width   = 64,
  parameter int Sources = 2
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     hold_i,
  output logic                     idle_o,
  input  logic [Sources*16-1:0]    dest_i,
  input  logic [Sources-1:0]       in_valid_i,
  output logic [Sources-1:0]       in_ready_o,
  input  logic [Sources*Width-1:0] in_data_i,
  input  logic [Sources-1:0]       in_last_i,
  output logic [Width-1:0]         m_tdata,
  output logic [Width/8-1:0]       m_tkeep,
  output logic                     m_tvalid,
  input  logic                     m_tready,
  output logic                     m_tlast,
  output logic [15:0]              m_tdest
);
  logic [Sources-1:0] grant_q, above_q, next, late;
  logic               credit, move, ends;

  // The lowest that asks above the latest one, else the lowest.
  always_comb begin
    late = in_valid_i & above_q;
    if (late == '0) late = in_valid_i;
    next = late & (~late + Sources'(1));
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      grant_q <= '0;
      above_q <= '0;
    end else if (grant_q == '0) begin
      if (!hold_i) begin
        grant_q <= next;
        // All above a single one: those that adding it borrows from.
        if (next != '0) above_q <= ~(next | (next - Sources'(1)));
      end
    end else if (ends) begin
      grant_q <= '0;
    end
  end

  logic [Width-1:0] data;
  logic [15:0]      dest;
  always_comb begin
    data = '0;
    dest = '0;
    for (int i = 0; i < Sources; i = i + 1) begin
      data = data | (in_data_i[i*Width +: Width] & {Width{grant_q[i]}});
      dest = dest | (dest_i[i*16 +: 16] & {16{grant_q[i]}});
    end
  end
  assign in_ready_o = grant_q & {Sources{credit}};
  assign move       = |(grant_q & in_valid_i) && credit;
  assign ends       = |(grant_q & in_valid_i & in_last_i) && credit;
  assign idle_o     = grant_q == '0 && !m_tvalid;
  rhz_outbuf #(.Width(Width + 17), .Depth(2)) u_out (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(move), .push_i(move),
    .push_data_i({dest, ends, data}), .out_valid_o(m_tvalid), .out_ready_i(m_tready),
    .out_data_o({m_tdest, m_tlast, m_tdata})
  );
  assign m_tkeep = '1;
endmodule
