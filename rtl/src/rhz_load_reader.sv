// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The head of a load chain that is fed from a memory outside the chip: after
// reset it reads Words beats from page Page of 4 KiB on, once, and puts each
// into the chain, Latency = 1 cycle after it came. The chain takes a word in
// every cycle, so the memory never waits for us. Bursts begin at multiples of
// their length and so never cross 4 KiB; the last one may be shorter. At most
// InFlight of them are on their way.
module rhz_load_reader #(
  parameter int DataWidth = 64,
  parameter int Words     = 4,
  parameter int Burst     = 4,
  parameter int InFlight  = 4,
  parameter int Page      = 0,
  parameter int Latency   = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  output logic                 m_axi_arvalid,
  input  logic                 m_axi_arready,
  output logic [63:0]          m_axi_araddr,
  output logic [7:0]           m_axi_arlen,
  input  logic                 m_axi_rvalid,
  output logic                 m_axi_rready,
  input  logic [DataWidth-1:0] m_axi_rdata,
  input  logic                 m_axi_rlast,
  output logic                 load_valid_o,
  output logic [DataWidth-1:0] load_data_o
);
  localparam int Bytes     = DataWidth / 8;
  localparam int Bursts    = (Words + Burst - 1) / Burst;
  localparam int LastLen   = Words - (Bursts - 1) * Burst;
  localparam int FullLen   = (Words < Burst) ? Words : Burst;
  localparam int Pages     = (Words - 1) / (4096 / Bytes) + 1;
  localparam int AddrWidth = 12 + $clog2(Page + Pages);
  localparam int CountW    = (Bursts > 1) ? $clog2(Bursts) : 1;
  localparam int FlightW   = $clog2(InFlight + 1);
  if (Latency != 0 && Latency != 1) begin : gen_bad_latency
    initial $fatal(1, "rhz_load_reader: Latency %0d given, 1 built", Latency);
  end

  logic fire, last, done, unused;
  logic arvalid_q, asked_q;
  logic [AddrWidth-1:0] next_q, araddr_q;
  logic [7:0] arlen_q;
  logic [CountW-1:0] unused_count;
  logic [FlightW-1:0] flying_q;
  assign unused = &{1'b0, unused_count};
  assign done = m_axi_rvalid && m_axi_rlast;
  assign fire = !asked_q && (!arvalid_q || m_axi_arready) && flying_q != FlightW'(InFlight);
  rhz_counter #(.Count(Bursts)) u_burst (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_count), .last_o(last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      arvalid_q <= 1'b0;
      asked_q   <= 1'b0;
      flying_q  <= '0;
      next_q    <= AddrWidth'(Page) << 12;
    end else begin
      arvalid_q <= fire || (arvalid_q && !m_axi_arready);
      asked_q   <= asked_q || (fire && last);
      flying_q  <= flying_q + FlightW'(fire) - FlightW'(done);
      if (fire) next_q <= next_q + AddrWidth'(Burst * Bytes);
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire) begin
      araddr_q <= next_q;
      arlen_q  <= last ? 8'(LastLen - 1) : 8'(FullLen - 1);
    end
  end
  assign m_axi_arvalid = arvalid_q;
  assign m_axi_araddr  = 64'(araddr_q);
  assign m_axi_arlen   = arlen_q;
  assign m_axi_rready  = 1'b1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) load_valid_o <= 1'b0;
    else         load_valid_o <= m_axi_rvalid;
  end
  always_ff @(posedge clk_i) load_data_o <= m_axi_rdata;
endmodule
