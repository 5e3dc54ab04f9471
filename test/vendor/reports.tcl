# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Reports in the formats of the vendors' tools, with the figures of the variable
# STANDIN ("lut 123 ff 45 slack -0.1 …"). Formats: AMD UG906 (report_utilization,
# report_timing_summary, report_power), AMD UG1393 (kernel utilization of a link),
# Intel 683145 (fitter and timing analyzer summaries); all as in reports that
# users have published.

namespace eval report {
  variable figures
  array set figures {lut 4321 lutram 210 ff 5432 bram 7.5 uram 0 dsp 12
    slack 0.193 power 2.871}
  if {[info exists ::env(STANDIN)]} {
    array set figures $::env(STANDIN)
  }
}

proc report::write {path lines} {
  set channel [open $path w]
  puts $channel [join $lines \n]
  close $channel
}

proc report::amd_head {command part} {
  set line [string repeat - 80]
  return [list "Copyright 1986-2022 Xilinx, Inc. All Rights Reserved." $line \
    "| Tool Version : Vivado v.2023.2 (lin64) Build 4029153 Fri Oct 13 20:13:54 MDT 2023" \
    "| Date         : Fri Jan 24 16:57:57 2025" \
    "| Command      : $command" "| Device       : $part" $line ""]
}

proc report::row {name used all} {
  return [format "| %-26s | %5s |     0 |          0 | %9s | %5.2f |" $name $used \
    $all [expr {100.0 * $used / $all}]]
}

proc report::utilization {path part} {
  variable figures
  set kind [expr {[string match xc7* $part] ? "Slice" : "CLB"}]
  set head "|          Site Type         |  Used | Fixed | Prohibited | Available | Util% |"
  set lines [amd_head "report_utilization -file $path" $part]
  lappend lines "1. $kind Logic" "--------------" "" $head \
    [row "$kind LUTs" $figures(lut) 70560] \
    [row "  LUT as Logic" [expr {$figures(lut) - $figures(lutram)}] 70560] \
    [row "  LUT as Memory" $figures(lutram) 28800] \
    [row "$kind Registers" $figures(ff) 141120] \
    [row "  Register as Flip Flop" $figures(ff) 141120] \
    "" "2. Memory" "---------" "" $head \
    [row "Block RAM Tile" $figures(bram) 216] [row "  RAMB36/FIFO*" 7 216]
  if {$kind eq "CLB"} {
    lappend lines [row "URAM" $figures(uram) 64]
  }
  lappend lines "" "3. ARITHMETIC" "-------------" "" $head \
    [row "DSPs" $figures(dsp) 360] "" "7. Primitives" "-------------" "" \
    "| FDRE     | 5000 |            Register |"
  write $path $lines
}

proc report::timing {path part} {
  variable figures
  set lines [amd_head "report_timing_summary -max_paths 20 -file $path" $part]
  lappend lines "| Design Timing Summary" "| ---------------------" "" \
    "    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)      THS(ns)" \
    "    -------      -------  ---------------------  -------------------      -------      -------" \
    [format "    %7s        0.000                      0                12345        0.011        0.000" $figures(slack)]
  write $path $lines
}

proc report::power {path part} {
  variable figures
  set lines [amd_head "report_power -file $path" $part]
  lappend lines "1. Summary" "----------" "" \
    [format "| Total On-Chip Power (W)  | %-12s |" $figures(power)] \
    "| Dynamic (W)              | 0.500        |"
  write $path $lines
}

proc report::kernel_utilization {path} {
  variable figures
  set lines [amd_head "report_accelerator_utilization -file $path" xcu280]
  set names {lut lutram ff bram uram dsp}
  lappend lines "| Name                 | LUT | LUTAsMem | REG | BRAM | URAM | DSP |"
  foreach {name share} {Platform 9 "User Budget" 90 "   Used Resources" 2
      mm2s 3 "   mm2s_0" 3 rhz_kernel 1 "   rhz_kernel_0" 1} {
    set line [format "| %-20s |" $name]
    foreach kind $names {
      append line [format " %6s \[%6.2f%%\] |" [expr {$share * $figures($kind)}] 1.5]
    }
    lappend lines $line
  }
  write $path $lines
}

proc report::grouped {number} {
  while {[regsub {^(\d+)(\d{3})} $number {\1,\2} number]} {}
  return $number
}

proc report::intel {folder top} {
  variable figures
  write [file join $folder $top.fit.summary] [list \
    "Fitter Status : Successful - Thu Apr  3 12:11:15 2025" \
    "Quartus Prime Version : 18.1.0 Build 625 09/12/2018 SJ Standard Edition" \
    "Revision Name : $top" "Family : Arria 10" "Timing Models : Final" \
    "Logic utilization (in ALMs) : [grouped 3210] / 427,200 ( < 1 % )" \
    "Total registers : [grouped $figures(ff)]" "Total virtual pins : 153" \
    "Total RAM Blocks : [grouped $figures(bram)] / 2,713 ( < 1 % )" \
    "Total DSP Blocks : [grouped $figures(dsp)] / 1,518 ( < 1 % )"]
  write [file join $folder $top.fit.rpt] [list "; Fitter Resource Usage Summary ;" \
    "; Combinational ALUT usage for logic          ; [grouped $figures(lut)] ;    ;" \
    "; Memory ALUT usage                           ; [grouped $figures(lutram)] ;    ;"]
  set lines [list [string repeat - 60] "Timing Analyzer Summary" ""]
  foreach {corner more} {"Slow 900mV 100C" 0 "Slow 900mV 0C" 0.05 "Fast 900mV 0C" 1} {
    lappend lines "Type  : $corner Model Setup 'clk_i'" \
      "Slack : [format %.3f [expr {$figures(slack) + $more}]]" "TNS   : 0.000" "" \
      "Type  : $corner Model Hold 'clk_i'" "Slack : -9.000" "TNS   : 0.000" ""
  }
  write [file join $folder $top.sta.summary] $lines
}
