// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several writers at one memory port: bursts are granted round robin, one a cycle;
// their data pass and their answers go back in the order of the grants, without
// delay. A request reaches the memory a cycle after its grant. Bursts is what the
// writers may have without an answer in all.
module rhz_mem_write_arbiter #(
  parameter int DataWidth = 64,
  parameter int Writers   = 2,
  parameter int Bursts    = 8
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic [Writers-1:0]           s_axi_awvalid,
  output logic [Writers-1:0]           s_axi_awready,
  input  logic [Writers*64-1:0]        s_axi_awaddr,
  input  logic [Writers*8-1:0]         s_axi_awlen,
  input  logic [Writers-1:0]           s_axi_wvalid,
  output logic [Writers-1:0]           s_axi_wready,
  input  logic [Writers*DataWidth-1:0] s_axi_wdata,
  input  logic [Writers-1:0]           s_axi_wlast,
  output logic [Writers-1:0]           s_axi_bvalid,
  input  logic [Writers-1:0]           s_axi_bready,
  output logic                         m_axi_awvalid,
  input  logic                         m_axi_awready,
  output logic [63:0]                  m_axi_awaddr,
  output logic [7:0]                   m_axi_awlen,
  output logic                         m_axi_wvalid,
  input  logic                         m_axi_wready,
  output logic [DataWidth-1:0]         m_axi_wdata,
  output logic                         m_axi_wlast,
  input  logic                         m_axi_bvalid,
  output logic                         m_axi_bready
);
  localparam int PtrWidth = (Bursts > 1) ? $clog2(Bursts) : 1;

  // The first of those that ask after the one that was granted last.
  logic can, grant, full_q;
  logic [Writers-1:0] after_q, later, chosen;
  assign later  = s_axi_awvalid & after_q;
  assign chosen = (later != '0) ? later & (~later + Writers'(1))
                                : s_axi_awvalid & (~s_axi_awvalid + Writers'(1));
  assign can    = !full_q && (!m_axi_awvalid || m_axi_awready);
  assign grant  = can && s_axi_awvalid != '0;
  assign s_axi_awready = can ? chosen : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)    after_q <= '0;
    else if (grant) after_q <= ~(chosen | (chosen - Writers'(1)));
  end
  logic [63:0] address;
  logic [7:0] length;
  always_comb begin
    address = '0;
    length  = '0;
    for (int i = 0; i < Writers; i++) begin
      if (chosen[i]) begin
        address = address | s_axi_awaddr[i*64 +: 64];
        length  = length | s_axi_awlen[i*8 +: 8];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) m_axi_awvalid <= 1'b0;
    else         m_axi_awvalid <= grant || (m_axi_awvalid && !m_axi_awready);
  end
  always_ff @(posedge clk_i) begin
    if (grant) begin
      m_axi_awaddr <= address;
      m_axi_awlen  <= length;
    end
  end

  // Whose the bursts are, in order: of those whose data are awaited, and of those
  // without an answer.
  logic sent, done, sends_q, some_q;
  logic [PtrWidth-1:0] write_ptr, data_ptr, answer_ptr;
  logic [PtrWidth:0] owed_q, owed_d, fill_q, fill_d;
  logic [2:0] unused_last;
  logic [Writers-1:0] owners [0:Bursts-1];
  logic [Writers-1:0] sender, owner;
  rhz_counter #(.Count(Bursts)) u_write (
    .clk_i, .rst_ni, .en_i(grant), .value_o(write_ptr), .last_o(unused_last[0])
  );
  rhz_counter #(.Count(Bursts)) u_data (
    .clk_i, .rst_ni, .en_i(sent), .value_o(data_ptr), .last_o(unused_last[1])
  );
  rhz_counter #(.Count(Bursts)) u_answer (
    .clk_i, .rst_ni, .en_i(done), .value_o(answer_ptr), .last_o(unused_last[2])
  );
  always_ff @(posedge clk_i) if (grant) owners[write_ptr] <= chosen;
  assign owed_d = owed_q + (PtrWidth+1)'(grant) - (PtrWidth+1)'(sent);
  assign fill_d = fill_q + (PtrWidth+1)'(grant) - (PtrWidth+1)'(done);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owed_q  <= '0;
      fill_q  <= '0;
      full_q  <= 1'b0;
      sends_q <= 1'b0;
      some_q  <= 1'b0;
    end else begin
      owed_q  <= owed_d;
      fill_q  <= fill_d;
      full_q  <= fill_d == (PtrWidth+1)'(Bursts);
      sends_q <= owed_d != '0;
      some_q  <= fill_d != '0;
    end
  end

  logic [DataWidth-1:0] data;
  assign sender = sends_q ? owners[data_ptr] : '0;
  always_comb begin
    data = '0;
    for (int i = 0; i < Writers; i++)
      if (sender[i]) data = data | s_axi_wdata[i*DataWidth +: DataWidth];
  end
  assign m_axi_wvalid = (sender & s_axi_wvalid) != '0;
  assign m_axi_wdata  = data;
  assign m_axi_wlast  = (sender & s_axi_wlast) != '0;
  assign s_axi_wready = m_axi_wready ? sender : '0;
  assign sent         = m_axi_wvalid && m_axi_wready && m_axi_wlast;

  assign owner        = some_q ? owners[answer_ptr] : '0;
  assign m_axi_bready = (owner & s_axi_bready) != '0;
  assign s_axi_bvalid = m_axi_bvalid ? owner : '0;
  assign done         = m_axi_bvalid && m_axi_bready;
endmodule
