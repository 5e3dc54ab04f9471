// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Greedy sharing of two-term sums (Hartley, IEEE TCAS-II 43, 1996): the pair of
// digits that occurs most often becomes a value of its own, until none occurs
// twice. Counts are kept up to date, so that the cost of a step is proportional
// to its changes. Results never exceed a bound on the depth: Kraft's inequality
// gives the depth of a sum from the depths of its terms. All values are
// unsigned: an adder takes a LUT for each bit that both operands have, and a
// sign would be extended. Differences add a complement instead, and the
// constants that are then too much are taken from the bias.
#include "AdderGraph.h"
#include <algorithm>
#include <bit>
#include <functional>

namespace rhizome::gen::dhm {
namespace {
using Op = Circuit::Op;

/// ± (node << shift).
struct Digit {
  int node;
  int shift;
  bool negative;
};
using Sum = std::vector<Digit>;

/// 2^exponent, for exponents of normal numbers.
double powerOfTwo(int exponent) {
  return std::bit_cast<double>(uint64_t(1023 + exponent) << 52);
}

/// Canonical signed digits: (shift, negative), lowest first.
template <typename Use> void forDigits(int64_t weight, Use use) {
  for (int shift = 0; weight != 0; ++shift, weight >>= 1)
    if (weight & 1) {
      bool negative = (weight & 3) == 3;
      use(shift, negative);
      weight += negative ? 1 : -1;
    }
}

/// A pair of digits up to a common shift and sign: first ± (second <<
/// distance).
struct Pattern {
  int first, second, distance;
  bool opposite;

  static Pattern of(const Digit &x, const Digit &y) {
    bool swap = y.shift < x.shift || (y.shift == x.shift && y.node < x.node);
    const Digit &a = swap ? y : x, &b = swap ? x : y;
    return {a.node, b.node, b.shift - a.shift, a.negative != b.negative};
  }
  uint64_t key() const {
    return uint64_t(first) << 38 | uint64_t(second) << 12 |
           uint64_t(distance) << 1 | uint64_t(opposite);
  }
  static Pattern ofKey(uint64_t k) {
    return {int(k >> 38), int(k >> 12 & 0x3ffffff), int(k >> 1 & 0x7ff),
            bool(k & 1)};
  }
};

/// The number of occurrences of each pattern: open addressing, erased as a
/// whole.
class Counts {
public:
  int &operator[](uint64_t key) {
    if (4 * used.size() >= 3 * slots.size())
      grow();
    size_t at = find(key);
    if (slots[at].key == kEmpty) {
      slots[at].key = key;
      used.push_back(at);
    }
    return slots[at].count;
  }
  template <typename Use> void forAll(Use use) const {
    for (size_t at : used)
      use(slots[at].key, slots[at].count);
  }
  void clear() {
    for (size_t at : used)
      slots[at] = Slot();
    used.clear();
  }

private:
  static constexpr uint64_t kEmpty = ~uint64_t(0);
  struct Slot {
    uint64_t key = kEmpty;
    int count = 0;
  };
  std::vector<Slot> slots{64};
  std::vector<size_t> used; ///< slots

  size_t find(uint64_t key) const {
    size_t mask = slots.size() - 1;
    // All bits of the key reach the upper ones of the product.
    size_t at = size_t((key * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (slots[at].key != key && slots[at].key != kEmpty)
      at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots.size() * 2);
    old.swap(slots);
    for (size_t &at : used) {
      const Slot &slot = old[at];
      at = find(slot.key);
      slots[at] = slot;
    }
  }
};

/// Patterns by their count when they were entered. The last of the
/// most frequent ones comes first.
class Ranking {
public:
  void add(uint64_t key, int count) {
    if (size_t(count) >= levels.size())
      levels.resize(size_t(count) + 1);
    most = std::max(most, count);
    levels[count].push_back(key);
  }
  /// Descending, so that the order of insertion does not matter.
  void sort() {
    for (int count = 0; count <= most; ++count)
      std::sort(levels[count].begin(), levels[count].end(), std::greater<>());
  }
  bool isEmpty() {
    while (most > 0 && levels[most].empty())
      --most;
    return most == 0;
  }
  /// A pattern and its count; there must be one.
  std::pair<uint64_t, int> pop() {
    uint64_t key = levels[most].back();
    levels[most].pop_back();
    return {key, most};
  }

private:
  std::vector<std::vector<uint64_t>> levels{1};
  int most = 0; ///< levels above are empty
};

/// The occurrence of a pattern in a sum.
struct Place {
  int row;
  Digit a, b;
};

/// The linear form of a node: a factor for each input, inputs ascending. Forms
/// are stored one after another in one vector.
using Term = std::pair<int, int64_t>;
struct Form {
  size_t begin = 0, end = 0;
  bool isKnown() const { return end > begin; }
};

/// Terms from which two are chosen to be added next.
constexpr size_t kWindow = 16;

class Builder {
public:
  Builder(Circuit &circuit, const std::vector<int> &inputs,
          const Effort &effort)
      : circuit(circuit), inputs(inputs), effort(effort) {}

  std::vector<int> run(const std::vector<Row> &rows,
                       const std::vector<int64_t> &bias);

private:
  Circuit &circuit;
  const std::vector<int> &inputs;
  const Effort &effort;
  std::vector<int> depth;  ///< by node
  std::vector<Term> terms; ///< of all forms, and free space
  size_t filled = 0;       ///< terms of forms
  std::vector<int> words;  ///< by input: its unsigned node
  /// By input; the constant 1 follows the inputs.
  std::vector<std::pair<int64_t, int64_t>> ranges;
  std::vector<Form> forms;   ///< by node; inputs are numbered as they are added
  std::vector<Sum> sums;     ///< by result
  std::vector<double> kraft; ///< Σ 2^depth of a result's terms
  double most = 0;           ///< the maximum that it may reach
  /// By node: results that use it, maybe formerly; for one block at a time.
  std::vector<std::vector<int>> users;
  // For one block at a time: they keep their memory.
  std::vector<Sum> part; ///< by result
  std::vector<int> used; ///< nodes with users
  Counts counts;
  Ranking ranking;
  std::vector<Place> places;
  std::vector<size_t> taken;

  void addTerm(int input, int64_t factor) {
    if (filled == terms.size())
      terms.resize(2 * filled + 16);
    terms[filled++] = {input, factor};
  }
  /// The node's form is in `terms` from `begin` on.
  void learn(int node, int level, size_t begin) {
    if (size_t(node) >= forms.size()) {
      forms.resize(size_t(node) + 1);
      depth.resize(size_t(node) + 1, 0);
    }
    depth[node] = level;
    forms[node] = {begin, filled};
  }
  /// The constant of the node's form.
  int64_t offsetOf(int node) const {
    const Form &form = forms[node];
    if (!form.isKnown() || terms[form.end - 1].first != int(inputs.size()))
      return 0;
    return terms[form.end - 1].second;
  }
  /// What sharing a pattern saves: the bits that both operands have, for each
  /// occurrence except one.
  int score(const Pattern &p, int count) const {
    int64_t a = circuit.nodes[p.first].bits(),
            b = circuit.nodes[p.second].bits();
    int64_t both = std::min(a, b + p.distance) - p.distance;
    return int(std::max<int64_t>(both, 1)) * (count - 1);
  }
  /// Whether the sum of two terms is not wider than the wider of them.
  bool fits(const Digit &x, const Digit &y) const {
    const Digit &upper = y.shift < x.shift ? x : y;
    const Digit &lower = y.shift < x.shift ? y : x;
    const Circuit::Node &n = circuit.nodes[upper.node];
    int64_t a = circuit.nodes[lower.node].hi << lower.shift;
    int64_t b = x.negative == y.negative ? n.hi : (int64_t(1) << n.bits()) - 1;
    b <<= upper.shift;
    return std::bit_width(uint64_t(a + b)) == std::bit_width(uint64_t(a | b));
  }
  int unsignedInput(int input);
  int combine(Op op, int a, int b, int shift);
  void share(const std::vector<Row> &rows, int first, int last);
  int total(const Sum &sum, int64_t bias);
};

/// An input from zero on: if it has negative values, its top bit is inverted.
int Builder::unsignedInput(int input) {
  const Circuit::Node node = circuit.nodes[inputs[input]];
  addTerm(input, 1);
  if (node.lo >= 0) {
    learn(inputs[input], 0, filled - 1);
    return inputs[input];
  }
  int64_t top = node.bits() - 1, half = int64_t(1) << top;
  int one = circuit.constant(1);
  int word = circuit.sum(Op::Add, inputs[input], one, top, node.lo + half,
                         node.hi + half);
  addTerm(int(inputs.size()), half);
  learn(word, 0, filled - 2);
  return word;
}

/// A sum of unsigned nodes, maybe with the complement of one, with the range of
/// its linear form.
int Builder::combine(Op op, int a, int b, int shift) {
  size_t begin = filled;
  size_t most =
      forms[a].end - forms[a].begin + forms[b].end - forms[b].begin + 1;
  if (terms.size() < begin + most)
    terms.resize(2 * (begin + most));
  const Term *x = terms.data() + forms[a].begin,
             *xEnd = terms.data() + forms[a].end;
  const Term *y = terms.data() + forms[b].begin,
             *yEnd = terms.data() + forms[b].end;
  Term *out = terms.data() + begin;
  const bool inverts = op == Op::AddNot;
  int64_t fy = inverts ? -1 : 1;
  int64_t bits = inverts ? circuit.nodes[b].bits() : 0;
  int64_t offset = ((int64_t(1) << bits) - 1) << shift;
  int64_t lo = 0, hi = 0;
  auto add = [&](int input, int64_t factor) {
    if (input == int(inputs.size())) {
      offset += factor;
      return;
    }
    if (factor == 0)
      return;
    *out++ = {input, factor};
    auto [least, greatest] = ranges[input];
    lo += factor * (factor > 0 ? least : greatest);
    hi += factor * (factor > 0 ? greatest : least);
  };
  while (x != xEnd || y != yEnd) {
    if (y == yEnd || (x != xEnd && x->first < y->first)) {
      add(x->first, x->second);
      ++x;
    } else if (x == xEnd || y->first < x->first) {
      add(y->first, fy * (y->second << shift));
      ++y;
    } else {
      add(x->first, x->second + fy * (y->second << shift));
      ++x;
      ++y;
    }
  }
  if (offset) {
    *out++ = {int(inputs.size()), offset};
    lo += offset;
    hi += offset;
  }
  filled = size_t(out - terms.data());
  int level = std::max(depth[a], depth[b]) + 1;
  int node = inverts ? circuit.addNot(a, b, shift, bits, lo, hi)
                     : circuit.sum(op, a, b, shift, lo, hi);
  if (size_t(node) >= forms.size() || (!forms[node].isKnown() && lo != hi))
    learn(node, level, begin);
  else
    filled = begin;
  return node;
}

/// The contribution of the inputs first … last−1 to each result, sharing what
/// occurs more than once.
void Builder::share(const std::vector<Row> &rows, int first, int last) {
  part.resize(rows.size());
  auto use = [&](int node, int row) {
    if (size_t(node) >= users.size())
      users.resize(std::max(size_t(node) + 1, 2 * users.size()));
    if (users[node].empty())
      used.push_back(node);
    if (users[node].empty() || users[node].back() != row)
      users[node].push_back(row);
  };
  for (size_t r = 0; r < rows.size(); ++r) {
    auto from = std::lower_bound(
        rows[r].begin(), rows[r].end(), first,
        [](const auto &entry, int value) { return entry.first < value; });
    for (auto it = from; it != rows[r].end() && it->first < last; ++it) {
      int node = words[it->first];
      forDigits(it->second, [&](int shift, bool negative) {
        part[r].push_back({node, shift, negative});
      });
      use(node, int(r));
    }
  }

  for (const Sum &sum : part)
    for (size_t i = 0; i < sum.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        ++counts[Pattern::of(sum[i], sum[j]).key()];
  // Entries whose count has changed are corrected when they are popped.
  auto rank = [&](uint64_t key, int count) {
    if (count >= 2)
      ranking.add(key, score(Pattern::ofKey(key), count));
  };
  counts.forAll(rank);
  ranking.sort();

  auto remove = [&](Sum &sum, const Digit &d) {
    size_t at = 0;
    while (sum[at].node != d.node || sum[at].shift != d.shift ||
           sum[at].negative != d.negative)
      ++at;
    sum[at] = sum.back();
    sum.pop_back();
    for (const Digit &other : sum)
      --counts[Pattern::of(d, other).key()];
  };
  auto insert = [&](Sum &sum, const Digit &d) {
    for (const Digit &other : sum) {
      uint64_t key = Pattern::of(d, other).key();
      rank(key, ++counts[key]);
    }
    sum.push_back(d);
  };

  while (!ranking.isEmpty()) {
    auto [key, expected] = ranking.pop();
    int count = counts[key];
    Pattern p = Pattern::ofKey(key);
    int now = count < 2 ? 0 : score(p, count);
    if (now != expected) {
      if (now < expected)
        rank(key, count);
      continue;
    }
    int level = std::max(depth[p.first], depth[p.second]) + 1;
    double deeper = powerOfTwo(level) - powerOfTwo(depth[p.first]) -
                    powerOfTwo(depth[p.second]);
    places.clear();
    const auto &fewer = users[p.first].size() < users[p.second].size()
                            ? users[p.first]
                            : users[p.second];
    for (int row : fewer) {
      if (!places.empty() && places.back().row == row)
        continue;
      const Sum &sum = part[row];
      double room = most - kraft[row];
      taken.clear();
      for (size_t i = 0; i < sum.size(); ++i) {
        if (sum[i].node != p.first)
          continue;
        for (size_t j = 0; j < sum.size(); ++j) {
          if (i == j || sum[j].node != p.second ||
              sum[j].shift != sum[i].shift + p.distance ||
              (sum[j].negative != sum[i].negative) != p.opposite ||
              room < deeper || llvm::is_contained(taken, i) ||
              llvm::is_contained(taken, j))
            continue;
          taken.push_back(i);
          taken.push_back(j);
          room -= deeper;
          places.push_back({row, sum[i], sum[j]});
          break;
        }
      }
    }
    // A row may occur twice among the users.
    llvm::sort(places, [](const Place &x, const Place &y) {
      return std::tuple(x.row, x.a.shift, x.a.negative) <
             std::tuple(y.row, y.a.shift, y.a.negative);
    });
    auto same = [](const Place &x, const Place &y) {
      return x.row == y.row && x.a.shift == y.a.shift &&
             x.a.negative == y.a.negative && x.b.shift == y.b.shift;
    };
    places.erase(std::unique(places.begin(), places.end(), same), places.end());
    if (places.size() < 2) {
      counts[key] = 0; // until it occurs again
      continue;
    }
    int node = combine(p.opposite ? Op::AddNot : Op::Add, p.first, p.second,
                       p.distance);
    for (const Place &place : places) {
      Sum &sum = part[place.row];
      remove(sum, place.a);
      remove(sum, place.b);
      insert(sum, {node, place.a.shift, place.a.negative});
      use(node, place.row);
      kraft[place.row] += deeper;
    }
    counts[key] = 0;
  }
  for (size_t r = 0; r < rows.size(); ++r)
    sums[r].insert(sums[r].end(), part[r].begin(), part[r].end());
  for (Sum &sum : part)
    sum.clear();
  for (int node : used)
    users[node].clear();
  used.clear();
  counts.clear();
}

/// Adds up the terms, the shallowest first, and then the bias, from which the
/// constants of complements are taken.
int Builder::total(const Sum &sum, int64_t bias) {
  if (sum.empty())
    return circuit.constant(bias);
  std::vector<Digit> open = sum;
  // The shallowest first, and of one depth by their shift.
  auto order = [&](const Digit &x, const Digit &y) {
    return std::tuple(depth[x.node], x.shift, x.node, x.negative) <
           std::tuple(depth[y.node], y.shift, y.node, y.negative);
  };
  std::sort(open.begin(), open.end(), order);
  double now = 0;
  for (const Digit &d : open)
    now += powerOfTwo(depth[d.node]);
  const double limit = std::exp2(std::ceil(std::log2(now)));
  while (open.size() > 1) {
    auto deeper = [&](const Digit &x, const Digit &y) {
      return powerOfTwo(std::max(depth[x.node], depth[y.node]) + 1) -
             powerOfTwo(depth[x.node]) - powerOfTwo(depth[y.node]);
    };
    // Two whose sum takes no additional bit, as long as the depth allows it.
    size_t first = 0, second = 1;
    bool found = false;
    for (size_t j = 1; j < std::min(open.size(), kWindow) && !found; ++j)
      for (size_t i = 0; i < j && !found; ++i) {
        found =
            now + deeper(open[i], open[j]) <= limit && fits(open[i], open[j]);
        if (found)
          std::tie(first, second) = std::pair(i, j);
      }
    Digit a = open[first], b = open[second];
    now += deeper(a, b);
    open.erase(open.begin() + int64_t(second));
    open.erase(open.begin() + int64_t(first));
    if (b.shift < a.shift || (b.shift == a.shift && a.negative && !b.negative))
      std::swap(a, b);
    Op op = a.negative == b.negative ? Op::Add : Op::AddNot;
    Digit made{combine(op, a.node, b.node, b.shift - a.shift), a.shift,
               a.negative};
    open.insert(std::upper_bound(open.begin(), open.end(), made, order), made);
  }
  Digit last = open.front();
  int node = last.node;
  int64_t offset = offsetOf(node) << last.shift;
  int64_t lo = circuit.nodes[node].lo << last.shift,
          hi = circuit.nodes[node].hi << last.shift;
  if (last.negative) {
    int64_t whole = bias + offset;
    return circuit.sum(Op::Sub, circuit.constant(whole), node, last.shift,
                       whole - hi, whole - lo);
  }
  if (last.shift)
    node = circuit.sum(Op::Add, circuit.constant(0), node, last.shift, lo, hi);
  int64_t rest = bias - offset;
  if (rest == 0)
    return node;
  return circuit.sum(Op::Add, node, circuit.constant(rest), 0, lo + rest,
                     hi + rest);
}

std::vector<int> Builder::run(const std::vector<Row> &rows,
                              const std::vector<int64_t> &bias) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Circuit::Node &node = circuit.nodes[inputs[i]];
    ranges.push_back({node.lo, node.hi});
    words.push_back(unsignedInput(int(i)));
  }
  ranges.push_back({1, 1});
  sums.resize(rows.size());
  double pairs = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    int64_t digits = 0;
    for (auto [input, weight] : rows[r])
      digits += digitsOf(weight);
    pairs += 0.5 * double(digits) * double(digits);
    kraft.push_back(double(digits));
    most = std::max(
        most, std::exp2(std::ceil(std::log2(std::max(kraft.back(), 1.0)))));
  }
  most *= std::exp2(double(effort.slack));
  int64_t n = int64_t(inputs.size());
  int64_t blocks =
      std::clamp<int64_t>(int64_t(std::ceil(pairs / double(effort.pairs))), 1,
                          std::max<int64_t>(n, 1));
  for (int64_t block = 0; block < blocks; ++block)
    share(rows, int(n * block / blocks), int(n * (block + 1) / blocks));
  std::vector<int> results;
  for (size_t r = 0; r < rows.size(); ++r)
    results.push_back(total(sums[r], bias.empty() ? 0 : bias[r]));
  return results;
}
} // namespace

int64_t digitsOf(int64_t weight) {
  // Digits of w are where w and 3 w differ.
  uint64_t w = weight < 0 ? -uint64_t(weight) : uint64_t(weight);
  return std::popcount(w ^ 3 * w);
}

std::vector<int> addLinear(Circuit &circuit, const std::vector<int> &inputs,
                           const std::vector<Row> &rows,
                           const std::vector<int64_t> &bias,
                           const Effort &effort) {
  return Builder(circuit, inputs, effort).run(rows, bias);
}
} // namespace rhizome::gen::dhm
