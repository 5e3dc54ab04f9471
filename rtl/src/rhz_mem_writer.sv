// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a stream to a buffer outside the chip from base_i on, once after each
// start_i: rounds of Words beats as in rhz_mem_rounds. A burst is asked for once all
// its beats are in the input buffer, so that it never holds up the memory; its data
// may come before its request is taken. At most InFlight bursts have no answer.
// busy_o falls when the last one has its answer. error_o is high for a cycle after
// an answer that is SLVERR or DECERR.
module rhz_mem_writer #(
  parameter int DataWidth = 64,
  parameter int Words     = 4,
  parameter int Burst     = 4,
  parameter int Lanes     = 1,
  parameter int InFlight  = 8,
  parameter int Depth     = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   start_i,
  input  logic [63:0]            base_i,
  input  logic [31:0]            items_i,
  output logic                   busy_o,
  output logic                   error_o,
  input  logic                   in_valid_i,
  output logic                   in_ready_o,
  input  logic [DataWidth-1:0]   in_data_i,
  output logic                   m_axi_awvalid,
  input  logic                   m_axi_awready,
  output logic [63:0]            m_axi_awaddr,
  output logic [7:0]             m_axi_awlen,
  output logic                   m_axi_wvalid,
  input  logic                   m_axi_wready,
  output logic [DataWidth-1:0]   m_axi_wdata,
  output logic [DataWidth/8-1:0] m_axi_wstrb,
  output logic                   m_axi_wlast,
  input  logic [1:0]             m_axi_bresp,
  input  logic                   m_axi_bvalid,
  output logic                   m_axi_bready
);
  localparam int Bursts   = (Words + Burst - 1) / Burst;
  localparam int LastLen  = Words - (Bursts - 1) * Burst;
  localparam int FullLen  = (Words < Burst) ? Words : Burst;
  localparam int FillW    = $clog2(Depth + 1);
  localparam int FlightW  = $clog2(InFlight + 1);
  if (Depth < FullLen) begin : gen_bad_depth
    initial $fatal(1, "rhz_mem_writer: Depth %0d is less than a burst of %0d", Depth, FullLen);
  end

  // Beats that came and that no burst has claimed, and bursts without an answer.
  logic fire, last, take, more, answer, busy_q;
  logic full_there_q, last_there_q, few_q;
  logic [FillW-1:0] fill_q, fill_d, length;
  logic [FlightW-1:0] flight_q, flight_d;
  rhz_mem_rounds #(
    .DataWidth(DataWidth), .Words(Words), .Burst(Burst), .Lanes(Lanes)
  ) u_rounds (
    .clk_i, .rst_ni, .start_i, .base_i, .items_i, .more_o(more),
    .may_i((last ? last_there_q : full_there_q) && few_q), .fire_o(fire), .last_o(last),
    .m_axi_avalid(m_axi_awvalid), .m_axi_aready(m_axi_awready),
    .m_axi_aaddr(m_axi_awaddr), .m_axi_alen(m_axi_awlen)
  );
  assign length       = last ? FillW'(LastLen) : FillW'(FullLen);
  assign fill_d       = fill_q - (fire ? length : '0) + FillW'(take);
  assign answer       = m_axi_bvalid;
  assign flight_d     = flight_q + FlightW'(fire) - FlightW'(answer);
  assign m_axi_bready = 1'b1;
  assign busy_o       = busy_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q       <= '0;
      full_there_q <= 1'b0;
      last_there_q <= 1'b0;
      flight_q     <= '0;
      few_q        <= 1'b1;
      busy_q       <= 1'b0;
      error_o      <= 1'b0;
    end else begin
      fill_q       <= fill_d;
      full_there_q <= fill_d >= FillW'(FullLen);
      last_there_q <= fill_d >= FillW'(LastLen);
      flight_q     <= flight_d;
      few_q        <= flight_d != FlightW'(InFlight);
      busy_q       <= start_i || more || flight_q != '0;
      error_o      <= answer && m_axi_bresp[1];
    end
  end

  logic credit, there, sends, unused;
  assign unused      = &{1'b0, m_axi_bresp[0]};
  assign in_ready_o  = credit;
  assign take        = in_valid_i && credit;
  assign m_axi_wstrb = '1;
  rhz_outbuf #(.Width(DataWidth), .Depth(Depth)) u_buffer (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(take), .push_i(take), .push_data_i(in_data_i),
    .out_valid_o(there), .out_ready_i(sends), .out_data_o(m_axi_wdata)
  );
  rhz_mem_beats #(.Words(Words), .Burst(Burst), .InFlight(InFlight)) u_beats (
    .clk_i, .rst_ni, .claim_i(fire), .there_i(there), .sends_o(sends), .m_axi_wvalid,
    .m_axi_wready, .m_axi_wlast
  );
endmodule
