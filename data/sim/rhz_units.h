// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notes when the units of engines (rhz_engine_unit) begin and end instructions
// in one frame, and what they wait for. It looks at signals that rhz_units.vlt
// keeps, by their names in the design; which instruction and which layer an
// entry is for, its reader knows, since each unit carries out its own in order.
// And it says what an engine finds wrong with its program.
#pragma once

#include "rhz_mistakes.h"
#include "verilated.h"
#include "verilated_syms.h"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace rhz {
class UnitWatch {
public:
  /// Looks for engines; `frame` of each is noted, the first one is 0.
  void find(VerilatedContext &context, int64_t frame) {
    const std::string queue = ".u_engine.gen_queue[0].u_queue";
    for (const auto &[name, scope] : *context.scopeNameMap()) {
      std::string path = name;
      if (path.size() < queue.size() ||
          path.compare(path.size() - queue.size(), queue.size(), queue) != 0)
        continue;
      path.resize(path.size() - queue.size());
      engines.emplace_back(context, path, frame);
    }
  }

  /// After the design has seen a cycle's inputs, before the clock's edge.
  void sample(int64_t now) {
    for (Engine &engine : engines)
      engine.sample(now);
  }

  /// What the first engine that found a mistake says: "NAME TEXT", the instance
  /// and its mistake in words; "" if none has found any.
  std::string mistake() const {
    for (const Engine &engine : engines)
      if (engine.mistake)
        return engine.name + " " + mistakeOf(engine.mistake);
    return "";
  }

  /// Lines "frame NAME CYCLES", the instance and what the frame took, then
  /// "UNIT BEGIN END BEFORE STOOD" for each instruction of each unit: cycles
  /// from the start of the frame; the unit whose token came last, 5 if the
  /// instruction did, 8 if nothing was missing; cycles in which weights lacked
  /// (matrix) or had no room (weights). An engine whose frame did not end has
  /// no line.
  void write(FILE *file) const {
    for (const Engine &engine : engines)
      engine.write(file);
  }

private:
  static constexpr int kUnits = 5, kWeights = 1, kMatrix = 2;
  static constexpr int kFetch = 5, kItself = 8;

  struct Entry {
    int64_t begin, end, stood;
    int before;
  };

  struct Unit {
    const CData *there, *seen, *take, *offered, *ready, *waits, *none, *done;
    std::vector<Entry> entries;
    size_t ended = 0;
    int before = kItself; ///< what the next one waits for

    void sample(int64_t now, bool stands) {
      if (*offered) {
        if (*ready)
          entries.push_back({now, -1, 0, before});
        before = kItself;
      } else if (!*there) {
        before = kFetch;
      } else if (*seen && !*take) {
        const int lacks = *waits & *none;
        before = lacks ? __builtin_ctz(unsigned(lacks)) : kItself;
      }
      if (ended == entries.size())
        return;
      entries[ended].stood += stands;
      if (*done)
        entries[ended++].end = now;
    }
  };

  struct Engine {
    std::string name;
    const CData *busy, *error, *credit, *word, *first, *full;
    Unit units[kUnits];
    int64_t wanted, frame = -1, origin = 0, cycles = -1;
    int mistake = 0;
    bool wasBusy = false;

    Engine(VerilatedContext &context, const std::string &path, int64_t wanted)
        : name(path.substr(path.rfind('.') + 1)), wanted(wanted) {
      const std::string core = path + ".u_engine";
      auto signal = [&](const std::string &scope, const char *variable) {
        const VerilatedScope *found = context.scopeFind(scope.c_str());
        const VerilatedVar *var = found ? found->varFind(variable) : nullptr;
        if (!var)
          VL_FATAL_MT(__FILE__, __LINE__, "",
                      (scope + "." + variable + " is not there").c_str());
        return static_cast<const CData *>(var->datap());
      };
      busy = signal(core, "busy_o");
      error = signal(core, "error_o");
      credit = signal(core + ".u_weights", "credit");
      const std::string matrix = core + ".u_compute.u_matrix";
      word = signal(matrix, "there_q");
      first = signal(matrix, "note_first");
      full = signal(matrix, "full_q");
      for (int u = 0; u < kUnits; ++u) {
        const std::string queue =
            core + ".gen_queue[" + std::to_string(u) + "].u_queue";
        units[u].there = signal(queue, "there");
        units[u].seen = signal(queue, "seen_q");
        units[u].take = signal(queue, "take");
        units[u].offered = signal(queue, "offered_q");
        units[u].ready = signal(queue, "start_ready_i");
        units[u].waits = signal(queue, "waits_q");
        units[u].none = signal(queue, "none_i");
        units[u].done = signal(queue, "done_i");
      }
    }

    void sample(int64_t now) {
      if (!mistake)
        mistake = *error;
      // It is busy from the cycle after its start on.
      if (*busy && !wasBusy && ++frame == wanted)
        origin = now - 1;
      if (!*busy && wasBusy && frame == wanted && cycles < 0)
        cycles = now - origin;
      wasBusy = *busy;
      if (!*busy || frame != wanted)
        return;
      for (int u = 0; u < kUnits; ++u)
        units[u].sample(now - origin, u == kWeights  ? !*credit
                                      : u == kMatrix ? *word && *first && !*full
                                                     : false);
    }

    void write(FILE *file) const {
      if (cycles < 0)
        return;
      std::fprintf(file, "frame %s %lld\n", name.c_str(), (long long)cycles);
      for (int u = 0; u < kUnits; ++u)
        for (const Entry &e : units[u].entries)
          std::fprintf(file, "%d %lld %lld %d %lld\n", u, (long long)e.begin,
                       (long long)e.end, e.before, (long long)e.stood);
    }
  };

  std::vector<Engine> engines;
};
} // namespace rhz
