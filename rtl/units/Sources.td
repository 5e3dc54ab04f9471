// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The SystemVerilog files of the library and what each of them instantiates.
// rtl/test/run.py holds this against the sources.
#ifndef RHIZOME_RTL_SOURCES_TD
#define RHIZOME_RTL_SOURCES_TD

include "rhizome/Unit/Unit.td"

def DSP48E1 : Model;
def DSP48E2 : Model;

def rhz_at_least : Source;
def rhz_counter : Source;
def rhz_tally : Source;
def rhz_ring_position : Source;
def rhz_choose_few : Source;
def rhz_choose : Source<[rhz_choose_few]>;
def rhz_rotate_in : Source<[rhz_choose_few, rhz_choose]>;
def rhz_rotate_out : Source<[rhz_choose, rhz_choose_few]>;
def rhz_outbuf : Source<[rhz_counter]>;
def rhz_gearbox_ring : Source<[
    rhz_counter, rhz_tally, rhz_at_least, rhz_ring_position, rhz_rotate_in,
    rhz_rotate_out, rhz_outbuf]>;
def rhz_gearbox_pick : Source<[rhz_counter, rhz_choose, rhz_outbuf]>;
def rhz_gearbox_collect : Source<[rhz_counter, rhz_outbuf]>;
def rhz_gearbox : Source<[
    rhz_gearbox_ring, rhz_gearbox_pick, rhz_gearbox_collect]>;
def rhz_wide_in : Source<[]>;
def rhz_wide_out : Source<[]>;
def rhz_axis_in : Source<[rhz_counter, rhz_gearbox]>;
def rhz_axis_out : Source<[rhz_counter, rhz_gearbox]>;
def rhz_concat : Source<[rhz_counter, rhz_outbuf]>;
def rhz_delay : Source;
def rhz_digits : Source;
def rhz_mul : Source<[rhz_digits, rhz_delay]>;
def rhz_sum : Source;
def rhz_dot : Source<[rhz_mul, rhz_sum]>;
def rhz_dsp_packed : Source<[DSP48E1, DSP48E2]>;
def rhz_dot_pair : Source<[rhz_delay, rhz_dsp_packed, rhz_sum]>;
def rhz_fork : Source<[rhz_outbuf]>;
def rhz_fifo : Source<[rhz_fork]>;
def rhz_valid : Source;
def rhz_crossing_from : Source;
def rhz_crossing_to : Source<[rhz_valid, rhz_outbuf]>;
def rhz_crossing : Source<[rhz_crossing_from, rhz_crossing_to]>;
def rhz_rom : Source<[rhz_delay]>;
def rhz_max : Source;
def rhz_mux : Source;
def rhz_link_short : Source<[rhz_counter]>;
def rhz_link_control : Source<[rhz_counter, rhz_link_short]>;
def rhz_link_gather : Source<[rhz_counter]>;
def rhz_link_mux : Source<[rhz_outbuf]>;
def rhz_link_parse : Source;
def rhz_mem_guard : Source;
def rhz_mem_write_guard : Source;
def rhz_sdpram : Source<[rhz_delay]>;
def rhz_link_retry : Source<[rhz_sdpram]>;
def rhz_link_rx : Source<[rhz_sdpram, rhz_counter, rhz_outbuf, rhz_link_short]>;
def rhz_link_scatter : Source<[rhz_counter]>;
def rhz_link_tx : Source<[rhz_link_retry, rhz_sdpram, rhz_outbuf]>;
def rhz_countdown : Source;
def rhz_turn : Source<[rhz_counter, rhz_countdown]>;
def rhz_index : Source<[rhz_counter, rhz_turn]>;
def rhz_fold : Source<[rhz_counter, rhz_turn]>;
def rhz_lane_reduce : Source<[
    rhz_mul, rhz_counter, rhz_fold, rhz_index, rhz_valid, rhz_delay, rhz_rom, rhz_max,
    rhz_sum, rhz_outbuf]>;
def rhz_matvec : Source<[
    rhz_mul, rhz_fold, rhz_index, rhz_valid, rhz_delay, rhz_rom, rhz_dot,
    rhz_dot_pair, rhz_outbuf]>;
def rhz_matvec_fed : Source<[
    rhz_mul, rhz_counter, rhz_fold, rhz_index, rhz_valid, rhz_delay, rhz_rom, rhz_dot,
    rhz_dot_pair, rhz_sdpram, rhz_outbuf]>;
def rhz_weight_ram : Source<[rhz_counter, rhz_delay]>;
def rhz_matvec_resident : Source<[rhz_matvec_fed, rhz_weight_ram]>;
def rhz_matvec_streamed : Source<[rhz_counter, rhz_mux, rhz_matvec_fed]>;
def rhz_turns_fed : Source<[
    rhz_mul, rhz_turn, rhz_valid, rhz_delay, rhz_rom, rhz_mux, rhz_dot,
    rhz_dot_pair, rhz_outbuf]>;
def rhz_matvec_turns : Source<[rhz_rom, rhz_turns_fed]>;
def rhz_turns_resident : Source<[rhz_weight_ram, rhz_turns_fed]>;
def rhz_turns_streamed : Source<[rhz_turns_fed]>;
def rhz_matmul_pages : Source<[rhz_counter, rhz_delay, rhz_sdpram]>;
def rhz_matmul : Source<[rhz_matvec_fed, rhz_matmul_pages]>;
def rhz_depthwise_fed : Source<[
    rhz_mul, rhz_fold, rhz_index, rhz_valid, rhz_delay, rhz_rom, rhz_sum, rhz_outbuf]>;
def rhz_depthwise_resident : Source<[rhz_depthwise_fed, rhz_weight_ram]>;
def rhz_depthwise_streamed : Source<[rhz_depthwise_fed]>;
def rhz_replay : Source<[
    rhz_counter, rhz_mux, rhz_valid, rhz_sdpram, rhz_outbuf]>;
def rhz_load_gate : Source;
def rhz_errors : Source;
def rhz_mem_requests : Source<[rhz_counter]>;
def rhz_load_reader : Source<[rhz_counter, rhz_mem_requests]>;
def rhz_mem_owners : Source<[rhz_counter]>;
def rhz_mem_turn : Source;
def rhz_mem_grants : Source<[rhz_mem_turn, rhz_mem_owners]>;
def rhz_mem_arbiter : Source<[rhz_mem_grants]>;
def rhz_mem_reader : Source<[rhz_mem_requests, rhz_outbuf]>;
def rhz_mem_beats : Source<[rhz_counter]>;
def rhz_mem_fifo : Source<[
    rhz_counter, rhz_mem_requests, rhz_mem_beats, rhz_outbuf, rhz_gearbox]>;
def rhz_mem_senders : Source<[rhz_mem_owners]>;
def rhz_mem_write_arbiter : Source<[rhz_mem_grants, rhz_mem_senders]>;
def rhz_mem_rounds : Source<[rhz_counter]>;
def rhz_mem_source : Source<[rhz_mem_rounds, rhz_outbuf]>;
def rhz_mem_writer : Source<[rhz_mem_rounds, rhz_mem_beats, rhz_outbuf]>;
def rhz_move_in : Source<[
    rhz_mem_source, rhz_gearbox_pick, rhz_gearbox_collect, rhz_gearbox_ring]>;
def rhz_move_out : Source<[
    rhz_mem_writer, rhz_gearbox_pick, rhz_gearbox_collect, rhz_gearbox_ring]>;
def rhz_registers : Source;
def rhz_pipeline : Source<[rhz_valid, rhz_outbuf]>;
def rhz_product : Source<[rhz_mul, rhz_valid, rhz_outbuf]>;
def rhz_reorder : Source<[
    rhz_counter, rhz_valid, rhz_rom, rhz_sdpram, rhz_outbuf]>;
def rhz_requant : Source<[
    rhz_mul, rhz_index, rhz_valid, rhz_delay, rhz_rom, rhz_outbuf]>;
def rhz_quotient : Source<[rhz_valid]>;
def rhz_root : Source<[rhz_valid]>;
def rhz_times : Source;
def rhz_row_softmax : Source<[
    rhz_counter, rhz_index, rhz_valid, rhz_max, rhz_sum, rhz_rom, rhz_mul,
    rhz_quotient, rhz_outbuf]>;
def rhz_row_norm : Source<[
    rhz_counter, rhz_index, rhz_valid, rhz_delay, rhz_rom, rhz_sum, rhz_mul, rhz_times,
    rhz_root, rhz_quotient, rhz_outbuf]>;
def rhz_state : Source<[rhz_counter, rhz_rom, rhz_outbuf]>;
def rhz_scaled_add : Source<[
    rhz_valid, rhz_index, rhz_rom, rhz_delay, rhz_mul, rhz_outbuf]>;
def rhz_select : Source<[rhz_counter, rhz_outbuf]>;
def rhz_table : Source<[
    rhz_counter, rhz_index, rhz_valid, rhz_rom, rhz_outbuf]>;
def rhz_threshold_rom : Source;
def rhz_threshold : Source<[
    rhz_index, rhz_valid, rhz_rom, rhz_delay, rhz_threshold_rom,
    rhz_outbuf]>;
def rhz_window_serial : Source<[
    rhz_counter, rhz_at_least, rhz_delay, rhz_sdpram]>;
def rhz_window_slot : Source<[rhz_counter]>;
def rhz_window_parallel : Source<[
    rhz_counter, rhz_window_slot, rhz_delay, rhz_at_least, rhz_sdpram,
    rhz_mux]>;
def rhz_window_tiles : Source<[
    rhz_counter, rhz_at_least, rhz_delay, rhz_sdpram, rhz_valid, rhz_outbuf]>;
def rhz_window_tiled : Source<[rhz_window_tiles]>;
def rhz_window_batch : Source<[rhz_window_tiles, rhz_outbuf]>;
def rhz_unbatch : Source<[rhz_counter, rhz_outbuf]>;
def rhz_window : Source<[
    rhz_window_serial, rhz_window_parallel, rhz_counter, rhz_at_least,
    rhz_valid, rhz_outbuf]>;

// The engine's computing side. The decoders rhz_isa_* are generated from rtl/isa.
def rhz_isa : Source;
def rhz_engine_slice : Source;
def rhz_engine_fifo : Source<[rhz_counter]>;
def rhz_engine_loop : Source;
def rhz_engine_nest : Source;
def rhz_engine_tree : Source;
def rhz_engine_weight : Source<[DSP48E1, DSP48E2]>;
def rhz_engine_array : Source<[rhz_delay, rhz_engine_weight, rhz_engine_tree]>;
def rhz_engine_matrix : Source<[
    rhz_counter, rhz_delay, rhz_valid, rhz_engine_fifo, rhz_engine_loop, rhz_engine_nest,
    rhz_engine_array]>;
def rhz_engine_multiply : Source<[DSP48E1, DSP48E2]>;
def rhz_engine_table : Source;
def rhz_engine_times : Source;
def rhz_engine_lane : Source<[rhz_mux, rhz_engine_multiply, rhz_engine_times]>;
def rhz_engine_vector : Source<[
    rhz_counter, rhz_delay, rhz_mux, rhz_valid, rhz_engine_fifo, rhz_engine_loop,
    rhz_engine_nest, rhz_engine_table, rhz_engine_lane]>;
def rhz_engine_sums : Source<[rhz_delay, rhz_mux, rhz_valid, rhz_sdpram]>;
def rhz_engine_compute : Source<[rhz_engine_matrix, rhz_engine_vector, rhz_engine_sums]>;
def rhz_engine_scratch : Source<[
    rhz_delay, rhz_mux, rhz_valid, rhz_sdpram, rhz_engine_slice]>;

// Its memory side, and the whole.
def rhz_engine_walk : Source<[rhz_engine_loop, rhz_engine_nest]>;
def rhz_engine_bursts : Source<[rhz_engine_walk, rhz_engine_fifo]>;
def rhz_engine_reader : Source<[rhz_counter, rhz_engine_fifo, rhz_engine_bursts]>;
def rhz_engine_requests : Source<[rhz_engine_fifo]>;
def rhz_engine_read_ports : Source<[rhz_engine_requests]>;
def rhz_engine_tokens : Source;
def rhz_engine_queue : Source<[rhz_engine_fifo]>;
def rhz_engine_fetch : Source<[rhz_counter, rhz_choose, rhz_engine_reader]>;
def rhz_engine_border : Source;
def rhz_engine_window : Source;
def rhz_engine_load : Source<[
    rhz_choose_few, rhz_choose, rhz_engine_fifo, rhz_engine_walk, rhz_engine_border,
    rhz_engine_window, rhz_engine_reader]>;
def rhz_engine_corner : Source<[rhz_counter]>;
def rhz_engine_weights : Source<[
    rhz_engine_fifo, rhz_engine_walk, rhz_engine_corner, rhz_engine_reader]>;
def rhz_engine_store : Source<[
    rhz_counter, rhz_choose, rhz_engine_fifo, rhz_engine_walk, rhz_engine_bursts]>;
def rhz_engine : Source<[
    rhz_isa, rhz_engine_fetch, rhz_engine_tokens, rhz_engine_queue, rhz_engine_scratch,
    rhz_engine_read_ports, rhz_engine_load, rhz_engine_weights, rhz_engine_store,
    rhz_engine_compute]>;
def rhz_engine_unit : Source<[rhz_counter, rhz_engine, rhz_outbuf]>;

// Of units in a body that a frame passes several times (docs/architecture.md).
def Trips : Optional<"Trips", 1, 1, 65535,
                     "trips of a frame that have memories' words of their own">;
def Uses : Optional<"Uses", 1, 1, 2147483647,
                    "times in a row that a trip goes through its words">;
// Of units without frameBeats.
def Frames : Optional<"frames", 1, 1, 65535,
                      "frames of the unit that are one of the network"> {
  let InHardware = 0;
}

#endif
