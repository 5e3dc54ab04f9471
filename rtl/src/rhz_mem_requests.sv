// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The requests of a reader of a memory outside the chip: bursts of a segment of
// Words beats from page Page of 4 KiB on, round after round, or with Once a single
// round. fire_o makes the next request, which stands at the port from the next
// cycle on; it may be made if may_i is high. last_o: it is a round's last one, of
// LastLen beats. Bursts begin at multiples of their length and so never cross
// 4 KiB.
module rhz_mem_requests #(
  parameter int DataWidth = 64,
  parameter int Words     = 4,
  parameter int Burst     = 4,
  parameter int Page      = 0,
  parameter int Once      = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        may_i,
  output logic        fire_o,
  output logic        last_o,
  output logic        m_axi_arvalid,
  input  logic        m_axi_arready,
  output logic [63:0] m_axi_araddr,
  output logic [7:0]  m_axi_arlen
);
  localparam int Bytes     = DataWidth / 8;
  localparam int Bursts    = (Words + Burst - 1) / Burst;
  localparam int LastLen   = Words - (Bursts - 1) * Burst;
  localparam int FullLen   = (Words < Burst) ? Words : Burst;
  localparam int Pages     = (Words - 1) / (4096 / Bytes) + 1;
  localparam int AddrWidth = 12 + $clog2(Page + Pages);
  localparam int CountW    = (Bursts > 1) ? $clog2(Bursts) : 1;
  localparam logic [AddrWidth-1:0] Base = AddrWidth'(64'(Page) << 12);

  logic fire, last, asked, arvalid_q, unused;
  logic [AddrWidth-1:0] next_q, araddr_q;
  logic [7:0] arlen_q;
  logic [CountW-1:0] unused_count;
  assign unused = &{1'b0, unused_count};
  rhz_counter #(.Count(Bursts)) u_burst (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_count), .last_o(last)
  );
  if (Once != 0) begin : gen_once
    logic asked_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) asked_q <= 1'b0;
      else         asked_q <= asked_q || (fire && last);
    end
    assign asked = asked_q;
  end else begin : gen_rounds
    assign asked = 1'b0;
  end
  assign fire = may_i && !asked && (!arvalid_q || m_axi_arready);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      arvalid_q <= 1'b0;
      next_q    <= Base;
    end else begin
      arvalid_q <= fire || (arvalid_q && !m_axi_arready);
      if (fire) next_q <= last ? Base : next_q + AddrWidth'(Burst * Bytes);
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire) begin
      araddr_q <= next_q;
      arlen_q  <= last ? 8'(LastLen - 1) : 8'(FullLen - 1);
    end
  end
  assign fire_o        = fire;
  assign last_o        = last;
  assign m_axi_arvalid = arvalid_q;
  assign m_axi_araddr  = 64'(araddr_q);
  assign m_axi_arlen   = arlen_q;
endmodule
