#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Stands for vivado, v++ and quartus_sh (by the name of a link to it): runs the
# scripts with stubs of the tools' commands, or makes what they would make. The
# folder is nodes/<n>/<flow> of a package, or a copy of it.
#   STANDIN_STUBS   the folder of this file
#   STANDIN_PERIOD  the planned period in ns
#   STANDIN         figures of the reports, see reports.tcl
set -eu
node=$(dirname "$PWD")
stubs() {
  exec tclsh "$STANDIN_STUBS/$1.tcl" "$node" "$2" "$STANDIN_PERIOD" "$3" "$4" \
    ${5:+"$5"}
}
name=$(basename "$0")
case "$name $*" in
"vivado -version") echo "vivado v2023.2 (64-bit)" ;;
"v++ --version") echo "****** v++ v2023.2 (64-bit)" ;;
"quartus_sh --version") echo "Version 18.1.0 Build 625 Standard Edition" ;;
"vivado -mode batch -nojournal -nolog -source board.tcl")
  stubs vivado rhz_board clk_i "$PWD/board.tcl" ;;
"vivado -mode batch -nojournal -nolog -source overlay.tcl")
  stubs vivado rhz_kernel ap_clk "$PWD/overlay.tcl" ;;
"vivado -mode batch -nojournal -nolog -source build.tcl")
  echo "INFO: [Common 17-206] a line of the tool"
  stubs vivado rhz_top clk_i "$PWD/build.tcl" ;;
"vivado -mode batch -nojournal -log "*"/package_xo.log -source package_xo.tcl -tclargs "*)
  stubs vivado rhz_kernel ap_clk "$PWD/package_xo.tcl" "$PWD/$9" ;;
"quartus_sh -t project.tcl")
  stubs quartus rhz_top clk_i "$PWD/project.tcl" ;;
"v++ --target hw --platform xilinx_"*" --temp_dir "*" --compile --kernel "*)
  shift 4
  [ "$4" = --kernel ] && [ "$6" = --hls.clock ] && [ "$8" = --output ]
  grep -q "void $5(" "${10}"
  : >"$9" ;;
"v++ --target hw --platform xilinx_"*" --temp_dir "*" --link --config link.cfg --output "*)
  temporary=$6
  shift 9
  : >"$2"
  shift 2
  [ $# = 3 ] && ls "$@" >/dev/null
  reports=$temporary/reports/link/imp
  mkdir -p "$reports"
  cat >"$reports/write.tcl" <<TCL
source $STANDIN_STUBS/reports.tcl
report::kernel_utilization $reports/impl_1_kernel_util_routed.rpt
report::timing $reports/impl_1_hw_bb_locked_timing_summary_routed.rpt xcu280
TCL
  tclsh "$reports/write.tcl" ;;
*)
  echo "ERROR: $name does not know: $*" >&2
  exit 2 ;;
esac
