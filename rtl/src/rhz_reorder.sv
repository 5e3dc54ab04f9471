// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rearranges blocks of Elements beats: a block is written to one of two pages,
// and OutElements beats are read at the places that an address memory names, in
// any order, more than once or never. Latency = 3 + V.
module rhz_reorder #(
  parameter int Elem     = 8,
  parameter int Elements = 4,
  parameter int OutElements = 4,
  parameter int Block    = 0,   // 1: the order in block RAM
  parameter int Ultra    = 0,   // 1: the pages in UltraRAM
  parameter     AddressFile = "",
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            in_valid_i,
  output logic            in_ready_o,
  input  logic [Elem-1:0] in_data_i,
  output logic            out_valid_o,
  input  logic            out_ready_i,
  output logic [Elem-1:0] out_data_o
);
  localparam int Lat   = 3 + ((Depth > 64) ? 2 : 1);
  localparam int AddrW = (Elements > 1) ? $clog2(Elements) : 1;
  localparam int IndexW = (OutElements > 1) ? $clog2(OutElements) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_reorder: Latency %0d given, %0d built", Latency, Lat);
  end

  // Pages are written and read in turn: there is room in the next one, or one is
  // there to be read, from the cycle after the other side's last access.
  logic credit, write, read, write_last, read_last, fills, frees;
  logic write_page_q, read_page_q, room_q, there_q;
  logic [AddrW-1:0] write_addr;
  logic [IndexW-1:0] read_index;
  rhz_counter #(.Count(Elements)) u_write (
    .clk_i, .rst_ni, .en_i(write), .value_o(write_addr), .last_o(write_last)
  );
  rhz_counter #(.Count(OutElements)) u_read (
    .clk_i, .rst_ni, .en_i(read), .value_o(read_index), .last_o(read_last)
  );
  assign in_ready_o = room_q;
  assign write = in_valid_i && room_q;
  assign read  = credit && there_q;
  assign fills = write && write_last;
  assign frees = read && read_last;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_page_q <= 1'b0;
      read_page_q  <= 1'b0;
      room_q       <= 1'b1;
      there_q      <= 1'b0;
    end else begin
      if (fills) write_page_q <= !write_page_q;
      if (frees) read_page_q <= !read_page_q;
      if (fills && !frees) begin
        room_q  <= !there_q;
        there_q <= 1'b1;
      end else if (frees && !fills) begin
        room_q  <= 1'b1;
        there_q <= !room_q;
      end
    end
  end

  // Write one stage late; read: address memory, page memory, output register.
  logic we_q, write_page1_q, read_page1_q;
  logic [AddrW-1:0] write_addr_q, read_addr;
  logic [Elem-1:0] write_data_q, data;
  logic [3:0] valid;
  logic unused_valid;
  assign unused_valid = &{1'b0, valid};
  rhz_valid #(.Stages(3)) u_valid (.clk_i, .rst_ni, .valid_i(read), .valid_o(valid));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) we_q <= 1'b0;
    else         we_q <= write;
  end
  always_ff @(posedge clk_i) begin
    write_page1_q <= write_page_q;
    read_page1_q  <= read_page_q;
    write_addr_q  <= write_addr;
    write_data_q  <= in_data_i;
  end
  rhz_rom #(.Width(AddrW), .Words(OutElements), .Stages(1), .Block(Block), .File(AddressFile)) u_order (
    .clk_i, .addr_i(read_index), .data_o(read_addr)
  );
  rhz_sdpram #(.Width(Elem), .Words(2 << AddrW), .Stages(2), .Ultra(Ultra)) u_pages (
    .clk_i, .we_i(we_q), .waddr_i({write_page1_q, write_addr_q}), .wdata_i(write_data_q),
    .re_i(1'b1), .raddr_i({read_page1_q, read_addr}), .rdata_o(data)
  );

  rhz_outbuf #(.Width(Elem), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(read), .push_i(valid[3]),
    .push_data_i(data), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule
