// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands around a Verilated design in a bench: random stalls, the data of
// ports, and the banks of memories outside the chip, which hold the package's
// segments and answer as rhz_memory.h says. The generated rhz_ports.h names the
// banks (RHZ_BANKS) and segments (RHZ_SEGMENTS).
#pragma once

#include "rhz_memory.h"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rhz {
struct Random {
  uint64_t state;
  explicit Random(uint64_t seed)
      : state(seed * 0x9E3779B97F4A7C15ull + 0x1234567) {}
  uint32_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return uint32_t(state >> 32);
  }
};

/// Decides cycle by cycle whether a side stalls: coins, and now and then a
/// long pause, which fills or drains every buffer.
struct Stalls {
  Random random;
  unsigned percent;
  int pause = 0;
  Stalls(uint64_t seed, unsigned percent) : random(seed), percent(percent) {
    random.next();
  }
  bool now() {
    if (percent == 0)
      return false;
    if (pause > 0)
      return --pause, true;
    uint32_t r = random.next();
    if (r % 512 == 0)
      pause = (r >> 16) % 200;
    return (r >> 9) % 100 < percent;
  }
};

// A port's data: a C integer, or an array of words if it is wider.
template <typename T> void put(T &port, const uint8_t *bytes, size_t n) {
  std::memset(&port, 0, sizeof(T));
  std::memcpy(&port, bytes, n);
}
template <typename T> void get(const T &port, uint8_t *bytes, size_t n) {
  std::memcpy(bytes, &port, n);
}

inline std::vector<uint8_t> readAll(const char *path) {
  std::vector<uint8_t> bytes;
  FILE *f = std::fopen(path, "rb");
  if (!f)
    return bytes;
  std::fseek(f, 0, SEEK_END);
  bytes.resize(size_t(std::ftell(f)));
  std::rewind(f);
  if (std::fread(bytes.data(), 1, bytes.size(), f) != bytes.size())
    bytes.clear();
  std::fclose(f);
  return bytes;
}

/// As rhz_ports.h lists them.
struct BankFigures {
  const char *port;
  int64_t beatBytes;
  MemoryTiming timing;
};
struct SegmentFile {
  int bank;
  uint64_t address;
  const char *path; ///< seen from the RTL's folder
};

/// One bank behind a port that reads: AXI4's channels AR and R.
class Bank {
public:
  using Fail = std::function<void(const std::string &)>;

  Bank(const BankFigures &figures, uint64_t seed, unsigned percent, Fail fail)
      : figures(figures), server(figures.timing), requests(seed, percent),
        answers(seed + 7, percent), fail(std::move(fail)) {}

  void load(uint64_t address, const char *path) {
    segments[address] = readAll(path);
  }

  template <typename T>
  void drive(CData &arready, CData &rvalid, T &rdata, CData &rlast,
             int64_t now) {
    arready = accepting = !requests.now();
    if (!offering)
      offering = !beats.empty() && beats.front().cycle <= now && !answers.now();
    rvalid = offering;
    if (!offering)
      return;
    put(rdata, bytesAt(beats.front().address), size_t(figures.beatBytes));
    rlast = beats.front().isLast;
  }

  void sample(CData arvalid, uint64_t address, unsigned length, CData rready,
              int64_t now) {
    Request request{bool(arvalid), address, length};
    if (waiting.valid && !(request == waiting))
      fail(std::string(figures.port) + ": a request changes while it waits");
    waiting = arvalid && !accepting ? request : Request{};
    if (arvalid && accepting)
      accept(address, int64_t(length) + 1, now);
    if (offering && rready) {
      beats.pop_front();
      offering = false;
    }
  }

private:
  struct Request {
    bool valid = false;
    uint64_t address = 0;
    unsigned length = 0;
    bool operator==(const Request &other) const {
      return valid == other.valid && address == other.address &&
             length == other.length;
    }
  };
  struct Beat {
    int64_t cycle;
    uint64_t address;
    bool isLast;
  };

  BankFigures figures;
  MemoryServer server;
  Stalls requests, answers;
  Fail fail;
  std::map<uint64_t, std::vector<uint8_t>> segments; ///< by address
  std::deque<Beat> beats;
  Request waiting;
  uint64_t end = UINT64_MAX; ///< of the last burst
  bool accepting = false, offering = false;

  void accept(uint64_t address, int64_t count, int64_t now) {
    auto size = uint64_t(figures.beatBytes), last = address + count * size - 1;
    std::string burst = std::string(figures.port) + ": a burst of " +
                        std::to_string(count) + " beats at address " +
                        std::to_string(address);
    if (address % size)
      return fail(burst + " begins within a beat");
    if (address / 4096 != last / 4096)
      return fail(burst + " crosses 4 KiB");
    if (!bytesAt(address) || !bytesAt(last + 1 - size))
      return fail(burst + ", where no segment lies");
    server.begin(now, address != end);
    end = last + 1;
    for (int64_t i = 0; i < count; ++i)
      beats.push_back(
          {server.next(), address + uint64_t(i) * size, i == count - 1});
  }

  /// A beat of a segment; null if none is there.
  const uint8_t *bytesAt(uint64_t address) const {
    auto next = segments.upper_bound(address);
    if (next == segments.begin())
      return nullptr;
    const auto &[begin, bytes] = *std::prev(next);
    uint64_t at = address - begin;
    return at + uint64_t(figures.beatBytes) <= bytes.size() ? bytes.data() + at
                                                            : nullptr;
  }
};
} // namespace rhz
