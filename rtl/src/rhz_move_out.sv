// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an AXI4-Stream to a buffer outside the chip: rounds of Row words of Elem bits,
// Wide words a beat of the stream and DataWidth bits a beat at the memory, as
// rhz_move_in. What a round's last beat has beyond its words is written with it, and of
// no meaning.
module rhz_move_out #(
  parameter int DataWidth = 64,
  parameter int Elem      = 8,
  parameter int Wide      = 1,
  parameter int Row       = 8,
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
  input  logic [Wide*Elem-1:0]   s_axis_tdata,
  input  logic                   s_axis_tvalid,
  output logic                   s_axis_tready,
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
  localparam int Bus  = DataWidth / Elem;  // words of a beat
  localparam int Ins  = (Row + Wide - 1) / Wide;
  localparam int Outs = (Row + Bus - 1) / Bus;

  logic valid, ready;
  logic [DataWidth-1:0] beat;
  if (Bus == Wide) begin : gen_same
    assign beat          = s_axis_tdata;
    assign valid         = s_axis_tvalid;
    assign s_axis_tready = ready;
  end else if (Bus % Wide == 0) begin : gen_collect
    localparam int Most  = (Ins < Bus / Wide) ? Ins : Bus / Wide;
    localparam int Tail  = Ins % Most;
    localparam int Width = Wide * Elem;
    logic [Most*Width-1:0] data;
    rhz_gearbox_collect #(
      .Width(Width), .Most(Most), .Last((Tail == 0) ? Most : Tail), .Beats((Tail == 0) ? 1 : Outs),
      .Depth(4)
    ) u_collect (
      .clk_i, .rst_ni, .in_valid_i(s_axis_tvalid), .in_ready_o(s_axis_tready),
      .in_data_i(s_axis_tdata), .out_valid_o(valid), .out_ready_i(ready), .out_data_o(data)
    );
    assign beat = DataWidth'(data);
  end else if (Wide % Bus == 0) begin : gen_pick
    localparam int Most = (Outs < Wide / Bus) ? Outs : Wide / Bus;
    localparam int Tail = Outs % Most;
    rhz_gearbox_pick #(
      .Width(DataWidth), .Most(Most), .Last((Tail == 0) ? Most : Tail),
      .Beats((Tail == 0) ? 1 : Ins), .Depth(4)
    ) u_pick (
      .clk_i, .rst_ni, .in_valid_i(s_axis_tvalid), .in_ready_o(s_axis_tready),
      .in_data_i(s_axis_tdata[Most*DataWidth-1:0]), .out_valid_o(valid), .out_ready_i(ready),
      .out_data_o(beat)
    );
    if (Most * DataWidth < Wide * Elem) begin : gen_unread
      logic unused;
      assign unused = &{1'b0, s_axis_tdata[Wide*Elem-1:Most*DataWidth]};
    end
  end else begin : gen_ring
    rhz_gearbox_ring #(
      .Elem(Elem), .LanesIn(Wide), .LanesOut(Bus), .RowIn(Row), .RowOut(Row), .Depth(4)
    ) u_ring (
      .clk_i, .rst_ni, .in_valid_i(s_axis_tvalid), .in_ready_o(s_axis_tready),
      .in_data_i(s_axis_tdata), .out_valid_o(valid), .out_ready_i(ready), .out_data_o(beat)
    );
  end
  rhz_mem_writer #(
    .DataWidth(DataWidth), .Words(Outs), .Burst(Burst), .Lanes(Lanes), .InFlight(InFlight),
    .Depth(Depth)
  ) u_writer (
    .clk_i, .rst_ni, .start_i, .base_i, .items_i, .busy_o, .error_o, .in_valid_i(valid),
    .in_ready_o(ready), .in_data_i(beat), .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr,
    .m_axi_awlen, .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast,
    .m_axi_bresp, .m_axi_bvalid, .m_axi_bready
  );
endmodule
