// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cell of RegionTest.cpp: dense layers of one shape take it in turn, each
// with its requantizer behind it. Of region r it stores a frame of In elements,
// then takes In weights for each of Out results: clamp((x·w + Offset) >> Shift).
// One stage held the output buffers: Latency = 1 + V.
module plug_dense #(
  parameter int Regions  = 1,
  parameter int In       = 4,
  parameter int Out      = 4,
  parameter int XWidth   = 8,
  parameter int WWidth   = 8,
  parameter int OutWidth = 8,
  parameter int Shift    = 8,
  parameter int Offset   = 0,
  parameter int Depth    = 2
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic [Regions-1:0]          x_valid_i,
  output logic [Regions-1:0]          x_ready_o,
  input  logic [Regions*XWidth-1:0]   x_data_i,
  input  logic                        w_valid_i,
  output logic                        w_ready_o,
  input  logic [WWidth-1:0]           w_data_i,
  output logic [Regions-1:0]          y_valid_o,
  input  logic [Regions-1:0]          y_ready_i,
  output logic [Regions*OutWidth-1:0] y_data_o
);
  localparam int AccWidth = 40;
  localparam int RegionBits = (Regions > 1) ? $clog2(Regions) : 1;
  localparam int InBits = (In > 1) ? $clog2(In) : 1;
  localparam int OutBits = (Out > 1) ? $clog2(Out) : 1;

  logic [RegionBits-1:0] region_q;
  logic [InBits-1:0] in_q;
  logic [OutBits-1:0] out_q;
  logic multiplying_q;
  logic [Regions-1:0] credit, take, push_q;

  logic last_in, last_out, load, multiply;
  assign last_in  = in_q == InBits'(In - 1);
  assign last_out = out_q == OutBits'(Out - 1);
  assign load     = !multiplying_q && x_valid_i[region_q];
  assign w_ready_o = multiplying_q && (!last_in || credit[region_q]);
  assign multiply = w_ready_o && w_valid_i;
  always_comb begin
    x_ready_o = '0;
    x_ready_o[region_q] = !multiplying_q;
    take = '0;
    take[region_q] = multiply && last_in;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      region_q      <= '0;
      in_q          <= '0;
      out_q         <= '0;
      multiplying_q <= 1'b0;
    end else if (load || multiply) begin
      in_q <= last_in ? '0 : in_q + InBits'(1);
      if (load && last_in) multiplying_q <= 1'b1;
      if (multiply && last_in) begin
        out_q <= last_out ? '0 : out_q + OutBits'(1);
        if (last_out) begin
          multiplying_q <= 1'b0;
          region_q <= (region_q == RegionBits'(Regions - 1))
                          ? '0 : region_q + RegionBits'(1);
        end
      end
    end
  end

  logic signed [XWidth-1:0] frame [In];
  always_ff @(posedge clk_i)
    if (load) frame[in_q] <= x_data_i[region_q*XWidth +: XWidth];

  logic signed [AccWidth-1:0] sum_q, product, held, sum;
  logic signed [XWidth-1:0] x;
  logic signed [WWidth-1:0] w;
  assign x       = frame[in_q];
  assign w       = w_data_i;
  assign product = AccWidth'(x) * AccWidth'(w);
  assign held  = (in_q == '0) ? '0 : sum_q;
  assign sum     = held + product;
  always_ff @(posedge clk_i) begin
    if (multiply) sum_q <= sum;
    push_q <= rst_ni ? take : '0;
  end

  localparam logic signed [AccWidth-1:0] Most  = (1 <<< (OutWidth - 1)) - 1;
  localparam logic signed [AccWidth-1:0] Least = -(1 <<< (OutWidth - 1));
  logic signed [AccWidth-1:0] scaled, result;
  assign scaled = (sum_q + AccWidth'(Offset)) >>> Shift;
  assign result = (scaled > Most) ? Most : (scaled < Least) ? Least : scaled;

  for (genvar r = 0; r < Regions; r = r + 1) begin : gen_region
    rhz_outbuf #(.Width(OutWidth), .Depth(Depth)) u_outbuf (
      .clk_i, .rst_ni, .credit_o(credit[r]), .take_i(take[r]),
      .push_i(push_q[r]), .push_data_i(result[OutWidth-1:0]),
      .out_valid_o(y_valid_o[r]), .out_ready_i(y_ready_i[r]),
      .out_data_o(y_data_o[r*OutWidth +: OutWidth])
    );
  end
endmodule
