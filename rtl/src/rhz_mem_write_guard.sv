// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands between a design that is reset while it writes (clear_ni) and its memory, which
// is not: bursts that were requested before are written to their end, with any data, and
// their answers are dropped. Until the last of them the design's requests wait. Requests
// and beats pass through a register each, so that what was offered does not change; the
// beats of a burst follow its request.
module rhz_mem_write_guard #(
  parameter int Width = 64
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clear_ni,
  input  logic s_axi_awvalid,
  output logic s_axi_awready,
  input  logic [63:0] s_axi_awaddr,
  input  logic [7:0] s_axi_awlen,
  input  logic s_axi_wvalid,
  output logic s_axi_wready,
  input  logic [Width-1:0] s_axi_wdata,
  input  logic s_axi_wlast,
  output logic s_axi_bvalid,
  input  logic s_axi_bready,
  output logic m_axi_awvalid,
  input  logic m_axi_awready,
  output logic [63:0] m_axi_awaddr,
  output logic [7:0] m_axi_awlen,
  output logic m_axi_wvalid,
  input  logic m_axi_wready,
  output logic [Width-1:0] m_axi_wdata,
  output logic m_axi_wlast,
  input  logic m_axi_bvalid,
  output logic m_axi_bready
);
  localparam int AnswersW = 12;  // more bursts than a memory takes at once

  // Beats of a burst that have not come yet, and the burst after it.
  logic [8:0] left_q;
  logic [7:0] next_q;
  logic has_next_q, was_cleared_q, is_dropping, passes, requests, comes, ends, is_last, answers;
  logic [AnswersW-1:0] answers_q;
  assign is_dropping   = was_cleared_q && (m_axi_awvalid || m_axi_wvalid || left_q != '0 ||
                                           has_next_q || answers_q != '0);
  assign passes        = clear_ni && !is_dropping;
  assign s_axi_awready = passes && !has_next_q && (!m_axi_awvalid || m_axi_awready);
  assign requests      = s_axi_awvalid && s_axi_awready;
  assign s_axi_wready  = passes && left_q != '0 && (!m_axi_wvalid || m_axi_wready);
  assign is_last       = left_q == 9'd1;
  assign comes         = left_q != '0 && (!m_axi_wvalid || m_axi_wready) &&
                         (is_dropping || (s_axi_wvalid && passes));
  assign ends          = comes && is_last;
  assign s_axi_bvalid  = m_axi_bvalid && !is_dropping;
  assign m_axi_bready  = s_axi_bready || is_dropping;
  assign answers       = m_axi_bvalid && m_axi_bready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q        <= '0;
      has_next_q    <= 1'b0;
      was_cleared_q <= 1'b0;
      answers_q     <= '0;
      m_axi_awvalid <= 1'b0;
      m_axi_wvalid  <= 1'b0;
    end else begin
      was_cleared_q <= !clear_ni || is_dropping;
      answers_q     <= answers_q + AnswersW'(requests) - AnswersW'(answers);
      if (left_q == '0 || ends) begin
        left_q     <= has_next_q ? 9'(next_q) + 9'd1 : requests ? 9'(s_axi_awlen) + 9'd1 : '0;
        has_next_q <= 1'b0;
      end else begin
        left_q     <= left_q - 9'(comes);
        has_next_q <= has_next_q || requests;
      end
      if (requests) next_q <= s_axi_awlen;
      if (requests) m_axi_awvalid <= 1'b1;
      else if (m_axi_awready) m_axi_awvalid <= 1'b0;
      if (comes) m_axi_wvalid <= 1'b1;
      else if (m_axi_wready) m_axi_wvalid <= 1'b0;
      if (requests) m_axi_awaddr <= s_axi_awaddr;
      if (requests) m_axi_awlen <= s_axi_awlen;
      if (comes) m_axi_wdata <= s_axi_wdata;
      if (comes) m_axi_wlast <= is_dropping ? is_last : s_axi_wlast;
    end
  end
endmodule
