// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An engine between streams: a frame begins with its first beat, and ends when its
// program ends. Beats are words of In elements. An element of InWidth bits is a byte of
// the core InBias less; one of OutWidth bits is a byte and OutBias. Room words of a
// memory, from page Page of 4 KiB on, are the core's: its program begins at the word
// Program, and its working space is among them. A frame with a mistake (error_o of
// rhz_engine) is never answered. Depth beats wait at the output, and one that the
// core sends is visible Latency cycles later; Latency = V.
module rhz_engine_unit #(
  parameter int          In        = 16,
  parameter int          Out       = 16,
  parameter int          Words     = 16384,
  parameter int          Banks     = 8,
  parameter int          Entries   = 512,
  parameter int          SumBits   = 27,
  parameter int          Queue     = 8,
  parameter int          Waiting   = 16,
  parameter int          Tokens    = 4,
  parameter int          DataWidth = 128,
  parameter logic [63:0] Hash      = '0,
  parameter int          Ultra     = 0,
  parameter int          Wide      = 1,
  parameter int          Program   = 0,
  parameter int          Room      = 1,
  parameter int          Page      = 0,
  parameter int          InWidth   = 8,
  parameter int          InSigned  = 0,
  parameter int          InBias    = 0,
  parameter int          OutWidth  = 8,
  parameter int          OutBias   = 0,
  parameter int          Depth     = 2,
  parameter int          Latency   = 0
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   in_valid_i,
  output logic                   in_ready_o,
  input  logic [In*InWidth-1:0]  in_data_i,
  output logic                   m_axi_arvalid,
  input  logic                   m_axi_arready,
  output logic [63:0]            m_axi_araddr,
  output logic [7:0]             m_axi_arlen,
  input  logic                   m_axi_rvalid,
  output logic                   m_axi_rready,
  input  logic [DataWidth-1:0]   m_axi_rdata,
  input  logic                   m_axi_rlast,
  output logic                   m_axi_awvalid,
  input  logic                   m_axi_awready,
  output logic [63:0]            m_axi_awaddr,
  output logic [7:0]             m_axi_awlen,
  output logic                   m_axi_wvalid,
  input  logic                   m_axi_wready,
  output logic [DataWidth-1:0]   m_axi_wdata,
  output logic                   m_axi_wlast,
  input  logic                   m_axi_bvalid,
  output logic                   m_axi_bready,
  output logic                   out_valid_o,
  input  logic                   out_ready_i,
  output logic [In*OutWidth-1:0] out_data_o
);
  localparam int Lat = (Depth > 64) ? 2 : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_engine_unit: Latency %0d given, %0d built", Latency, Lat);
  end
  if (InWidth > 9 || OutWidth > 9) begin : gen_bad_element
    initial $fatal(1, "rhz_engine_unit: elements of %0d and %0d bits", InWidth, OutWidth);
  end

  // Elements and bytes.
  logic [8*In-1:0] word, sent;
  logic [In*OutWidth-1:0] beat;
  for (genvar i = 0; i < In; i++) begin : gen_element
    logic signed [9:0] value, result;
    logic unused_bits;
    if (InSigned != 0) begin : gen_signed
      assign value = 10'($signed(in_data_i[i*InWidth +: InWidth])) - 10'(InBias);
    end else begin : gen_unsigned
      assign value = 10'(in_data_i[i*InWidth +: InWidth]) - 10'(InBias);
    end
    assign word[8*i +: 8] = value[7:0];
    assign result = 10'($signed(sent[8*i +: 8])) + 10'(OutBias);
    assign beat[i*OutWidth +: OutWidth] = result[OutWidth-1:0];
    assign unused_bits = &{1'b0, value[9:8], result};
  end

  logic busy, sends, credit, unused;
  logic [2:0] unused_error;
  logic [4:0] unused_runs, unused_waits;
  logic done;
  assign unused = &{1'b0, unused_error, unused_runs, unused_waits, done};
  rhz_engine #(
    .In(In), .Out(Out), .Words(Words), .Banks(Banks), .Entries(Entries), .SumBits(SumBits),
    .Queue(Queue), .Depth(Waiting), .Tokens(Tokens), .Ports(1), .PortBits(DataWidth),
    .Ultra(Ultra), .Wide(Wide), .CoreHash(Hash[31:0])
  ) u_engine (
    .clk_i, .rst_ni, .start_i(in_valid_i && !busy), .program_i(28'(Program)), .busy_o(busy),
    .done_o(done), .error_o(unused_error), .unit_runs_o(unused_runs),
    .unit_waits_o(unused_waits), .base_i(52'(Page)), .limit_i(29'(Room)), .m_axi_arvalid,
    .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_rvalid, .m_axi_rready, .m_axi_rdata,
    .m_axi_rresp(2'b0), .m_axi_rlast, .m_axi_awvalid, .m_axi_awready, .m_axi_awaddr,
    .m_axi_awlen, .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wlast, .m_axi_bvalid,
    .m_axi_bready, .m_axi_bresp(2'b0), .s_axis_tvalid(in_valid_i), .s_axis_tready(in_ready_o),
    .s_axis_tdata(word), .m_axis_tvalid(sends), .m_axis_tready(credit), .m_axis_tdata(sent)
  );
  rhz_outbuf #(.Width(In * OutWidth), .Depth(Depth)) u_out (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(sends && credit), .push_i(sends && credit),
    .push_data_i(beat), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
