// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What commands print: aligned tables for people, one JSON object for machines,
// a progress line on terminals only.
#pragma once

#include "rhizome/Package/Plan.h"
#include "rhizome/Simulate/Cluster.h"
#include "rhizome/Support/Result.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rhizome::cli {
/// Rows of cells. Columns are aligned, to the right if they hold only numbers.
class Table {
public:
  explicit Table(std::vector<std::string> head) : rows{std::move(head)} {}
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  void print() const;
  bool empty() const { return rows.size() == 1; }

private:
  std::vector<std::vector<std::string>> rows;
};

/// "error: ", "note: " and "remedy: ", in color where standard error is a
/// terminal that shows it and NO_COLOR is not set.
std::string errorLabel();
std::string noteLabel();
std::string remedyLabel();
/// For standard output, by the same rule: a heading; and a count of mistakes,
/// green if there are none, red otherwise.
std::string bold(const std::string &text);
std::string verdict(int64_t mistakes, const std::string &text);

/// One line on stdout.
void printJson(llvm::json::Value value);

/// "error: …" on stderr, or {"ok":false,"error":…} on stdout. Returns 1.
int failWith(const std::string &error, bool json);

/// Every refusal with node, operation, reason and remedy. Returns 1.
int failWith(const Refusals &refused, bool json);

/// Prints the failure as one of the above, by its kind. Returns its exit code.
int failWith(const Failure &failure, bool json);

/// "note: …" on stderr.
void printNotes(const std::vector<std::string> &notes);

/// 1234567 -> "1,234,567".
std::string grouped(int64_t value);
/// A count with its noun: "1 cycle", "1,200 cycles".
std::string counted(int64_t value, llvm::StringRef what);
/// At most `digits` decimals, no trailing zeros.
std::string decimal(double value, int digits);
std::string percent(double share);
/// The name, cut if it is too long for a table.
std::string shortened(const std::string &name);

/// Interval, latency, rate and resources of a prediction as lines of text.
void printPrediction(const Prediction &p);
/// A line for each off-chip memory that a plan's nodes read during frames: the
/// bytes, the share of its rate and, if it limits a node, by how much.
void printMemories(const Plan &plan);
/// The bodies of a plan: which layers, how often a frame passes them and for
/// how long, and what units for each of the blocks would take.
void printBodies(const Plan &plan);
/// Which die of a device holds what, for plans on several dies.
void printDies(const Plan &plan);

/// What a simulated cluster measured; null if it measured nothing.
llvm::json::Value measuredOf(const ClusterResult &result);
/// Enters who did what, and how long it took.
void addCluster(const ClusterResult &result, llvm::json::Object &to);
/// The same as tables, beside what was predicted.
void printCluster(const ClusterResult &result, const Prediction &predicted);

/// A line on stderr that is overwritten, if stdout is a terminal or
/// $RHIZOME_PROGRESS is set, as the Python interface does. Elsewhere it is
/// written now and then, so that a log shows what a long wait is for. With
/// `ticks`, on a terminal it also says how many seconds went by, so that every
/// wait is seen to go on: not where another process writes there at the same
/// time.
class ProgressLine {
public:
  explicit ProgressLine(bool wanted, bool ticks = true);
  ~ProgressLine();
  /// "" takes the line away.
  void show(const std::string &text);
  /// The same, but it is also written at once where there is no terminal: what
  /// begins now and takes a while.
  void announce(const std::string &text);
  bool active() const { return isActive; }

private:
  void tick();
  void draw();
  bool isWanted, isActive, isEnding = false;
  std::chrono::steady_clock::time_point begun, written;
  std::string shown;
  std::mutex mutex;
  std::condition_variable ending;
  std::thread ticker;
};
} // namespace rhizome::cli
