// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes datagrams of the link (docs/spec/link.md) apart, one beat a cycle, and
// never stalls. A header shows at head_o with its fields, which stay until the
// next; live_o says that its epoch is ours. One cycle later the payload begins
// to pass: beat_o, data_o, index_o; done_o ends a datagram that is well formed,
// with word_o its last 64 bits. Others end in malformed_o. Clauses D2, D4, R3.
module rhz_link_parse #(
  parameter int Width = 64,
  parameter int IndexWidth = 7 + $clog2(64 / Width)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [15:0]           epoch_i,
  input  logic [Width-1:0]      s_tdata,
  input  logic [Width/8-1:0]    s_tkeep,
  input  logic                  s_tvalid,
  input  logic                  s_tlast,
  output logic                  head_o,
  output logic                  live_o,
  output logic [3:0]            kind_o,
  output logic [7:0]            words_o,
  output logic [15:0]           epoch_o,
  output logic [15:0]           id_o,
  output logic [31:0]           seq_o,
  output logic [7:0]            first_o,
  output logic [7:0]            span_o,
  output logic                  beat_o,
  output logic [Width-1:0]      data_o,
  output logic [IndexWidth-1:0] index_o,
  output logic                  done_o,
  output logic [63:0]           word_o,
  output logic                  malformed_o
);
  localparam int Beats = 128 / Width;   // of a header
  localparam int PosWidth = $clog2(Beats);
  localparam int Parts = 64 / Width;    // beats of a word

  if (Width != 8 && Width != 16 && Width != 32 && Width != 64) begin : gen_bad_width
    initial $fatal(1, "rhz_link_parse: Width %0d, 8, 16, 32 or 64 are needed", Width);
  end

  // Stage 1: the beat, and the header as far as it has come.
  logic [PosWidth-1:0] pos_q;
  logic within_q;                       // the payload
  logic [127:0] header_q;
  logic valid1_q, headed1_q, payload1_q, last1_q, full1_q;
  logic [Width-1:0] data1_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pos_q    <= '0;
      within_q <= 1'b0;
      valid1_q <= 1'b0;
    end else begin
      valid1_q <= s_tvalid;
      if (s_tvalid) begin
        if (s_tlast) begin
          pos_q    <= '0;
          within_q <= 1'b0;
        end else if (!within_q) begin
          pos_q    <= pos_q + PosWidth'(1);
          within_q <= pos_q == PosWidth'(Beats - 1);
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    headed1_q  <= s_tvalid && !within_q && pos_q == PosWidth'(Beats - 1);
    payload1_q <= s_tvalid && within_q;
    last1_q    <= s_tvalid && s_tlast;
    full1_q    <= &s_tkeep;
    data1_q    <= s_tdata;
    if (s_tvalid && !within_q) header_q <= {s_tdata, header_q[127:Width]};
  end

  // Stage 2: the header whole, its words joined.
  logic valid2_q, headed2_q, payload2_q, last2_q, full2_q;
  logic [Width-1:0] data2_q;
  logic [15:0] joined_q;
  logic [127:0] fields_q;
  logic [15:0] joined;
  always_comb begin
    joined = '0;
    for (int i = 0; i < 8; i = i + 1) joined = joined ^ header_q[16*i +: 16];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid2_q <= 1'b0;
    else         valid2_q <= valid1_q;
  end
  always_ff @(posedge clk_i) begin
    headed2_q  <= headed1_q;
    payload2_q <= payload1_q;
    last2_q    <= last1_q;
    full2_q    <= full1_q;
    data2_q    <= data1_q;
    if (headed1_q) begin
      joined_q <= joined;
      fields_q <= header_q;
    end
  end

  // Stage 3: is it ours?
  logic valid3_q, headed3_q, payload3_q, last3_q, full3_q, ok_q, fits_q, live3_q, empty_q;
  logic [Width-1:0] data3_q;
  logic fits;
  always_comb begin
    unique case (fields_q[3:0])
      4'd0:       fits = fields_q[15:8] != 8'd0 && fields_q[15:8] <= 8'd128;
      4'd2, 4'd5: fits = fields_q[15:8] == 8'd1;
      4'd1, 4'd3, 4'd4: fits = fields_q[15:8] == 8'd0;
      default:    fits = 1'b0;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid3_q <= 1'b0;
    else         valid3_q <= valid2_q;
  end
  always_ff @(posedge clk_i) begin
    headed3_q  <= headed2_q;
    payload3_q <= payload2_q;
    last3_q    <= last2_q;
    full3_q    <= full2_q;
    data3_q    <= data2_q;
    if (headed2_q) begin
      ok_q    <= joined_q == 16'h6852;
      fits_q  <= fits && fields_q[7:4] == 4'd1;
      live3_q <= fields_q[31:16] == epoch_i;
      empty_q <= fields_q[15:8] == 8'd0;
    end
  end

  // Stage 4: fields out; does the datagram end where it says?
  logic [IndexWidth:0] left_q;          // beats of the payload to come
  logic valid, some_q, final_q;
  assign valid = ok_q && fits_q;
  logic beat4_q, done4_q;
  logic [Width-1:0] data4_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_o      <= 1'b0;
      beat4_q     <= 1'b0;
      done4_q     <= 1'b0;
      malformed_o <= 1'b0;
    end else begin
      head_o  <= valid3_q && headed3_q && valid;
      beat4_q <= valid3_q && payload3_q && valid && some_q;
      done4_q <= valid3_q && last3_q && valid && full3_q &&
                 (headed3_q ? empty_q : (payload3_q && final_q));
      malformed_o <= valid3_q && last3_q &&
                     !(valid && full3_q && (headed3_q ? empty_q : (payload3_q && final_q)));
    end
  end
  // How many beats are left, and what that means, for the next beat.
  logic [IndexWidth:0] left;
  always_comb begin
    left = left_q;
    if (headed3_q) left = (IndexWidth + 1)'(fields_q[15:8]) << $clog2(Parts);
    else if (payload3_q && some_q) left = left_q - (IndexWidth + 1)'(1);
  end
  always_ff @(posedge clk_i) begin
    left_q  <= left;
    some_q  <= left != '0;
    final_q <= left == (IndexWidth + 1)'(1);
    data4_q <= data3_q;
    if (headed3_q) begin
      live_o  <= live3_q;
      kind_o  <= fields_q[3:0];
      words_o <= fields_q[15:8];
      epoch_o <= fields_q[31:16];
      id_o    <= fields_q[47:32];
      seq_o   <= fields_q[95:64];
      first_o <= fields_q[103:96];
      span_o  <= fields_q[111:104];
    end
  end

  // Stage 5: the payload, when everyone has looked at the header.
  logic [IndexWidth-1:0] count_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_o <= 1'b0;
      done_o <= 1'b0;
    end else begin
      beat_o <= beat4_q;
      done_o <= done4_q;
    end
  end
  always_ff @(posedge clk_i) begin
    data_o  <= data4_q;
    index_o <= count_q;
    if (head_o)       count_q <= '0;
    else if (beat4_q) count_q <= count_q + IndexWidth'(1);
  end
  if (Width == 64) begin : gen_whole
    assign word_o = data_o;
  end else begin : gen_parts
    logic [63-Width:0] before_q;
    if (Width == 32) begin : gen_two
      always_ff @(posedge clk_i) if (beat_o) before_q <= data_o;
    end else begin : gen_more
      always_ff @(posedge clk_i) if (beat_o) before_q <= {data_o, before_q[63-Width:Width]};
    end
    assign word_o = {data_o, before_q};
  end

  logic unused;
  assign unused = ^{fields_q[63:48], fields_q[127:112]};
endmodule
