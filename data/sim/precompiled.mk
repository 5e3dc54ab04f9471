# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Read after Verilator's makefile of a simulator: the headers that its parts have
# in common, Verilator's and the standard library's, are parsed once, and ccache
# keeps the result. They take longer than a small design. What only this simulator
# consists of is not looked for in the cache. For clang; versions of Verilator
# that do this themselves define VK_PCH_H.
ifndef VK_PCH_H
PRECOMPILE = $(OBJCACHE) $(CXX) $(CXXFLAGS) $(CPPFLAGS) \
  -Xclang -fno-pch-timestamp -fpch-instantiate-templates \
  -include functional -include chrono -x c++-header
COMMON = $(VERILATOR_ROOT)/include/verilated.h
fast.pch:
	$(PRECOMPILE) $(COMMON) $(OPT_FAST) -o $@
slow.pch:
	$(PRECOMPILE) $(COMMON) $(OPT_SLOW) -o $@

OWN = $(VK_USER_OBJS) $(VM_PREFIX)__ALL.o
$(OWN) $(VK_FAST_OBJS): fast.pch
$(OWN) $(VK_FAST_OBJS): private CPPFLAGS += -include-pch fast.pch
$(VK_SLOW_OBJS): slow.pch
$(VK_SLOW_OBJS): private CPPFLAGS += -include-pch slow.pch
$(OWN): private override OBJCACHE =
endif
