// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix times vector like rhz_matvec, with weights that come as a second stream,
// in the order of use. A firing takes Pe*Simd weights, [pe][simd]: a beat of Beat
// bits has Words of them, one after another from the lowest bit on, or, with Words
// = 1, they take as many beats as they need, and all beats but the last one wait
// in registers. Every result begins with a new beat. With several Positions, as
// many firings in a row use the same weights, one for each of as many results; the
// beats of the next firings' weights are taken meanwhile. Latency is that of
// rhz_matvec less 2 cycles (Style 2 and 3: less 1).
module rhz_matvec_streamed #(
  parameter int Pixels   = 1,
  parameter int Pe       = 1,
  parameter int Simd     = 1,
  parameter int XWidth   = 8,
  parameter int XSigned  = 0,
  parameter int WWidth   = 8,
  parameter int AccWidth = 24,
  parameter int Folds    = 1,
  parameter int OutFolds = 1,
  parameter int Trips    = 1,
  parameter int Uses     = 1,
  parameter int Bias     = 0,
  parameter     BiasFile   = "",
  parameter int Style    = 1,
  parameter int BiasBlock = 0,
  parameter int Beat     = 64,
  parameter int Words    = 1,
  parameter int Positions = 1,
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          in_valid_i,
  output logic                          in_ready_o,
  input  logic [Pixels*Simd*XWidth-1:0] in_data_i,
  input  logic                          w_valid_i,
  output logic                          w_ready_o,
  input  logic [Beat-1:0]               w_data_i,
  output logic                          out_valid_o,
  input  logic                          out_ready_i,
  output logic [Pixels*Pe*AccWidth-1:0] out_data_o
);
  localparam int Word   = Pe * Simd * WWidth;
  localparam int Pieces = (Word + Beat - 1) / Beat;
  localparam int AddrW  = (Trips * OutFolds * Folds > 1) ? $clog2(Trips * OutFolds * Folds) : 1;
  if (Words > 1 && Words * Word > Beat) begin : gen_bad_words
    initial $fatal(1, "rhz_matvec_streamed: %0d words of %0d bits in a beat of %0d",
                   Words, Word, Beat);
  end

  // Whether the weights of a firing are there, and its beat is used up by it; whether
  // it is the first one with its weights.
  logic here, spent, ready, fire, first, last;
  logic [Word-1:0] word;
  assign in_ready_o = ready && (here || !first);
  assign fire       = in_valid_i && in_ready_o;
  if (Positions == 1) begin : gen_position
    assign first = 1'b1;
  end else begin : gen_positions
    logic first_q, place_last;
    logic [$clog2(Positions)-1:0] unused_place;
    rhz_counter #(.Count(Positions)) u_place (
      .clk_i, .rst_ni, .en_i(fire), .value_o(unused_place), .last_o(place_last)
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni)   first_q <= 1'b1;
      else if (fire) first_q <= place_last;
    end
    assign first = first_q;
  end
  if (Pieces > 1 && Positions > 1) begin : gen_gathered
    // A whole word waits in front of the one in use.
    localparam int PieceW = $clog2(Pieces);
    localparam int Held   = (Pieces - 1) * Beat;
    logic take, last_piece, full_q, unused;
    logic [PieceW-1:0] unused_piece;
    logic [Held-1:0] held_q;
    logic [Word-1:0] next_q;
    assign here      = full_q;
    assign spent     = 1'b1;
    assign w_ready_o = !last_piece || !full_q;
    assign take      = w_valid_i && w_ready_o;
    assign unused    = &{1'b0, spent, last};
    rhz_counter #(.Count(Pieces)) u_piece (
      .clk_i, .rst_ni, .en_i(take), .value_o(unused_piece), .last_o(last_piece)
    );
    if (Pieces == 2) begin : gen_one
      always_ff @(posedge clk_i) if (!last_piece) held_q <= w_data_i;
    end else begin : gen_many
      always_ff @(posedge clk_i)
        if (w_valid_i && !last_piece) held_q <= {w_data_i, held_q[Held-1:Beat]};
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) full_q <= 1'b0;
      else         full_q <= (take && last_piece) || (full_q && !(fire && first));
    end
    always_ff @(posedge clk_i)
      if (take && last_piece) next_q <= {w_data_i[Word-Held-1:0], held_q};
    assign word = next_q;
    if (Word < Pieces * Beat) begin : gen_unfilled
      logic unused_top;
      assign unused_top = &{1'b0, w_data_i[Beat-1:Word-Held]};
    end
  end else if (Pieces > 1) begin : gen_pieces
    localparam int PieceW = $clog2(Pieces);
    localparam int Held   = (Pieces - 1) * Beat;
    logic take, last_piece, unused;
    logic [PieceW-1:0] unused_piece;
    logic [Held-1:0] held_q;
    assign here      = w_valid_i && last_piece;
    assign spent     = 1'b1;
    assign w_ready_o = !last_piece || (ready && in_valid_i);
    assign take      = w_valid_i && w_ready_o;
    assign unused    = &{1'b0, spent, fire, last};
    rhz_counter #(.Count(Pieces)) u_piece (
      .clk_i, .rst_ni, .en_i(take), .value_o(unused_piece), .last_o(last_piece)
    );
    if (Pieces == 2) begin : gen_one
      always_ff @(posedge clk_i) if (!last_piece) held_q <= w_data_i;
    end else begin : gen_many
      always_ff @(posedge clk_i)
        if (w_valid_i && !last_piece) held_q <= {w_data_i, held_q[Held-1:Beat]};
    end
    assign word = {w_data_i[Word-Held-1:0], held_q};
    if (Word < Pieces * Beat) begin : gen_unfilled
      logic unused_top;
      assign unused_top = &{1'b0, w_data_i[Beat-1:Word-Held]};
    end
  end else begin : gen_beat
    assign here      = w_valid_i;
    assign w_ready_o = ready && in_valid_i && first && spent;
    if (Words == 1) begin : gen_word
      logic unused;
      assign unused = &{1'b0, last, fire};
      assign spent  = 1'b1;
      assign word   = w_data_i[Word-1:0];
    end else begin : gen_words
      localparam int IndexW = $clog2(Words);
      logic [IndexW-1:0] index_q;
      assign spent = last || index_q == IndexW'(Words - 1);
      always_ff @(posedge clk_i) begin
        if (!rst_ni)            index_q <= '0;
        else if (fire && first) index_q <= spent ? '0 : index_q + IndexW'(1);
      end
      rhz_mux #(.Width(Word), .Count(Words)) u_word (
        .sel_i(index_q), .data_i(w_data_i[Words*Word-1:0]), .data_o(word)
      );
    end
    if (Words * Word < Beat) begin : gen_unfilled
      logic unused_top;
      assign unused_top = &{1'b0, w_data_i[Beat-1:Words*Word]};
    end
  end

  logic [Word-1:0] word_q;
  logic [AddrW-1:0] unused_addr;
  if (Positions == 1) begin : gen_new_word
    always_ff @(posedge clk_i) word_q <= word;
  end else begin : gen_kept_word
    always_ff @(posedge clk_i) if (fire && first) word_q <= word;
  end
  rhz_matvec_fed #(
    .Pixels(Pixels), .Pe(Pe), .Simd(Simd), .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth),
    .AccWidth(AccWidth), .Folds(Folds), .OutFolds(OutFolds), .Trips(Trips), .Uses(Uses),
    .Bias(Bias), .BiasFile(BiasFile), .Style(Style), .BiasBlock(BiasBlock), .Positions(Positions), .Depth(Depth), .Latency(Latency), .Arrival(1)
  ) u_products (
    .clk_i, .rst_ni, .in_valid_i(in_valid_i && (here || !first)), .in_ready_o(ready), .in_data_i,
    .out_valid_o, .out_ready_i, .out_data_o, .last_o(last), .addr_o(unused_addr), .w_i(word_q)
  );
endmodule
