// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitted cloudFPGA role around a stand-in for the design: datagrams in,
// answers out, with pauses on both sides. Checks what the shell sees: a meta
// word before each datagram, to the rank and port that asked, lengths, TLAST.
module rhz_top (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] s_axis_0_tdata,
  input  logic        s_axis_0_tvalid,
  input  logic        s_axis_0_tlast,
  input  logic        m_axis_0_tready,
  output logic        s_axis_0_tready,
  output logic [15:0] s_axis_0_err_o,
  output logic [63:0] m_axis_0_tdata,
  output logic        m_axis_0_tvalid,
  output logic        m_axis_0_tlast
);
  // Takes `Ask` words, answers with `Answer` words of which each is the first
  // asked word plus its index.
  int asked, answered;
  logic [63:0] first;
  assign s_axis_0_tready = rst_ni && asked < `ASK;
  assign s_axis_0_err_o  = '0;
  assign m_axis_0_tvalid = asked == `ASK;
  assign m_axis_0_tdata  = first + 64'(answered);
  assign m_axis_0_tlast  = answered == `ANSWER - 1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asked    <= 0;
      answered <= 0;
    end else begin
      if (s_axis_0_tvalid && s_axis_0_tready) begin
        if (asked == 0) first <= s_axis_0_tdata;
        asked <= asked + 1;
      end
      if (m_axis_0_tvalid && m_axis_0_tready) begin
        answered <= m_axis_0_tlast ? 0 : answered + 1;
        if (m_axis_0_tlast) asked <= 0;
      end
    end
  end
endmodule

module tb;
  logic clk = 0, rst = 1, enable = 0;
  always #1 clk = !clk;

  logic [63:0] in_data, in_meta, out_data, out_meta;
  logic        in_valid = 0, in_last = 0, in_ready, in_meta_valid = 0, in_meta_ready;
  logic        out_valid, out_last, out_ready = 0, out_meta_valid, out_meta_ready = 0;
  logic [31:0] ports;
  logic [15:0] frames;
  Role_Themisto u_role (
    .piSHL_156_25Clk(clk), .piSHL_156_25Rst(rst), .piMMIO_Ly7_Rst(1'b0), .piMMIO_Ly7_En(enable),
    .siNRC_Udp_Data_tdata(in_data), .siNRC_Udp_Data_tvalid(in_valid),
    .siNRC_Udp_Data_tlast(in_last), .siNRC_Udp_Data_tready(in_ready),
    .soNRC_Udp_Data_tdata(out_data), .soNRC_Udp_Data_tvalid(out_valid),
    .soNRC_Udp_Data_tlast(out_last), .soNRC_Udp_Data_tready(out_ready),
    .soROLE_Nrc_Udp_Meta_TDATA(out_meta), .soROLE_Nrc_Udp_Meta_TVALID(out_meta_valid),
    .soROLE_Nrc_Udp_Meta_TREADY(out_meta_ready), .siNRC_Role_Udp_Meta_TDATA(in_meta),
    .siNRC_Role_Udp_Meta_TVALID(in_meta_valid), .siNRC_Role_Udp_Meta_TREADY(in_meta_ready),
    .poROL_Nrc_Udp_Rx_ports(ports), .poSHL_Mmio_RdReg(frames), .piFMC_ROLE_rank(32'd9)
  );

  // Inputs change on the falling edge; pauses are drawn anew each cycle.
  int seed = 1;
  always @(negedge clk) begin
    out_ready      <= ($random(seed) & 3) != 0;
    out_meta_ready <= ($random(seed) & 1) != 0;
  end

  int frame = 0, word = 0, room = 0, errors = 0;
  task automatic complain(input string what);
    $display("frame %0d word %0d: %s", frame, word, what);
    errors = errors + 1;
  endtask
  function automatic int datagram(input int left);
    datagram = left > 176 ? 176 : left;
  endfunction

  always @(posedge clk) begin
    if (out_meta_valid && out_meta_ready) begin
      if (room != 0) complain("a meta word inside a datagram");
      room = datagram(`ANSWER - word);
      if (out_meta !== {16'(room * 8), 16'd2718, 8'd9, 16'(3000 + frame), 8'(20 + frame)})
        complain("another meta word");
    end
    if (out_valid && out_ready) begin
      if (room == 0) complain("a word without meta");
      if (out_data !== 64'(1000 * (frame + 1) + word)) complain("another word");
      if (out_last !== (room == 1)) complain("TLAST");
      room = room - 1;
      word = word + 1;
      if (word == `ANSWER) begin
        word  = 0;
        frame = frame + 1;
      end
    end
  end

  initial begin
    repeat (4) @(negedge clk);
    rst = 0;
    repeat (4) @(negedge clk);
    if (in_ready || in_meta_ready) complain("takes something before it is enabled");
    enable = 1;
    for (int f = 0; f < 3; f++) begin
      // The client of this frame: its rank and port.
      in_meta       = {16'd0, 16'(3000 + f), 8'(20 + f), 16'd2718, 8'd9};
      in_meta_valid = 1;
      do @(posedge clk); while (!in_meta_ready);
      @(negedge clk) in_meta_valid = 0;
      for (int w = 0; w < `ASK; w++) begin
        while (($random(seed) & 3) == 0) @(negedge clk);
        in_data  = 64'(1000 * (f + 1) + w);
        in_last  = w == `ASK - 1;
        in_valid = 1;
        do @(posedge clk); while (!in_ready);
        @(negedge clk) in_valid = 0;
      end
      while (frame == f) @(negedge clk);
    end
    repeat (4) @(negedge clk);
    if (frames !== 16'd3) complain("counts the answered frames otherwise");
    if (ports !== 32'd1) complain("listens on other ports");
    if (errors == 0) $display("PASS");
    $finish;
  end
  initial #1000000 $display("TIMEOUT");
endmodule
