// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Output.h"
#include "rhizome/Support/Units.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;

/// Terminal columns of a UTF-8 text, if no character is wide.
static size_t columns(StringRef text) {
  return llvm::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

/// Whether a stream shows colors, and its reader wants them.
static bool showsColor(int descriptor) {
  auto is = [](const char *name, StringRef value) {
    const char *text = std::getenv(name);
    return text && (value.empty() ? *text != '\0' : value == text);
  };
  return isatty(descriptor) && !is("NO_COLOR", "") && !is("TERM", "dumb");
}

static std::string colored(int descriptor, const char *code,
                           const std::string &text) {
  return showsColor(descriptor)
             ? std::string("\033[") + code + "m" + text + "\033[0m"
             : text;
}

std::string cli::errorLabel() {
  return colored(STDERR_FILENO, "1;31", "error:") + " ";
}
std::string cli::noteLabel() {
  return colored(STDERR_FILENO, "36", "note:") + " ";
}
std::string cli::remedyLabel() {
  return colored(STDERR_FILENO, "32", "remedy:") + " ";
}
std::string cli::bold(const std::string &text) {
  return colored(STDOUT_FILENO, "1", text);
}
std::string cli::verdict(int64_t mistakes, const std::string &text) {
  return colored(STDOUT_FILENO, mistakes ? "1;31" : "32", text);
}

void cli::Table::print() const {
  size_t count = rows.front().size();
  std::vector<size_t> width(count, 0);
  std::vector<bool> numeric(count, rows.size() > 1);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < count; ++c) {
      StringRef cell = rows[r][c];
      width[c] = std::max(width[c], columns(cell));
      StringRef digits = cell;
      if (digits.starts_with("+") || digits.starts_with("-"))
        digits = digits.drop_front();
      // A number with its unit, not a word or list that begins with a number.
      if (r > 0 && !digits.empty() &&
          (!isDigit(digits.front()) || digits.count(' ') > 3 ||
           digits.contains(", ")))
        numeric[c] = false;
    }
  for (const auto &row : rows) {
    std::string line;
    for (size_t c = 0; c < count; ++c) {
      std::string pad(width[c] - columns(row[c]), ' ');
      line += c ? "  " : "";
      line += numeric[c] ? pad + row[c] : row[c] + pad;
    }
    line = withoutControls(StringRef(line).rtrim());
    outs() << (&row == &rows.front() ? bold(line) : line) << "\n";
  }
}

void cli::printJson(json::Value value) { outs() << value << "\n"; }

/// True for "kernel.cfd:3:8: error: …", which says "error" itself.
static bool namesItsPlace(StringRef error) {
  static const Regex place("^[^\n]*:[0-9]+:[0-9]+: error: ");
  return place.match(error);
}

int cli::failWith(const std::string &error, bool json) {
  // Paths and what files hold need not be UTF-8; JSON must be.
  if (json)
    printJson(json::Object{{"ok", false}, {"error", json::fixUTF8(error)}});
  else
    errs() << (namesItsPlace(error) ? "" : errorLabel())
           << withoutControls(StringRef(error).rtrim('\n')) << "\n";
  return 1;
}

/// Groups refusals with the same operation, reason, remedy and line; each group
/// is where its first member was.
static std::vector<Refusals> alikeTogether(const Refusals &refused) {
  std::vector<Refusals> groups;
  std::map<std::tuple<std::string, std::string, std::string, unsigned>, size_t>
      known;
  for (const Refusal &r : refused) {
    auto [it, isNew] =
        known.try_emplace({r.op, r.reason, r.remedy, r.line}, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back(r);
  }
  return groups;
}

/// The first names of a group, each once, and how many more there are.
static std::string namesOf(const Refusals &group) {
  constexpr size_t kShown = 6;
  SetVector<StringRef> all;
  for (const Refusal &r : group)
    if (!r.node.empty())
      all.insert(r.node);
  std::string names;
  for (StringRef name : all.getArrayRef().take_front(kShown))
    names += (names.empty() ? "'" : ", '") + name.str() + "'";
  if (all.size() > kShown)
    names += " and " + std::to_string(all.size() - kShown) + " more";
  return names;
}

int cli::failWith(const Refusals &refused, bool json) {
  if (json) {
    json::Array list;
    for (const Refusal &r : refused) {
      json::Object object{{"node", json::fixUTF8(r.node)},
                          {"op", json::fixUTF8(r.op)},
                          {"reason", json::fixUTF8(r.reason)},
                          {"remedy", json::fixUTF8(r.remedy)}};
      if (r.line)
        object["line"] = r.line;
      list.push_back(std::move(object));
    }
    printJson(json::Object{{"ok", false}, {"refused", std::move(list)}});
    return 1;
  }
  for (const std::vector<Refusal> &alike : alikeTogether(refused)) {
    const Refusal &r = alike.front();
    errs() << errorLabel() << withoutControls(namesOf(alike));
    if (!r.op.empty())
      errs() << (r.node.empty() ? "" : " ") << "(" << withoutControls(r.op)
             << (alike.size() > 1
                     ? ", " + std::to_string(alike.size()) + " times"
                     : "")
             << ")";
    if (!r.node.empty() || !r.op.empty())
      errs() << ": ";
    if (r.line)
      errs() << "line " << r.line << ": ";
    errs() << withoutControls(r.reason) << "\n";
    if (!r.remedy.empty())
      errs() << "  " << remedyLabel() << withoutControls(r.remedy) << "\n";
  }
  errs() << "refused: " << refused.size()
         << (refused.size() == 1 ? " reason" : " reasons")
         << "; nothing was built\n";
  return 1;
}

std::string cli::grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (int i = int(digits.size()) - 3; i > (value < 0 ? 1 : 0); i -= 3)
    digits.insert(i, ",");
  return digits;
}

std::string cli::counted(int64_t value, StringRef what) {
  return grouped(value) + " " + what.str() + (value == 1 ? "" : "s");
}

std::string cli::decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  StringRef result(text);
  if (result.contains('.'))
    result = result.rtrim('0').rtrim('.');
  return result.str();
}

std::string cli::shortened(const std::string &name) {
  constexpr size_t kMost = 32;
  return name.size() <= kMost ? name : name.substr(0, kMost - 3) + "...";
}

int cli::failWith(const Failure &failure, bool json) {
  printNotes(failure.notes);
  if (failure.causes.size() == 1 && namesItsPlace(failure.reason())) {
    failWith(failure.reason(), json);
    return failure.exitCode();
  }
  // A model's refusals are listed by cause.
  const bool isModel = failure.kind == Failure::Kind::Unsupported ||
                       !failure.causes.front().node.empty();
  if (isModel)
    failWith(failure.causes, json);
  else if (json)
    printJson(
        json::Object{{"ok", false},
                     {"error", json::fixUTF8(failure.reason())},
                     {"remedy", json::fixUTF8(failure.causes.front().remedy)}});
  else
    failWith(failure.reason(), json);
  const std::string &remedy = failure.causes.front().remedy;
  if (!json && !isModel && !remedy.empty())
    errs() << "  " << remedyLabel() << withoutControls(remedy) << "\n";
  return failure.exitCode();
}

void cli::printNotes(const std::vector<std::string> &notes) {
  for (const std::string &note : notes)
    errs() << noteLabel() << withoutControls(note) << "\n";
}

std::string cli::percent(double share) {
  return decimal(share * 100, 1) + " %";
}

void cli::printPrediction(const Prediction &p) {
  outs() << "  interval   " << counted(p.intervalCycles, "cycle") << " at "
         << decimal(p.clockMhz, 3) << " MHz, " << rateText(p.throughputPerS)
         << " per second\n"
         << "  latency    "
         << (p.latencyCycles == 0 ? "not predicted, since it does not fit"
                                  : counted(p.latencyCycles, "cycle") + ", " +
                                        durationText(double(p.latencyCycles) /
                                                     p.clockMhz * 1e-6))
         << "\n"
         << "  resources  " << grouped(p.lut) << " ± " << grouped(p.lutError)
         << " LUT, " << grouped(p.ff) << " ± " << grouped(p.ffError) << " FF, "
         << grouped(p.dsp) << " DSP, " << decimal(p.bram, 1) << " BRAM";
  if (p.uram)
    outs() << ", " << grouped(p.uram) << " URAM";
  outs() << "\n";
  if (p.loadCycles)
    outs() << "  loading    " << counted(p.loadCycles, "cycle") << ", "
           << durationText(double(p.loadCycles) / p.clockMhz * 1e-6)
           << ", once after reset\n";
}

void cli::printDies(const Plan &plan) {
  std::set<std::string> kinds;
  for (const PlannedNode &node : plan.nodes)
    for (const PlannedDie &die : node.dies)
      for (auto &[name, count] : die.budget)
        kinds.insert(name);
  if (kinds.empty())
    return;
  std::vector<std::string> head = {"node", "die", "from", "to"};
  for (const std::string &kind : kinds)
    head.push_back(kind + " %");
  head.push_back("wires on");
  Table table(head);
  for (const PlannedNode &node : plan.nodes)
    for (const PlannedDie &die : node.dies) {
      const PlannedOperation *first = nullptr, *last = nullptr;
      for (const PlannedOperation &op : node.operations)
        if (op.die == die.name) {
          first = first ? first : &op;
          last = &op;
        }
      std::vector<std::string> row = {node.name, die.name,
                                      first ? first->name : "",
                                      last ? last->name : ""};
      for (const std::string &kind : kinds) {
        auto used = die.resources.find(kind);
        auto all = die.budget.find(kind);
        bool known = used != die.resources.end() && all != die.budget.end();
        row.push_back(
            known ? decimal(100 * used->second / double(all->second), 1) : "");
      }
      row.push_back(die.wiresAvailable ? grouped(die.wires) + " of " +
                                             grouped(die.wiresAvailable)
                                       : "");
      table.add(std::move(row));
    }
  llvm::outs() << "\n";
  table.print();
}

void cli::printBodies(const Plan &plan) {
  auto textOf = [](const std::map<std::string, double> &resources) {
    std::string text;
    for (auto [name, digits] :
         {std::pair("lut", 0), {"ff", 0}, {"dsp", 0}, {"bram", 1}, {"uram", 0}})
      if (auto found = resources.find(name); found != resources.end())
        text += (text.empty() ? "" : ", ") +
                (digits ? decimal(found->second, digits)
                        : grouped(std::llround(found->second))) +
                " " + StringRef(name).upper();
    return text;
  };
  for (const PlannedRepeat &body : plan.repeats) {
    std::string last = body.name;
    for (const PlannedNode &node : plan.nodes)
      for (size_t i = 0; i + 1 < node.operations.size(); ++i)
        if (node.operations[i].op == "enter" &&
            node.operations[i].name == body.name)
          last = node.operations[std::min(i + size_t(body.length),
                                          node.operations.size() - 1)]
                     .name;
    outs() << "  body       " << body.name << " to " << last << " ("
           << counted(body.length, "operation") << "), " << body.trips
           << " trips a frame, in each of which the slowest unit is busy for "
           << counted(body.cyclesPerTrip, "cycle") << "\n             "
           << textOf(body.resources)
           << "; a unit for each block: " << textOf(body.apart) << "\n";
  }
}

/// Of weights that frames share. A layer has places for two batches; under full
/// load all are taken, and frames leave one interval after another.
static void printBatches(const PlannedNode &node) {
  int64_t places = 0;
  for (const PlannedActor &actor : node.actors)
    if (actor.config.getInteger("Patience")) // it waits for a batch
      places += actor.config.getInteger("Places").value_or(0);
  const double us = double(node.predicted.latencyCycles) / node.clockMhz,
               wait = double(places * node.predicted.intervalCycles) /
                      node.clockMhz;
  outs() << "  batch      weights are read once for up to " << node.batch()
         << " frames that follow each other\n"
         << "             one alone takes as long, " << durationText(us * 1e-6)
         << "; under full load each is on its way for up to "
         << durationText((us + wait) * 1e-6) << "\n";
}

void cli::printMemories(const Plan &plan) {
  for (const PlannedNode &node : plan.nodes)
    for (const PlannedMemory &memory : node.memories) {
      double bytes = 0, slowest = 1;
      for (const MemoryPort &port : node.memoryPorts)
        if (port.memory == memory.name)
          bytes += double(port.bytesPerFrame);
      if (bytes == 0 || !node.rtlOf.empty())
        continue;
      for (const PlannedOperation &op : node.operations)
        slowest = std::max(slowest, double(op.intervalCycles));
      double rate = bytes * node.predicted.throughputPerS;
      outs() << "  memory     '" << memory.name << "' of " << node.name << ": "
             << (bytes < 1e5 ? decimal(bytes / 1e3, 2) + " kB"
                             : decimal(bytes / 1e6, 2) + " MB")
             << " a frame, " << decimal(rate / 1e9, 2) << " GB/s of "
             << decimal(double(memory.bytesPerS) / 1e9, 1) << " ("
             << percent(rate / double(memory.bytesPerS)) << ")";
      double alone = node.clockMhz * 1e6 / slowest;
      if (plan.bottleneckKind == "memory")
        outs() << "; the units alone would reach " << rateText(alone)
               << " per second";
      outs() << "\n";
      if (node.batch() > 1)
        printBatches(node);
    }
}

cli::ProgressLine::ProgressLine(bool wanted, bool ticks)
    : isWanted(wanted), isActive((wanted && isatty(STDOUT_FILENO)) ||
                                 std::getenv("RHIZOME_PROGRESS")),
      begun(std::chrono::steady_clock::now()), written(begun) {
  if (isActive && ticks && isatty(STDOUT_FILENO))
    ticker = std::thread([this] { tick(); });
}

cli::ProgressLine::~ProgressLine() {
  if (ticker.joinable()) {
    {
      std::lock_guard<std::mutex> guard(mutex);
      isEnding = true;
    }
    ending.notify_all();
    ticker.join();
  }
  if (isActive)
    errs() << "\r\033[K";
}

void cli::ProgressLine::tick() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!ending.wait_for(lock, std::chrono::seconds(1),
                          [this] { return isEnding; }))
    if (!shown.empty())
      draw();
}

/// Cut to the terminal's width: a line that wraps cannot be overwritten.
void cli::ProgressLine::draw() {
  std::string text = withoutControls(shown);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
                           std::chrono::steady_clock::now() - begun)
                           .count();
  if (!text.empty() && ticker.joinable() && seconds > 1)
    text += " " + std::to_string(seconds) + " s";
  winsize size = {};
  const size_t width =
      ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1
          ? size.ws_col - 1
          : 79;
  while (columns(text) > width) {
    while (!text.empty() && (text.back() & 0xC0) == 0x80)
      text.pop_back();
    text.pop_back();
  }
  // Complete between two carriage returns, for programs that read it.
  errs() << "\r\033[K" + text + "\r";
}

void cli::ProgressLine::announce(const std::string &text) {
  if (isWanted && !isActive)
    errs() << withoutControls(text) << "\n";
  else
    show(text);
}

void cli::ProgressLine::show(const std::string &text) {
  constexpr auto kEvery = std::chrono::seconds(10);
  if (const auto now = std::chrono::steady_clock::now();
      isWanted && !isActive && !text.empty() && now - written >= kEvery) {
    written = now;
    errs() << withoutControls(text) << "\n";
  }
  if (!isActive)
    return;
  std::lock_guard<std::mutex> guard(mutex);
  shown = text;
  draw();
}
