// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions of one unit: Depth of them wait, of Width bits that mean something.
// The first one is offered to the unit (start_valid_o, start_ready_i, instruction_o) when
// a token of each unit that it waits for is there, and takes them as it starts. The unit
// says done_i for a cycle for each instruction, in order, once all its effects can be
// seen; it may take others before, at most Flight in all. Then the instruction's tokens
// are given, together, when none of their counters is full. idle_o: nothing waits, runs
// or has tokens to give; runs_o: something runs; waits_o: something waits for tokens. none_i, take_o, full_i, give_o: see rhz_engine_tokens.
module rhz_engine_queue #(
  parameter int Units  = 5,
  parameter int Width  = 256,
  parameter int Depth  = 8,
  parameter int Flight = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [255:0]     in_instruction_i,
  output logic             start_valid_o,
  input  logic             start_ready_i,
  output logic [255:0]     instruction_o,
  input  logic             done_i,
  input  logic [Units-1:0] none_i,
  output logic [Units-1:0] take_o,
  input  logic [Units-1:0] full_i,
  output logic [Units-1:0] give_o,
  output logic             runs_o,
  output logic             waits_o,
  output logic             idle_o
);
  localparam int OwedW = $clog2(Flight + 1);

  logic there, start, room, runs, give, lacks, unused;
  logic [Width-1:0] head;
  logic [Units-1:0] waits, gives;
  assign unused = &{1'b0, in_instruction_i};
  rhz_outbuf #(.Width(Width), .Depth(Depth)) u_instructions (
    .clk_i, .rst_ni, .credit_o(in_ready_o), .take_i(in_valid_i && in_ready_o),
    .push_i(in_valid_i && in_ready_o), .push_data_i(in_instruction_i[Width-1:0]),
    .out_valid_o(there), .out_ready_i(start_ready_i && room && !lacks),
    .out_data_o(head)
  );
  assign waits         = head[3 +: Units];
  assign lacks         = (waits & none_i) != '0;
  assign start_valid_o = there && room && !lacks;
  assign start         = start_valid_o && start_ready_i;
  assign take_o        = start ? waits : '0;
  assign instruction_o = 256'(head);

  // What those that have started will give, and how many of them are done.
  logic [OwedW-1:0] owed_q;
  rhz_outbuf #(.Width(Units), .Depth(Flight)) u_started (
    .clk_i, .rst_ni, .credit_o(room), .take_i(start), .push_i(start),
    .push_data_i(head[3+Units +: Units]), .out_valid_o(runs), .out_ready_i(give),
    .out_data_o(gives)
  );
  assign give   = runs && owed_q != '0 && (gives & full_i) == '0;
  assign give_o = give ? gives : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) owed_q <= '0;
    else         owed_q <= owed_q + OwedW'(done_i) - OwedW'(give);
  end
  assign runs_o  = runs;
  assign waits_o = there && lacks;
  assign idle_o  = !there && !runs;
endmodule
