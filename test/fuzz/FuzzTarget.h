// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fuzz targets share. RHIZOME_FUZZ_TARGET(name, bytes) { … } is
// libFuzzer's entry in a program of the preset fuzz, and in FuzzTests the test
// that runs the kept corpus through the same lines.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstddef>
#include <cstdint>

namespace rhizome::fuzz {
using Target = void (*)(llvm::StringRef bytes);

/// Ends an input that should not have come so far.
[[noreturn]] void found();

/// What always holds, whatever the input; else a finding.
inline void require(bool holds) {
  if (!holds)
    found();
}

/// A refusal must say something; true if there is one.
inline bool isRefused(llvm::Error error) {
  if (!error)
    return false;
  require(!llvm::toString(std::move(error)).empty());
  return true;
}

#ifdef RHIZOME_FUZZ_REPLAY
/// For FuzzTests: a target, whose corpus is test/fuzz/corpus-<name>.
struct Registered {
  Registered(const char *name, Target target);
};
#define RHIZOME_FUZZ_TARGET(name, bytes)                                       \
  static void run_##name(llvm::StringRef bytes);                               \
  static const rhizome::fuzz::Registered registered_##name(#name, run_##name); \
  static void run_##name(llvm::StringRef bytes)
#else
#define RHIZOME_FUZZ_TARGET(name, bytes)                                       \
  static void run_##name(llvm::StringRef bytes);                               \
  void rhizome::fuzz::found() { __builtin_trap(); }                            \
  /* LLVM's libraries are not instrumented: they hand out memory of            \
     allocators that our side has poisoned. */                                 \
  extern "C" const char *__asan_default_options() {                            \
    return "allow_user_poisoning=0:allocator_may_return_null=1";               \
  }                                                                            \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {    \
    run_##name({reinterpret_cast<const char *>(data), size});                  \
    return 0;                                                                  \
  }                                                                            \
  static void run_##name(llvm::StringRef bytes)
#endif

/// The parts of an input that is a list of things to do; zeros once it ends.
class Script {
public:
  explicit Script(llvm::StringRef bytes) : rest(bytes) {}
  bool isOver() const { return rest.empty(); }
  uint8_t byte() { return uint8_t(take(1)[0]); }
  uint16_t half() {
    uint16_t low = byte();
    return uint16_t(low | byte() << 8);
  }
  uint32_t word() {
    uint32_t low = half();
    return low | uint32_t(half()) << 16;
  }
  std::string take(size_t count) {
    std::string taken = rest.take_front(count).str();
    rest = rest.drop_front(taken.size());
    taken.resize(count);
    return taken;
  }

private:
  llvm::StringRef rest;
};
} // namespace rhizome::fuzz
