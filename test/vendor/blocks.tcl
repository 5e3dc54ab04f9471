# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Vivado's commands for block designs, as overlay.tcl uses them: cells with the
# pins of their IP (AMD PG021, PG164, PG247, UG585, UG1085), connections of what
# fits, and a validation that leaves nothing open.

namespace eval mock::bd {
  variable cells {}   ;# name -> vlnv
  variable config {}  ;# name -> dict
  variable joined {}  ;# pin -> 1
  # Interfaces as name {mode condition}; clocks and resets that must be driven.
  variable kinds {
    xilinx.com:ip:processing_system7 {
      intf {M_AXI_GP0 {master 1} S_AXI_HP0 {slave CONFIG.PCW_USE_S_AXI_HP0}
            S_AXI_HP1 {slave CONFIG.PCW_USE_S_AXI_HP1}
            S_AXI_HP2 {slave CONFIG.PCW_USE_S_AXI_HP2}
            S_AXI_HP3 {slave CONFIG.PCW_USE_S_AXI_HP3}}
      in {M_AXI_GP0_ACLK} out {FCLK_CLK0 FCLK_RESET0_N}
      optional {S_AXI_HP0_ACLK CONFIG.PCW_USE_S_AXI_HP0
        S_AXI_HP1_ACLK CONFIG.PCW_USE_S_AXI_HP1
        S_AXI_HP2_ACLK CONFIG.PCW_USE_S_AXI_HP2
        S_AXI_HP3_ACLK CONFIG.PCW_USE_S_AXI_HP3}
      config {PCW_USE_S_AXI_HP0 PCW_USE_S_AXI_HP1 PCW_USE_S_AXI_HP2
        PCW_USE_S_AXI_HP3 PCW_FPGA0_PERIPHERAL_FREQMHZ}}
    xilinx.com:ip:zynq_ultra_ps_e {
      intf {M_AXI_HPM0_LPD {master CONFIG.PSU__USE__M_AXI_GP2}
            S_AXI_HP0_FPD {slave CONFIG.PSU__USE__S_AXI_GP2}
            S_AXI_HP1_FPD {slave CONFIG.PSU__USE__S_AXI_GP3}
            S_AXI_HP2_FPD {slave CONFIG.PSU__USE__S_AXI_GP4}
            S_AXI_HP3_FPD {slave CONFIG.PSU__USE__S_AXI_GP5}}
      in {maxihpm0_lpd_aclk} out {pl_clk0 pl_resetn0}
      optional {saxihp0_fpd_aclk CONFIG.PSU__USE__S_AXI_GP2
        saxihp1_fpd_aclk CONFIG.PSU__USE__S_AXI_GP3
        saxihp2_fpd_aclk CONFIG.PSU__USE__S_AXI_GP4
        saxihp3_fpd_aclk CONFIG.PSU__USE__S_AXI_GP5}
      config {PSU__USE__M_AXI_GP0 PSU__USE__M_AXI_GP1 PSU__USE__M_AXI_GP2
        PSU__USE__S_AXI_GP2 PSU__USE__S_AXI_GP3 PSU__USE__S_AXI_GP4
        PSU__USE__S_AXI_GP5 PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ}}
    xilinx.com:ip:proc_sys_reset {
      intf {} in {slowest_sync_clk ext_reset_in}
      out {peripheral_aresetn interconnect_aresetn} config {}}
    xilinx.com:ip:axi_dma {
      intf {S_AXI_LITE {slave 1} M_AXI_MM2S {master CONFIG.c_include_mm2s}
            M_AXIS_MM2S {master CONFIG.c_include_mm2s}
            M_AXI_S2MM {master CONFIG.c_include_s2mm}
            S_AXIS_S2MM {slave CONFIG.c_include_s2mm}}
      in {s_axi_lite_aclk axi_resetn} out {}
      config {c_include_sg c_sg_length_width c_include_mm2s c_include_s2mm
        c_m_axi_mm2s_data_width c_m_axis_mm2s_tdata_width
        c_m_axi_s2mm_data_width c_s_axis_s2mm_tdata_width}}
    xilinx.com:ip:smartconnect {
      intf {} in {aclk aresetn} out {} config {NUM_SI NUM_MI}}
    rhizome:kernel:rhz_kernel {intf {} in {ap_clk ap_rst_n} out {} config {}}
  }
}

proc mock::bd::option {cell name} {
  variable config
  regsub {^CONFIG\.} $name {} name
  if {[string is integer -strict $name]} {
    return $name
  }
  return [expr {[dict exists $config $cell $name] ? [dict get $config $cell $name] : 0}]
}

# name -> mode of a cell's interfaces with its present configuration.
proc mock::bd::interfaces {cell} {
  variable cells
  variable kinds
  set kind [dict get $cells $cell]
  set found {}
  dict for {name what} [dict get $kinds $kind intf] {
    if {[option $cell [lindex $what 1]]} {
      dict set found $name [lindex $what 0]
    }
  }
  if {$kind eq "xilinx.com:ip:smartconnect"} {
    for {set n 0} {$n < [option $cell NUM_SI]} {incr n} {
      dict set found [format S%02d_AXI $n] slave
    }
    for {set n 0} {$n < [option $cell NUM_MI]} {incr n} {
      dict set found [format M%02d_AXI $n] master
    }
  }
  if {$kind eq "rhizome:kernel:rhz_kernel"} {
    dict for {port what} $::mock::expected(ports) {
      if {[regexp {^([sm])_axis_\d+$} [string map {_tdata {}} $port] name side] ||
          [regexp {^([sm])_axi_.*$} [string map {_araddr {}} $port] name side]} {
        if {[regexp {_(tdata|araddr)$} $port]} {
          dict set found $name [expr {$side eq "s" ? "slave" : "master"}]
        }
      }
    }
  }
  return $found
}

proc mock::bd::clocks {cell} {
  variable cells
  variable kinds
  set pins [dict get $kinds [dict get $cells $cell] in]
  set kind [dict get $kinds [dict get $cells $cell]]
  if {[dict exists $kind optional]} {
    dict for {pin what} [dict get $kind optional] {
      if {[option $cell $what]} {
        lappend pins $pin
      }
    }
  }
  foreach {way pin} {mm2s m_axi_mm2s_aclk s2mm m_axi_s2mm_aclk} {
    if {[option $cell c_include_$way]} {
      lappend pins $pin
    }
  }
  return $pins
}

proc mock::bd::join {pins} {
  variable joined
  foreach pin $pins {
    dict set joined $pin 1
  }
}

proc mock::bd::declare {} {
  mock::command get_board_parts {} {} 1 1 {
    if {![regexp {^[^:]+:[^:]+:part0:\*$} [lindex $rest 0]]} {
      mock::fail "get_board_parts $rest"
    }
    return [list [string map {* 1.0} [lindex $rest 0]]]
  }
  mock::command current_project {} {} 0 0 { return project }
  mock::command update_ip_catalog {} {} 0 0 {
    mock::after repository $name
    if {![file isdirectory $::mock::state(repository)]} {
      file mkdir $::mock::state(repository)
    }
    set ::mock::state(catalog) 1
  }
  mock::command create_bd_design {} {} 1 1 {
    mock::after catalog $name
    set ::mock::state(bd) [lindex $rest 0]
  }
  mock::command create_bd_cell {} {-type -vlnv} 1 1 {
    mock::after bd $name
    mock::need $name {-type -vlnv}
    if {![dict exists $::mock::bd::kinds $opt(-vlnv)] ||
        [dict exists $::mock::bd::cells [lindex $rest 0]]} {
      mock::fail "create_bd_cell $opt(-vlnv) [lindex $rest 0]"
    }
    dict set ::mock::bd::cells [lindex $rest 0] $opt(-vlnv)
    return [lindex $rest 0]
  }
  mock::command get_bd_cells {} {} 1 1 {
    if {![dict exists $::mock::bd::cells [lindex $rest 0]]} {
      mock::fail "get_bd_cells: no [lindex $rest 0]"
    }
    return [lindex $rest 0]
  }
  mock::command apply_bd_automation {} {-rule -config} 1 1 {
    mock::need $name {-rule -config}
    set kind [string map {bd_rule ip} $opt(-rule)]
    if {[dict get $::mock::bd::cells [lindex $rest 0]] ne $kind ||
        [dict get $opt(-config) apply_board_preset] != 1} {
      mock::fail "apply_bd_automation $opt(-rule) $rest"
    }
    mock::after board_part $name
  }
  mock::command get_bd_pins {} {} 1 1 {
    lassign [split [lindex $rest 0] /] cell pin
    get_bd_cells $cell
    set kind [dict get $::mock::bd::kinds [dict get $::mock::bd::cells $cell]]
    if {$pin ni [mock::bd::clocks $cell] && $pin ni [dict get $kind out]} {
      mock::fail "get_bd_pins: $cell has no pin $pin"
    }
    return [lindex $rest 0]
  }
  mock::command get_bd_intf_pins {} {} 1 1 {
    lassign [split [lindex $rest 0] /] cell pin
    get_bd_cells $cell
    if {![dict exists [mock::bd::interfaces $cell] $pin]} {
      mock::fail "get_bd_intf_pins: $cell has no interface $pin, but\
        [dict keys [mock::bd::interfaces $cell]]"
    }
    return [lindex $rest 0]
  }
  mock::command connect_bd_net {} {} 2 9 {
    mock::bd::join $rest
  }
  mock::command connect_bd_intf_net {} {} 2 2 {
    set modes {}
    foreach pin $rest {
      lassign [split $pin /] cell interface
      if {[dict exists $::mock::bd::joined $pin]} {
        mock::fail "connect_bd_intf_net: $pin twice"
      }
      lappend modes [dict get [mock::bd::interfaces $cell] $interface]
    }
    if {[lsort $modes] ne {master slave}} {
      mock::fail "connect_bd_intf_net: $rest are $modes"
    }
    mock::bd::join $rest
  }
  mock::command assign_bd_address {} {} 0 0 {}
  mock::command validate_bd_design {} {} 0 0 {
    foreach cell [dict keys $::mock::bd::cells] {
      foreach pin [concat [dict keys [mock::bd::interfaces $cell]] [mock::bd::clocks $cell]] {
        if {![dict exists $::mock::bd::joined $cell/$pin]} {
          mock::fail "validate_bd_design: $cell/$pin is open"
        }
      }
    }
    set ::mock::state(valid) 1
  }
  mock::command save_bd_design {} {} 0 0 { mock::after valid $name }
  mock::command make_wrapper {-top} {-files} 0 0 {
    mock::after valid $name
    set path [file join $::mock::state(folder) overlay.gen rhizome_wrapper.v]
    file mkdir [file dirname $path]
    close [open $path w]
    return $path
  }
}
