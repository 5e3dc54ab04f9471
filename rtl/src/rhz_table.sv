// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// out = table[c][x - Lo], Entries words a channel in one file, ordered
// [fold·Lanes + lane][entry]. Every lane reads a memory of its own.
// Several Trips have their own tables, each for Uses pixels in a row.
// Latency = 4 + V.
module rhz_table #(
  parameter int Pixels   = 1,
  parameter int Lanes    = 1,
  parameter int InWidth  = 8,
  parameter int InSigned = 0,
  parameter int OutWidth = 8,
  parameter int Lo       = 0,
  parameter int Entries  = 256,
  parameter int OutFolds = 1,
  parameter int Trips    = 1,
  parameter int Uses     = 1,
  parameter int Block    = 0,   // 1: tables in block RAM
  parameter     TableFile = "",
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             in_valid_i,
  output logic                             in_ready_o,
  input  logic [Pixels*Lanes*InWidth-1:0]  in_data_i,
  output logic                             out_valid_o,
  input  logic                             out_ready_i,
  output logic [Pixels*Lanes*OutWidth-1:0] out_data_o
);
  localparam int Lat   = 4 + ((Depth > 64) ? 2 : 1);
  localparam int Own   = OutFolds * Lanes * Entries;  // words of a trip
  localparam int Words = Trips * Own;
  localparam int AddrW = (Words > 1) ? $clog2(Words) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_table: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire;
  logic [4:0] valid;
  logic unused_valid;
  assign in_ready_o = credit;
  assign fire = in_valid_i && credit;
  assign unused_valid = &{1'b0, valid};
  rhz_valid #(.Stages(4)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));

  // Address of lane 0's table less the bias of x.
  logic [AddrW-1:0] base;
  if (Trips == 1) begin : gen_once
    localparam int OutW = (OutFolds > 1) ? $clog2(OutFolds) : 1;
    logic fold_last;
    logic [OutW-1:0] unused_fold;
    logic [AddrW-1:0] base_q;
    rhz_counter #(.Count(OutFolds)) u_fold (
      .clk_i, .rst_ni, .en_i(fire), .value_o(unused_fold), .last_o(fold_last)
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni) base_q <= '0;
      else if (fire) base_q <= fold_last ? '0 : base_q + AddrW'(Lanes * Entries);
    end
    assign base = base_q;
  end else begin : gen_trips
    localparam int IndexW = $clog2(Trips * OutFolds);
    logic [IndexW-1:0] index;
    rhz_index #(.Count(OutFolds), .Trips(Trips), .Uses(Uses)) u_index (
      .clk_i, .rst_ni, .en_i(fire), .value_o(index)
    );
    assign base = AddrW'(index) * AddrW'(Lanes * Entries);
  end

  logic [Pixels*Lanes*OutWidth-1:0] data;   // stage 4
  for (genvar i = 0; i < Pixels * Lanes; i++) begin : gen_lane
    logic [InWidth-1:0] x;
    logic [AddrW-1:0] addr_q, addr2_q, bias, x_q;
    assign x    = in_data_i[i*InWidth +: InWidth];
    assign bias = AddrW'((i % Lanes) * Entries - Lo);
    always_ff @(posedge clk_i) begin
      addr_q  <= base + bias;
      addr2_q <= addr_q + x_q;
    end
    if (InSigned != 0) begin : gen_signed
      always_ff @(posedge clk_i) x_q <= AddrW'($signed(x));
    end else begin : gen_unsigned
      always_ff @(posedge clk_i) x_q <= AddrW'(x);
    end
    rhz_rom #(.Width(OutWidth), .Words(Words), .Stages(2), .Block(Block), .File(TableFile)) u_table (
      .clk_i, .addr_i(addr2_q), .data_o(data[i*OutWidth +: OutWidth])
    );
  end

  rhz_outbuf #(.Width(Pixels * Lanes * OutWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(valid[4]),
    .push_data_i(data), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
