// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The addresses of a box of words, one a step: rows, columns and channels, outermost
// first; channels follow each other, columns and rows lie a stride apart. A box is
// loaded when load_valid_i and load_ready_o are high, from the cycle after the last step
// of the one before on, and addr_o is valid from the next cycle on. The flags say that
// this word is the last one of its column, row and box. singles_i says which counts are 1:
// that of rows, of columns, of channels.
module rhz_engine_walk #(
  parameter int AddrWidth       = 17,
  parameter int RowStepWidth    = 14,
  parameter int ColumnStepWidth = 10,
  parameter int RowsWidth       = 10,
  parameter int ColumnsWidth    = 10,
  parameter int ChannelsWidth   = 9
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       load_valid_i,
  output logic                       load_ready_o,
  input  logic [AddrWidth-1:0]       first_i,
  input  logic [RowStepWidth-1:0]    row_step_i,
  input  logic [ColumnStepWidth-1:0] column_step_i,
  input  logic [RowsWidth-1:0]       rows_i,
  input  logic [ColumnsWidth-1:0]    columns_i,
  input  logic [ChannelsWidth-1:0]   channels_i,
  input  logic [2:0]                 singles_i,
  output logic                       valid_o,
  input  logic                       step_i,
  output logic [AddrWidth-1:0]       addr_o,
  output logic                       column_last_o,
  output logic                       row_last_o,
  output logic                       last_o
);
  logic load, valid_q, channel_last, column_last, row_last;
  assign column_last_o = channel_last;
  assign row_last_o    = channel_last && column_last;
  assign last_o        = channel_last && column_last && row_last;
  assign load_ready_o  = !valid_q;
  assign load          = load_valid_i && load_ready_o;
  rhz_engine_loop #(.Width(ChannelsWidth)) u_channels (
    .clk_i, .load_i(load), .count_i(channels_i), .single_i(singles_i[0]), .step_i,
    .last_o(channel_last)
  );
  rhz_engine_loop #(.Width(ColumnsWidth)) u_columns (
    .clk_i, .load_i(load), .count_i(columns_i), .single_i(singles_i[1]),
    .step_i(step_i && column_last_o),
    .last_o(column_last)
  );
  rhz_engine_loop #(.Width(RowsWidth)) u_rows (
    .clk_i, .load_i(load), .count_i(rows_i), .single_i(singles_i[2]),
    .step_i(step_i && row_last_o), .last_o(row_last)
  );

  localparam int StepWidth = (RowStepWidth > ColumnStepWidth) ? RowStepWidth : ColumnStepWidth;
  logic [RowStepWidth-1:0] row_step_q;
  logic [ColumnStepWidth-1:0] column_step_q;
  always_ff @(posedge clk_i) begin
    if (load) begin
      row_step_q    <= row_step_i;
      column_step_q <= column_step_i;
    end
  end
  rhz_engine_nest #(.Loops(3), .AddrWidth(AddrWidth), .StepWidth(StepWidth)) u_nest (
    .clk_i, .load_i(load), .first_i,
    .steps_i({StepWidth'(row_step_q), StepWidth'(column_step_q), StepWidth'(1)}), .step_i,
    .lasts_i({row_last, column_last, channel_last}), .addr_o
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else         valid_q <= load || (valid_q && !(step_i && last_o));
  end
  assign valid_o = valid_q;
endmodule
