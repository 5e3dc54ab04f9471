// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose turn it is, and the word of a memory that it takes: Layers layers one
// after another, each for Vectors vectors of OutFolds results of Folds words. The
// words of a layer are the same for each of its vectors; those of the next layer
// follow. last_o: this word is the last one of a result. Layers of different sizes
// have them in Sizes: for each Folds, OutFolds and Vectors in four hexadecimal
// digits each. With Results = 1 a result is a single word, whatever Folds are.
module rhz_turn #(
  parameter int Layers     = 2,
  parameter int Vectors    = 1,
  parameter int OutFolds   = 1,
  parameter int Folds      = 1,
  parameter     Sizes      = "",
  parameter int Results    = 0,
  parameter int Words      = Layers * OutFolds * ((Results != 0) ? 1 : Folds),
  parameter int AddrWidth  = (Words > 1) ? $clog2(Words) : 1,
  parameter int LayerWidth = (Layers > 1) ? $clog2(Layers) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  en_i,
  output logic [AddrWidth-1:0]  addr_o,
  output logic [LayerWidth-1:0] layer_o,
  output logic                  last_o
);
  localparam bit IsSized = Sizes != "";
  localparam int Parts   = (Results != 0) ? 1 : Folds;  // words of a result
  localparam int Own     = OutFolds * Parts;            // and of a layer

  // What Sizes have for each layer, less one: the words of a result (0), all its
  // words (1), its vectors (2); the last 32 bits have the greatest.
  function automatic logic [32*Layers+31:0] limitsOf(
    input logic [96*Layers-1:0] text,
    input int kind
  );
    logic [31:0] digit;
    logic [31:0] size;
    logic [31:0] limit;
    logic [31:0] most;
    most     = 1;
    limitsOf = '0;
    for (int l = 0; l < Layers; l++) begin
      limit = 1;
      for (int c = 0; c < 3; c++) begin
        size = 0;
        for (int d = 0; d < 4; d++) begin
          digit = 32'(text[8*(12*(Layers-1-l)+11-4*c-d) +: 8]);
          size  = 16 * size + ((digit > 64) ? digit - 87 : digit - 48);
        end
        if ((c == 0 && kind < 2 && Results == 0) || (c == 1 && kind == 1) || (c == 2 && kind == 2))
          limit = limit * size;
      end
      limitsOf[32*l +: 32] = limit - 1;
      if (limit - 1 > most) most = limit - 1;
    end
    limitsOf[32*Layers +: 32] = most;
  endfunction

  logic word_last, vector_last, layer_last;
  rhz_counter #(.Count(Layers)) u_layer (
    .clk_i, .rst_ni, .en_i(en_i && word_last && vector_last), .value_o(layer_o),
    .last_o(layer_last)
  );
  if (!IsSized) begin : gen_alike
    localparam int PartW   = (Parts > 1) ? $clog2(Parts) : 1;
    localparam int OwnW    = (Own > 1) ? $clog2(Own) : 1;
    localparam int VectorW = (Vectors > 1) ? $clog2(Vectors) : 1;
    logic [PartW-1:0] unused_part;
    logic [OwnW-1:0] unused_word;
    logic [VectorW-1:0] unused_vector;
    rhz_counter #(.Count(Parts)) u_part (
      .clk_i, .rst_ni, .en_i, .value_o(unused_part), .last_o
    );
    rhz_counter #(.Count(Own)) u_word (
      .clk_i, .rst_ni, .en_i, .value_o(unused_word), .last_o(word_last)
    );
    rhz_counter #(.Count(Vectors)) u_vector (
      .clk_i, .rst_ni, .en_i(en_i && word_last), .value_o(unused_vector), .last_o(vector_last)
    );
  end else begin : gen_sized
    localparam logic [96*Layers-1:0] Text = Sizes;
    localparam logic [32*Layers+31:0] PartLimits   = limitsOf(Text, 0);
    localparam logic [32*Layers+31:0] OwnLimits    = limitsOf(Text, 1);
    localparam logic [32*Layers+31:0] VectorLimits = limitsOf(Text, 2);
    localparam int PartW   = $clog2(PartLimits[32*Layers +: 32] + 1);
    localparam int OwnW    = $clog2(OwnLimits[32*Layers +: 32] + 1);
    localparam int VectorW = $clog2(VectorLimits[32*Layers +: 32] + 1);

    localparam int FirstPart   = PartLimits[31:0];
    localparam int FirstOwn    = OwnLimits[31:0];
    localparam int FirstVector = VectorLimits[31:0];

    // Of the layer in turn and of the next one.
    logic [PartW-1:0] part, next_part;
    logic [OwnW-1:0] own, next_own;
    logic [VectorW-1:0] next_vector;
    always_comb begin
      {part, own} = '0;
      {next_part, next_own, next_vector} = '0;
      for (int l = 0; l < Layers; l++) begin
        if (layer_o == LayerWidth'(l)) begin
          part        = PartLimits[32*l +: PartW];
          own         = OwnLimits[32*l +: OwnW];
          next_part   = PartLimits[32*((l+1)%Layers) +: PartW];
          next_own    = OwnLimits[32*((l+1)%Layers) +: OwnW];
          next_vector = VectorLimits[32*((l+1)%Layers) +: VectorW];
        end
      end
    end
    rhz_countdown #(.Width(OwnW), .First(FirstOwn)) u_word (
      .clk_i, .rst_ni, .en_i, .limit_i(vector_last ? next_own : own), .last_o(word_last)
    );
    if (Parts == 1) begin : gen_part
      logic unused;
      assign unused = &{1'b0, part, next_part};
      assign last_o = 1'b1;
    end else begin : gen_parts
      rhz_countdown #(.Width(PartW), .First(FirstPart)) u_part (
        .clk_i, .rst_ni, .en_i, .limit_i((word_last && vector_last) ? next_part : part), .last_o
      );
    end
    if (Vectors == 1) begin : gen_vector
      logic unused;
      assign unused      = &{1'b0, next_vector};
      assign vector_last = 1'b1;
    end else begin : gen_vectors
      rhz_countdown #(.Width(VectorW), .First(FirstVector)) u_vector (
        .clk_i, .rst_ni, .en_i(en_i && word_last), .limit_i(next_vector), .last_o(vector_last)
      );
    end
  end

  if (Own == 1) begin : gen_layer
    logic unused;
    assign unused = &{1'b0, layer_last};
    assign addr_o = layer_o;
  end else if (Vectors == 1) begin : gen_straight
    logic unused, unused_last;
    assign unused = &{1'b0, layer_last};
    rhz_counter #(.Count(Words)) u_addr (
      .clk_i, .rst_ni, .en_i, .value_o(addr_o), .last_o(unused_last)
    );
  end else begin : gen_again
    // The first word of the layer is taken again for each of its vectors.
    logic [AddrWidth-1:0] addr_q, first_q, next;
    assign next = addr_q + AddrWidth'(1);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        addr_q  <= '0;
        first_q <= '0;
      end else if (en_i) begin
        if (!word_last) begin
          addr_q <= next;
        end else if (!vector_last) begin
          addr_q <= first_q;
        end else begin
          addr_q  <= layer_last ? '0 : next;
          first_q <= layer_last ? '0 : next;
        end
      end
    end
    assign addr_o = addr_q;
  end
endmodule
