// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The requests of one side of a ring outside the chip: Slots places of Burst beats
// from page Page of 4 KiB on, for frames of Beats beats, of which each begins in a
// place of its own. fire_o makes the next request, which stands at the port from the
// next cycle on; it may be made if may_i is high. last_o: it is the frame's last one,
// of LastLen beats. made_o is high in the cycle after, in which none is made: may_i counts
// a request from the second cycle on. Places begin at multiples of their length, so
// that no burst crosses 4 KiB.
module rhz_ring_requests #(
  parameter int DataWidth = 64,
  parameter int Beats     = 4,
  parameter int Burst     = 4,
  parameter int Slots     = 2,
  parameter int Page      = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        may_i,
  output logic        fire_o,
  output logic        last_o,
  output logic        made_o,
  output logic        m_axi_avalid,
  input  logic        m_axi_aready,
  output logic [63:0] m_axi_aaddr,
  output logic [7:0]  m_axi_alen
);
  localparam int Bytes     = DataWidth / 8;
  localparam int Bursts    = (Beats + Burst - 1) / Burst;
  localparam int LastLen   = Beats - (Bursts - 1) * Burst;
  localparam int Pages     = (Slots * Burst - 1) / (4096 / Bytes) + 1;
  localparam int AddrWidth = 12 + $clog2(Page + Pages);
  localparam int Low       = $clog2(Burst * Bytes);
  localparam int CountW    = (Bursts > 1) ? $clog2(Bursts) : 1;
  localparam int SlotW     = $clog2(Slots);
  localparam logic [AddrWidth-1:0] Base = AddrWidth'(64'(Page) << 12);

  logic fire, last, wraps, avalid_q, made_q, short_q, unused;
  logic [CountW-1:0] unused_count;
  logic [SlotW-1:0] unused_slot;
  logic [AddrWidth-1:Low] next_q, addr_q;
  assign unused = &{1'b0, unused_count, unused_slot};
  rhz_counter #(.Count(Bursts)) u_burst (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_count), .last_o(last)
  );
  rhz_counter #(.Count(Slots)) u_slot (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_slot), .last_o(wraps)
  );
  assign fire = may_i && !made_q && (!avalid_q || m_axi_aready);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      avalid_q <= 1'b0;
      made_q   <= 1'b0;
      next_q   <= Base[AddrWidth-1:Low];
    end else begin
      avalid_q <= fire || (avalid_q && !m_axi_aready);
      made_q   <= fire;
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
  assign made_o       = made_q;
  assign m_axi_avalid = avalid_q;
  assign m_axi_aaddr  = 64'(addr_q) << Low;
  assign m_axi_alen   = short_q ? 8'(LastLen - 1) : 8'(Burst - 1);
endmodule
