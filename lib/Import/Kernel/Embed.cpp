// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds kernels between markers in a host file and replaces them by calls.
// In Fortran, a call is in a BLOCK that uses the kernel's module; in C++ the
// headers are included at the top and `#line` restores the numbers.
#include "rhizome/Import/Kernel/Embed.h"
#include "rhizome/Support/Names.h"
#include "rhizome/Support/Texts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace rhizome::kernel;

std::optional<Host> rhizome::kernel::hostOf(llvm::StringRef path) {
  return llvm::StringSwitch<std::optional<Host>>(
             llvm::sys::path::extension(path).lower())
      .Cases({".f90", ".f95", ".f03", ".f08"}, Host::Fortran)
      .Cases({".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}, Host::Cpp)
      .Default(std::nullopt);
}

/// The words after a marker's sentinel; nullopt if the line is not a marker.
static std::optional<llvm::SmallVector<llvm::StringRef>>
marker(Host host, llvm::StringRef line) {
  line = line.trim();
  if (host == Host::Fortran) {
    if (!line.consume_front_insensitive("!$rhizome"))
      return std::nullopt;
  } else {
    if (!line.consume_front("#"))
      return std::nullopt;
    line = line.ltrim();
    if (!line.consume_front("pragma"))
      return std::nullopt;
    line = line.ltrim();
    if (!line.consume_front("rhizome"))
      return std::nullopt;
  }
  llvm::SmallVector<llvm::StringRef> words;
  line.split(words, ' ', -1, false);
  return words;
}

static bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && llvm::isAlpha(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static llvm::SmallVector<llvm::StringRef> linesOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  return lines;
}

std::vector<EmbeddedKernel>
rhizome::kernel::findEmbedded(Host host, const Source &file,
                              Diagnostics &diagnostics) {
  std::vector<EmbeddedKernel> out;
  bool open = false;
  unsigned number = 0;
  for (llvm::StringRef line : linesOf(file.text)) {
    ++number;
    auto words = marker(host, line);
    Place at{number, unsigned(line.find_first_not_of(" \t") + 1)};
    if (!words) {
      if (open)
        out.back().source.text += line.str() + "\n";
      continue;
    }
    if (words->size() == 1 && words->front() == "end") {
      if (!open)
        diagnostics.error(at, "no kernel begins before this end");
      else
        out.back().end = number;
      open = false;
      continue;
    }
    if (words->size() != 2 || words->front() != "kernel" ||
        !isIdentifier(words->back())) {
      diagnostics.error(at, "this marker is none of 'kernel NAME' and 'end'");
      continue;
    }
    if (open) {
      Diagnostic &d = diagnostics.error(
          at, "a kernel begins inside the kernel '" + out.back().name + "'",
          "end that one first");
      d.other = {out.back().begin, 1}, d.note = "it begins here";
      continue;
    }
    const std::string name = kernelName(words->back());
    for (const EmbeddedKernel &other : out)
      if (llvm::StringRef(name).equals_insensitive(other.name)) {
        Diagnostic &d =
            diagnostics.error(at, "two kernels are called '" + name + "'");
        d.other = {other.begin, 1}, d.note = "the first one";
      }
    open = true;
    EmbeddedKernel kernel;
    kernel.name = name;
    kernel.begin = number;
    kernel.end = number;
    kernel.source = {file.file, "", number + 1};
    out.push_back(std::move(kernel));
  }
  if (open)
    diagnostics.error({out.back().begin, 1},
                      "the kernel '" + out.back().name + "' does not end",
                      host == Host::Fortran ? "write '!$rhizome end' after it"
                                            : "write '#pragma rhizome end' "
                                              "after it");
  return out;
}

/// The call as lines of Fortran, at most `room` of them if that is possible.
static std::vector<std::string>
fortranCall(const Signature &signature, llvm::StringRef indent, unsigned room) {
  constexpr size_t most = 120;
  std::string enter = indent.str() + "block; use " + signature.name +
                      "_kernel, only: " + signature.name;
  std::vector<std::string> lines{enter};
  std::string line = indent.str() + "call " + signature.name + "(";
  for (auto [i, one] : llvm::enumerate(signature.arguments)) {
    std::string item =
        one.name + (i + 1 < signature.arguments.size() ? ", " : ")");
    if (line.size() + item.size() > most) {
      lines.push_back(line + "&");
      line = indent.str() + "  ";
    }
    line += item;
  }
  lines.push_back(line);
  lines.push_back(indent.str() + "end block");
  // A short block of markers: join lines where allowed.
  while (lines.size() > room && lines.size() > 1) {
    std::string last = llvm::StringRef(lines.back()).ltrim().str();
    lines.pop_back();
    lines.back() += "; " + last;
  }
  return lines;
}

std::string
rhizome::kernel::replaceEmbedded(Host host, const Source &file,
                                 llvm::ArrayRef<EmbeddedKernel> kernels,
                                 llvm::ArrayRef<Signature> signatures) {
  std::string out;
  if (host == Host::Cpp) {
    for (const Signature &signature : signatures)
      out += "#include \"" + signature.name + ".h\"\n";
    out += "#line 1 " + cString(file.file) + "\n";
  }
  llvm::SmallVector<llvm::StringRef> lines = linesOf(file.text);
  for (unsigned number = 1, next = 0; number <= lines.size(); ++number) {
    llvm::StringRef line = lines[number - 1];
    bool last = number == lines.size();
    if (next == kernels.size() || number < kernels[next].begin) {
      out += line.str() + (last ? "" : "\n");
      continue;
    }
    const EmbeddedKernel &kernel = kernels[next];
    const Signature &signature = signatures[next];
    llvm::StringRef indent = line.take_while([](char c) { return c == ' '; });
    unsigned room = kernel.end - kernel.begin + 1;
    std::vector<std::string> call;
    if (host == Host::Fortran) {
      call = fortranCall(signature, indent, room);
    } else {
      std::string text = indent.str() + signature.name + "(";
      for (auto [i, one] : llvm::enumerate(signature.arguments))
        text += (i ? ", " : "") + one.name;
      call.push_back(text + ");");
    }
    call.resize(room);
    for (const std::string &one : call)
      out += one + "\n";
    number = kernel.end;
    ++next;
  }
  return out;
}
