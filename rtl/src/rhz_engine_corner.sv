// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns blocks of In rows and Out columns whose words come row by row (Out / In words
// each) into columns of In bytes. One rotator serves both ways: byte m of row r goes to
// bank (m + r) % In, so that a row and a column touch each bank once. With turned_i low
// words pass as they are. Once all of a block is there it goes out, a column for each cycle
// in which out_may_i is high (out_take_o); until idle_o is high again no word may come.
// What goes out is never stalled. out_valid_o follows a cycle after a word that passes or
// an out_take_o.
module rhz_engine_corner #(
  parameter int In  = 16,
  parameter int Out = 16
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            turned_i,
  input  logic            in_valid_i,
  input  logic [8*In-1:0] in_data_i,
  input  logic            out_may_i,
  output logic            out_take_o,
  output logic            idle_o,
  output logic            out_valid_o,
  output logic [8*In-1:0] out_data_o
);
  localparam int Low    = $clog2(In);
  localparam int Groups = Out / In;
  localparam int GroupW = (Groups > 1) ? $clog2(Groups) : 1;

  // Rows while the banks fill, columns of a group while they empty.
  logic fills, empties, full_q, group_last, line_last, write_q, pass_q;
  logic [Low-1:0] line, line_q, amount_q;
  logic [GroupW-1:0] group, group_q;
  assign fills      = in_valid_i && turned_i;
  assign empties    = full_q && out_may_i && !write_q;
  assign out_take_o = empties;
  assign idle_o     = !full_q && !write_q && !pass_q;
  rhz_counter #(.Count(Groups)) u_group (
    .clk_i, .rst_ni, .en_i(full_q ? empties && line_last : fills), .value_o(group),
    .last_o(group_last)
  );
  rhz_counter #(.Count(In)) u_line (
    .clk_i, .rst_ni, .en_i(full_q ? empties : fills && group_last), .value_o(line),
    .last_o(line_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q  <= 1'b0;
      write_q <= 1'b0;
      pass_q  <= 1'b0;
    end else begin
      if ((full_q ? empties : fills) && group_last && line_last) full_q <= !full_q;
      write_q <= fills;
      pass_q  <= empties || (in_valid_i && !turned_i);
    end
  end

  // Bank b holds byte (b - line) of a column's row b - line.
  logic [8*In-1:0] banks, chosen_q, rotated;
  for (genvar b = 0; b < In; b++) begin : gen_bank
    logic [7:0] bytes [0:Groups*In-1];
    logic [GroupW+Low-1:0] from, to;
    assign from = {group, Low'(b) - line};
    assign to   = {group_q, line_q};
    if (Groups == 1) begin : gen_one
      logic unused;
      assign unused = &{1'b0, from[Low], to[Low]};
      always_ff @(posedge clk_i) if (write_q) bytes[to[Low-1:0]] <= rotated[8*b +: 8];
      assign banks[8*b +: 8] = bytes[from[Low-1:0]];
    end else begin : gen_several
      always_ff @(posedge clk_i) if (write_q) bytes[to] <= rotated[8*b +: 8];
      assign banks[8*b +: 8] = bytes[from];
    end
  end
  always_ff @(posedge clk_i) begin
    chosen_q <= full_q ? banks : in_data_i;
    amount_q <= full_q ? -line : line;
    line_q   <= line;
    group_q  <= group;
  end
  for (genvar s = 0; s <= Low; s++) begin : gen_stage
    logic [8*In-1:0] words;
    if (s == 0) begin : gen_in
      assign words = chosen_q;
    end else begin : gen_rotated
      localparam int Step = 8 << (Low - s);
      assign words = amount_q[Low-s]
                     ? {gen_stage[s-1].words[0 +: 8*In-Step], gen_stage[s-1].words[8*In-1 -: Step]}
                     : gen_stage[s-1].words;
    end
  end
  assign rotated = gen_stage[Low].words;
  assign out_valid_o = pass_q;
  assign out_data_o  = rotated;
endmodule
