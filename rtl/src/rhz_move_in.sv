// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a buffer outside the chip to an AXI4-Stream: rounds of Row words of Elem bits,
// DataWidth bits a beat at the memory and Wide words a beat of the stream. Beats of
// one side that are several of the other are picked or collected; others pass a ring.
// What a round's last beat has beyond its words is not put out, or of no meaning.
module rhz_move_in #(
  parameter int DataWidth = 64,
  parameter int Elem      = 8,
  parameter int Wide      = 1,
  parameter int Row       = 8,
  parameter int Burst     = 4,
  parameter int Lanes     = 1,
  parameter int Once      = 0,
  parameter int Depth     = 8
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
  output logic [Wide*Elem-1:0] m_axis_tdata,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready
);
  localparam int Bus  = DataWidth / Elem;  // words of a beat
  localparam int Ins  = (Row + Bus - 1) / Bus;
  localparam int Outs = (Row + Wide - 1) / Wide;

  logic valid, ready;
  logic [DataWidth-1:0] beat;
  rhz_mem_source #(
    .DataWidth(DataWidth), .Words(Ins), .Burst(Burst), .Lanes(Lanes), .Once(Once), .Depth(Depth)
  ) u_source (
    .clk_i, .rst_ni, .start_i, .base_i, .items_i, .m_axi_arvalid, .m_axi_arready,
    .m_axi_araddr, .m_axi_arlen, .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast,
    .error_o, .out_valid_o(valid), .out_ready_i(ready), .out_data_o(beat)
  );
  if (Bus == Wide) begin : gen_same
    assign m_axis_tdata  = beat;
    assign m_axis_tvalid = valid;
    assign ready         = m_axis_tready;
  end else if (Bus % Wide == 0) begin : gen_pick
    localparam int Most  = (Outs < Bus / Wide) ? Outs : Bus / Wide;
    localparam int Tail  = Outs % Most;
    localparam int Width = Wide * Elem;
    rhz_gearbox_pick #(
      .Width(Width), .Most(Most), .Last((Tail == 0) ? Most : Tail), .Beats((Tail == 0) ? 1 : Ins),
      .Depth(4)
    ) u_pick (
      .clk_i, .rst_ni, .in_valid_i(valid), .in_ready_o(ready), .in_data_i(beat[Most*Width-1:0]),
      .out_valid_o(m_axis_tvalid), .out_ready_i(m_axis_tready), .out_data_o(m_axis_tdata)
    );
    if (Most * Width < DataWidth) begin : gen_unread
      logic unused;
      assign unused = &{1'b0, beat[DataWidth-1:Most*Width]};
    end
  end else if (Wide % Bus == 0) begin : gen_collect
    localparam int Most = (Ins < Wide / Bus) ? Ins : Wide / Bus;
    localparam int Tail = Ins % Most;
    logic [Most*DataWidth-1:0] data;
    rhz_gearbox_collect #(
      .Width(DataWidth), .Most(Most), .Last((Tail == 0) ? Most : Tail),
      .Beats((Tail == 0) ? 1 : Outs), .Depth(4)
    ) u_collect (
      .clk_i, .rst_ni, .in_valid_i(valid), .in_ready_o(ready), .in_data_i(beat),
      .out_valid_o(m_axis_tvalid), .out_ready_i(m_axis_tready), .out_data_o(data)
    );
    assign m_axis_tdata = (Wide*Elem)'(data);
  end else begin : gen_ring
    rhz_gearbox_ring #(
      .Elem(Elem), .LanesIn(Bus), .LanesOut(Wide), .RowIn(Row), .RowOut(Row), .Depth(4)
    ) u_ring (
      .clk_i, .rst_ni, .in_valid_i(valid), .in_ready_o(ready), .in_data_i(beat),
      .out_valid_o(m_axis_tvalid), .out_ready_i(m_axis_tready), .out_data_o(m_axis_tdata)
    );
  end
endmodule
