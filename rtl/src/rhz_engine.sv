// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An engine: a core that executes programs of rtl/isa. start_i begins a frame with the
// program at word program_i behind memory port 0; busy_o is high until done_o, a cycle
// after all that it does can be seen. A port's words begin at base_i, in pages of 4 KiB,
// and there are limit_i of them: nothing else is ever read or written. A word is In
// bytes; what a stream carries are words.
// error_o, from the first mistake of a frame to the next start: 1 the program is for
// another instruction set, 2 for another core, 3 an instruction that is none, 4 no `end`,
// 5 a word beyond a port's limit (read as zero, not written), 6 a memory's error. After
// 1 to 4, which stopped_o tells, no more instructions are handed out.
// unit_runs_o, unit_waits_o: what each unit does, for measurements.
module rhz_engine #(
  parameter int          In           = 16,
  parameter int          Out          = 16,
  parameter int          Words        = 16384,
  parameter int          Banks        = 4,
  parameter int          Entries      = 512,
  parameter int          SumBits      = 27,
  parameter int          Queue        = 4,
  parameter int          Depth        = 16,
  parameter int          Tokens       = 3,
  parameter int          Ports        = 1,
  parameter int          PortBits     = 128,
  parameter int          Burst        = 16,
  parameter int          LoadPlaces   = 128,
  parameter int          WeightPlaces = 128,
  parameter int          StorePlaces  = 32,
  parameter int          Ultra        = 0,
  parameter int          Wide         = 1,
  parameter int          Table        = 1,
  parameter logic [31:0] CoreHash     = '0
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        start_i,
  input  logic [27:0]                 program_i,
  output logic                        busy_o,
  output logic                        done_o,
  output logic [2:0]                  error_o,
  output logic                        stopped_o,
  output logic [4:0]                  unit_runs_o,
  output logic [4:0]                  unit_waits_o,
  input  logic [Ports*52-1:0]         base_i,
  input  logic [Ports*29-1:0]         limit_i,
  output logic [Ports-1:0]            m_axi_arvalid,
  input  logic [Ports-1:0]            m_axi_arready,
  output logic [Ports*64-1:0]         m_axi_araddr,
  output logic [Ports*8-1:0]          m_axi_arlen,
  input  logic [Ports-1:0]            m_axi_rvalid,
  output logic [Ports-1:0]            m_axi_rready,
  input  logic [Ports*PortBits-1:0]   m_axi_rdata,
  input  logic [Ports*2-1:0]          m_axi_rresp,
  input  logic [Ports-1:0]            m_axi_rlast,
  output logic [Ports-1:0]            m_axi_awvalid,
  input  logic [Ports-1:0]            m_axi_awready,
  output logic [Ports*64-1:0]         m_axi_awaddr,
  output logic [Ports*8-1:0]          m_axi_awlen,
  output logic [Ports-1:0]            m_axi_wvalid,
  input  logic [Ports-1:0]            m_axi_wready,
  output logic [Ports*PortBits-1:0]   m_axi_wdata,
  output logic [Ports-1:0]            m_axi_wlast,
  input  logic [Ports-1:0]            m_axi_bvalid,
  output logic [Ports-1:0]            m_axi_bready,
  input  logic [Ports*2-1:0]          m_axi_bresp,
  input  logic                        s_axis_tvalid,
  output logic                        s_axis_tready,
  input  logic [8*In-1:0]             s_axis_tdata,
  output logic                        m_axis_tvalid,
  input  logic                        m_axis_tready,
  output logic [8*In-1:0]             m_axis_tdata
);
  localparam int Units     = 5;
  localparam int Width     = 8 * In;
  localparam int AddrWidth = $clog2(Words);
  if ((In & (In - 1)) != 0 || (Out != In && Out != 2 * In) || PortBits > Width ||
      Width % PortBits != 0) begin : gen_bad_shape
    initial $fatal(1, "rhz_engine: in %0d, out %0d, port_bits %0d", In, Out, PortBits);
  end

  // The program: instructions to the queues of their units, tokens between these.
  logic [Units-1:0] unit_valid, unit_ready, start_valid, start_ready, done, idle, beyond;
  logic [Units*Units-1:0] give, full, take, none;
  logic [Units*256-1:0] instructions;
  logic [255:0] fetched;
  logic read_fault, write_fault;
  logic fetch_arvalid, fetch_arready, fetch_rvalid, unused_rready;
  logic [63:0] fetch_araddr;
  logic [7:0] fetch_arlen;
  logic [Ports*PortBits-1:0] rdata;
  rhz_engine_fetch #(
    .In(In), .PortBits(PortBits), .IsaHash(rhz_isa_pkg::HASH), .CoreHash(CoreHash)
  ) u_fetch (
    .clk_i, .rst_ni, .start_i, .program_i, .busy_o, .done_o, .error_o, .stopped_o,
    .beyond_i(|beyond), .fault_i(read_fault || write_fault), .limit_i(limit_i[28:0]), .m_axi_arvalid(fetch_arvalid),
    .m_axi_arready(fetch_arready), .m_axi_araddr(fetch_araddr), .m_axi_arlen(fetch_arlen),
    .m_axi_rvalid(fetch_rvalid), .m_axi_rready(unused_rready), .m_axi_rdata(rdata[PortBits-1:0]),
    .unit_valid_o(unit_valid), .unit_ready_i(unit_ready), .instruction_o(fetched),
    .idle_i(&idle)
  );
  rhz_engine_tokens #(.Units(Units), .Tokens(Tokens)) u_tokens (
    .clk_i, .rst_ni, .clear_i(!busy_o), .give_i(give), .full_o(full), .take_i(take), .none_o(none)
  );
  for (genvar u = 0; u < Units; u++) begin : gen_queue
    // The bits of the unit's longest instruction.
    localparam int Bits = (u == 0) ? rhz_isa_pkg::BITS_LOAD : (u == 1) ? rhz_isa_pkg::BITS_WEIGHTS :
                          (u == 2) ? rhz_isa_pkg::BITS_MATRIX : (u == 3) ? rhz_isa_pkg::BITS_VECTOR :
                          rhz_isa_pkg::BITS_STORE;
    rhz_engine_queue #(.Units(Units), .Width(Bits), .Depth(Depth)) u_queue (
      .clk_i, .rst_ni, .in_valid_i(unit_valid[u]), .in_ready_o(unit_ready[u]),
      .in_instruction_i(fetched), .start_valid_o(start_valid[u]), .start_ready_i(start_ready[u]),
      .instruction_o(instructions[u*256 +: 256]), .done_i(done[u]),
      .none_i(none[u*Units +: Units]), .take_o(take[u*Units +: Units]),
      .full_i(full[u*Units +: Units]), .give_o(give[u*Units +: Units]), .runs_o(unit_runs_o[u]),
      .waits_o(unit_waits_o[u]), .idle_o(idle[u])
    );
  end

  // The scratchpad: readers are matrix, vector, store and weights, writers vector and load.
  localparam int Readers = 4;
  logic [Readers-1:0] rd_valid, rd_ready, rd_data_valid;
  logic [Readers*AddrWidth-1:0] rd_addr;
  logic [Readers*Width-1:0] rd_data;
  logic [1:0] wr_valid, wr_ready;
  logic [2*AddrWidth-1:0] wr_addr;
  logic [2*Width-1:0] wr_data;
  rhz_engine_scratch #(
    .Width(Width), .Words(Words), .Banks(Banks), .Readers(Readers), .Ultra(Ultra)
  ) u_scratch (
    .clk_i, .rst_ni, .rd_valid_i(rd_valid), .rd_addr_i(rd_addr), .rd_ready_o(rd_ready),
    .rd_data_valid_o(rd_data_valid), .rd_data_o(rd_data), .wr_valid_i(wr_valid),
    .wr_addr_i(wr_addr), .wr_data_i(wr_data), .wr_ready_o(wr_ready)
  );

  // Load, weights and fetch share the read side of the ports.
  logic [Ports-1:0] load_arvalid, load_arready, load_rvalid, weights_arvalid, weights_arready;
  logic [Ports-1:0] weights_rvalid, unused_load_rready, unused_weights_rready;
  logic [63:0] load_araddr, weights_araddr;
  logic [7:0] load_arlen, weights_arlen;
  rhz_engine_read_ports #(.PortBits(PortBits), .Ports(Ports)) u_read_ports (
    .clk_i, .rst_ni, .base_i, .fault_o(read_fault), .fetch_arvalid, .fetch_arready, .fetch_araddr,
    .fetch_arlen, .fetch_rvalid, .load_arvalid, .load_arready, .load_araddr, .load_arlen,
    .load_rvalid, .weights_arvalid, .weights_arready, .weights_araddr, .weights_arlen,
    .weights_rvalid, .rdata_o(rdata), .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast
  );
  rhz_engine_load #(
    .In(In), .PortBits(PortBits), .Ports(Ports), .Burst(Burst), .Places(LoadPlaces),
    .PlaceWidth(AddrWidth)
  ) u_load (
    .clk_i, .rst_ni, .start_valid_i(start_valid[0]), .start_ready_o(start_ready[0]),
    .instruction_i(instructions[0 +: 256]), .done_o(done[0]), .beyond_o(beyond[0]), .limit_i,
    .m_axi_arvalid(load_arvalid), .m_axi_arready(load_arready), .m_axi_araddr(load_araddr),
    .m_axi_arlen(load_arlen), .m_axi_rvalid(load_rvalid), .m_axi_rready(unused_load_rready),
    .m_axi_rdata(rdata), .s_valid_i(s_axis_tvalid), .s_ready_o(s_axis_tready),
    .s_data_i(s_axis_tdata), .wr_valid_o(wr_valid[1]), .wr_addr_o(wr_addr[AddrWidth +: AddrWidth]),
    .wr_data_o(wr_data[Width +: Width]), .wr_ready_i(wr_ready[1])
  );
  logic w_valid, w_ready;
  logic [Width-1:0] w_data;
  rhz_engine_weights #(
    .In(In), .Out(Out), .Queue(Queue), .PortBits(PortBits), .Ports(Ports), .Burst(Burst),
    .Places(WeightPlaces), .PlaceWidth(AddrWidth)
  ) u_weights (
    .clk_i, .rst_ni, .start_valid_i(start_valid[1]), .start_ready_o(start_ready[1]),
    .instruction_i(instructions[256 +: 256]), .done_o(done[1]), .beyond_o(beyond[1]), .limit_i,
    .m_axi_arvalid(weights_arvalid), .m_axi_arready(weights_arready),
    .m_axi_araddr(weights_araddr), .m_axi_arlen(weights_arlen), .m_axi_rvalid(weights_rvalid),
    .m_axi_rready(unused_weights_rready), .m_axi_rdata(rdata), .rd_valid_o(rd_valid[3]),
    .rd_addr_o(rd_addr[3*AddrWidth +: AddrWidth]), .rd_ready_i(rd_ready[3]), .rd_data_valid_i(rd_data_valid[3]),
    .rd_data_i(rd_data[3*Width +: Width]), .w_valid_o(w_valid), .w_data_o(w_data),
    .w_ready_i(w_ready)
  );

  // Store has the write side.
  logic [63:0] store_awaddr;
  logic [7:0] store_awlen;
  logic [PortBits-1:0] store_wdata;
  logic [Ports-1:0] write_faults;
  logic store_wlast;
  rhz_engine_store #(
    .In(In), .PortBits(PortBits), .Ports(Ports), .Burst(Burst), .Places(StorePlaces),
    .PlaceWidth(AddrWidth)
  ) u_store (
    .clk_i, .rst_ni, .start_valid_i(start_valid[4]), .start_ready_o(start_ready[4]),
    .instruction_i(instructions[4*256 +: 256]), .done_o(done[4]), .beyond_o(beyond[4]), .limit_i,
    .rd_valid_o(rd_valid[2]), .rd_addr_o(rd_addr[2*AddrWidth +: AddrWidth]), .rd_ready_i(rd_ready[2]),
    .rd_data_valid_i(rd_data_valid[2]), .rd_data_i(rd_data[2*Width +: Width]), .m_axi_awvalid,
    .m_axi_awready, .m_axi_awaddr(store_awaddr), .m_axi_awlen(store_awlen), .m_axi_wvalid,
    .m_axi_wready, .m_axi_wdata(store_wdata), .m_axi_wlast(store_wlast), .m_axi_bvalid,
    .m_axi_bready, .m_valid_o(m_axis_tvalid), .m_ready_i(m_axis_tready), .m_data_o(m_axis_tdata)
  );
  for (genvar p = 0; p < Ports; p++) begin : gen_write_port
    assign m_axi_awaddr[p*64 +: 64] = {base_i[p*52 +: 52] + store_awaddr[63:12],
                                       store_awaddr[11:0]};
    assign m_axi_awlen[p*8 +: 8]              = store_awlen;
    assign m_axi_wdata[p*PortBits +: PortBits] = store_wdata;
    assign m_axi_wlast[p]                     = store_wlast;
    assign write_faults[p]                    = m_axi_bvalid[p] && m_axi_bresp[2*p+1];
  end
  always_ff @(posedge clk_i) write_fault <= rst_ni && write_faults != '0;

  // Matrix and vector, which share the accumulators.
  assign beyond[3:2] = '0;
  rhz_engine_compute #(
    .In(In), .Out(Out), .Words(Words), .Entries(Entries), .SumBits(SumBits), .Wide(Wide),
    .Table(Table)
  ) u_compute (
    .clk_i, .rst_ni, .matrix_valid_i(start_valid[2]), .matrix_ready_o(start_ready[2]),
    .matrix_instruction_i(instructions[2*256 +: 256]), .matrix_done_o(done[2]),
    .vector_valid_i(start_valid[3]), .vector_ready_o(start_ready[3]),
    .vector_instruction_i(instructions[3*256 +: 256]), .vector_done_o(done[3]),
    .weights_valid_i(w_valid), .weights_ready_o(w_ready), .weights_data_i(w_data),
    .rd_valid_o(rd_valid[1:0]), .rd_addr_o(rd_addr[0 +: 2*AddrWidth]), .rd_ready_i(rd_ready[1:0]),
    .rd_data_valid_i(rd_data_valid[1:0]), .rd_data_i(rd_data[0 +: 2*Width]),
    .wr_valid_o(wr_valid[0]), .wr_addr_o(wr_addr[0 +: AddrWidth]),
    .wr_data_o(wr_data[0 +: Width]), .wr_ready_i(wr_ready[0])
  );
  logic unused;
  assign unused = &{1'b0, unused_rready, unused_load_rready, unused_weights_rready, m_axi_bresp};
endmodule
