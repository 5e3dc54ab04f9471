// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Program.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <unistd.h>

using namespace rhizome;

namespace {
/// What LLVM cannot go on with.
class FatalError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
} // namespace

static constexpr const char *kNoMemory =
    "the memory does not suffice: what is read or built is too large for this "
    "machine, or for the limit that is set for the process";

/// Of the exception that is being handled.
static std::string reasonOf() {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return kNoMemory;
  } catch (const std::length_error &) {
    // Of a container: a size that no memory has.
    return kNoMemory;
  } catch (const FatalError &error) {
    return std::string("LLVM cannot go on: ") + error.what();
  } catch (const std::exception &error) {
    return std::string("an unexpected exception, please report it: ") +
           error.what();
  } catch (...) {
    return "an unexpected exception, please report it";
  }
}

/// Nothing may be allocated here.
[[noreturn]] static void endNow(const char *reason) {
  auto say = [](const char *text) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0)
      _exit(1);
  };
  say("error: ");
  say(reason);
  say("\n");
  _exit(1);
}

/// A thread threw, or a function that must not throw.
[[noreturn]] static void onTerminate() {
  try {
    if (std::current_exception())
      throw;
  } catch (const std::bad_alloc &) {
    endNow(kNoMemory);
  } catch (const std::exception &error) {
    endNow(error.what());
  } catch (...) {
  }
  endNow("an unexpected exception, please report it");
}

int rhizome::runProgram(
    llvm::function_ref<int()> body,
    llvm::function_ref<void(llvm::StringRef reason)> report) {
  std::set_terminate(onTerminate);
  // LLVM's own containers do not throw.
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { throw std::bad_alloc(); });
  llvm::install_fatal_error_handler(
      [](void *, const char *reason, bool) { throw FatalError(reason); });
  int status = 1;
  try {
    status = body();
  } catch (...) {
    const std::string reason = reasonOf();
    report(withoutControls(reason));
  }
  llvm::remove_fatal_error_handler();
  llvm::remove_bad_alloc_error_handler();
  return status;
}

int rhizome::runProgram(llvm::function_ref<int()> body) {
  return runProgram(body, [](llvm::StringRef reason) {
    llvm::errs() << "error: " << reason << "\n";
  });
}
