// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scratchpad: Banks equal parts, each with a read port and a write port, picked by
// the lowest bits of an address, so that clients that walk through words meet seldom.
// Readers and writers of different banks are served in the same cycle, but of the last
// two readers, which share what leads back from the banks, one at a time; of those that
// meet the reader with the lowest number is, and the writer that was not served last
// time. A read is taken when rd_valid_i and rd_ready_o are high, and its word comes with
// rd_data_valid_o Latency + 1 cycles later or after; a word is written when wr_valid_i
// and wr_ready_o are high, and reads of later cycles see it.
module rhz_engine_scratch #(
  parameter int Width   = 128,
  parameter int Words   = 1024,
  parameter int Banks   = 4,
  parameter int Readers = 4,
  parameter int Ultra   = 0,
  parameter int AddrWidth = $clog2(Words)
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic [Readers-1:0]           rd_valid_i,
  input  logic [Readers*AddrWidth-1:0] rd_addr_i,
  output logic [Readers-1:0]           rd_ready_o,
  output logic [Readers-1:0]           rd_data_valid_o,
  output logic [Readers*Width-1:0]     rd_data_o,
  input  logic [1:0]                   wr_valid_i,
  input  logic [2*AddrWidth-1:0]       wr_addr_i,
  input  logic [2*Width-1:0]           wr_data_i,
  output logic [1:0]                   wr_ready_o
);
  localparam int Latency  = 4;
  localparam int BankBits = (Banks > 1) ? $clog2(Banks) : 1;
  localparam int RowBits  = AddrWidth - $clog2(Banks);

  if (Words % Banks != 0 || (Banks & (Banks - 1)) != 0 || (Words & (Words - 1)) != 0)
  begin : gen_bad_banks
    initial $fatal(1, "rhz_engine_scratch: %0d words in %0d banks", Words, Banks);
  end

  // Requests to read wait in registers, so that who is served first holds up no walk.
  logic [Readers-1:0] asks, served;
  logic [Readers*AddrWidth-1:0] addr;
  for (genvar r = 0; r < Readers; r++) begin : gen_request
    rhz_engine_slice #(.Width(AddrWidth)) u_slice (
      .clk_i, .rst_ni, .in_valid_i(rd_valid_i[r]), .in_ready_o(rd_ready_o[r]),
      .in_data_i(rd_addr_i[r*AddrWidth +: AddrWidth]), .out_valid_o(asks[r]),
      .out_ready_i(served[r]), .out_data_o(addr[r*AddrWidth +: AddrWidth])
    );
  end

  // The bank that each client asks for.
  logic [Readers*BankBits-1:0] read_bank, read_bank_q;
  logic [2*BankBits-1:0] write_bank, write_bank_q;
  for (genvar r = 0; r < Readers; r++) begin : gen_read_bank
    assign read_bank[r*BankBits +: BankBits] =
        (Banks > 1) ? addr[r*AddrWidth +: BankBits] : BankBits'(0);
  end
  for (genvar w = 0; w < 2; w++) begin : gen_write_bank
    assign write_bank[w*BankBits +: BankBits] =
        (Banks > 1) ? wr_addr_i[w*AddrWidth +: BankBits] : BankBits'(0);
  end

  // Readers: who goes first, and a register after that.
  logic [Readers-1:0] read_q;
  logic [Readers*RowBits-1:0] read_row_q;
  for (genvar r = 0; r < Readers; r++) begin : gen_reader
    logic [r:0] meets;
    assign meets[r] = 1'b0;
    for (genvar s = 0; s < r; s++) begin : gen_before
      assign meets[s] = asks[s] && ((r == Readers - 1 && s == r - 1) ||
                                    read_bank[s*BankBits +: BankBits] ==
                                    read_bank[r*BankBits +: BankBits]);
    end
    assign served[r] = meets == '0;
    always_ff @(posedge clk_i)
      read_row_q[r*RowBits +: RowBits] <= addr[(r+1)*AddrWidth-1 -: RowBits];
  end
  always_ff @(posedge clk_i) begin
    read_q      <= rst_ni ? asks & served : '0;
    read_bank_q <= read_bank;
  end

  // Writers.
  logic meet, second_q;
  logic [1:0] write_q;
  logic [2*RowBits-1:0] write_row_q;
  logic [2*Width-1:0] write_data_q;
  assign meet = wr_valid_i == '1 && write_bank[0 +: BankBits] == write_bank[BankBits +: BankBits];
  assign wr_ready_o = {!meet || second_q, !meet || !second_q};
  always_ff @(posedge clk_i) begin
    if (!rst_ni)   second_q <= 1'b0;
    else if (meet) second_q <= !second_q;
  end
  always_ff @(posedge clk_i) begin
    write_q      <= rst_ni ? wr_valid_i & wr_ready_o : '0;
    write_bank_q <= write_bank;
    write_row_q  <= {wr_addr_i[2*AddrWidth-1 -: RowBits], wr_addr_i[AddrWidth-1 -: RowBits]};
    write_data_q <= wr_data_i;
  end

  logic [Banks*Width-1:0] rows;
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [Readers-1:0] reads;
    logic [1:0] writes;
    logic [RowBits-1:0] row;
    for (genvar r = 0; r < Readers; r++) begin : gen_reads
      assign reads[r] = read_q[r] && read_bank_q[r*BankBits +: BankBits] == BankBits'(b);
    end
    for (genvar w = 0; w < 2; w++) begin : gen_writes
      assign writes[w] = write_q[w] && write_bank_q[w*BankBits +: BankBits] == BankBits'(b);
    end
    always_comb begin
      row = '0;
      for (int r = 0; r < Readers; r++)
        row = row | (read_row_q[r*RowBits +: RowBits] & {RowBits{reads[r]}});
    end
    rhz_sdpram #(.Width(Width), .Words(Words / Banks), .Ultra(Ultra), .AddrWidth(RowBits)) u_ram (
      .clk_i, .we_i(|writes),
      .waddr_i(writes[1] ? write_row_q[RowBits +: RowBits] : write_row_q[0 +: RowBits]),
      .wdata_i(writes[1] ? write_data_q[Width +: Width] : write_data_q[0 +: Width]),
      .re_i(|reads), .raddr_i(row), .rdata_o(rows[b*Width +: Width])
    );
  end

  // From the banks to the readers.
  for (genvar r = 0; r < Readers; r++) begin : gen_valid
    logic [Latency-1:0] valid;
    logic unused;
    assign unused = &{1'b0, valid};
    rhz_valid #(.Stages(Latency - 1)) u_valid (
      .clk_i, .rst_ni, .valid_i(read_q[r]), .valid_o(valid)
    );
    assign rd_data_valid_o[r] = valid[Latency-1];
  end
  logic [(Readers-1)*Width-1:0] data_q;
  for (genvar r = 0; r < Readers - 1; r++) begin : gen_data
    logic [BankBits-1:0] from, bank;
    logic [Width-1:0] row;
    assign from = (r == Readers - 2 && read_q[Readers-1])
                  ? read_bank_q[(Readers-1)*BankBits +: BankBits]
                  : read_bank_q[r*BankBits +: BankBits];
    rhz_delay #(.Width(BankBits), .Stages(Latency - 2)) u_bank (
      .clk_i, .data_i(from), .data_o(bank)
    );
    rhz_mux #(.Width(Width), .Count(Banks)) u_row (.sel_i(bank), .data_i(rows), .data_o(row));
    always_ff @(posedge clk_i) data_q[r*Width +: Width] <= row;
  end
  assign rd_data_o = {data_q[(Readers-2)*Width +: Width], data_q};
endmodule
