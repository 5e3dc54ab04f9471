// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The computing side of an engine next to its scratchpad. It fills the scratchpad, hands
// out the instructions of two lists as their tokens allow, offers weights, and writes
// down all words and sums in the end. +stalls is how many percent of the cycles weights,
// reads and writes wait, while other clients of the scratchpad are busy.
`timescale 1ns/1ns
module rhz_tb_engine_compute;
  parameter int In = 8;
  parameter int Out = 8;
  parameter int Words = 256;
  parameter int Banks = 4;
  parameter int Entries = 32;
  parameter int SumBits = 27;
  parameter int Wide = 1;
  parameter int Table = 1;
  parameter int Most = 256;   // instructions of a list
  localparam int AddrWidth = $clog2(Words);
  localparam int W = In * 8;

  logic clk = 0, rst_n = 0;
  always #2 clk = !clk;

  integer matrix_count, vector_count, weight_count, stalls;
  logic [255:0] matrices [0:Most];
  logic [255:0] vectors [0:Most];
  logic [W-1:0] weights [0:Most*Out*16];
  logic [W-1:0] scratch [0:Words-1];
  logic [W-1:0] final_words [0:Words-1];
  initial begin
    $readmemh("matrices.hex", matrices);
    $readmemh("vectors.hex", vectors);
    $readmemh("weights.hex", weights);
    $readmemh("scratch.hex", scratch);
  end

  logic matrix_valid, matrix_ready, matrix_done, vector_valid, vector_ready, vector_done;
  logic weights_valid, weights_ready;
  logic [1:0] rd_valid, unit_rd_ready;
  logic [2*AddrWidth-1:0] rd_addr;
  logic wr_valid, unit_wr_ready;
  logic [AddrWidth-1:0] wr_addr;
  logic [W-1:0] wr_data;
  logic [3:0] s_rd_valid, s_rd_ready, s_data_valid;
  logic [4*W-1:0] s_data;
  logic [1:0] s_wr_valid, s_wr_ready;
  logic [AddrWidth-1:0] other_addr, fill_addr;
  logic fill_valid, go_weights, go_write, other_read, read_back;
  logic [1:0] go_read;
  integer m_at, v_at, w_at, m_done, v_done, m_tokens, v_tokens, cycle, busy, seed, k, log;
  integer first_cycle, last_cycle;

  assign matrix_valid = m_at < matrix_count && (!matrices[m_at][3+3] || m_tokens > 0);
  assign vector_valid = v_at < vector_count && (!vectors[v_at][3+2] || v_tokens > 0);
  assign weights_valid = w_at < weight_count && go_weights;
  assign s_rd_valid = {read_back, other_read, rd_valid & go_read};
  assign unit_rd_ready = s_rd_ready[1:0] & go_read;
  assign s_wr_valid = {wr_valid && go_write, fill_valid};
  assign unit_wr_ready = s_wr_ready[1] && go_write;

  rhz_engine_scratch #(.Width(W), .Words(Words), .Banks(Banks)) u_scratch (
    .clk_i(clk), .rst_ni(rst_n), .rd_valid_i(s_rd_valid),
    .rd_addr_i({fill_addr, other_addr, rd_addr}), .rd_ready_o(s_rd_ready),
    .rd_data_valid_o(s_data_valid), .rd_data_o(s_data), .wr_valid_i(s_wr_valid),
    .wr_addr_i({wr_addr, fill_addr}), .wr_data_i({wr_data, scratch[fill_addr]}),
    .wr_ready_o(s_wr_ready)
  );
  rhz_engine_compute #(
    .In(In), .Out(Out), .Words(Words), .Entries(Entries), .SumBits(SumBits), .Wide(Wide),
    .Table(Table)
  ) u_dut (
    .clk_i(clk), .rst_ni(rst_n), .matrix_valid_i(matrix_valid), .matrix_ready_o(matrix_ready),
    .matrix_instruction_i(matrices[m_at]), .matrix_done_o(matrix_done),
    .vector_valid_i(vector_valid), .vector_ready_o(vector_ready),
    .vector_instruction_i(vectors[v_at]), .vector_done_o(vector_done),
    .weights_valid_i(weights_valid), .weights_ready_o(weights_ready),
    .weights_data_i(weights[w_at]), .rd_valid_o(rd_valid), .rd_addr_o(rd_addr),
    .rd_ready_i(unit_rd_ready), .rd_data_valid_i(s_data_valid[1:0]), .rd_data_i(s_data[2*W-1:0]),
    .wr_valid_o(wr_valid), .wr_addr_o(wr_addr), .wr_data_o(wr_data), .wr_ready_i(unit_wr_ready)
  );

  function automatic integer draw(input integer below);
    seed = seed * 1103515245 + 12345;
    draw = ((seed >> 8) & 32'h7fffff) % below;
  endfunction

  // Whoever reads and writes next to the units disturbs them and changes nothing: it
  // writes what its word, which no instruction names, has.
  logic m_start, v_start, m_end, v_end, w_take;
  integer filled, reads, got;
  initial begin
    if (!$value$plusargs("seed=%d", seed) || !$value$plusargs("stalls=%d", stalls) ||
        !$value$plusargs("matrices=%d", matrix_count) ||
        !$value$plusargs("vectors=%d", vector_count) ||
        !$value$plusargs("weights=%d", weight_count)) $finish;
    fill_valid = 0; fill_addr = 0; other_read = 0; other_addr = 0; read_back = 0;
    go_weights = 0; go_write = 0; go_read = 0;
    m_at = 0; v_at = 0; w_at = 0; m_done = 0; v_done = 0; m_tokens = 0; v_tokens = 0; busy = 0;
    first_cycle = -1; last_cycle = 0;
    m_at = matrix_count; v_at = vector_count;
    repeat (4) @(posedge clk);
    #1 rst_n = 1;
    for (filled = 0; filled < Words; filled = filled + 1) begin
      fill_valid = 1; fill_addr = AddrWidth'(filled);
      @(posedge clk);
      #1;
    end
    fill_valid = 0;
    m_at = 0; v_at = 0;
    for (cycle = 0; (m_done < matrix_count || v_done < vector_count) && cycle < 60000; cycle = cycle + 1) begin
      @(negedge clk);
      m_start = matrix_valid && matrix_ready;
      v_start = vector_valid && vector_ready;
      m_end = matrix_done;
      v_end = vector_done;
      w_take = weights_valid && weights_ready;
      if (u_dut.u_matrix.fire === 1'b1) begin
        busy = busy + 1;
        if (first_cycle < 0) first_cycle = cycle;
        last_cycle = cycle;
      end
      if ((^{matrix_ready, vector_ready, matrix_done, vector_done, rd_valid, wr_valid}) === 1'bx)
        $display("X in a handshake");
      @(posedge clk);
      #1;
      if (m_start) begin
        if (matrices[m_at][3+3]) m_tokens = m_tokens - 1;
        m_at = m_at + 1;
      end
      if (v_start) begin
        if (vectors[v_at][3+2]) v_tokens = v_tokens - 1;
        v_at = v_at + 1;
      end
      if (m_end) begin
        if (matrices[m_done][8+3]) v_tokens = v_tokens + 1;
        m_done = m_done + 1;
      end
      if (v_end) begin
        if (vectors[v_done][8+2]) m_tokens = m_tokens + 1;
        v_done = v_done + 1;
      end
      if (w_take) w_at = w_at + 1;
      go_weights = draw(100) >= stalls;
      go_write   = draw(100) >= stalls;
      go_read[0] = draw(100) >= stalls;
      go_read[1] = draw(100) >= stalls;
      other_read = draw(100) < stalls;
      other_addr = AddrWidth'(draw(Words));
      fill_valid = draw(100) < stalls;
      fill_addr  = AddrWidth'(draw(Banks));
    end
    if (cycle == 60000) $display("HANG matrix %0d of %0d, vector %0d of %0d", m_done, matrix_count,
                                   v_done, vector_count);
    fill_valid = 0; other_read = 0;
    repeat (12) @(posedge clk);
    got = 0; reads = 0;
    while (got < Words) begin
      #1 read_back = reads < Words; fill_addr = AddrWidth'(reads);
      @(negedge clk);
      if (s_data_valid[3]) begin
        final_words[got] = s_data[3*W +: W];
        got = got + 1;
      end
      if (read_back) reads = reads + 1;
      @(posedge clk);
    end
    log = $fopen("words.txt", "w");
    for (k = 0; k < Words; k = k + 1) $fwrite(log, "%h\n", final_words[k]);
    $fclose(log);
    $display("CYCLES %0d BUSY %0d OF %0d", cycle, busy, last_cycle - first_cycle + 1);
    $finish;
  end

  // All sums, when the words have been read.
  for (genvar b = 0; b < 2; b++) begin : gen_bank
    for (genvar g = 0; g < Out / In; g++) begin : gen_group
      integer e, file;
      initial begin
        wait (got == Words);
        file = $fopen($sformatf("sums%0d%0d.txt", b, g), "w");
        for (e = 0; e < Entries; e = e + 1)
          $fwrite(file, "%h\n", u_dut.u_sums.gen_bank[b].gen_group[g].u_ram.gen_many.mem[e]);
        $fclose(file);
      end
    end
  end
endmodule
