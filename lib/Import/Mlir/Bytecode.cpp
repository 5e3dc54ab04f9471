// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR's reader of bytecode trusts what it reads: a wrong byte may end the
// process. So it runs in a process of its own, which hands over the module as
// text; that is then checked and read as any other text.
#include "Raise.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Support/Folders.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace rhizome;

/// What the child does; it returns whether all of it is written.
static bool writeText(StringRef bytes, int to) {
  for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
    std::signal(fatal, SIG_DFL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  constexpr unsigned kMostSeconds = 600;
  alarm(kMostSeconds);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  importer::loadReadable(context);
  context.allowUnregisteredDialects();
  ScopedDiagnosticHandler handler(&context,
                                  [](Diagnostic &) { return success(); });
  auto module = parseSourceString<ModuleOp>(bytes, ParserConfig(&context));
  if (!module)
    return false;
  llvm::raw_fd_ostream os(to, /*shouldClose=*/false);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  os.flush();
  return !os.has_error();
}

std::optional<std::string> importer::textOfBytecode(StringRef bytes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return std::nullopt;
  Descriptor from(ends[0]), to(ends[1]);
  const pid_t child = fork();
  if (child < 0)
    return std::nullopt;
  if (child == 0) {
    bool isGood = false;
    try {
      isGood = writeText(bytes, to.get());
    } catch (...) { // memory that does not suffice
    }
    _exit(isGood ? 0 : 1);
  }
  to = Descriptor();
  std::string text;
  std::vector<char> part(1 << 18);
  for (;;) {
    const ssize_t count = read(from.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    text.append(part.data(), size_t(count));
  }
  int status = 1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::nullopt;
  return text;
}
