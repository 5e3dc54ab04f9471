// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose turn it is, and the word of a memory that it takes: Layers layers one
// after another, each for Vectors vectors of Words words. The words of a layer
// are the same for each of its vectors; those of the next layer follow.
module rhz_turn #(
  parameter int Layers     = 2,
  parameter int Vectors    = 1,
  parameter int Words      = 1,
  parameter int AddrWidth  = (Layers * Words > 1) ? $clog2(Layers * Words) : 1,
  parameter int LayerWidth = (Layers > 1) ? $clog2(Layers) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  en_i,
  output logic [AddrWidth-1:0]  addr_o,
  output logic [LayerWidth-1:0] layer_o
);
  localparam int WordW   = (Words > 1) ? $clog2(Words) : 1;
  localparam int VectorW = (Vectors > 1) ? $clog2(Vectors) : 1;
  logic word_last, vector_last, layer_last;
  logic [WordW-1:0] unused_word;
  logic [VectorW-1:0] unused_vector;
  rhz_counter #(.Count(Words)) u_word (
    .clk_i, .rst_ni, .en_i, .value_o(unused_word), .last_o(word_last)
  );
  rhz_counter #(.Count(Vectors)) u_vector (
    .clk_i, .rst_ni, .en_i(en_i && word_last), .value_o(unused_vector), .last_o(vector_last)
  );
  rhz_counter #(.Count(Layers)) u_layer (
    .clk_i, .rst_ni, .en_i(en_i && word_last && vector_last), .value_o(layer_o),
    .last_o(layer_last)
  );
  if (Words == 1) begin : gen_layer
    logic unused;
    assign unused = &{1'b0, layer_last};
    assign addr_o = layer_o;
  end else if (Vectors == 1) begin : gen_straight
    logic unused, unused_last;
    assign unused = &{1'b0, layer_last};
    rhz_counter #(.Count(Layers * Words)) u_addr (
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
