// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ports and parameters of AMD's DSP48E1 as a black box, for tools that have no
// library of their own.
(* blackbox *)
module DSP48E1 #(
  parameter A_INPUT = "DIRECT", parameter B_INPUT = "DIRECT",
  parameter USE_DPORT = "FALSE", parameter USE_MULT = "MULTIPLY",
  parameter USE_SIMD = "ONE48",
  parameter ACASCREG = 1, parameter ADREG = 1, parameter ALUMODEREG = 1,
  parameter AREG = 1, parameter BCASCREG = 1, parameter BREG = 1,
  parameter CARRYINREG = 1, parameter CARRYINSELREG = 1, parameter CREG = 1,
  parameter DREG = 1, parameter INMODEREG = 1, parameter MREG = 1,
  parameter OPMODEREG = 1, parameter PREG = 1
) (
  output [29:0] ACOUT, output [17:0] BCOUT, output CARRYCASCOUT,
  output [3:0] CARRYOUT, output MULTSIGNOUT, output OVERFLOW,
  output [47:0] P, output PATTERNBDETECT, output PATTERNDETECT,
  output [47:0] PCOUT, output UNDERFLOW,
  input [29:0] A, input [29:0] ACIN, input [3:0] ALUMODE,
  input [17:0] B, input [17:0] BCIN, input [47:0] C,
  input CARRYCASCIN, input CARRYIN, input [2:0] CARRYINSEL,
  input CEA1, input CEA2, input CEAD, input CEALUMODE,
  input CEB1, input CEB2, input CEC, input CECARRYIN,
  input CECTRL, input CED, input CEINMODE, input CEM,
  input CEP, input CLK, input [24:0] D, input [4:0] INMODE,
  input MULTSIGNIN, input [6:0] OPMODE, input [47:0] PCIN,
  input RSTA, input RSTALLCARRYIN, input RSTALUMODE,
  input RSTB, input RSTC, input RSTCTRL, input RSTD,
  input RSTINMODE, input RSTM, input RSTP
);
endmodule
