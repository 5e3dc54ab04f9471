// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One DSP48E2 (Wide = 1) or DSP48E1 as (A + D)·B + PCIN or a constant with every
// pipeline register: P comes four cycles after A, B and D, three after the
// multiplier's pre-adder input. Chained = 1 adds PCIN, which must come from the P of
// the DSP below; otherwise Start is added. A DSP48E1 has 25 bits of A and D.
module rhz_dsp_packed #(
  parameter int          Wide    = 1,
  parameter int          Chained = 0,
  parameter logic [47:0] Start   = 48'b0
) (
  input  logic        clk_i,
  input  logic [26:0] a_i,
  input  logic [26:0] d_i,
  input  logic [17:0] b_i,
  input  logic [47:0] pcin_i,
  output logic [47:0] pcout_o,
  output logic [47:0] p_o
);
  if (Wide != 0) begin : gen_e2
    // W = the rounding constant or 0, Z = 0 or PCIN, Y and X = the product.
    localparam logic [8:0] Opmode = (Chained != 0) ? 9'b00_001_01_01 : 9'b10_000_01_01;
    logic [29:0] unused_acout;
    logic [17:0] unused_bcout;
    logic [7:0]  unused_xor;
    logic [3:0]  unused_carryout;
    logic [5:0]  unused_flags;
    DSP48E2 #(
      .AMULTSEL("AD"), .A_INPUT("DIRECT"), .BMULTSEL("B"), .B_INPUT("DIRECT"),
      .PREADDINSEL("A"), .USE_MULT("MULTIPLY"), .USE_SIMD("ONE48"),
      .ACASCREG(1), .ADREG(1), .ALUMODEREG(0), .AREG(1), .BCASCREG(2), .BREG(2),
      .CARRYINREG(0), .CARRYINSELREG(0), .CREG(1), .DREG(1), .INMODEREG(0),
      .MREG(1), .OPMODEREG(0), .PREG(1), .RND(Start)
    ) u_dsp (
      .CLK(clk_i), .A({{3{a_i[26]}}, a_i}), .B(b_i), .C(48'b0), .D(d_i),
      .ACIN(30'b0), .BCIN(18'b0), .PCIN(pcin_i), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .CARRYIN(1'b0), .CARRYINSEL(3'b0), .ALUMODE(4'b0), .INMODE(5'b00100), .OPMODE(Opmode),
      .CEA1(1'b1), .CEA2(1'b1), .CEAD(1'b1), .CEALUMODE(1'b1), .CEB1(1'b1), .CEB2(1'b1),
      .CEC(1'b1), .CECARRYIN(1'b1), .CECTRL(1'b1), .CED(1'b1), .CEINMODE(1'b1), .CEM(1'b1), .CEP(1'b1),
      .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .P(p_o), .PCOUT(pcout_o), .ACOUT(unused_acout), .BCOUT(unused_bcout),
      .CARRYCASCOUT(unused_flags[0]), .CARRYOUT(unused_carryout), .MULTSIGNOUT(unused_flags[1]),
      .OVERFLOW(unused_flags[2]), .UNDERFLOW(unused_flags[3]),
      .PATTERNDETECT(unused_flags[4]), .PATTERNBDETECT(unused_flags[5]), .XOROUT(unused_xor)
    );
  end else begin : gen_e1
    // Z = C or PCIN, Y and X = the product.
    localparam logic [6:0] Opmode = (Chained != 0) ? 7'b001_01_01 : 7'b011_01_01;
    logic [29:0] unused_acout;
    logic [17:0] unused_bcout;
    logic [3:0]  unused_carryout;
    logic [5:0]  unused_flags;
    logic        unused_high;
    assign unused_high = &{1'b0, a_i[26:25], d_i[26:25]};
    DSP48E1 #(
      .A_INPUT("DIRECT"), .B_INPUT("DIRECT"), .USE_DPORT("TRUE"), .USE_MULT("MULTIPLY"),
      .USE_SIMD("ONE48"), .ACASCREG(1), .ADREG(1), .ALUMODEREG(0), .AREG(1), .BCASCREG(2),
      .BREG(2), .CARRYINREG(0), .CARRYINSELREG(0), .CREG(1), .DREG(1), .INMODEREG(0),
      .MREG(1), .OPMODEREG(0), .PREG(1)
    ) u_dsp (
      .CLK(clk_i), .A({{5{a_i[24]}}, a_i[24:0]}), .B(b_i), .C(Start), .D(d_i[24:0]),
      .ACIN(30'b0), .BCIN(18'b0), .PCIN(pcin_i), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .CARRYIN(1'b0), .CARRYINSEL(3'b0), .ALUMODE(4'b0), .INMODE(5'b00100), .OPMODE(Opmode),
      .CEA1(1'b1), .CEA2(1'b1), .CEAD(1'b1), .CEALUMODE(1'b1), .CEB1(1'b1), .CEB2(1'b1),
      .CEC(1'b1), .CECARRYIN(1'b1), .CECTRL(1'b1), .CED(1'b1), .CEINMODE(1'b1), .CEM(1'b1), .CEP(1'b1),
      .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .P(p_o), .PCOUT(pcout_o), .ACOUT(unused_acout), .BCOUT(unused_bcout),
      .CARRYCASCOUT(unused_flags[0]), .CARRYOUT(unused_carryout), .MULTSIGNOUT(unused_flags[1]),
      .OVERFLOW(unused_flags[2]), .UNDERFLOW(unused_flags[3]),
      .PATTERNDETECT(unused_flags[4]), .PATTERNBDETECT(unused_flags[5])
    );
  end
endmodule
