// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: the far end of a board's serial line. Sends a break, then frames
// from an AXI4-Stream, each when the answer to the one before has come in, and
// makes an AXI4-Stream of the answers, of out_beats_i beats each. Times bits by
// itself and shares nothing with the UART that it tests; a framing error is an
// answer too few.
module rhz_tb_uart #(
  parameter int Divisor   = 12,
  parameter int Pause     = 600,  // cycles of reset after configuration
  parameter int InWidth   = 8,
  parameter int OutWidth  = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [31:0]         out_beats_i,
  input  logic                s_axis_tvalid,
  output logic                s_axis_tready,
  input  logic [InWidth-1:0]  s_axis_tdata,
  input  logic                s_axis_tlast,
  output logic                m_axis_tvalid,
  input  logic                m_axis_tready,
  output logic [OutWidth-1:0] m_axis_tdata,
  output logic                m_axis_tlast,
  output logic                line_o,
  input  logic                line_i
);
  localparam int Break   = 20 * Divisor;
  localparam int Quiet   = Pause + Break + 20 * Divisor;
  localparam int InBytes = InWidth / 8;
  localparam int OutBytes = OutWidth / 8;

  // Frames sent and answered.
  int unsigned sent, answered;
  int          clock;     // cycles since reset, up to Quiet
  // One beat is sent as InBytes characters of ten bits.
  logic [10*InBytes-1:0] bits;
  int                    bits_left, bit_clock;
  logic                  is_last;
  logic [10*InBytes-1:0] framed;
  for (genvar i = 0; i < InBytes; i++) begin : gen_framed
    assign framed[10*i +: 10] = {1'b1, s_axis_tdata[8*i +: 8], 1'b0};
  end
  assign s_axis_tready = clock == Quiet && bits_left == 0 && sent == answered;
  assign line_o = (clock == Quiet) ? ((bits_left == 0) ? 1'b1 : bits[0])
                                   : !(clock >= Pause && clock < Pause + Break);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clock     <= 0;
      bits_left <= 0;
      bit_clock <= 0;
      is_last   <= 1'b0;
      sent      <= 0;
    end else begin
      if (clock != Quiet) clock <= clock + 1;
      if (s_axis_tvalid && s_axis_tready) begin
        bits      <= framed;
        bits_left <= 10 * InBytes;
        bit_clock <= 0;
        is_last   <= s_axis_tlast;
      end else if (bits_left != 0) begin
        bit_clock <= (bit_clock == Divisor - 1) ? 0 : bit_clock + 1;
        if (bit_clock == Divisor - 1) begin
          bits      <= bits >> 1;
          bits_left <= bits_left - 1;
          if (bits_left == 1 && is_last) sent <= sent + 1;
        end
      end
    end
  end

  // Samples in the middle of every bit, counted from the start bit's edge.
  logic [OutWidth-1:0] beat;
  logic                line_q, full;
  int                  age, out_byte;
  int unsigned         number, out_beat;
  assign number        = (age - Divisor / 2) / Divisor;
  assign m_axis_tvalid = full;
  assign m_axis_tdata  = beat;
  assign m_axis_tlast  = out_beat + 1 == out_beats_i;
  always_ff @(posedge clk_i) begin
    line_q <= line_i;
    if (!rst_ni || clock != Quiet) begin
      age      <= -1;
      full     <= 1'b0;
      out_byte <= 0;
      out_beat <= 0;
      answered <= 0;
    end else begin
      if (full && m_axis_tready) begin
        full     <= 1'b0;
        out_beat <= m_axis_tlast ? 0 : out_beat + 1;
        if (m_axis_tlast) answered <= answered + 1;
      end
      if (age < 0) begin
        if (line_q && !line_i) age <= 1;
      end else begin
        age <= age + 1;
        if (age >= Divisor / 2 && (age - Divisor / 2) % Divisor == 0) begin
          if (number == 0 && line_i) begin
            age <= -1;
          end else if (number >= 1 && number <= 8) begin
            beat[8*out_byte + number - 1] <= line_i;
          end else if (number == 9) begin
            age <= -1;
            if (line_i) begin
              out_byte <= (out_byte == OutBytes - 1) ? 0 : out_byte + 1;
              full     <= out_byte == OutBytes - 1;
            end
          end
        end
      end
    end
  end
endmodule
