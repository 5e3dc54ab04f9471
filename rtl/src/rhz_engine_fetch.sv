// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a program behind memory port 0 and hands its instructions out, in order, to the
// queue of the unit that each is for; a full queue makes it wait. start_i begins a frame
// with the program at word program_i of the port, a multiple of 32 bytes and of a beat.
// Its head must be meant for this core and says how much is read ahead of need. After
// `end` or a mistake it waits until all units are idle; then done_o is high for a cycle.
// error_o, from the first mistake of a frame to the next start: see rhz_engine.
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
  logic reader_beyond;
  logic [8*Bytes-1:0] word;
  logic [27+$clog2(In):0] first_byte;
  logic [28+$clog2(In):0] limit_byte;
  logic [AddrWidth-1:0] address_q;
  logic [CountW-1:0] words_q, asked;
  assign asked      = (state_q == AskHead) ? CountW'(1) : words_q - CountW'(Held);
  assign first_byte = {program_i, $clog2(In)'(0)};
  assign limit_byte = {limit_i, $clog2(In)'(0)};
  rhz_engine_reader #(
    .Bytes(Bytes), .PortBits(PortBits), .Burst(Burst), .Places(2 * Burst), .AddrWidth(AddrWidth),
    .RowStepWidth(1), .ColumnStepWidth(1), .RowsWidth(1), .ColumnsWidth(1),
    .ChannelsWidth(CountW)
  ) u_reader (
    .clk_i, .rst_ni, .limit_i(limit_byte[28+$clog2(In) -: AddrWidth+1]),
    .box_valid_i(state_q == AskHead || (state_q == AskRest && |asked)),
    .box_ready_o(box_ready), .port_i(3'd0), .address_i(address_q), .row_step_i(1'b0),
    .column_step_i(1'b0), .rows_i(1'b1), .columns_i(1'b1), .channels_i(asked), .m_axi_arvalid,
    .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_rvalid, .m_axi_rready, .m_axi_rdata,
    .beyond_o(reader_beyond), .out_valid_o(there), .out_ready_i(take), .out_data_o(word)
  );

  // The instruction at hand. What lies behind the end in its word is dropped.
  assign take = next && (at_last || state_q == Finish);
  if (Each == 1) begin : gen_one
    assign at_last       = 1'b1;
    assign instruction_o = word;
  end else begin : gen_several
    logic [$clog2(Each)-1:0] at;
    rhz_counter #(.Count(Each)) u_at (
      .clk_i, .rst_ni(rst_ni && state_q != Idle), .en_i(next), .value_o(at), .last_o(at_last)
    );
    rhz_choose #(.Width(256), .Count(Each)) u_choose (
      .sel_i(at), .data_i(word), .data_o(instruction_o)
    );
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
  logic is_for_unit, at_end;
  assign is_for_unit  = unit != rhz_isa_pkg::UNIT_FETCH;
  assign at_end       = opcode == rhz_isa_pkg::END;
  assign is_head_good = opcode == rhz_isa_pkg::HEAD && isa == IsaHash && core == CoreHash;
  assign is_mistake   = there && ((state_q == Head && !is_head_good) ||
                                  (state_q == Run && !is_for_unit && !at_end));
  assign ends         = state_q == Run && there && !is_for_unit;
  always_comb begin
    for (int u = 0; u < 5; u++)
      unit_valid_o[u] = state_q == Run && there && unit == 3'(u);
    unique case (state_q)
      Head, Finish: next = there;
      Run:          next = there && (!is_for_unit || (unit_valid_o & unit_ready_i) != '0);
      default:      next = 1'b0;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      done_o  <= 1'b0;
      error_o <= '0;
    end else begin
      done_o <= 1'b0;
      unique case (state_q)
        Idle: if (start_i) begin
          state_q <= AskHead;
          error_o <= '0;
        end
        AskHead: if (box_ready) state_q <= Head;
        Head:    if (there) state_q <= is_head_good ? AskRest : Finish;
        AskRest: if (box_ready || asked == '0) state_q <= Run;
        Run:     if (ends || words_q == '0) state_q <= Finish;
        default: if (words_q == '0 && idle_i) begin
          state_q <= Idle;
          done_o  <= 1'b1;
        end
      endcase
      if (error_o == '0) begin
        if (is_mistake)
          error_o <= (state_q == Run || opcode != rhz_isa_pkg::HEAD) ? BadOpcode
                     : (isa != IsaHash) ? BadIsa : BadCore;
        else if (state_q == Run && words_q == '0) error_o <= NoEnd;
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
    end else if (take) begin
      words_q <= words_q - CountW'(1);
    end
  end
  assign busy_o = state_q != Idle;
endmodule
