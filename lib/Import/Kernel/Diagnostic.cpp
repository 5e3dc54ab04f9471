// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors as text: the location, the user's line with a caret, note and remedy.
#include "rhizome/Import/Kernel/Diagnostic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace rhizome::kernel;

llvm::StringRef Source::line(unsigned line) const {
  llvm::StringRef rest = text;
  for (unsigned at = firstLine; !rest.empty() && at <= line; ++at) {
    auto [head, tail] = rest.split('\n');
    if (at == line)
      return head.rtrim("\r");
    rest = tail;
  }
  return "";
}

Diagnostic &Diagnostics::error(Place at, const llvm::Twine &message,
                               const llvm::Twine &remedy) {
  return list.emplace_back(Diagnostic{at, message.str(), remedy.str()});
}

/// The line and a caret below `at`; tabs stay tabs, so that the caret is
/// aligned.
static void show(llvm::raw_ostream &os, const Source &source, Place at) {
  llvm::StringRef line = source.line(at.line);
  if (line.empty() || at.column > line.size() + 1)
    return;
  os << "  " << line << "\n  ";
  for (char c : line.take_front(at.column - 1))
    os << (c == '\t' ? '\t' : ' ');
  os << "^\n";
}

std::string Diagnostics::render() const {
  constexpr size_t most = 20;
  std::vector<Diagnostic> sorted = list;
  llvm::stable_sort(sorted, [](const Diagnostic &a, const Diagnostic &b) {
    return std::pair(a.at.line, a.at.column) <
           std::pair(b.at.line, b.at.column);
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Diagnostic &d : llvm::ArrayRef(sorted).take_front(most)) {
    os << source.file << ":" << d.at.line << ":" << d.at.column
       << ": error: " << d.message << "\n";
    show(os, source, d.at);
    if (!d.note.empty()) {
      os << source.file << ":" << d.other.line << ":" << d.other.column
         << ": note: " << d.note << "\n";
      show(os, source, d.other);
    }
    if (!d.remedy.empty())
      os << "  remedy: " << d.remedy << "\n";
  }
  if (sorted.size() > most)
    os << source.file << ": and " << sorted.size() - most << " more errors\n";
  return text;
}
