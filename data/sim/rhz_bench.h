// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands around a Verilated design in a bench: random stalls, the data of
// ports, and the banks of memories outside the chip, which hold segments and
// buffers and answer at ports that read and ports that write, as rhz_memory.h
// says. The generated rhz_ports.h names the ports (RHZ_BANKS), segments
// (RHZ_SEGMENTS) and spaces that designs have for themselves (RHZ_SPACES).
#pragma once

#include "rhz_memory.h"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#if VM_TRACE_FST
#include <cstdlib>
#include <unistd.h>

// The writer of .fst files keeps temporary ones. The C library makes them in
// /tmp, where a confined simulator may not write: it has TMPDIR.
extern "C" FILE *tmpfile() {
  const char *folder = std::getenv("TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/rhz-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0)
    return nullptr;
  unlink(path.c_str());
  return fdopen(file, "w+b");
}
#endif

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

struct SpaceFigures {
  int bank;
  uint64_t address;
  int64_t bytes;
};

/// One bank: what it holds, and when it moves the beats of bursts. Ports that
/// share it are served in the order in which their bursts come; between one and
/// the next is a turnaround unless it goes on in the same direction where the
/// last one ended.
class Bank {
public:
  explicit Bank(const MemoryTiming &timing) : server(timing) {}

  void hold(uint64_t address, std::vector<uint8_t> bytes) {
    segments[address] = std::move(bytes);
  }
  /// What it holds from there on; null if it is not there as a whole.
  uint8_t *at(uint64_t address, uint64_t size) {
    auto next = segments.upper_bound(address);
    if (next == segments.begin())
      return nullptr;
    auto &[begin, bytes] = *std::prev(next);
    uint64_t offset = address - begin;
    return offset + size <= bytes.size() ? bytes.data() + offset : nullptr;
  }
  /// Accepts a burst; next() then gives the cycle of each of its beats.
  void begin(int64_t now, uint64_t address, uint64_t size, bool writes) {
    server.begin(now, address != end || writes != wrote);
    end = address + size;
    wrote = writes;
  }
  int64_t next() { return server.next(); }

  /// From then on what holds this byte is answered with this response of AXI4.
  void failAt(uint64_t address, unsigned response) {
    faulty = address;
    fault = response;
  }
  unsigned responseTo(uint64_t address, uint64_t size) const {
    return fault && faulty - address < size ? fault : 0;
  }

private:
  uint64_t faulty = 0;
  unsigned fault = 0; ///< 0: none
  MemoryServer server;
  std::map<uint64_t, std::vector<uint8_t>> segments; ///< by address
  uint64_t end = UINT64_MAX;                         ///< of the last burst
  bool wrote = false;
};

using Fail = std::function<void(const std::string &)>;

/// The banks of a design's ports, with their segments and spaces.
inline std::vector<std::shared_ptr<Bank>>
banksOf(const std::vector<BankFigures> &figures,
        const std::vector<SegmentFile> &segments,
        const std::vector<SpaceFigures> &spaces) {
  std::vector<std::shared_ptr<Bank>> banks;
  for (const BankFigures &bank : figures)
    banks.push_back(std::make_shared<Bank>(bank.timing));
  for (const SegmentFile &segment : segments)
    banks[size_t(segment.bank)]->hold(segment.address, readAll(segment.path));
  for (const SpaceFigures &space : spaces)
    banks[size_t(space.bank)]->hold(space.address,
                                    std::vector<uint8_t>(size_t(space.bytes)));
  return banks;
}

/// A burst at a port that AXI4 does not allow, or where nothing is held, as
/// text; empty: all is well.
inline std::string faultOf(Bank &bank, const BankFigures &figures,
                           uint64_t address, int64_t count) {
  auto size = uint64_t(figures.beatBytes), all = uint64_t(count) * size;
  std::string burst = std::string(figures.port) + ": a burst of " +
                      std::to_string(count) + " beats at address " +
                      std::to_string(address);
  if (address % size)
    return burst + " begins within a beat";
  if (address / 4096 != (address + all - 1) / 4096)
    return burst + " crosses 4 KiB";
  if (!bank.at(address, all))
    return burst + ", where no segment lies";
  return "";
}

/// The requests of a port: AXI4's channel AR or AW.
class Requests {
public:
  Requests(const char *port, uint64_t seed, unsigned percent, Fail fail)
      : port(port), stalls(seed, percent), fail(std::move(fail)) {}
  void drive(CData &ready, bool mayAccept = true) {
    ready = accepting = mayAccept && !stalls.now();
  }
  /// Whether one is accepted in this cycle.
  bool sample(CData valid, uint64_t address, unsigned length) {
    Request request{bool(valid), address, length};
    if (waiting.valid && !(request == waiting))
      fail(std::string(port) + ": a request changes while it waits");
    waiting = valid && !accepting ? request : Request{};
    return valid && accepting;
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
  const char *port;
  Stalls stalls;
  Fail fail;
  Request waiting;
  bool accepting = false;
};

/// A port that reads a bank, its own or one that it shares: AXI4's channels AR
/// and R.
class ReadPort {
public:
  ReadPort(const BankFigures &figures, uint64_t seed, unsigned percent,
           Fail fail, std::shared_ptr<Bank> shared = nullptr)
      : figures(figures),
        bank(shared ? shared : std::make_shared<Bank>(figures.timing)),
        requests(figures.port, seed, percent, fail), answers(seed + 7, percent),
        fail(fail) {}

  template <typename T>
  void drive(CData &arready, CData &rvalid, T &rdata, CData &rlast,
             int64_t now) {
    requests.drive(arready);
    if (!offering)
      offering = !beats.empty() && beats.front().cycle <= now && !answers.now();
    rvalid = offering;
    if (!offering)
      return;
    put(rdata, bank->at(beats.front().address, uint64_t(figures.beatBytes)),
        size_t(figures.beatBytes));
    rlast = beats.front().isLast;
  }
  /// RRESP of the offered beat.
  unsigned response() const {
    return offering ? bank->responseTo(beats.front().address,
                                       uint64_t(figures.beatBytes))
                    : 0;
  }

  void sample(CData arvalid, uint64_t address, unsigned length, CData rready,
              int64_t now) {
    if (requests.sample(arvalid, address, length))
      accept(address, int64_t(length) + 1, now);
    if (offering && rready) {
      beats.pop_front();
      offering = false;
    }
  }

private:
  struct Beat {
    int64_t cycle;
    uint64_t address;
    bool isLast;
  };

  BankFigures figures;
  std::shared_ptr<Bank> bank;
  Requests requests;
  Stalls answers;
  Fail fail;
  std::deque<Beat> beats;
  bool offering = false;

  void accept(uint64_t address, int64_t count, int64_t now) {
    if (std::string fault = faultOf(*bank, figures, address, count);
        !fault.empty())
      return fail(fault);
    auto size = uint64_t(figures.beatBytes);
    bank->begin(now, address, uint64_t(count) * size, /*writes=*/false);
    for (int64_t i = 0; i < count; ++i)
      beats.push_back(
          {bank->next(), address + uint64_t(i) * size, i == count - 1});
  }
};

/// A port that writes a bank: AXI4's channels AW, W and B. A burst goes to the
/// bank with its last beat and is answered when the bank has written it; beats
/// that wait have places for what comes in the bank's latency, and some more,
/// and those of a burst that was asked for always have.
class WritePort {
public:
  WritePort(const BankFigures &figures, uint64_t seed, unsigned percent,
            Fail fail, std::shared_ptr<Bank> bank)
      : figures(figures), bank(std::move(bank)),
        requests(figures.port, seed, percent, fail), taking(seed + 7, percent),
        answers(seed + 13, percent), fail(fail),
        places(kPlaces +
               figures.timing.latency * kTicks / figures.timing.portTicks()) {}

  void drive(CData &awready, CData &wready, CData &bvalid, int64_t now) {
    requests.drive(awready, int64_t(bursts.size()) < kBursts);
    while (!written.empty() && written.front() <= now)
      written.pop_front();
    const int64_t room =
        bursts.empty() ? places : std::max(places, bursts.front().count);
    wready = accepting =
        int64_t(written.size() + data.size()) < room && !taking.now();
    if (!offering)
      offering = !done.empty() && done.front().cycle <= now && !answers.now();
    bvalid = offering;
  }
  /// BRESP of the offered answer.
  unsigned response() const { return offering ? done.front().response : 0; }

  template <typename T>
  void sample(CData awvalid, uint64_t address, unsigned length, CData wvalid,
              const T &wdata, uint64_t strobes, CData wlast, CData bready,
              int64_t now) {
    if (requests.sample(awvalid, address, length)) {
      std::string fault = faultOf(*bank, figures, address, int64_t(length) + 1);
      if (!fault.empty())
        return fail(fault);
      bursts.push_back({address, int64_t(length) + 1});
    }
    takeData(wvalid, wdata, strobes, wlast);
    if (offering && bready) {
      done.pop_front();
      offering = false;
    }
    while (!bursts.empty() && int64_t(data.size()) >= bursts.front().count)
      write(now);
    // Those of bursts that are not requested yet are checked then.
  }

  /// Cycles in which beats were taken, in order, since the last clear().
  std::vector<int64_t> cycles;
  /// The strobes of a whole beat.
  static uint64_t allBytes(const BankFigures &figures) {
    return ~uint64_t(0) >> (64 - figures.beatBytes);
  }
  /// Takes the cycle of every accepted beat.
  void note(int64_t now) {
    if (took)
      cycles.push_back(now);
  }
  bool isIdle() const { return bursts.empty() && data.empty() && done.empty(); }

private:
  static constexpr int64_t kPlaces = 64, kBursts = 64;
  struct Burst {
    uint64_t address;
    int64_t count;
  };
  struct Answer {
    int64_t cycle; ///< when it can be given
    unsigned response;
  };
  struct Beat {
    std::vector<uint8_t> bytes;
    bool isLast;
  };

  BankFigures figures;
  std::shared_ptr<Bank> bank;
  Requests requests;
  Stalls taking, answers;
  Fail fail;
  int64_t places;
  std::deque<Burst> bursts;
  std::deque<Beat> data;       ///< of bursts that are not complete
  std::deque<int64_t> written; ///< when each beat is in the bank
  std::deque<Answer> done;     ///< of bursts that are written
  std::vector<uint8_t> waitingData;
  bool waiting = false, waitingLast = false;
  bool accepting = false, offering = false, took = false;

  template <typename T>
  void takeData(CData valid, const T &port, uint64_t strobes, CData last) {
    took = false;
    if (waiting && !valid)
      return fail(std::string(figures.port) +
                  ": a beat is withdrawn before it is taken");
    if (!valid)
      return;
    std::vector<uint8_t> bytes(size_t(figures.beatBytes));
    get(port, bytes.data(), bytes.size());
    if (waiting && (bytes != waitingData || bool(last) != waitingLast))
      return fail(std::string(figures.port) + ": a waiting beat changes");
    waiting = !accepting;
    if (waiting) {
      waitingData = std::move(bytes);
      waitingLast = last;
      return;
    }
    if (strobes != allBytes(figures))
      return fail(std::string(figures.port) + ": a beat is not whole");
    data.push_back({std::move(bytes), bool(last)});
    took = true;
  }

  void write(int64_t now) {
    const Burst burst = bursts.front();
    bursts.pop_front();
    auto size = uint64_t(figures.beatBytes);
    bank->begin(now, burst.address, uint64_t(burst.count) * size,
                /*writes=*/true);
    int64_t cycle = now;
    for (int64_t i = 0; i < burst.count; ++i) {
      const Beat &beat = data.front();
      if (beat.isLast != (i == burst.count - 1))
        fail(std::string(figures.port) + ": WLAST is " +
             std::to_string(int(beat.isLast)) + " at beat " +
             std::to_string(i) + " of " + std::to_string(burst.count));
      std::memcpy(bank->at(burst.address + uint64_t(i) * size, size),
                  beat.bytes.data(), beat.bytes.size());
      data.pop_front();
      cycle = bank->next();
      written.push_back(cycle);
    }
    done.push_back({cycle + 1, bank->responseTo(burst.address,
                                                uint64_t(burst.count) * size)});
  }
};
} // namespace rhz
