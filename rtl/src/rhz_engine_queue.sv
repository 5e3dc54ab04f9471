// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions of one unit: Depth of them wait, of Width bits that mean something.
// When a token of each unit that the first one waits for is there, it takes them and goes
// to a register, from where it is offered to the unit (start_valid_o, start_ready_i,
// instruction_o). The unit says done_i for a cycle for each instruction, in order, once
// all its effects can be seen; it may take others before, at most Flight + 1 in all. Then
// the instruction's tokens are given, together, when none of their counters is full.
// idle_o: nothing waits, runs or has tokens to give; runs_o: something runs; waits_o:
// something waits for tokens. none_i, take_o, full_i, give_o: see rhz_engine_tokens.
// Tokens are taken and given at most every second cycle, so that none_i and full_i, which
// know of it two cycles later, are right.
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
  localparam int OwedW = $clog2(Flight + 2);

  logic there, seen_q, offered_q, take, room, lacks, unused;
  logic [Width-1:0] head, instruction_q;
  logic [Units-1:0] waits_q, take_q;
  assign unused = &{1'b0, in_instruction_i};
  rhz_engine_fifo #(.Width(Width), .Depth(Depth)) u_instructions (
    .clk_i, .rst_ni, .credit_o(in_ready_o), .take_i(in_valid_i && in_ready_o),
    .push_i(in_valid_i && in_ready_o), .push_data_i(in_instruction_i[Width-1:0]),
    .out_valid_o(there), .out_ready_i(take), .out_data_o(head)
  );
  // What the first one waits for is looked at from a register, too.
  assign lacks = (waits_q & none_i) != '0;
  assign take  = seen_q && room && !offered_q && !lacks;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      seen_q    <= 1'b0;
      offered_q <= 1'b0;
      take_q    <= '0;
    end else begin
      seen_q    <= there && !take;
      offered_q <= take || (offered_q && !start_ready_i);
      take_q    <= take ? waits_q : '0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!seen_q) waits_q       <= head[3 +: Units];
    if (take)    instruction_q <= head;
  end
  assign start_valid_o = offered_q;
  assign take_o        = take_q;
  assign instruction_o = 256'(instruction_q);

  // What those that have begun will give, the first one's in a register, and how many of
  // them are done.
  logic begun, runs_q, give, given_q, is_owed_q;
  logic [Units-1:0] gives, gives_q, give_q;
  logic [OwedW-1:0] owed_q, owed_d;
  rhz_engine_fifo #(.Width(Units), .Depth(Flight)) u_started (
    .clk_i, .rst_ni, .credit_o(room), .take_i(take), .push_i(take),
    .push_data_i(head[3+Units +: Units]), .out_valid_o(begun), .out_ready_i(!runs_q),
    .out_data_o(gives)
  );
  assign give   = runs_q && is_owed_q && (gives_q & full_i) == '0;
  assign owed_d = owed_q + OwedW'(done_i) - OwedW'(given_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      runs_q    <= 1'b0;
      owed_q    <= '0;
      given_q   <= 1'b0;
      is_owed_q <= 1'b0;
      give_q    <= '0;
    end else begin
      runs_q    <= runs_q ? !give : begun;
      owed_q    <= owed_d;
      given_q   <= give;
      is_owed_q <= owed_d != '0;
      give_q    <= give ? gives_q : '0;
    end
  end
  always_ff @(posedge clk_i) if (!runs_q) gives_q <= gives;
  assign give_o  = give_q;
  assign runs_o  = runs_q || begun;
  assign waits_o = seen_q && lacks;
  assign idle_o  = !there && !begun && !runs_q;
endmodule
