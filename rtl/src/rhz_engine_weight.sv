// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row of two columns of the array in a DSP48E2 (Wide = 1) or DSP48E1: P = (hi · 2^Field
// + lo) · word + PCIN or Start. The A and D registers take the next two weights, each
// when its load is high; take_i lets the pre-adder's register, which holds the weights
// in use, take over both. P comes four cycles after the word; weights that are taken
// over a cycle after a word came are in time for it.
module rhz_engine_weight #(
  parameter int          Wide    = 1,
  parameter int          Field   = 18,
  parameter int          Chained = 0,
  parameter logic [47:0] Start   = 48'b0
) (
  input  logic        clk_i,
  input  logic [7:0]  weight_i,
  input  logic        load_hi_i,
  input  logic        load_lo_i,
  input  logic        take_i,
  input  logic [7:0]  word_i,
  input  logic [47:0] pcin_i,
  output logic [47:0] pcout_o,
  output logic [47:0] p_o
);
  logic [29:0] a, unused_acout;
  logic [17:0] b, unused_bcout;
  logic [3:0]  unused_carryout;
  logic [5:0]  unused_flags;
  logic [26:0] d;
  assign d = 27'($signed(weight_i));
  assign a = 30'($signed(weight_i)) << Field;
  assign b = 18'($signed(word_i));
  if (Wide != 0) begin : gen_e2
    // W = Start or 0, Z = 0 or PCIN, Y and X = the product.
    localparam logic [8:0] Opmode = (Chained != 0) ? 9'b00_001_01_01 : 9'b10_000_01_01;
    logic [7:0] unused_xor;
    DSP48E2 #(
      .AMULTSEL("AD"), .A_INPUT("DIRECT"), .BMULTSEL("B"), .B_INPUT("DIRECT"),
      .PREADDINSEL("A"), .USE_MULT("MULTIPLY"), .USE_SIMD("ONE48"),
      .ACASCREG(1), .ADREG(1), .ALUMODEREG(0), .AREG(1), .BCASCREG(2), .BREG(2),
      .CARRYINREG(0), .CARRYINSELREG(0), .CREG(1), .DREG(1), .INMODEREG(0),
      .MREG(1), .OPMODEREG(0), .PREG(1), .RND(Start)
    ) u_dsp (
      .CLK(clk_i), .A(a), .B(b), .C(48'b0), .D(d),
      .ACIN(30'b0), .BCIN(18'b0), .PCIN(pcin_i), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .CARRYIN(1'b0), .CARRYINSEL(3'b0), .ALUMODE(4'b0), .INMODE(5'b00100), .OPMODE(Opmode),
      .CEA1(1'b0), .CEA2(load_hi_i), .CEAD(take_i), .CEALUMODE(1'b1), .CEB1(1'b1), .CEB2(1'b1),
      .CEC(1'b1), .CECARRYIN(1'b1), .CECTRL(1'b1), .CED(load_lo_i), .CEINMODE(1'b1), .CEM(1'b1),
      .CEP(1'b1),
      .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .P(p_o), .PCOUT(pcout_o), .ACOUT(unused_acout), .BCOUT(unused_bcout),
      .CARRYCASCOUT(unused_flags[0]), .CARRYOUT(unused_carryout), .MULTSIGNOUT(unused_flags[1]),
      .OVERFLOW(unused_flags[2]), .UNDERFLOW(unused_flags[3]),
      .PATTERNDETECT(unused_flags[4]), .PATTERNBDETECT(unused_flags[5]), .XOROUT(unused_xor)
    );
  end else begin : gen_e1
    logic unused_high;
    assign unused_high = &{1'b0, d[26:25]};
    // Z = C or PCIN, Y and X = the product.
    localparam logic [6:0] Opmode = (Chained != 0) ? 7'b001_01_01 : 7'b011_01_01;
    DSP48E1 #(
      .A_INPUT("DIRECT"), .B_INPUT("DIRECT"), .USE_DPORT("TRUE"), .USE_MULT("MULTIPLY"),
      .USE_SIMD("ONE48"), .ACASCREG(1), .ADREG(1), .ALUMODEREG(0), .AREG(1), .BCASCREG(2),
      .BREG(2), .CARRYINREG(0), .CARRYINSELREG(0), .CREG(1), .DREG(1), .INMODEREG(0),
      .MREG(1), .OPMODEREG(0), .PREG(1)
    ) u_dsp (
      .CLK(clk_i), .A(a), .B(b), .C(Start), .D(d[24:0]),
      .ACIN(30'b0), .BCIN(18'b0), .PCIN(pcin_i), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .CARRYIN(1'b0), .CARRYINSEL(3'b0), .ALUMODE(4'b0), .INMODE(5'b00100), .OPMODE(Opmode),
      .CEA1(1'b0), .CEA2(load_hi_i), .CEAD(take_i), .CEALUMODE(1'b1), .CEB1(1'b1), .CEB2(1'b1),
      .CEC(1'b1), .CECARRYIN(1'b1), .CECTRL(1'b1), .CED(load_lo_i), .CEINMODE(1'b1), .CEM(1'b1),
      .CEP(1'b1),
      .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .P(p_o), .PCOUT(pcout_o), .ACOUT(unused_acout), .BCOUT(unused_bcout),
      .CARRYCASCOUT(unused_flags[0]), .CARRYOUT(unused_carryout), .MULTSIGNOUT(unused_flags[1]),
      .OVERFLOW(unused_flags[2]), .UNDERFLOW(unused_flags[3]),
      .PATTERNDETECT(unused_flags[4]), .PATTERNBDETECT(unused_flags[5])
    );
  end
endmodule
