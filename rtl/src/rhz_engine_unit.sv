// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An engine between streams: a frame begins with its first beat, and ends when its
// program ends. Beats are words of In elements. An element of InWidth bits is a byte of
// the core InBias less; one of OutWidth bits is a byte and OutBias. Room words of a
// memory, from page Page of 4 KiB on, are the core's: its program begins at the word
// Program, and its working space is among them. A frame has InBeats beats that come and
// OutBeats that leave. err_o counts (and saturates) frames with a mistake (error_o of
// rhz_engine). If the program stops at it, the rest of the frame is taken and zeros are
// sent in place of what is missing. The core is reset as soon as its memory owes nothing;
// then the next frame may come. Depth beats wait at the output, and one that the
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
  parameter int          InBeats   = 1,
  parameter int          OutBeats  = 1,
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
  output logic [In*OutWidth-1:0] out_data_o,
  output logic [15:0]            err_o
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
    assign beat[i*OutWidth +: OutWidth] = stops_q ? '0 : result[OutWidth-1:0];
    assign unused_bits = &{1'b0, value[9:8], result};
  end

  logic busy, sends, credit, done, stopped, core_ready, asks, writes, puts, unused;
  logic [2:0] error;
  logic [4:0] unused_runs, unused_waits;
  assign unused = &{1'b0, unused_runs, unused_waits};
  rhz_engine #(
    .In(In), .Out(Out), .Words(Words), .Banks(Banks), .Entries(Entries), .SumBits(SumBits),
    .Queue(Queue), .Depth(Waiting), .Tokens(Tokens), .Ports(1), .PortBits(DataWidth),
    .Ultra(Ultra), .Wide(Wide), .CoreHash(Hash[31:0])
  ) u_engine (
    .clk_i, .rst_ni(core_rst_nq), .start_i(starts), .program_i(28'(Program)), .busy_o(busy),
    .done_o(done), .error_o(error), .stopped_o(stopped), .unit_runs_o(unused_runs),
    .unit_waits_o(unused_waits), .base_i(52'(Page)), .limit_i(29'(Room)), .m_axi_arvalid(asks),
    .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_rvalid, .m_axi_rready, .m_axi_rdata,
    .m_axi_rresp(2'b0), .m_axi_rlast, .m_axi_awvalid(writes), .m_axi_awready, .m_axi_awaddr,
    .m_axi_awlen, .m_axi_wvalid(puts), .m_axi_wready, .m_axi_wdata, .m_axi_wlast, .m_axi_bvalid,
    .m_axi_bready, .m_axi_bresp(2'b0), .s_axis_tvalid(in_valid_i), .s_axis_tready(core_ready),
    .s_axis_tdata(word), .m_axis_tvalid(sends), .m_axis_tready(credit), .m_axis_tdata(sent)
  );

  // Beats of the frame. After a mistake they come and go without the core.
  logic starts, stops_q, in_done_q, out_done_q, takes, in_last, gives, out_last, ends;
  logic core_rst_nq;
  logic [((InBeats > 1) ? $clog2(InBeats) : 1)-1:0] unused_in;
  logic [((OutBeats > 1) ? $clog2(OutBeats) : 1)-1:0] unused_out;
  assign starts     = in_valid_i && !busy && !stops_q;
  assign in_ready_o = stops_q ? !in_done_q : core_ready;
  assign takes      = in_valid_i && in_ready_o;
  assign gives      = credit && (stops_q ? !out_done_q : sends);
  rhz_counter #(.Count(InBeats)) u_in (
    .clk_i, .rst_ni, .en_i(takes), .value_o(unused_in), .last_o(in_last)
  );
  rhz_counter #(.Count(OutBeats)) u_sent (
    .clk_i, .rst_ni, .en_i(gives), .value_o(unused_out), .last_o(out_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stops_q    <= 1'b0;
      in_done_q  <= 1'b0;
      out_done_q <= 1'b0;
      err_o      <= '0;
    end else begin
      stops_q    <= stops_q ? !ends : stopped;
      in_done_q  <= !starts && (in_done_q || (takes && in_last));
      out_done_q <= !starts && (out_done_q || (gives && out_last));
      if (!stops_q && (stopped || (done && error != '0)) && err_o != '1)
        err_o <= err_o + 16'd1;
    end
  end

  // Until then the core goes on with what it has begun: its memory gets what it was told
  // to expect. A cycle in which that is nothing comes, since the program is at its end. The
  // reset is as long as the longest pipeline, of which not all registers have one.
  localparam int Longest = 2 * In + 64;
  localparam int OwedW   = 6;
  logic [OwedW-1:0] reads_q, writes_q;
  logic is_quiet, reset_last, unused_value;
  logic [$clog2(Longest)-1:0] unused_reset;
  assign m_axi_arvalid = asks && core_rst_nq;
  assign m_axi_awvalid = writes && core_rst_nq;
  assign m_axi_wvalid  = puts && core_rst_nq;
  assign is_quiet      = !asks && !writes && reads_q == '0 && writes_q == '0;
  assign ends          = in_done_q && out_done_q && reset_last;
  assign unused_value  = &{1'b0, unused_in, unused_out, unused_reset};
  rhz_counter #(.Count(Longest)) u_reset (
    .clk_i, .rst_ni(stops_q && !core_rst_nq), .en_i(!reset_last), .value_o(unused_reset),
    .last_o(reset_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reads_q     <= '0;
      writes_q    <= '0;
      core_rst_nq <= 1'b0;
    end else begin
      reads_q     <= reads_q + OwedW'(m_axi_arvalid && m_axi_arready) -
                     OwedW'(m_axi_rvalid && m_axi_rready && m_axi_rlast);
      writes_q    <= writes_q + OwedW'(m_axi_awvalid && m_axi_awready) -
                     OwedW'(m_axi_bvalid && m_axi_bready);
      core_rst_nq <= !stops_q || (core_rst_nq && !is_quiet);
    end
  end
  rhz_outbuf #(.Width(In * OutWidth), .Depth(Depth)) u_out (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(gives), .push_i(gives),
    .push_data_i(beat), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
