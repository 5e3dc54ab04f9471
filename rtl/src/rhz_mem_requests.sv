// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The requests of one side of a part of a memory outside the chip: bursts of rounds
// of Words beats from page Page of 4 KiB on, or with Once of a single round. Rounds
// all begin there; with Slots they follow each other in a ring of so many places of
// Burst beats. fire_o makes the next request, which stands at the port from the next
// cycle on; it may be made if may_i is high. last_o: it is a round's last one, of
// LastLen beats. Bursts begin at multiples of their length and so never cross 4 KiB.
module rhz_mem_requests #(
  parameter int DataWidth = 64,
  parameter int Words     = 4,
  parameter int Burst     = 4,
  parameter int Page      = 0,
  parameter int Slots     = 0,
  parameter int Once      = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        may_i,
  output logic        fire_o,
  output logic        last_o,
  output logic        m_axi_avalid,
  input  logic        m_axi_aready,
  output logic [63:0] m_axi_aaddr,
  output logic [7:0]  m_axi_alen
);
  localparam int Bytes     = DataWidth / 8;
  localparam int Bursts    = (Words + Burst - 1) / Burst;
  localparam int LastLen   = Words - (Bursts - 1) * Burst;
  localparam int Beats     = (Slots != 0) ? Slots * Burst : Words;
  localparam int Pages     = (Beats - 1) / (4096 / Bytes) + 1;
  localparam int Low       = $clog2(Burst * Bytes);
  localparam int Top       = 12 + $clog2(Page + Pages);
  localparam int AddrWidth = (Top > Low) ? Top : Low + 1;   // a single burst is a page
  localparam int CountW    = (Bursts > 1) ? $clog2(Bursts) : 1;
  localparam logic [AddrWidth-1:0] Base = AddrWidth'(64'(Page) << 12);

  logic fire, last, wraps, asked, avalid_q, short_q, unused;
  logic [CountW-1:0] unused_count;
  logic [AddrWidth-1:Low] next_q, addr_q;
  assign unused = &{1'b0, unused_count};
  rhz_counter #(.Count(Bursts)) u_burst (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_count), .last_o(last)
  );
  if (Slots != 0) begin : gen_ring
    logic [$clog2(Slots)-1:0] unused_slot;
    logic unused_slots;
    rhz_counter #(.Count(Slots)) u_slot (
      .clk_i, .rst_ni, .en_i(fire), .value_o(unused_slot), .last_o(wraps)
    );
    assign unused_slots = &{1'b0, unused_slot};
  end else begin : gen_rounds
    assign wraps = last;
  end
  if (Once != 0) begin : gen_once
    logic asked_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) asked_q <= 1'b0;
      else         asked_q <= asked_q || (fire && last);
    end
    assign asked = asked_q;
  end else begin : gen_always
    assign asked = 1'b0;
  end
  assign fire = may_i && !asked && (!avalid_q || m_axi_aready);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      avalid_q <= 1'b0;
      next_q   <= Base[AddrWidth-1:Low];
    end else begin
      avalid_q <= fire || (avalid_q && !m_axi_aready);
      if (fire) next_q <= wraps ? Base[AddrWidth-1:Low] : next_q + (AddrWidth-Low)'(1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire) begin
      addr_q  <= next_q;
      short_q <= last;
    end
  end
  assign fire_o       = fire;
  assign last_o       = last;
  assign m_axi_avalid = avalid_q;
  assign m_axi_aaddr  = 64'(addr_q) << Low;
  assign m_axi_alen   = short_q ? 8'(LastLen - 1) : 8'(Burst - 1);
endmodule
