// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the event simulator keeps of a channel: when its tokens came and went,
// as far as somebody may still ask.
#pragma once

#include "rhizome/Timing/EventSim.h"
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace rhizome::gen::events {
/// Channels that hold this much never wait for their reader.
constexpr int64_t kUnbounded = INT64_MAX / 8;
/// A count that nobody waits for.
constexpr int64_t kNever = INT64_MAX;

/// So many tokens had come by then.
struct Event {
  int64_t count, time;
};

/// A growing count of tokens with the time at which each batch took place, and
/// its one reader, which asks for ascending counts. What it has passed is
/// forgotten.
class Series {
public:
  int64_t total = 0;

  size_t size() const { return end - begin; }
  const Event &operator[](size_t i) const { return ring[(begin + i) & mask]; }

  /// The batches that brought the last tokens, from the last one on. They are
  /// still there, even if the reader has passed them, if there was room for all
  /// of them from the start.
  void addLast(int64_t tokens, std::vector<Event> &last) const {
    for (size_t i = end; i-- > 0 && ring[i & mask].count > total - tokens;)
      last.push_back({total - ring[i & mask].count, ring[i & mask].time});
  }

  /// Adds batches, for which there is room, one after the other; in registers
  /// until it is finished.
  class Writer {
  public:
    explicit Writer(const Series &series)
        : ring(series.ring.get()), mask(series.mask), at(series.end),
          total(series.total) {}
    int64_t written() const { return total; }
    void add(int64_t tokens, int64_t time) {
      total += tokens;
      ring[at++ & mask] = {total, time};
    }
    void finish(Series &series) const {
      series.end = at;
      series.total = total;
    }

  private:
    Event *ring;
    size_t mask, at;
    int64_t total;
  };
  LLVM_ATTRIBUTE_ALWAYS_INLINE void reserve(int64_t batches) {
    if (int64_t(size()) + batches > int64_t(mask) + 1)
      growFor(batches);
  }
  void add(int64_t tokens, int64_t time) {
    reserve(1);
    Writer writer(*this);
    writer.add(tokens, time);
    writer.finish(*this);
  }

  /// Tells when ascending counts were reached, which they have been; in
  /// registers until it is finished.
  class Reader {
  public:
    explicit Reader(const Series &series)
        : ring(series.ring.get()), mask(series.mask), at(series.begin) {}
    int64_t reached(int64_t n) {
      if (n <= 0)
        return -1; // nothing to wait for
      while (ring[at & mask].count < n)
        ++at;
      return ring[at & mask].time;
    }
    void finish(Series &series) const { series.begin = at; }

  private:
    const Event *ring;
    size_t mask, at;
  };
  int64_t reached(int64_t n) {
    Reader reader(*this);
    int64_t time = reader.reached(n);
    reader.finish(*this);
    return time;
  }

  /// What is kept comes so many tokens and cycles later.
  void shift(int64_t by) {
    total += by;
    for (size_t i = begin; i != end; ++i) {
      ring[i & mask].count += by;
      ring[i & mask].time += by;
    }
  }

private:
  size_t begin = 0, end = 0, mask = 15; ///< a power of two, less one
  std::unique_ptr<Event[]> ring = std::make_unique<Event[]>(mask + 1);

  LLVM_ATTRIBUTE_NOINLINE void growFor(int64_t batches) {
    while (int64_t(size()) + batches > int64_t(mask) + 1)
      grow();
  }
  void grow() {
    size_t wider = 2 * mask + 1;
    auto larger = std::make_unique<Event[]>(wider + 1);
    for (size_t i = end > mask ? end - mask - 1 : 0; i != end; ++i)
      larger[i & wider] = ring[i & mask];
    ring = std::move(larger);
    mask = wider;
  }
};

/// As Series, for channels whose writer may be far ahead: batches of one size
/// at equal distances are one entry.
class Runs {
public:
  bool empty() const { return runs.empty(); }
  /// Are these the same, but so many cycles later?
  bool isShifted(const Runs &from, int64_t by) const {
    auto isEqual = [by](const Run &a, const Run &b) {
      return a.count == b.count && a.time == b.time + by &&
             a.batches == b.batches && a.tokens == b.tokens && a.step == b.step;
    };
    return std::equal(runs.begin(), runs.end(), from.runs.begin(),
                      from.runs.end(), isEqual);
  }
  /// When each of the tokens came; all came one by one.
  std::vector<Times> times() const {
    std::vector<Times> all;
    for (const Run &run : runs)
      all.push_back({run.time, run.batches, run.step});
    return all;
  }
  /// The first batch.
  Event front() const { return {runs.front().count, runs.front().time}; }
  void popFront() {
    Run &run = runs.front();
    run.count += run.tokens;
    run.time += run.step;
    if (--run.batches == 0)
      runs.pop_front();
  }
  void add(int64_t tokens, int64_t time) {
    total += tokens;
    if (!runs.empty()) {
      Run &last = runs.back();
      int64_t step = time - last.time - (last.batches - 1) * last.step;
      if (last.batches == 1 || (last.tokens == tokens && last.step == step)) {
        last.tokens = tokens;
        last.step = step;
        ++last.batches;
        return;
      }
    }
    runs.push_back({total, time});
  }
  /// So many tokens, one in each cycle.
  void addEach(int64_t count, int64_t time) {
    // The second or the third is the second of its run.
    constexpr int64_t kFirst = 3;
    for (int64_t i = 0; i < std::min(count, kFirst); ++i)
      add(1, time + i);
    if (count > kFirst) {
      runs.back().batches += count - kFirst;
      total += count - kFirst;
    }
  }
  int64_t reached(int64_t n) {
    if (n <= 0)
      return -1; // nothing to wait for
    while (front().count < n)
      popFront();
    return front().time;
  }

private:
  struct Run {
    int64_t count, time; ///< of its first batch
    int64_t batches = 1, tokens = 0, step = 0;
  };
  int64_t total = 0;
  std::deque<Run> runs;
};

struct ChannelState {
  int64_t capacity = 0, latency = 1, returns = 0;
  Series pushed, popped; ///< visible times; times at which places are free
  int consumer = -1, producer = -1;
  int64_t perFrame = 0; ///< tokens, all of which come and go in each frame
  /// The counts of pushed and popped tokens that these wait for.
  int64_t consumerWaits = kNever, producerWaits = kNever;
  /// Is it its producer's only output and its consumer's first input, passed
  /// token by token?
  bool isLine = false;
  /// Of a watched channel: its tokens, instead of `pushed`, and what of firing
  /// times of the producer and pop times has not been counted, which is few as
  /// long as both keep pace; the most tokens so far; and the fewest cycles that
  /// those that were needed had been there.
  bool watched = false;
  Runs visible, reserved, freed;
  int64_t gone = 0, most = 0, waited = INT64_MAX;
  /// Its pops in this frame and in the one before.
  Runs pops, popsBefore;
  /// Of a channel whose tokens are always there: the firings that need them.
  bool isEndless = false;
  Runs needed;

  bool isNarrow() const { return !watched && capacity < kUnbounded; }
  void push(int64_t tokens, int64_t time) {
    if (!watched) {
      pushed.add(tokens, time + latency);
      return;
    }
    pushed.total += tokens;
    visible.add(tokens, time + latency);
    reserved.add(tokens, time);
  }
  /// Its tokens are always there, whoever brings them.
  void neverEnd() {
    isEndless = true;
    capacity = kUnbounded;
    pushed.total = kUnbounded;
  }
  /// Holds so many tokens before anything happens.
  void begin(int64_t tokens) {
    if (tokens > 0)
      push(tokens, -1 - latency);
  }
  void pop(int64_t tokens, int64_t time) {
    if (capacity < kUnbounded)
      popped.add(tokens, time + returns);
    else
      popped.total += tokens;
    if (watched) {
      freed.add(tokens, time + returns);
      pops.add(tokens, time);
      count(/*known=*/INT64_MIN);
    }
  }
  int64_t seen(int64_t n) {
    if (isEndless)
      return -1; // nothing to wait for
    return watched ? visible.reached(n) : pushed.reached(n);
  }
  /// Equal batches, one after the other, so much later than these times.
  static void addAll(Series &series, int64_t tokens,
                     llvm::ArrayRef<int64_t> times, int64_t later) {
    series.reserve(int64_t(times.size()));
    Series::Writer writer(series);
    for (int64_t time : times)
      writer.add(tokens, time + later);
    writer.finish(series);
  }
  /// The same as one by one.
  void pushAll(int64_t tokens, llvm::ArrayRef<int64_t> times) {
    if (watched) {
      for (int64_t time : times)
        push(tokens, time);
      return;
    }
    addAll(pushed, tokens, times, latency);
  }
  void popAll(int64_t tokens, llvm::ArrayRef<int64_t> times) {
    if (watched || capacity >= kUnbounded) {
      for (int64_t time : times)
        pop(tokens, time);
      return;
    }
    addAll(popped, tokens, times, returns);
  }
  /// Tokens that were visible since then were needed now.
  void noteWait(int64_t since, int64_t time) {
    waited = std::min(waited, time - since);
  }
  /// Counts the occupancy as far as all pops that went before are known, as
  /// those before a cycle are. A place is taken from the producer's firing to
  /// the consumer's.
  void count(int64_t known) {
    while (!reserved.empty()) {
      Event taken = reserved.front();
      while (!freed.empty() && freed.front().time < taken.time) {
        gone = freed.front().count;
        freed.popFront();
      }
      if (freed.empty() && taken.time >= known)
        return;
      most = std::max(most, taken.count - gone);
      reserved.popFront();
    }
  }
};
} // namespace rhizome::gen::events
