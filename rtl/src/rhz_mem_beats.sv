// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When the beats of the bursts go to a memory that a writer asks for: claim_i says
// that it does, for the next burst of rounds of Words beats, of which the last one may
// be shorter. A claimed burst's beats follow those before it; they pass if there_i is
// high, and sends_o takes them from their buffer. At most InFlight are claimed and have
// no answer.
module rhz_mem_beats #(
  parameter int Words    = 4,
  parameter int Burst    = 4,
  parameter int InFlight = 8
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic claim_i,
  input  logic there_i,
  output logic sends_o,
  output logic m_axi_wvalid,
  input  logic m_axi_wready,
  output logic m_axi_wlast
);
  localparam int Bursts  = (Words + Burst - 1) / Burst;
  localparam int LastLen = Words - (Bursts - 1) * Burst;
  localparam int FullLen = (Words < Burst) ? Words : Burst;
  localparam int FlightW = $clog2(InFlight + 1);
  localparam int PlaceW  = (FullLen > 1) ? $clog2(FullLen) : 1;
  localparam int BurstW  = (Bursts > 1) ? $clog2(Bursts) : 1;

  // Of the claimed bursts `owed_q` have not begun.
  logic runs_q, passes, starts, at_last, burst_last, unused;
  logic [FlightW-1:0] owed_q;
  logic [PlaceW-1:0] place_q;
  logic [BurstW-1:0] unused_burst;
  assign unused       = &{1'b0, unused_burst};
  assign sends_o      = runs_q && m_axi_wready;
  assign m_axi_wvalid = there_i && runs_q;
  assign m_axi_wlast  = at_last;
  assign passes       = m_axi_wvalid && m_axi_wready;
  assign starts       = owed_q != '0 && (!runs_q || (passes && at_last));
  rhz_counter #(.Count(Bursts)) u_burst (
    .clk_i, .rst_ni, .en_i(passes && at_last), .value_o(unused_burst), .last_o(burst_last)
  );
  assign at_last = place_q == (burst_last ? PlaceW'(LastLen - 1) : PlaceW'(FullLen - 1));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owed_q  <= '0;
      runs_q  <= 1'b0;
      place_q <= '0;
    end else begin
      owed_q <= owed_q + FlightW'(claim_i) - FlightW'(starts);
      runs_q <= starts || (runs_q && !(passes && at_last));
      if (passes) place_q <= at_last ? '0 : place_q + PlaceW'(1);
    end
  end
endmodule
