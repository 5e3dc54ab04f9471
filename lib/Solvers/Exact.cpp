// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact schedules: whether there is one at an interval, or of a length, as an
// integer program. An operation that holds resources has a variable for each
// slot of the interval, the others have only their start. GLPK's search is
// limited by nodes, so that the result is the same on every machine.
#include "Loop.h"
#include <algorithm>
#include <cmath>
#include <glpk.h>
#include <map>

namespace rhizome::schedule {
namespace {
enum class Answer { Yes, No, Unknown };

/// Starts between `least` and `most` that satisfy all dependences and, modulo
/// `interval`, all limits.
class Program {
public:
  Program(const LoopProblem &p, int64_t interval, std::vector<int64_t> least,
          std::vector<int64_t> most)
      : p(p), interval(interval), least(std::move(least)),
        most(std::move(most)) {}

  int64_t variables() const;
  /// Subtracts the nodes it uses from `nodes`.
  Answer solve(Schedule &s, int64_t &nodes);

private:
  const LoopProblem &p;
  const int64_t interval;
  const std::vector<int64_t> least, most;

  bool isShared(int i) const { return !p.usesOf(i).empty(); }
  /// Possible slots of the operation.
  int64_t slots(int i) const {
    return std::min(interval, most[i] - least[i] + 1);
  }
};

int64_t Program::variables() const {
  int64_t count = p.size();
  for (int i = 0; i < p.size(); ++i)
    count += isShared(i) ? slots(i) + 1 : 0;
  return count;
}

/// Counts the nodes of the search and ends it.
struct Count {
  int64_t left;
};
void countNode(glp_tree *tree, void *info) {
  if (glp_ios_reason(tree) == GLP_ISELECT &&
      --static_cast<Count *>(info)->left < 0)
    glp_ios_terminate(tree);
}

Answer Program::solve(Schedule &s, int64_t &nodes) {
  glp_prob *lp = glp_create_prob();
  glp_set_obj_dir(lp, GLP_MIN);
  auto addRow = [&](int type, double lower, double upper,
                    const std::map<int, double> &row) {
    std::vector<int> columns(1);
    std::vector<double> factors(1);
    for (auto [column, factor] : row) {
      columns.push_back(column);
      factors.push_back(factor);
    }
    int at = glp_add_rows(lp, 1);
    glp_set_row_bnds(lp, at, type, lower, upper);
    glp_set_mat_row(lp, at, int(columns.size()) - 1, columns.data(),
                    factors.data());
  };
  auto addColumn = [&](int64_t lower, int64_t upper) {
    int at = glp_add_cols(lp, 1);
    glp_set_col_kind(lp, at, GLP_IV);
    glp_set_col_bnds(lp, at, lower == upper ? GLP_FX : GLP_DB, double(lower),
                     double(upper));
    return at;
  };
  std::vector<int> starts, firstSlot(p.latency.size(), 0);
  for (int i = 0; i < p.size(); ++i)
    starts.push_back(addColumn(least[i], most[i]));
  // A shared operation's start is its slot plus whole intervals. Slots count
  // from its least start.
  std::map<std::pair<int, int64_t>, std::map<int, double>> held;
  for (int i = 0; i < p.size(); ++i) {
    if (!isShared(i))
      continue;
    std::map<int, double> one, start = {{starts[i], -1}};
    for (int64_t slot = 0; slot < slots(i); ++slot) {
      int column = addColumn(0, 1);
      if (slot == 0)
        firstSlot[i] = column;
      one[column] = 1;
      if (least[i] + slot != 0)
        start[column] = double(least[i] + slot);
      for (const SharedProblem::Use &use : p.usesOf(i))
        for (int64_t c = 0; c < use.cycles; ++c)
          held[{use.resource, (least[i] + slot + use.first + c) % interval}]
              [column] += 1;
    }
    start[addColumn(0, (most[i] - least[i]) / interval)] = double(interval);
    addRow(GLP_FX, 1, 1, one);
    addRow(GLP_FX, 0, 0, start);
  }
  for (const auto &[where, row] : held) {
    double sum = 0;
    for (auto [column, factor] : row)
      sum += factor;
    if (double limit = double(p.limit[where.first]); sum > limit)
      addRow(GLP_UP, 0, limit, row);
  }
  for (const Difference &d : differencesOf(p, interval))
    if (d.from != d.to) // at this interval, it waits for itself long enough
      addRow(GLP_LO, double(d.least), 0,
             {{starts[d.to], 1}, {starts[d.from], -1}});

  glp_iocp parameters;
  glp_init_iocp(&parameters);
  parameters.msg_lev = GLP_MSG_OFF;
  parameters.presolve = GLP_ON;
  parameters.br_tech = GLP_BR_MFV;
  Count count{nodes};
  parameters.cb_func = countNode;
  parameters.cb_info = &count;
  int code = glp_intopt(lp, &parameters);
  nodes = std::max<int64_t>(count.left, 0);
  int status = glp_mip_status(lp);
  Answer answer = Answer::Unknown;
  if (status == GLP_OPT || status == GLP_FEAS) {
    s.interval = interval;
    s.start.clear();
    for (int column : starts)
      s.start.push_back(std::llround(glp_mip_col_val(lp, column)));
    answer = Answer::Yes;
  } else if (code == GLP_ENOPFS || code == GLP_ENODFS ||
             (code == 0 && status == GLP_NOFEAS)) {
    answer = Answer::No;
  }
  glp_delete_prob(lp);
  return answer;
}
} // namespace

Exact scheduleExactly(const LoopProblem &chained, const Effort &effort) {
  Exact exact;
  exact.schedule = scheduleModulo(chained, effort);
  if (!exact.schedule)
    return exact;
  LoopProblem p = *withoutChains(chained);
  int64_t nodes = effort.nodes;
  int64_t least = std::max(*recurrenceInterval(p), resourceInterval(p));
  exact.isProved = true;
  for (int64_t interval = least; interval < exact.schedule->interval;
       ++interval) {
    bool fits = true;
    for (int i = 0; i < p.size() && fits; ++i)
      fits = fitsAlone(p, i, interval);
    if (!fits)
      continue;
    // No schedule needs more: each operation waits for a slot at most once on
    // the way to any other.
    auto from = *solveDifferences(p.size(), differencesOf(p, interval));
    int64_t last = *std::max_element(from.begin(), from.end());
    std::vector<int64_t> most(p.latency.size(),
                              last + int64_t(p.size()) * (interval - 1));
    Program program(p, interval, from, most);
    Schedule s;
    Answer answer = Answer::Unknown;
    if (nodes > 0 && program.variables() <= effort.variables)
      answer = program.solve(s, nodes);
    if (answer == Answer::Yes && !verify(p, s)) {
      compact(p, s);
      exact.schedule = s;
      return exact;
    }
    if (answer != Answer::No)
      exact.isProved = false;
  }
  return exact;
}

Exact scheduleExactly(const SharedProblem &p, const Effort &effort) {
  Exact exact;
  exact.schedule = scheduleList(p);
  if (!exact.schedule)
    return exact;
  // A loop whose iterations do not overlap.
  LoopProblem loop;
  loop.latency = p.latency;
  for (const Dependence &d : p.dependences)
    if (d.distance == 0)
      loop.dependences.push_back(d);
  loop.limit = p.limit;
  loop.uses = p.uses;
  int64_t nodes = effort.nodes, held = 1;
  for (int i = 0; i < p.size(); ++i)
    for (const SharedProblem::Use &use : p.usesOf(i))
      held = std::max(held, use.first + use.cycles);
  Schedule asap = *scheduleAsap(loop);
  int64_t least = asap.length(loop);
  while (exact.schedule->length(p) > least) {
    int64_t length = exact.schedule->length(p) - 1;
    auto alap = scheduleAlap(loop, length);
    if (!alap) // cannot happen: it is no shorter than asap
      break;
    Program program(loop, length + held, asap.start, alap->start);
    Schedule s;
    Answer answer = Answer::Unknown;
    if (nodes > 0 && program.variables() <= effort.variables)
      answer = program.solve(s, nodes);
    s.interval = 0;
    if (answer != Answer::Yes || verify(p, s)) {
      exact.isProved = answer == Answer::No;
      return exact;
    }
    exact.schedule = s;
  }
  exact.isProved = true;
  return exact;
}
} // namespace rhizome::schedule
