// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a segment of a memory outside the chip, Words beats from page Page of
// 4 KiB on, round after round, and puts them out as a stream. A burst is asked
// for once the output buffer has places for all its beats, so that the memory
// never waits for us and bursts are on their way while others are used. Bursts
// begin at multiples of their length and so never cross 4 KiB; a round's last
// one may be shorter. Group bursts are asked for in a row, once there are places
// for so many: where readers share a memory, it goes on elsewhere less often. A beat
// that arrives in cycle t is visible from t + Latency
// on; Latency = 1 + V.
module rhz_mem_reader #(
  parameter int DataWidth = 64,
  parameter int Words     = 4,
  parameter int Burst     = 4,
  parameter int Page      = 0,
  parameter int Group     = 1,
  parameter int Depth     = 8,
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
    initial $fatal(1, "rhz_mem_reader: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Depth < Group * Burst) begin : gen_bad_depth
    initial $fatal(1, "rhz_mem_reader: Depth %0d is less than %0d bursts of %0d", Depth, Group, Burst);
  end

  // Places of the output buffer that no burst has reserved.
  logic fire, fits, last, pop;
  logic full_fits_q, last_fits_q;
  logic [RoomWidth-1:0] room_q, room_d, length;
  rhz_mem_requests #(
    .DataWidth(DataWidth), .Words(Words), .Burst(Burst), .Page(Page)
  ) u_requests (
    .clk_i, .rst_ni, .may_i(fits), .fire_o(fire), .last_o(last), .m_axi_avalid(m_axi_arvalid),
    .m_axi_aready(m_axi_arready), .m_axi_aaddr(m_axi_araddr), .m_axi_alen(m_axi_arlen)
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
      full_fits_q <= room_d >= RoomWidth'(Group * FullLen);
      last_fits_q <= room_d >= RoomWidth'(LastLen);
    end
  end
  if (Group == 1) begin : gen_burst
    assign fits = last ? last_fits_q : full_fits_q;
  end else begin : gen_group
    // Places for all of a group are there when it begins.
    localparam int PlaceW = $clog2(Group);
    logic [PlaceW-1:0] place_q;
    logic started_q, unused;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        place_q  <= '0;
        started_q <= 1'b0;
      end else if (fire) begin
        place_q  <= (last || place_q == PlaceW'(Group - 1)) ? '0 : place_q + PlaceW'(1);
        started_q <= !last && place_q != PlaceW'(Group - 1);
      end
    end
    assign fits   = started_q || full_fits_q;
    assign unused = &{1'b0, last_fits_q};
  end

  logic push_q;
  logic [DataWidth-1:0] data_q;
  assign m_axi_rready = 1'b1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) push_q <= 1'b0;
    else         push_q <= m_axi_rvalid;
  end
  always_ff @(posedge clk_i) data_q <= m_axi_rdata;

  logic credit, unused;
  assign unused = &{1'b0, m_axi_rlast, credit};
  rhz_outbuf #(.Width(DataWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(push_q), .push_i(push_q),
    .push_data_i(data_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
