// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The requests of a mover between a buffer outside the chip and a stream: rounds of
// Words beats, for as many as items_i says after each start_i, Lanes items a round;
// with Once a single round. A round begins where the last burst of the one before
// would end if it were whole, so that the address only counts up from base_i, a
// multiple of 4 KiB; bursts begin at multiples of their length and never cross
// 4 KiB. fire_o makes the next request, which stands at the port from the next
// cycle on; it may be made if may_i is high. last_o: it is a round's last one, of
// LastLen beats. more_o: another one will be made.
module rhz_mem_rounds #(
  parameter int DataWidth = 64,
  parameter int Words     = 4,
  parameter int Burst     = 4,
  parameter int Lanes     = 1,
  parameter int Once      = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic [63:0] base_i,
  input  logic [31:0] items_i,
  output logic        more_o,
  input  logic        may_i,
  output logic        fire_o,
  output logic        last_o,
  output logic        m_axi_avalid,
  input  logic        m_axi_aready,
  output logic [63:0] m_axi_aaddr,
  output logic [7:0]  m_axi_alen
);
  localparam int Bursts  = (Words + Burst - 1) / Burst;
  localparam int LastLen = Words - (Bursts - 1) * Burst;
  localparam int FullLen = (Words < Burst) ? Words : Burst;
  localparam int Low     = $clog2(Burst * (DataWidth / 8));
  localparam int CountW  = (Bursts > 1) ? $clog2(Bursts) : 1;

  logic fire, last, more_q, avalid_q, ends, unused;
  logic [63:Low] next_q, addr_q;
  logic [7:0] len_q;
  logic [CountW-1:0] unused_count;
  assign unused = &{1'b0, unused_count, base_i[Low-1:0]};
  rhz_counter #(.Count(Bursts)) u_burst (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_count), .last_o(last)
  );
  if (Once != 0) begin : gen_once
    assign ends = 1'b1;
  end else begin : gen_rounds
    // That these are the last items is known before they are asked for.
    logic [31:0] left_q;
    logic few_q;
    always_ff @(posedge clk_i) begin
      if (start_i) begin
        left_q <= items_i;
        few_q  <= items_i <= 32'(Lanes);
      end else if (fire && last) begin
        left_q <= left_q - 32'(Lanes);
        few_q  <= left_q <= 32'(2 * Lanes);
      end
    end
    assign ends = few_q;
  end
  assign fire = may_i && more_q && (!avalid_q || m_axi_aready);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      more_q   <= 1'b0;
      avalid_q <= 1'b0;
    end else begin
      more_q   <= start_i ? items_i != '0 : more_q && !(fire && last && ends);
      avalid_q <= fire || (avalid_q && !m_axi_aready);
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i)   next_q <= base_i[63:Low];
    else if (fire) next_q <= next_q + (64-Low)'(1);
    if (fire) begin
      addr_q <= next_q;
      len_q  <= last ? 8'(LastLen - 1) : 8'(FullLen - 1);
    end
  end
  assign more_o       = more_q;
  assign fire_o       = fire;
  assign last_o       = last;
  assign m_axi_avalid = avalid_q;
  assign m_axi_aaddr  = {addr_q, Low'(0)};
  assign m_axi_alen   = len_q;
endmodule
