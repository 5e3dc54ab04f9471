# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Quartus' commands as the emitted scripts use them.
#   tclsh quartus.tcl NODE TOP PERIOD CLOCK_NAME SCRIPT ?ARGUMENT…?
# What the script assigns is written as a .qsf, read again, and its SDC file run.
foreach part {commands reports} {
  source [file join [file dirname [info script]] $part.tcl]
}
lassign $argv node top period clock_name script
set quartus(args) [lrange $argv 5 end]
package provide ::quartus::project 1.0
package provide ::quartus::flow 1.0

namespace eval mock {
  set rtl [file normalize [file join $::node rtl]]
  set expected(top) $::top
  set expected(period) $::period
  set expected(clock_name) $::clock_name
  set expected(clock) $::clock_name
  set expected(every_port) 1
  set expected(more) {}
  set channel [open [file join $rtl files.f]]
  set expected(rtl) [split [string trim [read $channel]] \n]
  close $channel
  set expected(images) {}
  foreach path [lsort [glob -nocomplain -directory $rtl *.hex]] {
    lappend expected(images) [file tail $path]
  }
  set expected(ports) [ports_of [file join $rtl $::top.sv]]
  variable qsf {}

  command project_new {-overwrite} {-revision} 1 1 {
    mock::writable $name [lindex $rest 0]
    set ::mock::state(project) [lindex $rest 0]
  }
  command project_close {} {} 0 0 {
    mock::after exported $name
  }
  command set_global_assignment {} {-name} 1 1 {
    mock::need $name {-name}
    set value [lindex $rest 0]
    lappend ::mock::qsf [list set_global_assignment -name $opt(-name) $value]
    switch $opt(-name) {
      FAMILY {
        if {$value ne "Arria 10"} {
          mock::fail "family $value"
        }
      }
      DEVICE {
        if {![regexp {^10AX\d+[A-Z]\d[A-Z]\d+[A-Z]\d[A-Z]+$} $value]} {
          mock::fail "device $value"
        }
      }
      TOP_LEVEL_ENTITY {
        if {$value ne $::mock::expected(top)} {
          mock::fail "top $value"
        }
      }
      SYSTEMVERILOG_FILE {
        mock::take $name [list $value]
      }
      SDC_FILE {
        set ::mock::state(sdc) [mock::existing $name $value]
      }
      NUM_PARALLEL_PROCESSORS {}
      default {
        mock::fail "no such assignment: $opt(-name)"
      }
    }
    set ::mock::state(assigned:$opt(-name)) 1
  }
  command set_instance_assignment {} {-name -to} 1 1 {
    mock::need $name {-name -to}
    if {$opt(-name) ne "VIRTUAL_PIN" || $opt(-to) eq $::mock::expected(clock)} {
      mock::fail "set_instance_assignment $opt(-name) $opt(-to)"
    }
    get_ports [list $opt(-to)]
    lappend ::mock::qsf \
      [list set_instance_assignment -name $opt(-name) $rest -to $opt(-to)]
  }
  command export_assignments {} {} 0 0 {
    foreach needed {FAMILY DEVICE TOP_LEVEL_ENTITY SDC_FILE} {
      mock::after assigned:$needed $name
    }
    mock::check_sources $name
    mock::check_images_here $name
    set path $::mock::state(project).qsf
    set channel [open $path w]
    puts $channel [join $::mock::qsf \n]
    close $channel
    set ::mock::state(exported) 1
    # A .qsf is Tcl of assignments: it reads back to itself.
    set ::mock::files {}
    set written $::mock::qsf
    set ::mock::qsf {}
    uplevel #0 [list source $path]
    if {$::mock::qsf ne $written} {
      mock::fail "the .qsf reads back differently"
    }
    mock::read_constraints $name $::mock::state(sdc)
  }
  command execute_flow {-compile} {} 0 0 {
    mock::after exported $name
    report::intel [pwd] $::mock::expected(top)
  }
  command derive_clock_uncertainty {} {} 0 0 {}
  declare_constraints
}
mock::run $script {}
