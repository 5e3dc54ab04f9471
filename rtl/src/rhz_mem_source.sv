// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a buffer outside the chip from base_i on, once after each start_i, and puts
// it out as a stream: rounds of Words beats as in rhz_mem_rounds. A burst is asked
// for once the output buffer has places for all its beats, so that the memory never
// waits for us. A beat that arrives in cycle t is visible from t + Latency on;
// Latency = 1 + V. error_o is high for a cycle after one that came with SLVERR or
// DECERR.
module rhz_mem_source #(
  parameter int DataWidth = 64,
  parameter int Words     = 4,
  parameter int Burst     = 4,
  parameter int Lanes     = 1,
  parameter int Once      = 0,
  parameter int Depth     = 8,
  parameter int Latency   = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [63:0]          base_i,
  input  logic [31:0]          items_i,
  output logic                 m_axi_arvalid,
  input  logic                 m_axi_arready,
  output logic [63:0]          m_axi_araddr,
  output logic [7:0]           m_axi_arlen,
  input  logic                 m_axi_rvalid,
  output logic                 m_axi_rready,
  input  logic [DataWidth-1:0] m_axi_rdata,
  input  logic [1:0]           m_axi_rresp,
  input  logic                 m_axi_rlast,
  output logic                 error_o,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [DataWidth-1:0] out_data_o
);
  localparam int Lat       = 1 + ((Depth > 64) ? 2 : 1);
  localparam int Bursts    = (Words + Burst - 1) / Burst;
  localparam int LastLen   = Words - (Bursts - 1) * Burst;
  localparam int FullLen   = (Words < Burst) ? Words : Burst;
  localparam int RoomWidth = $clog2(Depth + 1);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_mem_source: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Depth < FullLen) begin : gen_bad_depth
    initial $fatal(1, "rhz_mem_source: Depth %0d is less than a burst of %0d", Depth, FullLen);
  end

  // Places of the output buffer that no burst has reserved.
  logic fire, last, pop, more, credit, unused;
  logic full_fits_q, last_fits_q;
  logic [RoomWidth-1:0] room_q, room_d, length;
  assign unused = &{1'b0, m_axi_rlast, m_axi_rresp[0], more, credit};
  rhz_mem_rounds #(
    .DataWidth(DataWidth), .Words(Words), .Burst(Burst), .Lanes(Lanes), .Once(Once)
  ) u_rounds (
    .clk_i, .rst_ni, .start_i, .base_i, .items_i, .more_o(more),
    .may_i(last ? last_fits_q : full_fits_q), .fire_o(fire), .last_o(last),
    .m_axi_avalid(m_axi_arvalid), .m_axi_aready(m_axi_arready),
    .m_axi_aaddr(m_axi_araddr), .m_axi_alen(m_axi_arlen)
  );
  assign length = last ? RoomWidth'(LastLen) : RoomWidth'(FullLen);
  assign pop    = out_valid_o && out_ready_i;
  assign room_d = room_q - (fire ? length : '0) + RoomWidth'(pop);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      room_q      <= RoomWidth'(Depth);
      full_fits_q <= 1'b1;
      last_fits_q <= 1'b1;
    end else begin
      room_q      <= room_d;
      full_fits_q <= room_d >= RoomWidth'(FullLen);
      last_fits_q <= room_d >= RoomWidth'(LastLen);
    end
  end

  logic push_q;
  logic [DataWidth-1:0] data_q;
  assign m_axi_rready = 1'b1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      push_q  <= 1'b0;
      error_o <= 1'b0;
    end else begin
      push_q  <= m_axi_rvalid;
      error_o <= m_axi_rvalid && m_axi_rresp[1];
    end
  end
  always_ff @(posedge clk_i) data_q <= m_axi_rdata;
  rhz_outbuf #(.Width(DataWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(push_q), .push_i(push_q),
    .push_data_i(data_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
