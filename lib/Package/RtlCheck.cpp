// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RtlCheck.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace llvm;

namespace rhizome {
/// System tasks of hardware and its assertions, and those that print or end a
/// simulation.
constexpr const char *kTasks[] = {
    "clog2",    "signed",    "unsigned", "bits",    "readmemh",
    "readmemb", "fatal",     "error",    "warning", "info",
    "display",  "write",     "monitor",  "strobe",  "time",
    "realtime", "stime",     "random",   "urandom", "finish",
    "stop",     "countones", "onehot",   "onehot0", "isunknown"};
constexpr const char *kDirectives[] = {
    "define",   "undef",      "ifdef",           "ifndef",
    "else",     "elsif",      "endif",           "timescale",
    "resetall", "celldefine", "default_nettype", "endcelldefine"};

namespace {
class RtlCheck {
public:
  RtlCheck(StringRef name, StringRef text) : name(name), text(text) {}

  Error run() {
    while (at < text.size() && problem.empty())
      step();
    return problem.empty()
               ? Error::success()
               : createStringError(
                     "'%s', line %d: %s is more than a design needs, and a "
                     "simulator would run it on this machine; if you trust "
                     "the package, say --trust",
                     name.str().c_str(), line, problem.c_str());
  }

private:
  StringRef name, text;
  size_t at = 0;
  int line = 1;
  std::string problem;
  std::set<std::string, std::less<>> macros;

  bool isNext(StringRef token) const {
    return text.substr(at).starts_with(token);
  }
  void skipTo(size_t end) {
    end = std::min(end, text.size());
    line += int(text.slice(at, end).count('\n'));
    at = end;
  }
  /// Letters, digits, '_' and '$' from here on.
  StringRef word() {
    StringRef found = text.substr(at).take_while(
        [](char c) { return isAlnum(c) || c == '_' || c == '$'; });
    at += found.size();
    return found;
  }
  void step() {
    if (isNext("//"))
      return skipTo(text.find('\n', at));
    if (isNext("/*"))
      return skipTo(text.find("*/", at + 2) == StringRef::npos
                        ? text.size()
                        : text.find("*/", at + 2) + 2);
    char c = text[at];
    if (c == '"') {
      size_t end = at + 1;
      while (end < text.size() && text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
      return skipTo(end + 1);
    }
    if (c == '\\') // an escaped name ends with white space
      return skipTo(text.find_first_of(" \t\r\n", at));
    if (c == '$') {
      ++at;
      StringRef task = word();
      if (!is_contained(kTasks, task))
        problem = "'$" + printable(task) + "'";
      return;
    }
    if (c == '`')
      return directive();
    if (isAlpha(c) || c == '_') {
      StringRef found = word();
      if (found == "import" || found == "export" || found == "bind")
        problem = "'" + found.str() + "'";
      return;
    }
    skipTo(at + 1);
  }
  void directive() {
    ++at;
    StringRef found = word();
    if (found == "define") {
      skipTo(text.find_first_not_of(" \t", at));
      macros.insert(word().str());
      // Only the preprocessor sees pasted tokens.
      size_t end = at;
      do
        end = text.find('\n', end + 1);
      while (end != StringRef::npos && text[end - 1] == '\\');
      if (text.slice(at, end).contains("``"))
        problem = "a macro that pastes tokens";
      return;
    }
    if (!is_contained(kDirectives, found) && !macros.count(found))
      problem = "'`" + printable(found) + "'";
  }
};
} // namespace

Error checkRtl(StringRef name, StringRef text) {
  return RtlCheck(name, text).run();
}
} // namespace rhizome
