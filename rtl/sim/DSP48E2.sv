// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulation model of the subset of AMD's DSP48E2 that our cells use: pre-adder
// A + D, either of which INMODE may leave out, multiplier, all pipeline registers on,
// one or two for A, with the clock enables of A, B, C, D and their sum, P = W + Z +
// product with W = 0 or RND, Z = 0, C, PCIN or PCIN >> 17. Other settings end the
// simulation. Written from UG579, not vendor code.
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNUSEDPARAM */
module DSP48E2 #(
  parameter AMULTSEL = "A", parameter A_INPUT = "DIRECT", parameter BMULTSEL = "B",
  parameter B_INPUT = "DIRECT", parameter PREADDINSEL = "A",
  parameter USE_MULT = "MULTIPLY", parameter USE_SIMD = "ONE48",
  parameter int ACASCREG = 1, parameter int ADREG = 1, parameter int ALUMODEREG = 1,
  parameter int AREG = 1, parameter int BCASCREG = 1, parameter int BREG = 1,
  parameter int CARRYINREG = 1, parameter int CARRYINSELREG = 1, parameter int CREG = 1,
  parameter int DREG = 1, parameter int INMODEREG = 1, parameter int MREG = 1,
  parameter int OPMODEREG = 1, parameter int PREG = 1, parameter logic [47:0] RND = 48'b0
) (
  output logic [29:0] ACOUT, output logic [17:0] BCOUT, output logic CARRYCASCOUT,
  output logic [3:0] CARRYOUT, output logic MULTSIGNOUT, output logic OVERFLOW,
  output logic [47:0] P, output logic PATTERNBDETECT, output logic PATTERNDETECT,
  output logic [47:0] PCOUT, output logic UNDERFLOW, output logic [7:0] XOROUT,
  input logic [29:0] A, input logic [29:0] ACIN, input logic [3:0] ALUMODE,
  input logic [17:0] B, input logic [17:0] BCIN, input logic [47:0] C,
  input logic CARRYCASCIN, input logic CARRYIN, input logic [2:0] CARRYINSEL,
  input logic CEA1, input logic CEA2, input logic CEAD, input logic CEALUMODE,
  input logic CEB1, input logic CEB2, input logic CEC, input logic CECARRYIN,
  input logic CECTRL, input logic CED, input logic CEINMODE, input logic CEM,
  input logic CEP, input logic CLK, input logic [26:0] D, input logic [4:0] INMODE,
  input logic MULTSIGNIN, input logic [8:0] OPMODE, input logic [47:0] PCIN,
  input logic RSTA, input logic RSTALLCARRYIN, input logic RSTALUMODE,
  input logic RSTB, input logic RSTC, input logic RSTCTRL, input logic RSTD,
  input logic RSTINMODE, input logic RSTM, input logic RSTP
);
  /* verilator no_inline_module */
  logic signed [26:0] a1_q, a2_q, d_q, ad_q;
  logic signed [17:0] b1_q, b2_q;
  logic signed [44:0] m_q;
  logic signed [47:0] c_q, p_q, w, z;
  assign w = (OPMODE[8:7] == 2'b10) ? RND : 48'b0;
  assign z = (OPMODE[6:4] == 3'b001) ? PCIN : (OPMODE[6:4] == 3'b011) ? c_q :
             (OPMODE[6:4] == 3'b101) ? {{17{PCIN[47]}}, PCIN[47:17]} : 48'b0;
  always_ff @(posedge CLK) begin
    if (CEA1) a1_q <= A[26:0];
    if (CEA2) a2_q <= (AREG == 2) ? a1_q : A[26:0];
    if (CED)  d_q  <= D;
    if (CEB1) b1_q <= B;
    if (CEC)  c_q  <= C;
    if (CEAD) ad_q <= (INMODE[1] ? 27'b0 : a2_q) + (INMODE[2] ? d_q : 27'b0);
    if (CEB2) b2_q <= b1_q;
    m_q <= 45'(ad_q) * 45'(b2_q);
    p_q <= w + z + 48'(m_q);
  end
  assign P = p_q;
  assign PCOUT = p_q;
  assign ACOUT = 30'b0;
  assign BCOUT = 18'b0;
  assign {CARRYCASCOUT, CARRYOUT, MULTSIGNOUT, OVERFLOW, UNDERFLOW} = 8'b0;
  assign {PATTERNDETECT, PATTERNBDETECT, XOROUT} = 10'b0;
  if (AREG < 1 || AREG > 2 || BREG != 2 || CREG != 1 || DREG != 1 || ADREG != 1 || MREG != 1 || PREG != 1)
  begin : gen_bad_registers
    initial $fatal(1, "DSP48E2 model: only CREG, DREG, ADREG, MREG, PREG = 1, BREG = 2 and AREG = 1 or 2");
  end
endmodule
/* verilator lint_on UNUSEDPARAM */
/* verilator lint_on UNUSEDSIGNAL */
