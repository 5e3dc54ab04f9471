// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames into rhz_axis_in from a source that loses, adds and repeats beats and
// TLASTs, and into which a reset falls. A model of the contract follows the beats
// that were taken: how many frames come out, what of them is certain, and what
// err_o counts. Nothing is taken in reset. Lanes divide a row.
module rhz_tb_border #(
  parameter int DataWidth     = 64,
  parameter int Elem          = 8,
  parameter int Lanes         = 1,
  parameter int FrameElements = 16,
  parameter int Row           = 16,
  parameter int Frames        = 200,
  parameter int Silent        = 0,  // 1: a source without TLAST
  parameter int Stalls        = 0,
  parameter int Seed          = 1
);
  localparam int Bits  = FrameElements * Elem;
  localparam int Beats = (Bits + DataWidth - 1) / DataWidth;
  localparam int Outs  = FrameElements / Lanes;
  localparam int Most  = 4 * Frames + 8;

  logic clk = 1'b0, rst_n = 1'b0;
  always #5 clk = ~clk;

  logic [DataWidth-1:0] tdata;
  logic tvalid = 1'b0, tready, tlast;
  logic [15:0] err;
  logic valid, ready = 1'b0;
  logic [Lanes*Elem-1:0] data;
  rhz_axis_in #(
    .DataWidth(DataWidth), .Elem(Elem), .Lanes(Lanes), .FrameElements(FrameElements), .Row(Row),
    .Depth(4)
  ) u_dut (
    .clk_i(clk), .rst_ni(rst_n), .s_axis_tdata(tdata), .s_axis_tvalid(tvalid),
    .s_axis_tready(tready), .s_axis_tlast(tlast), .err_o(err), .out_valid_o(valid),
    .out_ready_i(ready), .out_data_o(data)
  );

  int state = Seed;
  function automatic int draw(input int below);
    state = state * 1103515245 + 12345;
    draw = ((state >> 8) & 32'h7fffff) % below;
  endfunction
  task automatic fail(input string what);
    $display("FAIL %s at %0t", what, $time);
    $finish;
  endtask

  // The model: frames that were wanted, and how many bits of each are certain.
  logic [Beats*DataWidth-1:0] want[Most], gathered;
  int certain[Most];
  int wanted = 0, at = 0, errors = 0, got = 0, place = 0;
  bit dropping = 1'b0, framed = 1'b0;
  task automatic takes(input logic [DataWidth-1:0] word, input bit last);
    if (dropping) begin
      dropping = !last;
    end else begin
      gathered[at*DataWidth+:DataWidth] = word;
      if (last != (at == Beats - 1)) errors++;
      if (last || at == Beats - 1) begin
        want[wanted] = gathered;
        certain[wanted] = (at + 1) * DataWidth;
        wanted++;
        dropping = !last && framed && Beats > 1;
        at = 0;
      end else begin
        at++;
      end
    end
    framed |= last;
  endtask

  int low, kind, size;
  logic [Elem-1:0] right;
  always @(posedge clk) begin
    if (!rst_n) begin
      if (tready !== 1'b0 && $time > 20) fail("TREADY in reset");
    end else begin
      if (tvalid && tready) takes(tdata, tlast);
      if (valid && ready) begin
        if (got >= wanted && place >= Outs) fail("a frame too many");
        // The beats of a frame come before it is complete.
        for (int k = 0; k < Lanes; k++) begin
          low = (place * Lanes + k) * Elem;
          right = (got < wanted) ? want[got][low+:Elem] : gathered[low+:Elem];
          if ((got >= wanted || low + Elem <= certain[got]) && data[k*Elem+:Elem] !== right)
            fail($sformatf("frame %0d, element %0d: %0h instead of %0h", got, place * Lanes + k,
                           data[k*Elem+:Elem], right));
        end
        place++;
        if (place == Outs) begin
          place = 0;
          got++;
        end
      end
    end
  end

  // Driven in the middle of a cycle; a beat stays until it is taken.
  task automatic beat(input bit last);
    @(negedge clk);
    while (draw(100) < Stalls) begin
      tvalid = 1'b0;
      tdata = 'x;
      tlast = 1'bx;
      @(negedge clk);
    end
    tvalid = 1'b1;
    tdata = {4{$urandom(state)}};
    for (int i = 0; i < DataWidth; i += 16) tdata[i+:8] = 8'(draw(256));
    tlast = last && Silent == 0;
    @(posedge clk);
    while (!(tready && rst_n)) @(posedge clk);
  endtask

  always @(negedge clk) ready <= draw(100) >= Stalls;

  initial begin
    repeat (4) @(negedge clk);
    rst_n = 1'b1;
    for (int f = 0; f < Frames; f++) begin
      kind = (Silent == 1) ? 0 : draw(8);
      size = Beats;
      if (kind == 1 && Beats > 1) size = 1 + draw(Beats - 1);  // beats are lost
      if (kind == 2) size = Beats + 1 + draw(2 * Beats);       // or added
      for (int k = 0; k < size; k++) beat(k == size - 1 && kind != 3);
      if (kind == 4) begin  // a reset, while the next frame is offered already
        @(negedge clk);
        tvalid = 1'b0;
        for (int i = 0; i < 4 * (Outs + Beats) && got < wanted; i++) @(negedge clk);
        rst_n = 1'b0;
        tvalid = 1'b1;
        tlast = 1'b0;
        wanted = 0; at = 0; errors = 0; got = 0; place = 0;
        dropping = 1'b0; framed = 1'b0;
        repeat (3) @(negedge clk);
        tvalid = 1'b0;
        rst_n = 1'b1;
      end
    end
    @(negedge clk);
    tvalid = 1'b0;
    tdata = 'x;
    tlast = 1'bx;
    // A frame that is not whole stays inside.
    for (int i = 0; i < 100 * (Outs + 4) && got < wanted; i++) @(negedge clk);
    repeat (20) @(negedge clk);
    if (got != wanted) fail($sformatf("%0d of %0d frames", got, wanted));
    if (int'(err) != errors) fail($sformatf("err_o is %0d instead of %0d", err, errors));
    $display("PASS %0d", got);
    $finish;
  end
endmodule
