// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The head of a load chain that is fed from a memory outside the chip: after
// reset it reads Words beats from page Page of 4 KiB on, once, and puts each into
// the chain as words of Load bits, the lowest first, from Latency = 1 cycle after
// it came. The chain takes a word in every cycle; beats of several words wait for
// each other in the memory. At most InFlight bursts are on their way.
module rhz_load_reader #(
  parameter int DataWidth = 64,
  parameter int Load      = 64,
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
  output logic [Load-1:0]      load_data_o
);
  localparam int Pieces  = DataWidth / Load;
  localparam int FlightW = $clog2(InFlight + 1);
  if (Latency != 0 && Latency != 1) begin : gen_bad_latency
    initial $fatal(1, "rhz_load_reader: Latency %0d given, 1 built", Latency);
  end

  logic fire, done, unused_last;
  logic [FlightW-1:0] flying_q;
  assign done = m_axi_rvalid && m_axi_rready && m_axi_rlast;
  rhz_mem_requests #(
    .DataWidth(DataWidth), .Words(Words), .Burst(Burst), .Page(Page), .Once(1)
  ) u_requests (
    .clk_i, .rst_ni, .may_i(flying_q != FlightW'(InFlight)), .fire_o(fire),
    .last_o(unused_last), .m_axi_avalid(m_axi_arvalid), .m_axi_aready(m_axi_arready),
    .m_axi_aaddr(m_axi_araddr), .m_axi_alen(m_axi_arlen)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) flying_q <= '0;
    else         flying_q <= flying_q + FlightW'(fire) - FlightW'(done);
  end

  if (Pieces == 1) begin : gen_single
    assign m_axi_rready = 1'b1;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) load_valid_o <= 1'b0;
      else         load_valid_o <= m_axi_rvalid;
    end
    always_ff @(posedge clk_i) load_data_o <= m_axi_rdata;
  end else begin : gen_pieces
    localparam int PieceW = $clog2(Pieces);
    logic busy_q, take, last_piece;
    logic [PieceW-1:0] unused_piece;
    logic [DataWidth-1:0] beat_q;
    assign m_axi_rready = !busy_q || last_piece;
    assign take         = m_axi_rvalid && m_axi_rready;
    rhz_counter #(.Count(Pieces)) u_piece (
      .clk_i, .rst_ni, .en_i(busy_q), .value_o(unused_piece), .last_o(last_piece)
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni) busy_q <= 1'b0;
      else         busy_q <= take || (busy_q && !last_piece);
    end
    always_ff @(posedge clk_i) beat_q <= take ? m_axi_rdata : beat_q >> Load;
    assign load_valid_o = busy_q;
    assign load_data_o  = beat_q[Load-1:0];
  end
endmodule
