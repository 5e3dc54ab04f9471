#!/bin/sh
# PandA-Bambu: synthesizes the kernel 'helmholtz' and simulates it; written by
# rhizome compile. Options are passed on.
cd "$(dirname "$0")" || exit 1
exec bambu helmholtz.ll --top-fname=helmholtz \
  --generate-interface=INFER --compiler=I386_CLANG16 -m64 -O2 \
  -fno-vectorize -fno-slp-vectorize \
  --device-name=xcu280-2Lfsvh2892-VVD --clock-period=4.000 \
  --memory-allocation-policy=ALL_BRAM --channels-type=MEM_ACC_NN \
  --channels-number=2 \
  --generate-tb=helmholtz_tb.c --simulate --simulator=VERILATOR "$@"
