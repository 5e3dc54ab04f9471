# Vitis HLS: simulates, synthesizes and exports the kernel 'helmholtz'; written by
# rhizome compile.  vitis_hls -f helmholtz.tcl
open_project -reset helmholtz_project
set_top helmholtz
add_files helmholtz.cpp
add_files -tb helmholtz_tb.cpp
add_files -tb helmholtz_data.txt
open_solution -reset -flow_target vitis solution
set_part {xcu280-fsvh2892-2L-e}
create_clock -period 4.000 -name default
csim_design
csynth_design
cosim_design
export_design -format xo -output helmholtz.xo
exit
