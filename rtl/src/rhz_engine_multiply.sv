// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lane multiplies, in two DSP48E2 (Wide = 1) or DSP48E1: P = Z + x2 · y2 with Z =
// (x1 · y1 + c) >> 17, x1 · y1 + c or 0. Each x is the sum or, with held_i, what its D
// register holds. Registers with a load keep what they have, others take a value a
// cycle. The inputs of the second DSP come a cycle after the sum and those of the first
// one, a c of its own for each y1 two cycles after it; P follows five cycles after these.
module rhz_engine_multiply #(
  parameter int Wide = 1
) (
  input  logic        clk_i,
  input  logic        held_i,
  input  logic        adds_i,
  input  logic        shifts_i,
  input  logic [26:0] sum_i,
  input  logic        load_d1_i,
  input  logic [23:0] d1_i,
  input  logic        load_c_i,
  input  logic [46:0] c_i,
  input  logic        load_y1_i,
  input  logic [17:0] y1_i,
  input  logic        load_d2_i,
  input  logic [23:0] d2_i,
  input  logic        load_y2_i,
  input  logic [17:0] y2_i,
  output logic [47:0] p_o
);
  // A2 or D into the multiplier.
  logic [4:0] inmode;
  assign inmode = {2'b00, held_i, held_i, 1'b0};
  logic [2:0] z;
  assign z = {shifts_i, 1'b0, adds_i};
  logic [47:0] chain, unused_p, unused_pcout;
  logic [59:0] unused_acout;
  logic [35:0] unused_bcout;
  logic [19:0] unused_flags;
  logic [29:0] sum;
  logic [26:0] d1, d2;
  assign sum = 30'($signed(sum_i));
  assign d1  = 27'($signed(d1_i));
  assign d2  = 27'($signed(d2_i));
  if (Wide != 0) begin : gen_e2
    logic [15:0] unused_xor;
    DSP48E2 #(
      .AMULTSEL("AD"), .A_INPUT("DIRECT"), .BMULTSEL("B"), .B_INPUT("DIRECT"),
      .PREADDINSEL("A"), .USE_MULT("MULTIPLY"), .USE_SIMD("ONE48"),
      .ACASCREG(1), .ADREG(1), .ALUMODEREG(0), .AREG(1), .BCASCREG(2), .BREG(2),
      .CARRYINREG(0), .CARRYINSELREG(0), .CREG(1), .DREG(1), .INMODEREG(0),
      .MREG(1), .OPMODEREG(0), .PREG(1)
    ) u_first (
      .CLK(clk_i), .A(sum), .B(y1_i), .C({c_i[46], c_i}), .D(d1),
      .ACIN(30'b0), .BCIN(18'b0), .PCIN(48'b0), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .CARRYIN(1'b0), .CARRYINSEL(3'b0), .ALUMODE(4'b0), .INMODE(inmode), .OPMODE(9'b00_011_01_01),
      .CEA1(1'b0), .CEA2(1'b1), .CEAD(1'b1), .CEALUMODE(1'b1), .CEB1(load_y1_i), .CEB2(1'b1),
      .CEC(load_c_i), .CECARRYIN(1'b1), .CECTRL(1'b1), .CED(load_d1_i), .CEINMODE(1'b1), .CEM(1'b1),
      .CEP(1'b1), .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .P(unused_p), .PCOUT(chain), .ACOUT(unused_acout[0 +: 30]),
      .BCOUT(unused_bcout[0 +: 18]), .CARRYCASCOUT(unused_flags[0]),
      .CARRYOUT(unused_flags[1 +: 4]), .MULTSIGNOUT(unused_flags[5]),
      .OVERFLOW(unused_flags[6]), .UNDERFLOW(unused_flags[7]),
      .PATTERNDETECT(unused_flags[8]), .PATTERNBDETECT(unused_flags[9]), .XOROUT(unused_xor[0 +: 8])
    );
    DSP48E2 #(
      .AMULTSEL("AD"), .A_INPUT("DIRECT"), .BMULTSEL("B"), .B_INPUT("DIRECT"),
      .PREADDINSEL("A"), .USE_MULT("MULTIPLY"), .USE_SIMD("ONE48"),
      .ACASCREG(1), .ADREG(1), .ALUMODEREG(0), .AREG(2), .BCASCREG(2), .BREG(2),
      .CARRYINREG(0), .CARRYINSELREG(0), .CREG(1), .DREG(1), .INMODEREG(0),
      .MREG(1), .OPMODEREG(0), .PREG(1)
    ) u_second (
      .CLK(clk_i), .A(sum), .B(y2_i), .C(48'b0), .D(d2),
      .ACIN(30'b0), .BCIN(18'b0), .PCIN(chain), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .CARRYIN(1'b0), .CARRYINSEL(3'b0), .ALUMODE(4'b0), .INMODE(inmode), .OPMODE({2'b00, z, 4'b01_01}),
      .CEA1(1'b1), .CEA2(1'b1), .CEAD(1'b1), .CEALUMODE(1'b1), .CEB1(load_y2_i), .CEB2(1'b1),
      .CEC(1'b1), .CECARRYIN(1'b1), .CECTRL(1'b1), .CED(load_d2_i), .CEINMODE(1'b1), .CEM(1'b1),
      .CEP(1'b1), .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .P(p_o), .PCOUT(unused_pcout), .ACOUT(unused_acout[30 +: 30]),
      .BCOUT(unused_bcout[18 +: 18]), .CARRYCASCOUT(unused_flags[10]),
      .CARRYOUT(unused_flags[11 +: 4]), .MULTSIGNOUT(unused_flags[15]),
      .OVERFLOW(unused_flags[16]), .UNDERFLOW(unused_flags[17]),
      .PATTERNDETECT(unused_flags[18]), .PATTERNBDETECT(unused_flags[19]), .XOROUT(unused_xor[8 +: 8])
    );
  end else begin : gen_e1
    logic unused_high;
    assign unused_high = &{1'b0, d1[26:25], d2[26:25]};
    DSP48E1 #(
      .A_INPUT("DIRECT"), .B_INPUT("DIRECT"), .USE_DPORT("TRUE"), .USE_MULT("MULTIPLY"),
      .USE_SIMD("ONE48"),
      .ACASCREG(1), .ADREG(1), .ALUMODEREG(0), .AREG(1), .BCASCREG(2), .BREG(2),
      .CARRYINREG(0), .CARRYINSELREG(0), .CREG(1), .DREG(1), .INMODEREG(0),
      .MREG(1), .OPMODEREG(0), .PREG(1)
    ) u_first (
      .CLK(clk_i), .A(sum), .B(y1_i), .C({c_i[46], c_i}), .D(d1[24:0]),
      .ACIN(30'b0), .BCIN(18'b0), .PCIN(48'b0), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .CARRYIN(1'b0), .CARRYINSEL(3'b0), .ALUMODE(4'b0), .INMODE(inmode), .OPMODE(7'b011_01_01),
      .CEA1(1'b0), .CEA2(1'b1), .CEAD(1'b1), .CEALUMODE(1'b1), .CEB1(load_y1_i), .CEB2(1'b1),
      .CEC(load_c_i), .CECARRYIN(1'b1), .CECTRL(1'b1), .CED(load_d1_i), .CEINMODE(1'b1), .CEM(1'b1),
      .CEP(1'b1), .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .P(unused_p), .PCOUT(chain), .ACOUT(unused_acout[0 +: 30]),
      .BCOUT(unused_bcout[0 +: 18]), .CARRYCASCOUT(unused_flags[0]),
      .CARRYOUT(unused_flags[1 +: 4]), .MULTSIGNOUT(unused_flags[5]),
      .OVERFLOW(unused_flags[6]), .UNDERFLOW(unused_flags[7]),
      .PATTERNDETECT(unused_flags[8]), .PATTERNBDETECT(unused_flags[9])
    );
    DSP48E1 #(
      .A_INPUT("DIRECT"), .B_INPUT("DIRECT"), .USE_DPORT("TRUE"), .USE_MULT("MULTIPLY"),
      .USE_SIMD("ONE48"),
      .ACASCREG(1), .ADREG(1), .ALUMODEREG(0), .AREG(2), .BCASCREG(2), .BREG(2),
      .CARRYINREG(0), .CARRYINSELREG(0), .CREG(1), .DREG(1), .INMODEREG(0),
      .MREG(1), .OPMODEREG(0), .PREG(1)
    ) u_second (
      .CLK(clk_i), .A(sum), .B(y2_i), .C(48'b0), .D(d2[24:0]),
      .ACIN(30'b0), .BCIN(18'b0), .PCIN(chain), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .CARRYIN(1'b0), .CARRYINSEL(3'b0), .ALUMODE(4'b0), .INMODE(inmode), .OPMODE({z, 4'b01_01}),
      .CEA1(1'b1), .CEA2(1'b1), .CEAD(1'b1), .CEALUMODE(1'b1), .CEB1(load_y2_i), .CEB2(1'b1),
      .CEC(1'b1), .CECARRYIN(1'b1), .CECTRL(1'b1), .CED(load_d2_i), .CEINMODE(1'b1), .CEM(1'b1),
      .CEP(1'b1), .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .P(p_o), .PCOUT(unused_pcout), .ACOUT(unused_acout[30 +: 30]),
      .BCOUT(unused_bcout[18 +: 18]), .CARRYCASCOUT(unused_flags[10]),
      .CARRYOUT(unused_flags[11 +: 4]), .MULTSIGNOUT(unused_flags[15]),
      .OVERFLOW(unused_flags[16]), .UNDERFLOW(unused_flags[17]),
      .PATTERNDETECT(unused_flags[18]), .PATTERNBDETECT(unused_flags[19])
    );
  end
endmodule
