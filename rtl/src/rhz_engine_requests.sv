// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The readers of a memory port: of those that ask one is picked, round robin, and asks the
// memory two cycles later; at most one in two cycles. Beats go back in the order of the
// requests without delay. Bursts is what all may have on their way together. base_i, in
// pages of 4 KiB, is where what lies behind the port begins.
module rhz_engine_requests #(
  parameter int Readers = 2,
  parameter int Bursts  = 16
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [51:0]           base_i,
  input  logic [Readers-1:0]    s_axi_arvalid,
  output logic [Readers-1:0]    s_axi_arready,
  input  logic [Readers*64-1:0] s_axi_araddr,
  input  logic [Readers*8-1:0]  s_axi_arlen,
  output logic [Readers-1:0]    s_axi_rvalid,
  output logic                  m_axi_arvalid,
  input  logic                  m_axi_arready,
  output logic [63:0]           m_axi_araddr,
  output logic [7:0]            m_axi_arlen,
  input  logic                  m_axi_rvalid,
  output logic                  m_axi_rready,
  input  logic                  m_axi_rlast
);
  // The first reader from the one after the last that was picked on.
  logic [Readers-1:0] pick, pick_q, after_q, later;
  logic picks, room, owned;
  assign later = s_axi_arvalid & after_q;
  always_comb begin
    pick = (later != '0) ? later & (~later + Readers'(1))
                         : s_axi_arvalid & (~s_axi_arvalid + Readers'(1));
  end
  // A reader that is picked still asks in the cycle after.
  assign picks = room && pick_q == '0 && (!m_axi_arvalid || m_axi_arready);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pick_q        <= '0;
      after_q       <= '0;
      m_axi_arvalid <= 1'b0;
    end else begin
      pick_q        <= picks ? pick : '0;
      m_axi_arvalid <= pick_q != '0 || (m_axi_arvalid && !m_axi_arready);
      for (int i = 0; i < Readers; i++)
        if (pick_q != '0) after_q[i] <= (pick_q & Readers'((1 << i) - 1)) != '0;
    end
  end
  assign s_axi_arready = pick_q;

  logic [63:0] address;
  logic [7:0] length;
  always_comb begin
    address = '0;
    length  = '0;
    for (int i = 0; i < Readers; i++)
      if (pick_q[i]) begin
        address = address | s_axi_araddr[i*64 +: 64];
        length  = length | s_axi_arlen[i*8 +: 8];
      end
  end
  always_ff @(posedge clk_i) begin
    if (pick_q != '0) begin
      m_axi_araddr <= {base_i + address[63:12], address[11:0]};
      m_axi_arlen  <= length;
    end
  end

  // Whose beats come.
  logic [Readers-1:0] owner;
  rhz_engine_fifo #(.Width(Readers), .Depth(Bursts)) u_owners (
    .clk_i, .rst_ni, .credit_o(room), .take_i(pick_q != '0), .push_i(pick_q != '0),
    .push_data_i(pick_q), .out_valid_o(owned), .out_ready_i(m_axi_rvalid && m_axi_rlast),
    .out_data_o(owner)
  );
  assign m_axi_rready = owned;
  assign s_axi_rvalid = (m_axi_rvalid && owned) ? owner : '0;
endmodule
