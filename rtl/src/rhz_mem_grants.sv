// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The requests of several ports at one: granted round robin, one a cycle. One that
// still asks is granted several in a row before others, as many as its character of
// Turns says ('1' to '?', 15; empty: one each). grant_o: chosen_o has the bit of the one
// that is granted. Its request is at the memory a cycle later. At most Bursts are
// granted and not done; owner_o is whose the first of them is, 0 if there is none.
module rhz_mem_grants #(
  parameter int Count  = 2,
  parameter int Bursts = 8,
  parameter     Turns  = ""
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [Count-1:0]    s_axi_avalid,
  output logic [Count-1:0]    s_axi_aready,
  input  logic [Count*64-1:0] s_axi_aaddr,
  input  logic [Count*8-1:0]  s_axi_alen,
  output logic                m_axi_avalid,
  input  logic                m_axi_aready,
  output logic [63:0]         m_axi_aaddr,
  output logic [7:0]          m_axi_alen,
  output logic                grant_o,
  output logic [Count-1:0]    chosen_o,
  input  logic                done_i,
  output logic [Count-1:0]    owner_o
);
  // The first of those that ask after the one that was granted last.
  logic can, grant, full, stays;
  logic [Count-1:0] after_q, above, kept, first, chosen;
  rhz_mem_turn #(.Count(Count)) u_turn (
    .ask_i(s_axi_avalid), .after_i(after_q), .chosen_o(first), .above_o(above)
  );
  assign chosen       = stays ? kept : first;
  assign can          = !full && (!m_axi_avalid || m_axi_aready);
  assign grant        = can && s_axi_avalid != '0;
  assign s_axi_aready = can ? chosen : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)              after_q <= '0;
    else if (grant && !stays) after_q <= above;
  end

  // The one granted last stays if its turn is not over.
  if (Turns == "") begin : gen_single
    assign stays = 1'b0;
    assign kept  = '0;
  end else begin : gen_turns
    localparam logic [8*Count-1:0] Text = Turns;
    logic [Count-1:0] owner_q;
    logic [3:0] left_q, turn;
    assign kept  = s_axi_avalid & owner_q;
    assign stays = left_q != '0 && kept != '0;
    always_comb begin
      turn = '0;
      for (int i = 0; i < Count; i++)
        turn = turn | ({4{chosen[i]}} & (Text[8*(Count-1-i) +: 4] - 4'd1));
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni)    left_q <= '0;
      else if (grant) left_q <= stays ? left_q - 4'd1 : turn;
    end
    always_ff @(posedge clk_i) if (grant) owner_q <= chosen;
  end

  logic [63:0] address;
  logic [7:0] length;
  always_comb begin
    address = '0;
    length  = '0;
    for (int i = 0; i < Count; i++) begin
      if (chosen[i]) begin
        address = address | s_axi_aaddr[i*64 +: 64];
        length  = length | s_axi_alen[i*8 +: 8];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) m_axi_avalid <= 1'b0;
    else         m_axi_avalid <= grant || (m_axi_avalid && !m_axi_aready);
  end
  always_ff @(posedge clk_i) begin
    if (grant) begin
      m_axi_aaddr <= address;
      m_axi_alen  <= length;
    end
  end

  assign grant_o  = grant;
  assign chosen_o = chosen;
  rhz_mem_owners #(.Count(Count), .Bursts(Bursts)) u_owners (
    .clk_i, .rst_ni, .push_i(grant), .owner_i(chosen), .pop_i(done_i), .owner_o, .full_o(full)
  );
endmodule
