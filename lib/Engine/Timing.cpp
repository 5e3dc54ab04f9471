// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cycle model: units as queues of instructions, memory ports burst by
// burst, the array tap by tap. Its constants are the depths of the pipelines
// and queues in rtl/src; where several modules add up, they were fitted to runs
// of rtl/test/engine.py (docs/rationale/engine.md).
#include "rhizome/Engine/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

namespace {
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// What rhz_engine has, whatever the core.
constexpr int64_t kPlaces = 128;     // words that a reader asks for ahead
constexpr int64_t kFetchPlaces = 16; // instructions read ahead
constexpr int64_t kFetchBurst = 8;   // instructions
constexpr int64_t kPortBursts = 8;   // bursts of a port on their way
constexpr int64_t kWritten = 64;     // beats that wait in a memory
constexpr size_t kFlight = 8;        // instructions of a unit that have begun
// From one thing to the next, in cycles.
constexpr int64_t kStart = 8;     // a frame's start, the request of the head
constexpr int64_t kEnd = 5;       // the last unit is idle, the frame ends
constexpr int64_t kHeadRead = 11; // the head is there, the rest is asked for
constexpr int64_t kQueue = 4;     // fetched, and before its unit
constexpr int64_t kToken = 5;     // an instruction ends, another one begins
constexpr int64_t kForm = 6;      // it begins, its first burst is being formed
constexpr int64_t kAsk = 4;       // a burst is formed, the memory gets it
constexpr int64_t kGrant = 2;     // a burst is asked for, another one is
constexpr int64_t kTake = 2;      // a word is there, and in its unit
constexpr int64_t kWrite = 4;     // a word is in the load unit, and written
constexpr int64_t kReadWord = 7;  // a word is asked for, and before its unit
constexpr int64_t kTurn = 7;      // a block's rows are asked for, it turns
constexpr int64_t kDrained = 4;   // a block is in the queue, more are asked for
constexpr int64_t kFire = 3;      // a word is before the array, and in it
constexpr int64_t kMatrixGap = 2; // an instruction has asked for all, the next
constexpr int64_t kLanes = 17;   // a pixel meets its sum, its result is written
constexpr int64_t kMaximum = 11; // the same of `maximum`
constexpr int64_t kHeldGap = 2;  // a weight of dot after a pixel
constexpr int64_t kLongest = 1020; // columns for neighbors to be one tap
constexpr int64_t kSend = 6;       // a burst is formed, its first beat goes out
constexpr int64_t kAnswer = 2;     // a burst is answered, the instruction ends

/// Bursts that a reader has formed, and room for their words.
struct Reader {
  struct Formed {
    int64_t time, words;
    unsigned port = 0;
    int64_t first = 0; ///< word
  };
  std::deque<Formed> formed;
  int64_t room = kPlaces, least = kBurst;
  unsigned port = 0;    ///< of the last burst
  int64_t lastWord = 0; ///< when all that was asked for is there
};

struct Burst {
  int64_t first, words;
};

/// The words of an access to a memory as bursts.
std::vector<Burst> burstsOf(const Access &access) {
  // Loops whose words follow those of the inner ones are one run.
  int64_t run = 1;
  std::vector<Loop> outer;
  for (const Loop &loop : reverse(access.loops)) {
    if (loop.count == 1)
      continue;
    if (outer.empty() && loop.stride == run)
      run *= loop.count;
    else
      outer.push_back(loop);
  }
  std::vector<Burst> bursts;
  std::vector<int64_t> at(outer.size(), 0);
  while (true) {
    int64_t word = access.first;
    for (auto [index, loop] : zip(at, outer))
      word += index * loop.stride;
    for (int64_t left = run; left > 0;) {
      const int64_t words = std::min(left, kBurst - word % kBurst);
      bursts.push_back({word, words});
      word += words;
      left -= words;
    }
    size_t i = 0;
    while (i < outer.size() && ++at[i] == outer[i].count)
      at[i++] = 0;
    if (i == outer.size())
      return bursts;
  }
}

class Simulator {
public:
  Simulator(const Program &program, const Core &core,
            const MemoryTiming &memory)
      : program(program), core(core), memory(memory),
        beats(8 * core.in / core.port_bits),
        count(program.instructions.size() - 1) {
    made.spans.resize(count);
    const int64_t cascades = int64_t(divideCeil(core.in, 8));
    sumLatency = 5 + int64_t(divideCeil(core.in, cascades)) +
                 Log2_64_Ceil(uint64_t(cascades));
    readers[FetchClient].room = kFetchPlaces;
    readers[FetchClient].least = kFetchBurst;
  }

  Prediction run() {
    beginFetch();
    while (!isDone()) {
      wake = kNever;
      for (moved = true; moved;) {
        moved = false;
        stepFetch();
        stepLoad();
        stepWeights();
        stepMatrix();
        stepVector();
        stepStore();
        stepPorts();
        giveTokens();
      }
      if (isDone())
        break;
      assert(wake != kNever && "a program that the verifier lets pass ends");
      if (wake == kNever)
        break;
      now = wake;
    }
    made.cycles = now + kEnd;
    return std::move(made);
  }

private:
  const Instruction &at(size_t i) const { return program.instructions[i]; }
  void later(int64_t time) {
    if (time > now)
      wake = std::min(wake, time);
  }
  bool isDone() const {
    return handed == count && all_of(units, [](const UnitState &unit) {
             return unit.waiting.empty() && unit.begun.empty();
           });
  }

  //===-- Fetch, queues and tokens --------------------------------------===//

  struct Begun {
    size_t number;
    int64_t end = kNever; ///< kNever until it is known
  };
  struct UnitState {
    std::deque<std::pair<size_t, int64_t>> waiting; ///< instruction, from when
    std::deque<Begun> begun;
    int64_t free = 0, lastEnd = 0;
  };

  void beginFetch() {
    const int64_t words = int64_t(divideCeil(32, core.in));
    readers[FetchClient].formed.push_back({kStart, words});
    fetchSizes.push_back(0);
    // With `end`.
    for (size_t first = 0; first <= count; first += kFetchBurst) {
      const int64_t size = std::min(kFetchBurst, int64_t(count + 1 - first));
      readers[FetchClient].formed.push_back(
          {kNever, int64_t(divideCeil(size * 32, core.in))});
      fetchSizes.push_back(size);
    }
  }

  void fetchArrives(int64_t end) {
    const int64_t size = fetchSizes.front();
    fetchSizes.pop_front();
    if (size == 0) {
      for (Reader::Formed &burst : readers[FetchClient].formed)
        burst.time = end + kHeadRead;
      later(end + kHeadRead);
      return;
    }
    readers[FetchClient].room -= size;
    fetched.push_back({end + kTake, size});
    later(end + kTake);
  }

  void stepFetch() {
    while (handed < count && !fetched.empty()) {
      auto &[time, left] = fetched.front();
      const int64_t from = std::max(time, nextHand);
      if (from > now)
        return later(from);
      const Unit unit = infoOf(at(handed).opcode).unit;
      auto &waiting = units[unsigned(unit)].waiting;
      if (int64_t(waiting.size()) >= core.depth)
        return;
      waiting.push_back({handed++, now + kQueue});
      later(now + kQueue);
      ++readers[FetchClient].room;
      nextHand = now + 1;
      if (--left == 0)
        fetched.pop_front();
      moved = true;
    }
  }

  /// The first instruction that waits, if it begins now.
  std::optional<size_t> begin(Unit which) {
    UnitState &unit = units[unsigned(which)];
    if (unit.waiting.empty() || unit.begun.size() >= kFlight)
      return std::nullopt;
    auto [number, time] = unit.waiting.front();
    int64_t from = std::max(time, unit.free);
    Cause last = time > unit.free ? Cause::Fetch : Cause::Itself;
    const unsigned waits = at(number).waits;
    for (unsigned giver = 0; giver < kUnits; ++giver)
      if (waits >> giver & 1) {
        auto &there = tokens[giver][unsigned(which)];
        if (there.empty())
          return std::nullopt;
        if (there.front() > from) {
          from = there.front();
          last = Cause(giver);
        }
      }
    if (from > now) {
      later(from);
      return std::nullopt;
    }
    for (unsigned giver = 0; giver < kUnits; ++giver)
      if (at(number).waits >> giver & 1)
        tokens[giver][unsigned(which)].pop_front();
    unit.waiting.pop_front();
    unit.begun.push_back({number});
    made.spans[number].begin = now;
    made.spans[number].before = last;
    moved = true;
    return number;
  }

  void endsAt(Unit which, size_t number, int64_t time, Cause during) {
    UnitState &unit = units[unsigned(which)];
    Span &span = made.spans[number];
    for (Begun &begun : unit.begun)
      if (begun.number == number)
        begun.end = time;
    span.end = time;
    span.during = during;
    made.runs[unsigned(which)] += time - std::max(span.begin, unit.lastEnd);
    unit.lastEnd = time;
    later(time);
    moved = true;
  }

  void giveTokens() {
    for (unsigned from = 0; from < kUnits; ++from) {
      auto &begun = units[from].begun;
      while (!begun.empty() && begun.front().end != kNever) {
        if (begun.front().end > now) {
          later(begun.front().end);
          break;
        }
        const uint8_t gives = at(begun.front().number).gives;
        bool isFull = false;
        for (unsigned to = 0; to < kUnits; ++to)
          isFull |= (gives >> to & 1) != 0 &&
                    int64_t(tokens[from][to].size()) >= core.tokens;
        if (isFull)
          break;
        for (unsigned to = 0; to < kUnits; ++to)
          if (gives >> to & 1)
            tokens[from][to].push_back(now + kToken);
        if (gives)
          later(now + kToken);
        begun.pop_front();
        moved = true;
      }
    }
  }

  //===-- Ports ---------------------------------------------------------===//

  /// A burst of an instruction that writes; the memory gets it with its last
  /// beat.
  struct Written {
    double time;
    int64_t first, words;
    size_t number;
    bool isLast;
  };
  enum Client : unsigned { LoadClient, WeightsClient, FetchClient, kClients };
  struct Port {
    std::deque<int64_t> flight; ///< ends of bursts
    int64_t nextGrant = 0;
    double busFree = 0, readFree = 0, writeFree = 0;
    unsigned turn = 0;
    int64_t next = -1;  ///< the word behind the last burst
    bool wrote = false; ///< the last burst
    /// Written bursts that wait for the memory, which has those of both
    /// directions in the order in which it gets them.
    std::deque<Written> written;
    int64_t beatsWritten = 0; ///< of these
  };

  /// Of words in the memory, and at a port.
  double cyclesOf(int64_t words) const {
    return double(words * beats) * memory.perBeat;
  }
  double portCyclesOf(int64_t words) const {
    return double(words * beats) * std::max(memory.perBeat, 1.0);
  }

  void stepPorts() {
    for (unsigned p = 0; p < unsigned(core.ports); ++p) {
      Port &port = ports[p];
      while (!port.flight.empty() && port.flight.front() <= now)
        port.flight.pop_front();
      serveWrites(port, double(now));
      if (!port.written.empty())
        later(int64_t(std::ceil(port.written.front().time)));
      if (port.nextGrant > now) {
        later(port.nextGrant);
        continue;
      }
      if (int64_t(port.flight.size()) >= kPortBursts) {
        later(port.flight.front());
        continue;
      }
      for (unsigned i = 0; i < kClients; ++i) {
        const unsigned client = (port.turn + i) % kClients;
        Reader &reader = readers[client];
        if (reader.formed.empty() || reader.formed.front().port != p ||
            reader.room < reader.least)
          continue;
        // Another port than before is asked once nothing is on its way.
        auto [time, words, unused, first] = reader.formed.front();
        if (reader.port != p)
          time = std::max(time, reader.lastWord);
        if (time > now) {
          if (time != kNever)
            later(time);
          continue;
        }
        reader.formed.pop_front();
        reader.port = p;
        grant(port, p, client, first, words);
        reader.lastWord = int64_t(std::ceil(port.readFree));
        break;
      }
    }
  }

  /// Has the memory carry out a burst, at `time` at the earliest; when it
  /// begins.
  double serve(Port &port, double time, int64_t first, int64_t words,
               bool writes) {
    const bool turns = first != port.next || writes != port.wrote;
    const double from =
        std::max(port.busFree + double(turns ? memory.turn : 0), time);
    port.busFree = from + cyclesOf(words);
    port.next = first + words;
    port.wrote = writes;
    return from;
  }

  /// The memory carries out what it gets until then.
  void serveWrites(Port &port, double until) {
    while (!port.written.empty() && port.written.front().time <= until) {
      const Written burst = port.written.front();
      port.written.pop_front();
      port.beatsWritten -= burst.words * beats;
      serve(port, burst.time + double(memory.answer), burst.first, burst.words,
            /*writes=*/true);
      if (burst.isLast)
        endsAt(Unit::Store, burst.number,
               int64_t(std::ceil(port.busFree)) + kAnswer, Cause::Memory);
      moved = true;
    }
  }

  void grant(Port &port, unsigned p, unsigned client, int64_t first,
             int64_t words) {
    serveWrites(port, double(now + kAsk));
    const double from = serve(port, double(now + kAsk + memory.latency), first,
                              words, /*writes=*/false);
    const double comes = std::max(from, port.readFree);
    port.readFree = std::max(port.busFree, comes + portCyclesOf(words));
    const auto begin = int64_t(std::ceil(comes)),
               end = int64_t(std::ceil(port.readFree));
    port.flight.push_back(end);
    port.nextGrant = now + kGrant;
    port.turn = (client + 1) % kClients;
    made.readWords[p] += words;
    moved = true;
    later(port.nextGrant);
    if (client == FetchClient)
      return fetchArrives(end);
    readers[client].room -= words;
    (client == LoadClient ? loadWords : weightWords)
        .push_back({begin + kTake, end + kTake, words});
  }

  /// Words that come from a port one after the other.
  struct Arrival {
    int64_t begin, end, words;
  };

  /// Bursts of an instruction that begins now; `free` is when its unit can take
  /// the next one.
  void ask(unsigned client, const Access &access, int64_t &free) {
    int64_t time = now + kForm;
    for (auto [first, words] : burstsOf(access)) {
      time += words;
      readers[client].formed.push_back(
          {time, words, unsigned(access.bank), first});
    }
    later(now + kForm + 1);
    free = time;
  }

  std::vector<Access> accessesOf(size_t number) const {
    std::vector<Access> all;
    infoOf(at(number).opcode).accesses(core, at(number).values.data(), all);
    return all;
  }

  //===-- Load ----------------------------------------------------------===//

  struct Job {
    size_t number;
    int64_t left;   ///< words that still come
    double perWord; ///< words written for each of them
    int64_t begin;
    bool isStream;
  };

  void stepLoad() {
    if (auto number = begin(Unit::Load)) {
      const auto accesses = accessesOf(*number);
      int64_t comes = 0, writes = 0;
      for (const Access &access : accesses) {
        (access.writes ? writes : comes) += access.words();
      }
      UnitState &unit = units[unsigned(Unit::Load)];
      unit.free = now + 1;
      const bool isStream = accesses.front().space != engine::Space::Memory;
      if (!isStream)
        ask(LoadClient, accesses.front(), unit.free);
      jobs.push_back(
          {*number, comes, double(writes) / double(comes), now, isStream});
    }
    while (!jobs.empty() && (jobs.front().isStream || !loadWords.empty())) {
      Job &job = jobs.front();
      // A stream's words are there.
      Arrival words = {job.begin + kTake, job.begin + kTake, job.left};
      if (!job.isStream) {
        words = loadWords.front();
        loadWords.pop_front();
      }
      // The unit writes a word a cycle, once it is there.
      const double takes = double(words.words) * job.perWord;
      writer = std::max({double(words.end) + std::min(job.perWord, 1.0),
                         std::max(writer, double(words.begin)) + takes,
                         double(job.begin + kForm) + takes});
      if (!job.isStream)
        frees.push_back({int64_t(writer), words.words, LoadClient});
      later(int64_t(writer));
      job.left -= words.words;
      if (job.left == 0) {
        endsAt(Unit::Load, job.number, int64_t(writer) + kWrite,
               job.isStream ? Cause::Stream : Cause::Memory);
        jobs.pop_front();
      }
      moved = true;
    }
    giveRoom();
  }

  /// Readers have room again.
  void giveRoom() {
    for (size_t i = 0; i < frees.size();) {
      const Free &free = frees[i];
      if (free.time > now) {
        later(free.time);
        ++i;
        continue;
      }
      readers[free.client].room += free.words;
      frees.erase(frees.begin() + ptrdiff_t(i));
      moved = true;
    }
  }

  //===-- Weights -------------------------------------------------------===//

  struct Blocks {
    size_t number;
    int64_t left, words; ///< blocks, and words of one; 0: from the scratchpad
    bool isTurned, isFirst = true;
    int64_t full = 0;          ///< cycles in which the queue had no room
    int64_t fullFrom = kNever; ///< since when it has none
  };

  void stepWeights() {
    if (auto number = begin(Unit::Weights)) {
      const auto f = at(*number).as<isa::Weights>();
      UnitState &unit = units[unsigned(Unit::Weights)];
      unit.free = now + 1;
      const bool isScratch = f.port == isa::Weights::Scratch;
      if (!isScratch)
        ask(WeightsClient, accessesOf(*number).front(), unit.free);
      blocks.push_back({*number, f.blocks,
                        isScratch ? 0
                        : f.four  ? core.out / 2
                                  : core.out,
                        f.turned != 0});
    }
    while (!blocks.empty()) {
      Blocks &next = blocks.front();
      // The queue holds so many blocks besides the one before the array.
      if (int64_t(leaves.size()) - int64_t(taken) > core.queue) {
        next.fullFrom = std::min(next.fullFrom, now);
        return;
      }
      if (next.fullFrom != kNever)
        next.full += now - std::exchange(next.fullFrom, kNever);
      int64_t there = now;
      if (next.words > 0) {
        while (available < next.words && !weightWords.empty()) {
          available += weightWords.front().words;
          lastWeight = weightWords.front().end;
          weightWords.pop_front();
        }
        if (available < next.words)
          return;
        available -= next.words;
        there = lastWeight;
      } else if (next.isTurned) {
        // All rows come, and then all columns go.
        const int64_t from = next.isFirst ? std::max(now, pushed) : pushed;
        there = std::max(from + core.out + kTurn, now) + core.out;
      } else if (next.isFirst) {
        // What the instruction before asked for is in the queue.
        there = std::max(now, pushed + kDrained) + core.out + kReadWord;
      }
      next.isFirst = false;
      pushed = std::max(there, pushed + core.out);
      if (next.words > 0)
        frees.push_back({pushed, next.words, WeightsClient});
      later(pushed);
      // It goes to the registers before the array when the one before has
      // been taken.
      leaves.push_back(pushed + 2);
      if (--next.left == 0) {
        const int64_t stood = pushed + 1 - made.spans[next.number].begin;
        endsAt(Unit::Weights, next.number, pushed + 1,
               2 * next.full > stood ? Cause::Matrix
               : next.words > 0      ? Cause::Memory
                                     : Cause::Itself);
        blocks.pop_front();
      }
      moved = true;
    }
  }

  //===-- Matrix --------------------------------------------------------===//

  void stepMatrix() {
    if (!matrix) {
      auto number = begin(Unit::Matrix);
      if (!number)
        return;
      const auto f = at(*number).as<isa::Matrix>();
      matrix =
          Running{*number, f.taps2 * f.taps1 * f.taps0,
                  std::max<int64_t>(f.rows * f.columns,
                                    f.taps0 * f.taps1 * f.taps2 > 1 ? 3 : 1)};
      made.arrayCycles += matrix->taps * f.rows * f.columns;
      array = std::max(array, now + kReadWord + kFire);
      matrixAsks = kNever;
    }
    while (matrix->taps > 0) {
      if (taken == leaves.size())
        return;
      // The block is loaded column by column after the one before was taken.
      const int64_t block =
          std::max(leaves[taken] + 1, lastTaken + core.out + 2);
      matrix->stood += std::max<int64_t>(0, block - array);
      array = std::max(array, block);
      if (array > now)
        return later(array);
      lastTaken = array;
      ++taken;
      array += matrix->pixels;
      --matrix->taps;
      moved = true;
    }
    const size_t number = matrix->number;
    endsAt(Unit::Matrix, number, array + sumLatency,
           matrix->stood > 0 ? Cause::Weights : Cause::Itself);
    matrixAsks = array - kReadWord - kFire;
    units[unsigned(Unit::Matrix)].free = std::max(now, matrixAsks) + kMatrixGap;
    later(units[unsigned(Unit::Matrix)].free);
    later(matrixAsks);
    matrix.reset();
  }

  //===-- Vector --------------------------------------------------------===//

  void stepVector() {
    auto number = begin(Unit::Vector);
    if (!number)
      return;
    const auto f = at(*number).as<isa::Vector>();
    const int64_t lanes =
        f.operation == isa::Vector::Maximum ? kMaximum : kLanes;
    const int64_t cycles = vectorCycles(f);
    const int64_t end = now + 1 + cycles + kReadWord + lanes;
    endsAt(Unit::Vector, *number, end, Cause::Itself);
    units[unsigned(Unit::Vector)].free = end;
  }

  //===-- Store ---------------------------------------------------------===//

  /// The instruction of which bursts are being formed.
  struct Storing {
    size_t number;
    unsigned port;
    std::vector<Burst> bursts;
    size_t formed = 0;
    int64_t time; ///< when the last one of these was
  };

  void stepStore() {
    if (!storing)
      beginStore();
    while (storing) {
      Port &port = ports[storing->port];
      const auto [first, words] = storing->bursts[storing->formed];
      const int64_t time = std::max(
          storing->time + words, int64_t(port.writeFree) - 2 * kBurst * beats);
      // So many beats wait for the memory.
      if (port.beatsWritten > kWritten + memory.answer)
        return;
      if (time > now)
        return later(time);
      storing->time = time;
      const bool isLast = ++storing->formed == storing->bursts.size();
      const double from = std::max(port.writeFree, double(time + kSend));
      made.writtenWords[storing->port] += words;
      if (memory.isShared) {
        port.writeFree = from + double(words * beats);
        port.beatsWritten += words * beats;
        port.written.push_back(
            {port.writeFree, first, words, storing->number, isLast});
        later(int64_t(std::ceil(port.writeFree)));
      } else {
        port.writeFree = from + portCyclesOf(words);
        if (isLast)
          endsAt(Unit::Store, storing->number,
                 int64_t(std::ceil(port.writeFree)) + memory.answer + kAnswer,
                 Cause::Memory);
      }
      moved = true;
      if (isLast) {
        units[unsigned(Unit::Store)].free = time;
        storing.reset();
      }
    }
  }

  void beginStore() {
    auto number = begin(Unit::Store);
    if (!number)
      return;
    const Access to = accessesOf(*number).back();
    const int64_t time = now + kForm;
    if (to.space == engine::Space::Memory) {
      storing = Storing{*number, unsigned(to.bank), burstsOf(to), 0, time};
      return;
    }
    units[unsigned(Unit::Store)].free = time + to.words();
    endsAt(Unit::Store, *number, time + to.words() + kSend, Cause::Stream);
  }

  struct Free {
    int64_t time, words;
    unsigned client;
  };
  struct Running {
    size_t number;
    int64_t taps, pixels;
    int64_t stood = 0; ///< cycles in which the array waited for weights
  };

  const Program &program;
  const Core &core;
  const MemoryTiming memory;
  const int64_t beats;
  const size_t count; ///< without `end`
  int64_t sumLatency = 0;
  Prediction made;
  int64_t now = 0, wake = kNever;
  bool moved = false;

  std::array<UnitState, kUnits> units;
  std::array<std::array<std::deque<int64_t>, kUnits>, kUnits> tokens;
  std::deque<int64_t> fetchSizes;
  std::deque<std::pair<int64_t, int64_t>> fetched; ///< time, instructions
  size_t handed = 0;
  int64_t nextHand = 0;

  std::array<Reader, kClients> readers;
  std::array<Port, 4> ports;
  std::vector<Free> frees;
  std::deque<Arrival> loadWords, weightWords;
  std::deque<Job> jobs;
  double writer = 0;

  std::deque<Blocks> blocks;
  int64_t available = 0, lastWeight = 0, pushed = 0;
  std::vector<int64_t> leaves; ///< of each block so far
  size_t taken = 0;
  int64_t lastTaken = -kNever / 2;

  std::optional<Storing> storing;
  std::optional<Running> matrix;
  int64_t array = 0;      ///< when it is free
  int64_t matrixAsks = 0; ///< until when the unit asks for words
};
} // namespace

const char *engine::nameOf(Cause cause) {
  static constexpr const char *kNames[kCauses] = {
      "load",  "weights", "matrix", "vector", "store",
      "fetch", "memory",  "stream", "itself"};
  return kNames[unsigned(cause)];
}

int64_t engine::vectorCycles(const isa::Vector &f) {
  const int64_t pixels = f.rows * f.columns, taps = f.taps1 * f.taps0;
  switch (f.operation) {
  case isa::Vector::Requantize:
    return 11 + pixels;
  case isa::Vector::Add:
    return 12 + 2 * pixels;
  case isa::Vector::Multiply:
    return 2 * pixels;
  case isa::Vector::Maximum:
    return taps * pixels;
  case isa::Vector::Dot:
    // Three taps of a line are one, of each of its words.
    if (f.taps0 == 3 && f.a_column == f.b_column && f.columns < kLongest)
      return f.taps1 * (f.rows * (f.columns + 2) + kHeldGap + 2);
    if (f.taps0 == 3 && f.a_column == 2 * f.b_column &&
        f.columns < kLongest / 2)
      return f.taps1 * (f.rows * (2 * f.columns + 1) + kHeldGap + 2);
    return taps * (pixels + kHeldGap);
  default: // a byte of the table a cycle
    return 256 + pixels;
  }
}

std::array<int64_t, 3> engine::paceOf(const Instruction &instruction) {
  switch (instruction.opcode) {
  case Opcode::Weights: {
    const auto f = instruction.as<isa::Weights>();
    return {f.blocks, f.four, f.turned};
  }
  case Opcode::Matrix: {
    const auto f = instruction.as<isa::Matrix>();
    return {f.taps2 * f.taps1 * f.taps0, f.rows, f.columns};
  }
  case Opcode::Vector: {
    const auto f = instruction.as<isa::Vector>();
    return {vectorCycles(f), f.operation == isa::Vector::Maximum};
  }
  default:
    return {};
  }
}

Prediction engine::predict(const Program &program, const Core &core,
                           const MemoryTiming &memory) {
  return Simulator(program, core, memory).run();
}
