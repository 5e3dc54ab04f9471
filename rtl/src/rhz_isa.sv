// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generated from rtl/isa by scripts/generate_isa.py: the decoders of the engine.
/* verilator lint_off DECLFILENAME */
/* verilator lint_off UNUSED */
package rhz_isa_pkg;
  localparam logic [2:0] HEAD = 3'd7;
  localparam logic [2:0] LOAD = 3'd1;
  localparam logic [2:0] PACK = 3'd2;
  localparam logic [2:0] WEIGHTS = 3'd3;
  localparam logic [2:0] MATRIX = 3'd4;
  localparam logic [2:0] VECTOR = 3'd5;
  localparam logic [2:0] STORE = 3'd6;
  localparam logic [2:0] END = 3'd0;
  localparam logic [2:0] UNIT_LOAD = 3'd0;
  localparam logic [2:0] UNIT_WEIGHTS = 3'd1;
  localparam logic [2:0] UNIT_MATRIX = 3'd2;
  localparam logic [2:0] UNIT_VECTOR = 3'd3;
  localparam logic [2:0] UNIT_STORE = 3'd4;
  localparam logic [2:0] UNIT_FETCH = 3'd5;
  localparam logic [2:0] OPERATION_REQUANTIZE = 3'd0;
  localparam logic [2:0] OPERATION_ADD = 3'd1;
  localparam logic [2:0] OPERATION_MAXIMUM = 3'd2;
  localparam logic [2:0] OPERATION_DOT = 3'd3;
  localparam logic [2:0] OPERATION_MULTIPLY = 3'd4;
  localparam logic [2:0] OPERATION_TABLE = 3'd5;
  localparam logic [2:0] PORT_M0 = 3'd0;
  localparam logic [2:0] PORT_M1 = 3'd1;
  localparam logic [2:0] PORT_M2 = 3'd2;
  localparam logic [2:0] PORT_M3 = 3'd3;
  localparam logic [2:0] PORT_STREAM = 3'd4;
  localparam logic [2:0] PORT_SCRATCH = 3'd4;
  localparam int BITS_LOAD = 170;
  localparam int BITS_WEIGHTS = 101;
  localparam int BITS_MATRIX = 145;
  localparam int BITS_VECTOR = 219;
  localparam int BITS_STORE = 146;
  localparam int BITS_FETCH = 125;
  localparam logic [31:0] HASH = 32'hdaca89e8;
endpackage

module rhz_isa_common (
  input  logic [255:0] instruction_i,
  output logic [2:0] opcode_o,
  output logic [4:0] waits_o,
  output logic [4:0] gives_o,
  output logic [2:0] unit_o
);
  assign opcode_o = instruction_i[2:0];
  assign waits_o = instruction_i[7:3];
  assign gives_o = instruction_i[12:8];
  always_comb
    case (opcode_o)
      3'd1, 3'd2: unit_o = 3'd0;
      3'd3: unit_o = 3'd1;
      3'd4: unit_o = 3'd2;
      3'd5: unit_o = 3'd3;
      3'd6: unit_o = 3'd4;
      default: unit_o = 3'd5;
    endcase
endmodule

module rhz_isa_head (
  input  logic [255:0] instruction_i,
  output logic [31:0] isa_o,
  output logic [31:0] core_o,
  output logic [31:0] instructions_o,
  output logic [15:0] blocks_o
);
  assign isa_o = instruction_i[44:13];
  assign core_o = instruction_i[76:45];
  assign instructions_o = instruction_i[108:77];
  assign blocks_o = instruction_i[124:109];
endmodule

module rhz_isa_load (
  input  logic [255:0] instruction_i,
  output logic [2:0] port_o,
  output logic [27:0] address_o,
  output logic [19:0] row_step_o,
  output logic [11:0] column_step_o,
  output logic [16:0] place_o,
  output logic [13:0] place_row_o,
  output logic [9:0] place_column_o,
  output logic [9:0] rows_o,
  output logic [9:0] columns_o,
  output logic [8:0] channels_o,
  output logic [3:0] top_o,
  output logic [3:0] bottom_o,
  output logic [3:0] left_o,
  output logic [3:0] right_o,
  output logic [7:0] pad_o
);
  assign port_o = instruction_i[15:13];
  assign address_o = instruction_i[43:16];
  assign row_step_o = instruction_i[63:44];
  assign column_step_o = instruction_i[75:64];
  assign place_o = instruction_i[92:76];
  assign place_row_o = instruction_i[106:93];
  assign place_column_o = instruction_i[116:107];
  assign rows_o = instruction_i[126:117];
  assign columns_o = instruction_i[136:127];
  assign channels_o = instruction_i[145:137];
  assign top_o = instruction_i[149:146];
  assign bottom_o = instruction_i[153:150];
  assign left_o = instruction_i[157:154];
  assign right_o = instruction_i[161:158];
  assign pad_o = instruction_i[169:162];
endmodule

module rhz_isa_pack (
  input  logic [255:0] instruction_i,
  output logic [2:0] port_o,
  output logic [27:0] address_o,
  output logic [19:0] row_step_o,
  output logic [16:0] place_o,
  output logic [13:0] place_row_o,
  output logic [9:0] rows_o,
  output logic [9:0] columns_o,
  output logic [1:0] channels_o,
  output logic [13:0] bytes_o,
  output logic [6:0] step_o,
  output logic [6:0] left_o,
  output logic [3:0] top_o,
  output logic [3:0] bottom_o,
  output logic [7:0] pad_o
);
  assign port_o = instruction_i[15:13];
  assign address_o = instruction_i[43:16];
  assign row_step_o = instruction_i[63:44];
  assign place_o = instruction_i[80:64];
  assign place_row_o = instruction_i[94:81];
  assign rows_o = instruction_i[104:95];
  assign columns_o = instruction_i[114:105];
  assign channels_o = instruction_i[116:115];
  assign bytes_o = instruction_i[130:117];
  assign step_o = instruction_i[137:131];
  assign left_o = instruction_i[144:138];
  assign top_o = instruction_i[148:145];
  assign bottom_o = instruction_i[152:149];
  assign pad_o = instruction_i[160:153];
endmodule

module rhz_isa_weights (
  input  logic [255:0] instruction_i,
  output logic [2:0] port_o,
  output logic [27:0] address_o,
  output logic [16:0] place_o,
  output logic [11:0] blocks_o,
  output logic four_o,
  output logic turned_o,
  output logic [11:0] column_step_o,
  output logic [13:0] block_step_o
);
  assign port_o = instruction_i[15:13];
  assign address_o = instruction_i[43:16];
  assign place_o = instruction_i[60:44];
  assign blocks_o = instruction_i[72:61];
  assign four_o = instruction_i[73];
  assign turned_o = instruction_i[74];
  assign column_step_o = instruction_i[86:75];
  assign block_step_o = instruction_i[100:87];
endmodule

module rhz_isa_matrix (
  input  logic [255:0] instruction_i,
  output logic [16:0] place_o,
  output logic [4:0] taps2_o,
  output logic [4:0] taps1_o,
  output logic [8:0] taps0_o,
  output logic [13:0] step2_o,
  output logic [11:0] step1_o,
  output logic [11:0] step0_o,
  output logic [9:0] rows_o,
  output logic [9:0] columns_o,
  output logic [13:0] row_step_o,
  output logic [11:0] column_step_o,
  output logic bank_o,
  output logic [9:0] entry_o,
  output logic more_o
);
  assign place_o = instruction_i[29:13];
  assign taps2_o = instruction_i[34:30];
  assign taps1_o = instruction_i[39:35];
  assign taps0_o = instruction_i[48:40];
  assign step2_o = instruction_i[62:49];
  assign step1_o = instruction_i[74:63];
  assign step0_o = instruction_i[86:75];
  assign rows_o = instruction_i[96:87];
  assign columns_o = instruction_i[106:97];
  assign row_step_o = instruction_i[120:107];
  assign column_step_o = instruction_i[132:121];
  assign bank_o = instruction_i[133];
  assign entry_o = instruction_i[143:134];
  assign more_o = instruction_i[144];
endmodule

module rhz_isa_vector (
  input  logic [255:0] instruction_i,
  output logic [2:0] operation_o,
  output logic [16:0] a_o,
  output logic [16:0] b_o,
  output logic [16:0] place_o,
  output logic [16:0] constants_o,
  output logic [9:0] rows_o,
  output logic [9:0] columns_o,
  output logic [5:0] taps1_o,
  output logic [5:0] taps0_o,
  output logic [13:0] a_row_o,
  output logic [9:0] a_column_o,
  output logic [13:0] b_row_o,
  output logic [9:0] b_column_o,
  output logic [13:0] place_row_o,
  output logic [9:0] place_column_o,
  output logic bank_o,
  output logic [9:0] entry_o,
  output logic group_o,
  output logic more_o,
  output logic [1:0] shift_o,
  output logic [7:0] low_o,
  output logic [7:0] high_o
);
  assign operation_o = instruction_i[15:13];
  assign a_o = instruction_i[32:16];
  assign b_o = instruction_i[49:33];
  assign place_o = instruction_i[66:50];
  assign constants_o = instruction_i[83:67];
  assign rows_o = instruction_i[93:84];
  assign columns_o = instruction_i[103:94];
  assign taps1_o = instruction_i[109:104];
  assign taps0_o = instruction_i[115:110];
  assign a_row_o = instruction_i[129:116];
  assign a_column_o = instruction_i[139:130];
  assign b_row_o = instruction_i[153:140];
  assign b_column_o = instruction_i[163:154];
  assign place_row_o = instruction_i[177:164];
  assign place_column_o = instruction_i[187:178];
  assign bank_o = instruction_i[188];
  assign entry_o = instruction_i[198:189];
  assign group_o = instruction_i[199];
  assign more_o = instruction_i[200];
  assign shift_o = instruction_i[202:201];
  assign low_o = instruction_i[210:203];
  assign high_o = instruction_i[218:211];
endmodule

module rhz_isa_store (
  input  logic [255:0] instruction_i,
  output logic [2:0] port_o,
  output logic [27:0] address_o,
  output logic [19:0] row_step_o,
  output logic [11:0] column_step_o,
  output logic [16:0] place_o,
  output logic [13:0] place_row_o,
  output logic [9:0] place_column_o,
  output logic [9:0] rows_o,
  output logic [9:0] columns_o,
  output logic [8:0] channels_o
);
  assign port_o = instruction_i[15:13];
  assign address_o = instruction_i[43:16];
  assign row_step_o = instruction_i[63:44];
  assign column_step_o = instruction_i[75:64];
  assign place_o = instruction_i[92:76];
  assign place_row_o = instruction_i[106:93];
  assign place_column_o = instruction_i[116:107];
  assign rows_o = instruction_i[126:117];
  assign columns_o = instruction_i[136:127];
  assign channels_o = instruction_i[145:137];
endmodule
