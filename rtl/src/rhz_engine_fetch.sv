// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a program behind memory port 0 and hands its instructions out, in order, to the
// queue of the unit that each is for; a full queue makes it wait. start_i begins a frame
// with the program at word program_i of the port, a multiple of 32 bytes and of a beat.
// Its head must be meant for this core and says how much is read ahead of need. After
// `end` or a mistake it waits until all units are idle; then done_o is high for a cycle.
// error_o, from the first mistake of a frame to the next start, and stopped_o: see
// rhz_engine.
module rhz_engine_fetch #(
  parameter int          In       = 16,
  parameter int          PortBits = 128,
  parameter logic [31:0] IsaHash  = '0,
  parameter logic [31:0] CoreHash = '0
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_i,
  input  logic [27:0]         program_i,
  output logic                busy_o,
  output logic                done_o,
  output logic [2:0]          error_o,
  output logic                stopped_o,
  input  logic                beyond_i,
  input  logic                fault_i,
  input  logic [28:0]         limit_i,
  output logic                m_axi_arvalid,
  input  logic                m_axi_arready,
  output logic [63:0]         m_axi_araddr,
  output logic [7:0]          m_axi_arlen,
  input  logic                m_axi_rvalid,
  output logic                m_axi_rready,
  input  logic [PortBits-1:0] m_axi_rdata,
  output logic [4:0]          unit_valid_o,
  input  logic [4:0]          unit_ready_i,
  output logic [255:0]        instruction_o,
  input  logic                idle_i
);
  // A word of the program: at least an instruction and a beat.
  localparam int Bytes     = (PortBits > 256) ? PortBits / 8 : 32;
  localparam int Burst     = 8;
  localparam int Each      = Bytes / 32;
  localparam int AddrWidth = 28 + $clog2(In) - $clog2(Bytes);
  localparam int CountW    = 24;
  localparam int Held      = (Each > 1) ? 1 : 0;   // words that the head leaves in hand

  localparam logic [2:0] Idle = 3'd0, AskHead = 3'd1, Head = 3'd2, AskRest = 3'd3, Run = 3'd4,
                         Finish = 3'd5;
  logic [2:0] state_q;
  logic box_ready, there, take, next, at_last, is_head_good, is_mistake, ends, unused;
  logic has_no_end;
  logic reader_beyond;
  logic [8*Bytes-1:0] word;
  logic [27+$clog2(In):0] first_byte;
  logic [28+$clog2(In):0] limit_byte;
  logic [AddrWidth-1:0] address_q;
  // How many words are asked for is known in the second cycle of a state.
  logic settled_q, any_q;
  logic [CountW-1:0] words_q, asked, asked_q;
  always_ff @(posedge clk_i) begin
    settled_q <= state_q == AskHead || state_q == AskRest;
    any_q     <= asked != '0;
    asked_q   <= asked;
  end
  assign asked      = (state_q == AskHead) ? CountW'(1) : words_q - CountW'(Held);
  assign first_byte = {program_i, $clog2(In)'(0)};
  assign limit_byte = {limit_i, $clog2(In)'(0)};
  rhz_engine_reader #(
    .Bytes(Bytes), .PortBits(PortBits), .Burst(Burst), .Places(2 * Burst), .AddrWidth(AddrWidth),
    .RowStepWidth(1), .ColumnStepWidth(1), .RowsWidth(1), .ColumnsWidth(1),
    .ChannelsWidth(CountW)
  ) u_reader (
    .clk_i, .rst_ni, .limit_i(limit_byte[28+$clog2(In) -: AddrWidth+1]),
    .box_valid_i(settled_q && (state_q == AskHead || (state_q == AskRest && any_q))),
    .box_ready_o(box_ready), .port_i(3'd0), .address_i(address_q), .row_step_i(1'b0),
    .column_step_i(1'b0), .rows_i(1'b1), .columns_i(1'b1), .channels_i(asked_q), .m_axi_arvalid,
    .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_rvalid, .m_axi_rready, .m_axi_rdata,
    .beyond_o(reader_beyond), .out_valid_o(word_there), .out_ready_i(take), .out_data_o(word)
  );

  // The instruction at hand. What lies behind the end in its word is dropped.
  logic [255:0] first;
  logic word_there;
  assign take = next && (at_last || state_q == Finish);
  if (Each == 1) begin : gen_one
    assign at_last = 1'b1;
    assign first   = word;
  end else begin : gen_several
    logic [$clog2(Each)-1:0] at;
    rhz_counter #(.Count(Each)) u_at (
      .clk_i, .rst_ni(rst_ni && state_q != Idle), .en_i(next), .value_o(at), .last_o(at_last)
    );
    rhz_choose #(.Width(256), .Count(Each)) u_choose (
      .sel_i(at), .data_i(word), .data_o(first)
    );
  end
  // It goes to a register and is decoded in the next cycle (there), before it is looked at.
  logic held_q, last_q, goes;
  assign next = word_there && !held_q && state_q != Idle;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q <= 1'b0;
      there  <= 1'b0;
    end else begin
      held_q <= next || (held_q && !goes);
      there  <= held_q && !goes;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!held_q) begin
      instruction_o <= first;
      last_q        <= at_last || state_q == Finish;
    end
  end
  logic [2:0] opcode, unit;
  logic [31:0] isa, core, instructions;
  logic [9:0] unused_masks;
  logic [15:0] unused_blocks;
  rhz_isa_common u_common (
    .instruction_i(instruction_o), .opcode_o(opcode), .waits_o(unused_masks[4:0]),
    .gives_o(unused_masks[9:5]), .unit_o(unit)
  );
  rhz_isa_head u_head (
    .instruction_i(instruction_o), .isa_o(isa), .core_o(core), .instructions_o(instructions),
    .blocks_o(unused_blocks)
  );
  assign unused = &{1'b0, unused_masks, unused_blocks, instructions, first_byte, limit_byte};

  localparam logic [2:0] BadIsa = 3'd1, BadCore = 3'd2, BadOpcode = 3'd3, NoEnd = 3'd4,
                         Beyond = 3'd5, Fault = 3'd6;
  logic is_for_unit_q, at_end_q, is_head_q, is_isa_q, is_core_q, none_left_q, idle_q;
  logic [4:0] offer_q;
  always_ff @(posedge clk_i) begin
    for (int u = 0; u < 5; u++)
      offer_q[u] <= rst_ni && held_q && !goes && state_q == Run && unit == 3'(u);
    is_for_unit_q <= unit != rhz_isa_pkg::UNIT_FETCH;
    at_end_q      <= opcode == rhz_isa_pkg::END;
    is_head_q     <= opcode == rhz_isa_pkg::HEAD;
    is_isa_q      <= isa == IsaHash;
    is_core_q     <= core == CoreHash;
  end
  always_ff @(posedge clk_i) begin
    none_left_q <= words_q == '0;
    idle_q      <= idle_i;
  end
  assign is_head_good = is_head_q && is_isa_q && is_core_q;
  assign is_mistake   = there && ((state_q == Head && !is_head_good) ||
                                  (state_q == Run && !is_for_unit_q && !at_end_q));
  assign ends         = state_q == Run && there && !is_for_unit_q;
  assign has_no_end   = state_q == Run && none_left_q;
  assign unit_valid_o = offer_q;
  always_comb begin
    unique case (state_q)
      Head, Finish: goes = there;
      Run:          goes = there && (!is_for_unit_q || (offer_q & unit_ready_i) != '0);
      default:      goes = 1'b0;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      done_o    <= 1'b0;
      error_o   <= '0;
      stopped_o <= 1'b0;
    end else begin
      done_o <= 1'b0;
      unique case (state_q)
        Idle: if (start_i) begin
          state_q   <= AskHead;
          error_o   <= '0;
          stopped_o <= 1'b0;
        end
        AskHead: if (settled_q && box_ready) state_q <= Head;
        Head:    if (there) state_q <= is_head_good ? AskRest : Finish;
        AskRest: if (settled_q && (box_ready || !any_q)) state_q <= Run;
        Run:     if (ends || none_left_q) state_q <= Finish;
        default: if (none_left_q && idle_q) begin
          state_q <= Idle;
          done_o  <= 1'b1;
        end
      endcase
      if (is_mistake || has_no_end) stopped_o <= 1'b1;
      if (error_o == '0) begin
        if (is_mistake)
          error_o <= (state_q == Run || !is_head_q) ? BadOpcode : !is_isa_q ? BadIsa : BadCore;
        else if (has_no_end) error_o <= NoEnd;
        else if (beyond_i || reader_beyond) error_o <= Beyond;
        else if (fault_i) error_o <= Fault;
      end
    end
  end
  // Words that are still to be taken, and where the next ones lie.
  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      words_q   <= CountW'(1);
      address_q <= first_byte[27+$clog2(In) -: AddrWidth];
    end else if (state_q == Head && there) begin
      words_q   <= (is_head_good ? CountW'(instructions[23:0]) >> $clog2(Each) : '0) +
                   CountW'(Held);
      address_q <= address_q + AddrWidth'(1);
    end else if (goes && last_q) begin
      words_q <= words_q - CountW'(1);
    end
  end
  assign busy_o = state_q != Idle;
endmodule
