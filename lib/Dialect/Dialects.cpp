// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nothing: a library needs a source to have a precompiled header
// (include/rhizome/Dialect/Pch.h).
