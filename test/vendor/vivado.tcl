# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Vivado's commands as the emitted scripts use them.
#   tclsh vivado.tcl NODE TOP PERIOD CLOCK_NAME SCRIPT ?ARGUMENT…?
# NODE is nodes/<n> of a package; TOP a module whose file the script adds.
foreach part {commands reports blocks} {
  source [file join [file dirname [info script]] $part.tcl]
}
lassign $argv node top period clock_name script
set arguments [lrange $argv 5 end]

namespace eval mock {
  set rtl [file normalize [file join $::node rtl]]
  set expected(top) $::top
  set expected(period) $::period
  set expected(clock_name) $::clock_name
  set expected(clock) $::clock_name
  set channel [open [file join $rtl files.f]]
  set expected(rtl) [split [string trim [read $channel]] \n]
  close $channel
  set expected(images) {}
  foreach path [lsort [glob -nocomplain -directory $rtl *.hex]] {
    lappend expected(images) [file tail $path]
  }
  set expected(more) {}
  # The top that is constrained, and where its ports stand.
  switch $::top {
    rhz_top {set expected(file) [file join $rtl rhz_top.sv]}
    rhz_kernel {set expected(file) [file join $::node vivado rhz_kernel.v]}
    rhz_board {
      set expected(file) [file join $::node board rhz_board.sv]
      foreach path [glob -directory [file join $::node board] *.sv] {
        lappend expected(more) [file tail $path]
      }
    }
    Role_Themisto {
      set expected(file) [file join $::node cloudfpga Role_Themisto.sv]
      set expected(more) Role_Themisto.sv
    }
  }
  set expected(every_port) [expr {$::top eq "rhz_top"}]
  set expected(ports) [ports_of $expected(file)]

  # -- projects and files
  command create_project {-force -in_memory} {-part} 0 2 {
    mock::need $name {-part}
    if {![regexp {^xc[0-9a-z]+-[0-9a-z]+} $opt(-part)]} {
      mock::fail "create_project: part $opt(-part)"
    }
    if {[info exists opt(-in_memory)] != ([llength $rest] == 0)} {
      mock::fail "create_project: $rest"
    }
    if {[llength $rest] == 2} {
      mock::writable $name [file join [file dirname [lindex $rest 1]] x]
      file mkdir [lindex $rest 1]
      set ::mock::state(folder) [lindex $rest 1]
    }
    set ::mock::state(part) $opt(-part)
    set ::mock::state(project) 1
  }
  command close_project {} {} 0 0 {
    mock::after project $name
    set ::mock::state(closed) 1
  }
  command add_files {-norecurse} {-fileset} 1 1 {
    mock::after project $name
    foreach path [lindex $rest 0] {
      mock::existing $name $path
    }
    if {[info exists opt(-fileset)] && $opt(-fileset) eq "constrs_1"} {
      mock::read_constraints $name [lindex $rest 0]
      lappend ::mock::files [file normalize [lindex $rest 0]]
    } elseif {[info exists opt(-fileset)]} {
      mock::fail "add_files: file set $opt(-fileset)"
    } else {
      mock::take $name [lindex $rest 0]
    }
  }
  command get_files {} {} 1 1 {
    foreach path [lindex $rest 0] {
      if {[file extension $path] eq ".bd"} {
        mock::after bd $name
      } elseif {[file normalize $path] ni $::mock::files} {
        mock::fail "get_files: $path is not in the project"
      }
    }
    return [lindex $rest 0]
  }
  command read_xdc {} {} 1 1 {
    mock::after project $name
    mock::read_constraints $name [lindex $rest 0]
  }
  command create_pblock {} {} 1 1 {
    if {[info exists ::mock::state(pblock:[lindex $rest 0])]} {
      mock::fail "create_pblock: [lindex $rest 0] twice"
    }
    set ::mock::state(pblock:[lindex $rest 0]) 1
  }
  command resize_pblock {} {-add} 1 1 {
    mock::need $name -add
    mock::after pblock:[lindex $rest 0] $name
    if {![string match SLR* $opt(-add)]} {
      mock::fail "resize_pblock: $opt(-add) is no die"
    }
  }
  command get_cells {-hierarchical} {} 1 1 {
    foreach cell [lindex $rest 0] {
      if {![string match u_* $cell] && $cell ne "rhz_kernel"} {
        mock::fail "get_cells: $cell"
      }
    }
    return [lindex $rest 0]
  }
  command add_cells_to_pblock {} {} 2 2 {
    mock::after pblock:[lindex $rest 0] $name
    if {[llength [lindex $rest 1]] == 0} {
      mock::fail "add_cells_to_pblock: no cells"
    }
  }
  command get_filesets {} {} 1 1 {
    if {[lindex $rest 0] ni {sources_1 constrs_1 sim_1}} {
      mock::fail "get_filesets: $rest"
    }
    return [lindex $rest 0]
  }
  command update_compile_order {} {-fileset} 0 0 {
    mock::check_sources $name
  }
  command get_runs {} {} 1 1 {
    if {[lindex $rest 0] ni {synth_1 impl_1}} {
      mock::fail "get_runs: $rest"
    }
    return [lindex $rest 0]
  }
  command set_property {} {-name -value -objects -dict} 0 3 {
    if {[info exists opt(-dict)]} {
      set rest [list -dict $opt(-dict) [lindex $rest 0]]
    }
    if {[info exists opt(-name)]} {
      mock::need $name {-value -objects}
      set rest [list $opt(-name) $opt(-value) $opt(-objects)]
    }
    if {[llength $rest] != 3} {
      mock::fail "set_property: $rest"
    }
    lassign $rest property value objects
    if {[llength $objects] == 0} {
      mock::fail "set_property $property: nothing to set it on"
    }
    switch -glob $property {
      file_type {
        foreach path $objects {
          set type [expr {[file extension $path] eq ".sv" ? "SystemVerilog" :
                          "Memory Initialization Files"}]
          if {$value ne $type} {
            mock::fail "set_property file_type $value on $path"
          }
          set ::mock::state(typed:[file tail $path]) 1
        }
      }
      used_in_synthesis {
        if {$value ne "false"} {
          mock::fail "set_property used_in_synthesis $value"
        }
      }
      top {
        if {$value ne $::mock::expected(top) && !([info exists ::mock::state(valid)] &&
            $value eq "$::mock::state(bd)_wrapper")} {
          mock::fail "set_property top $value"
        }
        set ::mock::state(top) 1
      }
      STEPS.* {
        if {$objects ni {synth_1 impl_1}} {
          mock::fail "set_property $property on $objects"
        }
      }
      board_part {set ::mock::state(board_part) $value}
      ip_repo_paths {set ::mock::state(repository) $value}
      PACKAGE_PIN {
        if {![regexp {^[A-Z]+\d+$} $value] || [info exists ::mock::state(pin:$value)]} {
          mock::fail "set_property PACKAGE_PIN $value"
        }
        set ::mock::state(pin:$value) 1
        set ::mock::state(placed:$objects) 1
      }
      IOSTANDARD {
        if {![regexp {^LVCMOS\d\d$} $value]} {
          mock::fail "set_property IOSTANDARD $value"
        }
        set ::mock::state(standard:$objects) 1
      }
      CONFIG.* {mock::bd_config $property $value $objects}
      -dict {
        dict for {one setting} $value {
          mock::bd_config $one $setting $objects
        }
      }
      sdx_kernel - sdx_kernel_type - vitis_drc - ipi_drc - name - version -
      display_name - description - core_revision {
        if {$objects ne "core"} {
          mock::fail "set_property $property on $objects"
        }
        set ::mock::state(core:$property) $value
      }
      default {
        mock::fail "set_property: no such property: $property"
      }
    }
  }
  proc bd_config {property value cell} {
    get_bd_cells $cell
    regsub {^CONFIG\.} $property {} property
    set kind [dict get $::mock::bd::kinds [dict get $::mock::bd::cells $cell]]
    if {$property ni [dict get $kind config]} {
      fail "set_property: $cell has no $property"
    }
    dict set ::mock::bd::config $cell $property $value
  }
  command get_property {} {} 2 2 {
    switch [lindex $rest 0] {
      PROGRESS {mock::after run:[lindex $rest 1] $name; return 100%}
      STATUS {return complete}
      SLACK {return 0.125}
      default {mock::fail "get_property $rest"}
    }
  }

  # -- the non-project flow, in its order
  command synth_design {} {-top -part -mode} 0 0 {
    mock::need $name {-top -part}
    if {$opt(-top) ne $::mock::expected(top) ||
        $opt(-part) ne $::mock::state(part)} {
      mock::fail "synth_design of $opt(-top) for $opt(-part)"
    }
    if {[info exists opt(-mode)] && $opt(-mode) ne "out_of_context"} {
      mock::fail "synth_design -mode $opt(-mode)"
    }
    mock::after clock:$::mock::expected(clock_name) $name
    mock::check_sources $name
    mock::check_images_here $name
    set ::mock::state(synth_design) 1
  }
  foreach {step before} {
    opt_design synth_design place_design opt_design
    phys_opt_design place_design route_design phys_opt_design
  } {
    command $step {} {-directive} 0 0 [format {
      mock::after %s $name
      set ::mock::state(%s) 1
    } $before $step]
  }
  command write_checkpoint {-force} {} 1 1 {
    mock::after synth_design $name
    mock::writable $name [lindex $rest 0]
    close [open [lindex $rest 0] w]
  }
  command write_bitstream {-force} {} 1 1 {
    mock::after route_design $name
    mock::writable $name [lindex $rest 0]
    dict for {port what} $::mock::expected(ports) {
      if {$::mock::expected(top) eq "rhz_board"} {
        mock::after placed:$port $name
        mock::after standard:$port $name
      }
    }
    close [open [lindex $rest 0] w]
  }
  foreach report {
    report_utilization report_timing_summary report_clock_utilization
    report_power report_drc
  } {
    command $report {-hierarchical} {-file -max_paths -cells} 0 0 {
      mock::need $name {-file}
      mock::writable $name $opt(-file)
      switch $name {
        report_utilization {report::utilization $opt(-file) $::mock::state(part)}
        report_timing_summary {report::timing $opt(-file) $::mock::state(part)}
        report_power {report::power $opt(-file) $::mock::state(part)}
      }
      if {![info exists ::mock::state(synth_design)] &&
          ![info exists ::mock::state(open_run)]} {
        mock::fail "$name: no design is open"
      }
    }
  }
  command get_timing_paths {-setup -hold} {-max_paths} 0 0 {
    mock::after route_design $name
    return path0
  }

  # -- runs
  command launch_runs {} {-jobs -to_step} 1 1 {
    mock::after top $name
    foreach image $::mock::expected(images) {
      mock::after typed:$image $name
    }
    if {[lindex $rest 0] eq "impl_1"} {
      mock::after run:synth_1 $name
    }
    set ::mock::state(launched:[lindex $rest 0]) 1
    if {[info exists opt(-to_step)] && $opt(-to_step) eq "write_bitstream"} {
      foreach made {overlay.runs/impl_1/rhizome_wrapper.bit
          overlay.gen/sources_1/bd/rhizome/hw_handoff/rhizome.hwh} {
        set made [file join $::mock::state(folder) $made]
        file mkdir [file dirname $made]
        close [open $made w]
      }
    }
  }
  command wait_on_run {} {} 1 1 {
    mock::after launched:[lindex $rest 0] $name
    set ::mock::state(run:[lindex $rest 0]) 1
  }
  command open_run {} {} 1 1 {
    mock::after run:[lindex $rest 0] $name
    set ::mock::state(open_run) 1
  }

  # -- the IP packager: it finds interfaces whose attributes the top has
  command ipx::package_project {-import_files -force} \
    {-root_dir -vendor -library -taxonomy} 0 0 {
    mock::need $name {-root_dir -vendor -library}
    mock::after top $name
    mock::writable $name $opt(-root_dir)
    set ::mock::state(ip) $opt(-root_dir)
  }
  command ipx::current_core {} {} 0 0 {
    mock::after ip $name
    return core
  }
  command ipx::get_bus_interfaces {} {-of_objects} 1 1 {
    # None: so that the scripts' own inference runs.
    set interface [lindex $rest 0]
    return [expr {[info exists ::mock::state(bus:$interface)] ?
                  $interface : ""}]
  }
  command ipx::infer_bus_interface {} {} 3 3 {
    lassign $rest signals type core
    foreach signal $signals {
      if {![dict exists $::mock::expected(ports) $signal]} {
        mock::fail "infer_bus_interface: no port $signal"
      }
    }
    switch $type {
      xilinx.com:signal:clock_rtl:1.0 - xilinx.com:signal:reset_rtl:1.0 {
        set ::mock::state(bus:$signals) 1
      }
      xilinx.com:interface:axis_rtl:1.0 {
        regexp {^(.*)_tdata$} [lindex $signals 0] all interface
        if {[llength $signals] != 5} {
          mock::fail "infer_bus_interface: $signals"
        }
        set ::mock::state(bus:$interface) 1
      }
      xilinx.com:interface:aximm_rtl:1.0 {
        regexp {^(.*)_[a-z]+$} [lindex $signals 0] all interface
        dict for {port what} $::mock::expected(ports) {
          if {[string match ${interface}_* $port] && $port ni $signals} {
            mock::fail "infer_bus_interface: $interface without $port"
          }
        }
        set ::mock::state(bus:$interface) 1
      }
      default {
        mock::fail "infer_bus_interface: type $type"
      }
    }
  }
  command ipx::associate_bus_interfaces {} {-busif -clock -reset} 1 1 {
    mock::after bus:$opt(-clock) $name
    foreach option {-busif -reset} {
      if {[info exists opt($option)]} {
        mock::after bus:$opt($option) $name
        set ::mock::state(associated:$opt($option)) 1
      }
    }
  }
  command ipx::create_xgui_files {} {} 1 1 {}
  command ipx::update_checksums {} {} 1 1 {}
  command ipx::check_integrity {} {} 1 1 {}
  command ipx::save_core {} {} 1 1 {
    dict for {port what} $::mock::expected(ports) {
      if {[regexp {^(.*_axis_\d+)_tdata$} $port all interface] ||
          [regexp {^([ms]_axi_.*)_araddr$} $port all interface]} {
        mock::after associated:$interface $name
      }
    }
    mock::after associated:ap_rst_n $name
    set ::mock::state(saved) 1
  }
  command package_xo {-force} \
    {-xo_path -kernel_name -ip_directory -kernel_xml -ctrl_protocol} 0 0 {
    mock::need $name {-xo_path -kernel_name -ip_directory -kernel_xml}
    mock::after saved $name
    mock::after core:sdx_kernel $name
    mock::existing $name $opt(-kernel_xml)
    mock::writable $name $opt(-xo_path)
    close [open $opt(-xo_path) w]
    if {$opt(-ip_directory) ne $::mock::state(ip) ||
        $opt(-kernel_name) ne $::mock::state(core:name)} {
      mock::fail "package_xo: $opt(-kernel_name) of $opt(-ip_directory)"
    }
  }
  command set_false_path {} {-from -to} 0 0 {}
  bd::declare
  declare_constraints
}
mock::run $script $arguments
