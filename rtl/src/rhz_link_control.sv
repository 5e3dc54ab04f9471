// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A node's part in epochs (docs/spec/link.md, E1 to E4), its counters (D2 to D4,
// D7) and the tick of all timers. An Open of another epoch holds the multiplexer
// until no datagram is under way, then resets channels and design by rst_no.
module rhz_link_control #(
  parameter int Width      = 64,
  parameter int Channels   = 1,
  parameter int TickCycles = 16
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [15:0]         address_i,   // the node's, constant
  input  logic                head_i,
  input  logic                live_i,
  input  logic [3:0]          kind_i,
  input  logic [15:0]         epoch_i,     // of the header
  input  logic [15:0]         id_i,
  input  logic [31:0]         seq_i,
  input  logic                done_i,
  input  logic                malformed_i,
  input  logic [Channels-1:0] hit_i,
  input  logic [Channels-1:0] duplicate_i,
  input  logic                idle_i,
  output logic                hold_o,
  output logic                rst_no,
  output logic [15:0]         epoch_o,
  output logic                tick_o,
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [Width-1:0]    out_data_o,
  output logic                out_last_o
);
  localparam int ResetCycles = 16;
  logic [$clog2(TickCycles)-1:0] unused_tick;
  logic tick;
  rhz_counter #(.Count(TickCycles)) u_tick (
    .clk_i, .rst_ni, .en_i(1'b1), .value_o(unused_tick), .last_o(tick)
  );
  assign tick_o = tick;

  logic mine_q, opens_q, channel_q, live_q, other_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      mine_q    <= 1'b0;
      channel_q <= 1'b0;
    end else if (head_i) begin
      mine_q    <= (kind_i == 4'd3 || kind_i == 4'd4) && id_i == address_i;
      channel_q <= kind_i <= 4'd2;
    end
  end
  logic [15:0] wanted_q;
  logic [31:0] heard_q, cookie_q;
  always_ff @(posedge clk_i) if (head_i) begin
    opens_q  <= kind_i == 4'd3 && epoch_i != '0;
    live_q   <= live_i;
    wanted_q <= epoch_i;
    heard_q  <= seq_i;
  end
  assign other_q = opens_q && !live_q;

  // Run; Drain until no datagram is under way; Clear the channels.
  typedef enum logic [1:0] { Run, Drain, Clear } state_e;
  state_e state_q;
  logic [15:0] target_q;
  logic [4:0]  clear_q;
  logic        due_q, take;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Clear;
      epoch_o  <= 16'd1;
      target_q <= 16'd1;
      clear_q  <= '0;
      due_q    <= 1'b0;
      rst_no   <= 1'b0;
    end else begin
      if (take) due_q <= 1'b0;
      if (done_i && mine_q) due_q <= 1'b1;
      unique case (state_q)
        Run: if (done_i && mine_q && other_q) begin
          state_q  <= Drain;
          target_q <= wanted_q;
        end
        Drain: if (idle_i) begin
          state_q <= Clear;
          epoch_o <= target_q;
          clear_q <= '0;
          rst_no  <= 1'b0;
        end
        default: begin
          clear_q <= clear_q + 5'd1;
          rst_no  <= 1'b0;
          if (clear_q == 5'(ResetCycles)) begin
            state_q <= Run;
            rst_no  <= 1'b1;
          end
        end
      endcase
    end
  end
  always_ff @(posedge clk_i) if (done_i && mine_q) cookie_q <= heard_q;
  assign hold_o = state_q != Run;

  // Counters that stop at their end.
  logic [15:0] malformed_q, foreign_q, stale_q, duplicate_q;
  logic        foreign, stale;
  // While the channels are reset none of them claims anything.
  assign foreign = done_i && !mine_q && hit_i == '0 && rst_no;
  assign stale   = done_i && channel_q && hit_i != '0 && !live_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      malformed_q <= '0;
      foreign_q   <= '0;
      stale_q     <= '0;
      duplicate_q <= '0;
    end else begin
      if (malformed_i && malformed_q != '1)       malformed_q <= malformed_q + 16'd1;
      if (foreign && foreign_q != '1)             foreign_q   <= foreign_q + 16'd1;
      if (stale && stale_q != '1)                 stale_q     <= stale_q + 16'd1;
      if (duplicate_i != '0 && duplicate_q != '1) duplicate_q <= duplicate_q + 16'd1;
    end
  end

  rhz_link_short #(.Width(Width), .Kind(5)) u_status (
    .clk_i, .rst_ni, .send_i(due_q && state_q == Run), .take_o(take), .epoch_i(epoch_o),
    .id_i(address_i), .seq_i(cookie_q), .first_i(8'd0), .span_i(8'd0),
    .word_i({duplicate_q, stale_q, foreign_q, malformed_q}),
    .out_valid_o, .out_ready_i, .out_data_o, .out_last_o
  );
endmodule
