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
    checkControls();
    while (at < text.size() && problem.empty())
      step();
    if (problem.empty() && regions)
      unclear("a region without '`endif'");
    return problem.empty()
               ? Error::success()
               : createStringError(
                     "'%s', line %d: %s is %s; if you trust the package, say "
                     "--trust",
                     name.str().c_str(), line, problem.c_str(),
                     isUnclear ? "not read the same by all tools"
                               : "more than a design needs, and a simulator "
                                 "would run it on this machine");
  }

private:
  StringRef name, text;
  size_t at = 0;
  int line = 1;
  int regions = 0; ///< `ifdef and the like around this place
  std::string problem;
  bool isUnclear = false;
  std::set<std::string, std::less<>> macros;

  void unclear(std::string what) {
    problem = std::move(what);
    isUnclear = true;
  }
  /// Tools do not agree on which other bytes end a name, a comment or a line.
  /// What is not ASCII they leave alone in comments.
  static bool isUnclearByte(char c) {
    return c != '\n' && c != '\t' && !isPrint(c);
  }
  void checkControls() {
    for (char c : text) {
      if (isUnclearByte(c) && uint8_t(c) < 0x80)
        return refuseByte(c);
      line += c == '\n';
    }
    line = 1;
  }
  void refuseByte(char c) {
    unclear("the byte 0x" + utohexstr(uint8_t(c), /*LowerCase=*/true, 2));
  }
  /// A string or a comment. Where a region may be left out, some tools look
  /// for its end in them, too.
  void opaque(size_t end, const char *what) {
    end = std::min(end, text.size());
    if (regions && text.slice(at, end).contains('`'))
      unclear(std::string("a '`' in ") + what + " in a region of '`ifdef'");
    else
      skipTo(end);
  }

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
    char c = text[at];
    if (isUnclearByte(c))
      return refuseByte(c);
    if (isNext("//"))
      return opaque(text.find('\n', at), "a comment");
    if (isNext("/*")) {
      const size_t end = text.find("*/", at + 2);
      if (end == StringRef::npos)
        unclear("a comment without an end");
      else
        opaque(end + 2, "a comment");
      return;
    }
    if (c == '"') {
      size_t end = at + 1;
      while (end < text.size() && text[end] != '"' && text[end] != '\n')
        end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size() || text[end] == '\n' ||
          text.slice(at, end).contains('\n'))
        unclear("a string that does not end in its line");
      else if (auto bytes = text.slice(at, end); any_of(bytes, isUnclearByte))
        refuseByte(*find_if(bytes, isUnclearByte));
      else
        opaque(end + 1, "a string");
      return;
    }
    if (c == '\\') { // an escaped name ends with white space
      const size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
      const StringRef escaped = text.slice(at, end);
      // Preprocessors know no escaped names.
      if (any_of(escaped, isUnclearByte))
        return refuseByte(*find_if(escaped, isUnclearByte));
      if (escaped.find_first_of("\"`") != StringRef::npos ||
          escaped.contains("//") || escaped.contains("/*"))
        unclear("the name '" + printable(escaped) + "'");
      return skipTo(end);
    }
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
    if (found == "ifdef" || found == "ifndef")
      ++regions;
    if (found == "endif" && regions-- == 0)
      unclear("'`endif' without a region");
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
    // A comment may glue what stands before and after it together.
    if (macros.count(found) && isNext("/*"))
      problem = "a macro that pastes tokens";
    if (!is_contained(kDirectives, found) && !macros.count(found))
      problem = "'`" + printable(found) + "'";
  }
};
} // namespace

Error checkRtl(StringRef name, StringRef text) {
  return RtlCheck(name, text).run();
}
} // namespace rhizome
