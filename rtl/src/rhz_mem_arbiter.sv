// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several readers at one memory port: bursts are granted round robin, one a
// cycle, and beats go back in the order of the grants. A reader that still asks
// is granted several in a row before others, as many as its character of Turns
// says ('1' to '?', 15; empty: one each), so that their shares follow their needs
// and the memory seldom goes on elsewhere. A request reaches the
// memory a cycle after its grant; beats pass without delay. Bursts is what the
// readers may have on their way in all.
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
  localparam int PtrWidth = (Bursts > 1) ? $clog2(Bursts) : 1;

  // The first of those that ask after the one that was granted last.
  logic can, grant, full_q, some_q;
  logic [Readers-1:0] after_q, later, chosen;
  assign later  = s_axi_arvalid & after_q;
  logic [Readers-1:0] stays;  // the one granted last, if its turn is not over
  assign chosen = (stays != '0) ? stays
                : (later != '0) ? later & (~later + Readers'(1))
                                : s_axi_arvalid & (~s_axi_arvalid + Readers'(1));
  assign can    = !full_q && (!m_axi_arvalid || m_axi_arready);
  assign grant  = can && s_axi_arvalid != '0;
  assign s_axi_arready = can ? chosen : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)    after_q <= '0;
    else if (grant) after_q <= ~(chosen | (chosen - Readers'(1)));
  end

  if (Turns == "") begin : gen_single
    assign stays = '0;
  end else begin : gen_turns
    localparam logic [8*Readers-1:0] Text = Turns;
    logic [Readers-1:0] owner_q;
    logic [3:0] left_q, turn;
    assign stays = (left_q != '0) ? s_axi_arvalid & owner_q : '0;
    always_comb begin
      turn = '0;
      for (int i = 0; i < Readers; i++)
        if (chosen[i]) turn = turn | (Text[8*(Readers-1-i) +: 4] - 4'd1);
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni)    left_q <= '0;
      else if (grant) left_q <= (stays != '0) ? left_q - 4'd1 : turn;
    end
    always_ff @(posedge clk_i) if (grant) owner_q <= chosen;
  end

  logic [63:0] address;
  logic [7:0] length;
  always_comb begin
    address = '0;
    length  = '0;
    for (int i = 0; i < Readers; i++) begin
      if (chosen[i]) begin
        address = address | s_axi_araddr[i*64 +: 64];
        length  = length | s_axi_arlen[i*8 +: 8];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) m_axi_arvalid <= 1'b0;
    else         m_axi_arvalid <= grant || (m_axi_arvalid && !m_axi_arready);
  end
  always_ff @(posedge clk_i) begin
    if (grant) begin
      m_axi_araddr <= address;
      m_axi_arlen  <= length;
    end
  end

  // Whose the bursts on their way are, in order.
  logic done;
  logic [PtrWidth-1:0] write_ptr, read_ptr;
  logic [PtrWidth:0] fill_q, fill_d;
  logic unused_write, unused_read;
  logic [Readers-1:0] owners [0:Bursts-1];
  logic [Readers-1:0] owner;
  rhz_counter #(.Count(Bursts)) u_write (
    .clk_i, .rst_ni, .en_i(grant), .value_o(write_ptr), .last_o(unused_write)
  );
  rhz_counter #(.Count(Bursts)) u_read (
    .clk_i, .rst_ni, .en_i(done), .value_o(read_ptr), .last_o(unused_read)
  );
  always_ff @(posedge clk_i) if (grant) owners[write_ptr] <= chosen;
  always_comb begin
    fill_d = fill_q;
    if (grant && !done)      fill_d = fill_q + (PtrWidth+1)'(1);
    else if (!grant && done) fill_d = fill_q - (PtrWidth+1)'(1);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q <= '0;
      full_q <= 1'b0;
      some_q <= 1'b0;
    end else begin
      fill_q <= fill_d;
      full_q <= fill_d == (PtrWidth+1)'(Bursts);
      some_q <= fill_d != '0;
    end
  end

  assign owner        = some_q ? owners[read_ptr] : '0;
  assign done         = m_axi_rvalid && m_axi_rready && m_axi_rlast;
  assign m_axi_rready = (owner & s_axi_rready) != '0;
  assign s_axi_rvalid = m_axi_rvalid ? owner : '0;
  assign s_axi_rdata  = m_axi_rdata;
  assign s_axi_rlast  = m_axi_rlast;
endmodule
