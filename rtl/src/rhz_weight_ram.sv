// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of weights without initial contents, Words words of Width bits, in
// UltraRAM (Ultra = 1) or block RAM, read like rhz_rom. It is filled once after
// reset by the load chain: of the words of Load bits that arrive it takes its
// own, the lowest bits of a word first, and passes on all others a cycle later.
// A word in the chain never waits, so the chain has no ready. loaded_o rises
// when the last word is in; nobody may read before.
module rhz_weight_ram #(
  parameter int Width  = 8,
  parameter int Words  = 2,
  parameter int Stages = 2,
  parameter int Load   = 64,
  parameter int Ultra  = 0,
  parameter int AddrWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 load_valid_i,
  input  logic [Load-1:0]      load_data_i,
  output logic                 load_valid_o,
  output logic [Load-1:0]      load_data_o,
  output logic                 loaded_o,
  input  logic [AddrWidth-1:0] addr_i,
  output logic [Width-1:0]     data_o
);
  localparam int Pieces = (Width + Load - 1) / Load;
  localparam int PieceW = (Pieces > 1) ? $clog2(Pieces) : 1;

  logic own, write, last_piece, last_word, loaded_q;
  logic [PieceW-1:0] unused_piece;
  logic [AddrWidth-1:0] address;
  assign own   = load_valid_i && !loaded_q;
  assign write = own && last_piece;
  rhz_counter #(.Count(Pieces)) u_piece (
    .clk_i, .rst_ni, .en_i(own), .value_o(unused_piece), .last_o(last_piece)
  );
  rhz_counter #(.Count(Words)) u_word (
    .clk_i, .rst_ni, .en_i(write), .value_o(address), .last_o(last_word)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      loaded_q     <= 1'b0;
      load_valid_o <= 1'b0;
    end else begin
      loaded_q     <= loaded_q || (write && last_word);
      load_valid_o <= load_valid_i && loaded_q;
    end
  end
  always_ff @(posedge clk_i) load_data_o <= load_data_i;
  assign loaded_o = loaded_q;

  // All pieces but the last one wait in a register.
  logic [Width-1:0] word;
  if (Pieces == 1) begin : gen_single
    assign word = load_data_i[Width-1:0];
  end else begin : gen_pieces
    localparam int Held = (Pieces - 1) * Load;
    logic [Held-1:0] held_q;
    if (Pieces == 2) begin : gen_one
      always_ff @(posedge clk_i) if (own) held_q <= load_data_i;
    end else begin : gen_many
      always_ff @(posedge clk_i) if (own) held_q <= {load_data_i, held_q[Held-1:Load]};
    end
    assign word = {load_data_i[Width-Held-1:0], held_q};
  end

  logic [Width-1:0] data_q;
  if (Words == 1) begin : gen_word
    logic [Width-1:0] word_q;
    logic unused;
    assign unused = &{1'b0, addr_i, address};
    always_ff @(posedge clk_i) begin
      if (write) word_q <= word;
      data_q <= word_q;
    end
  end else if (Ultra != 0) begin : gen_ultra
    (* ram_style = "ultra", ramstyle = "no_rw_check" *) logic [Width-1:0] mem [0:Words-1];
    always_ff @(posedge clk_i) begin
      if (write) mem[address] <= word;
      data_q <= mem[addr_i];
    end
  end else begin : gen_block
    (* ram_style = "block", ramstyle = "no_rw_check" *) logic [Width-1:0] mem [0:Words-1];
    always_ff @(posedge clk_i) begin
      if (write) mem[address] <= word;
      data_q <= mem[addr_i];
    end
  end

  rhz_delay #(.Width(Width), .Stages(Stages - 1)) u_out (
    .clk_i, .data_i(data_q), .data_o
  );
endmodule
