# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Stubs for a vendor's Tcl commands in the tests of emitted scripts:
# every command is declared with its options, checks what it is given, and is
# recorded. Anything undeclared is an error, as in the tool.

namespace eval mock {
  variable log {}        ;# names of commands, in order
  variable files {}      ;# what the open project holds
  variable expected      ;# array: top, clock, period, reset, part, ports
  variable state         ;# array: what happened so far
}

proc mock::fail {text} {
  return -code error "CHECK: $text"
}

# mock::command NAME FLAGS VALUED MIN MAX ?BODY?
# FLAGS take no value, VALUED take one; MIN to MAX other arguments are in
# `rest`, options in the array `opt`. The body's result is the command's.
proc mock::command {name flags valued min max {body {}}} {
  set full ::$name
  if {[namespace qualifiers $full] ne ""} {
    namespace eval [namespace qualifiers $full] {}
  }
  proc $full {args} [format {
    set name %s
    set flags %s
    set valued %s
    array set opt {}
    set rest {}
    for {set i 0} {$i < [llength $args]} {incr i} {
      set word [lindex $args $i]
      if {$word in $flags} {
        set opt($word) 1
      } elseif {$word in $valued} {
        incr i
        if {$i >= [llength $args]} {
          mock::fail "$name: $word without a value"
        }
        set opt($word) [lindex $args $i]
      } elseif {[regexp {^-[a-zA-Z]} $word]} {
        mock::fail "$name: unknown option $word"
      } else {
        lappend rest $word
      }
    }
    if {[llength $rest] < %d || [llength $rest] > %d} {
      mock::fail "$name: [llength $rest] arguments: $rest"
    }
    lappend ::mock::log $name
    %s
  } [list $name] [list $flags] [list $valued] $min $max $body]
}

proc mock::need {option names} {
  upvar name name opt opt
  foreach each $names {
    if {![info exists opt($each)]} {
      fail "$name: needs $each"
    }
  }
}

proc mock::after {what command} {
  variable state
  if {![info exists state($what)]} {
    fail "$command: comes before $what"
  }
}

proc mock::existing {command path} {
  if {[file pathtype $path] ne "absolute"} {
    set path [file join [pwd] $path]
  }
  if {![file isfile $path]} {
    fail "$command: no file $path"
  }
  return [file normalize $path]
}

# The folder into which a script writes must be there, and below out/.
proc mock::writable {command path} {
  set path [file normalize [file join [pwd] $path]]
  if {![file isdirectory [file dirname $path]]} {
    fail "$command: no folder for $path"
  }
  if {"out" ni [file split $path]} {
    fail "$command: writes $path, outside out/"
  }
}

# name -> {direction msb} of the ports of a file's first module.
proc mock::ports_of {path} {
  set channel [open $path]
  set text [read $channel]
  close $channel
  set ports {}
  foreach line [split $text \n] {
    if {[string match ");*" $line]} {
      break
    }
    if {[regexp {^\s*(input|output)\s+(?:logic|wire)\s*(?:\[(\w+)[^\]]*\])?\s*(\w+),?\s*$} \
           $line all direction msb port]} {
      dict set ports $port [list $direction $msb]
    }
  }
  if {[dict size $ports] == 0} {
    fail "no ports in $path"
  }
  return $ports
}

# Adds files to the project; all must be there.
proc mock::take {command names} {
  variable files
  foreach path $names {
    lappend files [existing $command $path]
  }
}

proc mock::base_names {pattern} {
  variable files
  set names {}
  foreach path $files {
    if {[string match $pattern $path]} {
      lappend names [file tail $path]
    }
  }
  return [lsort $names]
}

# What synthesis needs: every source of the package, each once; memory images
# where the tool opens them.
proc mock::check_sources {command} {
  variable expected
  if {[base_names *.sv] ne [lsort $expected(rtl)] &&
      [base_names *.sv] ne [lsort [concat $expected(rtl) $expected(more)]]} {
    fail "$command: has [base_names *.sv], the package $expected(rtl)"
  }
}

proc mock::check_images_here {command} {
  variable expected
  foreach image $expected(images) {
    if {![file isfile [file join [pwd] $image]]} {
      fail "$command: \$readmemh would not find $image in [pwd]"
    }
  }
}

# Timing constraints, the same words in XDC and SDC.
proc mock::declare_constraints {} {
  command get_ports {-quiet} {} 1 1 {
    set found {}
    set ports $::mock::expected(ports)
    foreach pattern [lindex $rest 0] {
      regsub {\[\*\]$} $pattern {} port
      if {![dict exists $ports $port]} {
        mock::fail "get_ports: no port $port"
      }
      set is_bus [expr {[lindex [dict get $ports $port] 1] ne ""}]
      if {$is_bus != ($port ne $pattern)} {
        mock::fail "get_ports: $pattern for a port that is[expr {
          $is_bus ? "" : " not"}] a bus"
      }
      lappend found $port
    }
    return $found
  }
  command get_clocks {-quiet} {} 1 1 {
    foreach clock [lindex $rest 0] {
      mock::after clock:$clock get_clocks
    }
    return [lindex $rest 0]
  }
  command create_clock {-add} {-name -period -waveform} 1 1 {
    mock::need $name {-name -period}
    set port [lindex $rest 0]
    if {[info exists ::mock::state(clock:$opt(-name))]} {
      mock::fail "create_clock: $opt(-name) twice"
    }
    if {$port eq $::mock::expected(clock) &&
        $opt(-period) != $::mock::expected(period)} {
      mock::fail "create_clock: period $opt(-period) ns, planned are\
        $::mock::expected(period) ns"
    }
    if {[lindex [dict get $::mock::expected(ports) $port] 0] ne "input"} {
      mock::fail "create_clock: $port is not an input"
    }
    set ::mock::state(clock:$opt(-name)) $port
  }
  foreach {delay direction} {set_input_delay input set_output_delay output} {
    command $delay {-min -max -add_delay} {-clock} 2 2 [format {
      mock::need $name {-clock}
      mock::after clock:$opt(-clock) $name
      lassign $rest ns ports
      if {$ns < 0 || $ns >= $::mock::expected(period)} {
        mock::fail "$name: $ns ns of $::mock::expected(period) ns"
      }
      foreach port $ports {
        if {[lindex [dict get $::mock::expected(ports) $port] 0] ne {%s}} {
          mock::fail "$name: $port is no %s"
        }
        if {[info exists ::mock::state(delay:$port)]} {
          mock::fail "$name: $port twice"
        }
        set ::mock::state(delay:$port) $ns
      }
    } $direction $direction]
  }
  proc ::set_clock_groups {args} {
    lappend ::mock::log set_clock_groups
    if {[llength $args] < 5 || [lindex $args 0] ne "-asynchronous"} {
      mock::fail "set_clock_groups: $args"
    }
    foreach {option clocks} [lrange $args 1 end] {
      if {$option ne "-group"} {
        mock::fail "set_clock_groups: $option"
      }
      foreach clock $clocks {
        mock::after clock:$clock set_clock_groups
      }
    }
  }
}

# A file of constraints: commands, comments, no control flow (XDC has none).
proc mock::read_constraints {command path} {
  variable expected
  set path [existing $command $path]
  set channel [open $path]
  foreach line [split [read $channel] \n] {
    if {[regexp {^\s*(if|foreach|for|while|proc|source)\M} $line]} {
      fail "$path: no constraint: $line"
    }
  }
  close $channel
  uplevel #0 [list source $path]
  after clock:$expected(clock_name) $path
  if {$expected(every_port)} {
    dict for {port what} $expected(ports) {
      if {$port ne $expected(clock)} {
        after delay:$port $path
      }
    }
  }
}

# Runs a script as the tool would, in a folder of its own, and prints the
# commands that it called.
proc mock::run {script arguments} {
  variable log
  foreach tcl {unknown exec exit socket} {
    catch {rename ::$tcl ::tcl_$tcl}
  }
  proc ::unknown {args} {
    mock::fail "unknown command: $args"
  }
  set ::argv $arguments
  set ::argc [llength $arguments]
  if {[catch {uplevel #0 [list source $script]} message options]} {
    puts stderr "$script: $message"
    puts stderr [dict get $options -errorinfo]
    ::tcl_exit 1
  }
  puts [join $log \n]
  ::tcl_exit 0
}
