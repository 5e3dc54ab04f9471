// the top module
