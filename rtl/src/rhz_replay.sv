// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores blocks of Words words and puts each out Times times. Words
// come in beats of Beat bits: PerBeat in a beat, one after another from the lowest
// bit on, or, with PerBeat = 1, in as many beats as a word needs. Every block begins
// with a new beat. A block is read once all of it is there; in its last round every
// word makes room for one of the next block. Latency = 2 + V.
module rhz_replay #(
  parameter int Width   = 8,
  parameter int Words   = 2,
  parameter int Times   = 2,
  parameter int Beat    = 8,
  parameter int PerBeat = 1,
  parameter int Depth   = 2,
  parameter int Latency = 0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Beat-1:0]  in_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  localparam int Lat    = 2 + ((Depth > 64) ? 2 : 1);
  localparam int AddrW  = (Words > 1) ? $clog2(Words) : 1;
  localparam int TimeW  = (Times > 1) ? $clog2(Times) : 1;
  localparam int CountW = $clog2(Words + 1);
  localparam int Pieces = (Width + Beat - 1) / Beat;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_replay: Latency %0d given, %0d built", Latency, Lat);
  end

  logic write, read, credit, read_last, round_last, write_last;
  logic [AddrW-1:0] write_addr, read_addr;
  logic [TimeW-1:0] unused_round;
  rhz_counter #(.Count(Words)) u_write (
    .clk_i, .rst_ni, .en_i(write), .value_o(write_addr), .last_o(write_last)
  );
  rhz_counter #(.Count(Words)) u_read (
    .clk_i, .rst_ni, .en_i(read), .value_o(read_addr), .last_o(read_last)
  );
  rhz_counter #(.Count(Times)) u_round (
    .clk_i, .rst_ni, .en_i(read && read_last), .value_o(unused_round), .last_o(round_last)
  );

  // Beats of the block that is read or will be; a block that has begun goes on.
  logic frees, full_q, begun_q;
  logic [CountW-1:0] stored_q, stored_d;
  assign frees      = read && round_last;
  assign read       = credit && (begun_q || full_q);
  assign stored_d   = stored_q + CountW'(write) - CountW'(frees);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stored_q <= '0;
      full_q   <= 1'b0;
      begun_q  <= 1'b0;
    end else begin
      stored_q <= stored_d;
      full_q   <= stored_d == CountW'(Words);
      if (read) begun_q <= !(read_last && round_last);
    end
  end

  // A word from beats.
  logic [Width-1:0] word;
  if (Pieces > 1) begin : gen_pieces
    localparam int PieceW = $clog2(Pieces);
    localparam int Held   = (Pieces - 1) * Beat;
    logic last_piece, unused;
    logic [PieceW-1:0] unused_piece;
    logic [Held-1:0] held_q;
    assign in_ready_o = !last_piece || !full_q;
    assign write      = in_valid_i && last_piece && !full_q;
    assign unused     = &{1'b0, write_last};
    rhz_counter #(.Count(Pieces)) u_piece (
      .clk_i, .rst_ni, .en_i(in_valid_i && in_ready_o), .value_o(unused_piece),
      .last_o(last_piece)
    );
    if (Pieces == 2) begin : gen_one
      always_ff @(posedge clk_i) if (!last_piece) held_q <= in_data_i;
    end else begin : gen_many
      always_ff @(posedge clk_i)
        if (in_valid_i && !last_piece) held_q <= {in_data_i, held_q[Held-1:Beat]};
    end
    assign word = {in_data_i[Width-Held-1:0], held_q};
    if (Width < Pieces * Beat) begin : gen_unfilled
      logic unused_top;
      assign unused_top = &{1'b0, in_data_i[Beat-1:Width-Held]};
    end
  end else begin : gen_beat
    assign write = in_valid_i && !full_q;
    if (PerBeat == 1) begin : gen_word
      logic unused;
      assign unused     = &{1'b0, write_last};
      assign in_ready_o = !full_q;
      assign word       = in_data_i[Width-1:0];
    end else begin : gen_words
      localparam int IndexW = $clog2(PerBeat);
      logic spent;
      logic [IndexW-1:0] index_q;
      assign spent      = write_last || index_q == IndexW'(PerBeat - 1);
      assign in_ready_o = !full_q && spent;
      always_ff @(posedge clk_i) begin
        if (!rst_ni)    index_q <= '0;
        else if (write) index_q <= spent ? '0 : index_q + IndexW'(1);
      end
      rhz_mux #(.Width(Width), .Count(PerBeat)) u_word (
        .sel_i(index_q), .data_i(in_data_i[PerBeat*Width-1:0]), .data_o(word)
      );
    end
    if (PerBeat * Width < Beat) begin : gen_unfilled
      logic unused_top;
      assign unused_top = &{1'b0, in_data_i[Beat-1:PerBeat*Width]};
    end
  end

  logic [2:0] valid;
  logic [Width-1:0] data;
  logic unused_valid;
  assign unused_valid = &{1'b0, valid[1:0]};
  rhz_valid #(.Stages(2)) u_valid (.clk_i, .rst_ni, .valid_i(read), .valid_o(valid));
  rhz_sdpram #(.Width(Width), .Words(Words), .Stages(2)) u_mem (
    .clk_i, .we_i(write), .waddr_i(write_addr), .wdata_i(word),
    .re_i(1'b1), .raddr_i(read_addr), .rdata_o(data)
  );
  rhz_outbuf #(.Width(Width), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(read), .push_i(valid[2]),
    .push_data_i(data), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
