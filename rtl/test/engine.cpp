// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a case on rhz_engine: a program on memories of before, which must be the
// memories of after, byte by byte, and a stream in that must give the stream out.
// Memories and streams pause at random, by seed. They are as hard on the core as AXI4
// allows: a read sees what is there when it is asked for, a write is there from its
// answer on. Prints a line of JSON: cycles, and of each unit in how many it ran and in
// how many it waited for others.
//   sim FOLDER SEED STALLS LATENCY [ERROR]
// STALLS are percent of cycles, LATENCY the least of a memory. With ERROR the core must
// say so, and only the files of after that there are count.
// The core's IN, PORTS and PORT_BITS are defined.
#include "Vrhz_engine.h"
#include "verilated.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {
using Bytes = std::vector<uint8_t>;
constexpr size_t kBeat = PORT_BITS / 8, kPage = 4096;
constexpr uint64_t kBase = 0x40000000, kApart = 0x100000000;
std::mt19937 random_(1);
unsigned stalls = 0, least = 20;
bool failed = false;

bool stalled() { return random_() % 100 < stalls; }

void fail(const std::string &what) {
  if (!failed)
    std::fprintf(stderr, "%s\n", what.c_str());
  failed = true;
}

bool read(const std::string &path, Bytes &bytes) {
  std::ifstream in(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(in), {});
  return bool(in);
}

/// Bytes of a signal of any width, as Verilator keeps them.
template <typename T> uint8_t *at(T &signal, size_t byte) {
  return reinterpret_cast<uint8_t *>(&signal) + byte;
}
template <typename T> uint64_t word(T &signal, size_t index) {
  uint64_t value = 0;
  std::memcpy(&value, at(signal, 8 * index), 8);
  return value;
}

/// What lies behind one port.
class Memory {
public:
  Bytes bytes;
  size_t limit = 0; ///< bytes that the core may use
  unsigned port = 0;

  uint64_t base() const { return kBase + port * kApart; }

  /// What it does in this cycle, before the core's outputs are known.
  void offer(Vrhz_engine &top, uint64_t now) {
    set(top.m_axi_arready, reads.size() < 8 && !stalled());
    set(top.m_axi_awready, writes.size() < 8 && !stalled());
    set(top.m_axi_wready, !writes.empty() && !stalled());
    // A beat or an answer that is offered stays.
    if (!beatOffered)
      beatOffered = !reads.empty() && reads.front().time <= now && !stalled();
    set(top.m_axi_rvalid, beatOffered);
    set(top.m_axi_rlast, beatOffered && reads.front().left == 1);
    for (size_t i = 0; i < kBeat; ++i)
      *at(top.m_axi_rdata, port * kBeat + i) =
          beatOffered ? reads.front().data[reads.front().at + i]
                      : uint8_t(random_());
    if (!answerOffered)
      answerOffered =
          !answers.empty() && answers.front().time <= now && !stalled();
    set(top.m_axi_bvalid, answerOffered);
  }

  /// What has passed in this cycle.
  void take(Vrhz_engine &top, uint64_t now) {
    if (get(top.m_axi_rvalid) && get(top.m_axi_rready)) {
      beatOffered = false;
      Burst &burst = reads.front();
      burst.at += kBeat;
      if (--burst.left == 0)
        reads.pop_front();
    }
    if (get(top.m_axi_bvalid) && get(top.m_axi_bready)) {
      answerOffered = false;
      const Burst &burst = answers.front();
      std::memcpy(bytes.data() + burst.address, burst.data.data(),
                  burst.data.size());
      answers.pop_front();
    }
    if (get(top.m_axi_wvalid) && get(top.m_axi_wready)) {
      Burst &burst = writes.front();
      const uint8_t *data = at(top.m_axi_wdata, port * kBeat);
      burst.data.insert(burst.data.end(), data, data + kBeat);
      --burst.left;
      if (get(top.m_axi_wlast) != (burst.left == 0))
        fail("wlast is not at the end of a burst");
      if (burst.left == 0) {
        burst.time = now + least / 2 + random_() % (least + 1);
        answers.push_back(std::move(burst));
        writes.pop_front();
      }
    }
    if (get(top.m_axi_arvalid) && get(top.m_axi_arready)) {
      Burst burst = request(word(top.m_axi_araddr, port),
                            *at(top.m_axi_arlen, port), "read");
      burst.data.assign(bytes.begin() + burst.address,
                        bytes.begin() + burst.address + burst.left * kBeat);
      burst.time = now + least + (stalls ? random_() % (least + 1) : 0);
      reads.push_back(std::move(burst));
    }
    if (get(top.m_axi_awvalid) && get(top.m_axi_awready))
      writes.push_back(request(word(top.m_axi_awaddr, port),
                               *at(top.m_axi_awlen, port), "written"));
  }

private:
  struct Burst {
    uint64_t address = 0, time = 0;
    size_t left = 0, at = 0;
    Bytes data;
  };
  std::deque<Burst> reads, writes, answers;
  bool beatOffered = false, answerOffered = false;

  template <typename T> void set(T &flags, bool value) {
    flags = T((flags & ~(1u << port)) | unsigned(value) << port);
  }
  template <typename T> bool get(T flags) const { return flags >> port & 1; }

  Burst request(uint64_t address, uint8_t length, const char *how) {
    Burst burst;
    burst.left = length + 1u;
    burst.address = address - base();
    size_t size = burst.left * kBeat;
    if (address < base() || burst.address + size > limit) {
      fail("m" + std::to_string(port) + " is " + how + " beyond its limit");
      burst.address = 0;
    }
    if (burst.address / kPage != (burst.address + size - 1) / kPage)
      fail("a burst crosses 4 KiB");
    return burst;
  }
};

/// "" if they are equal.
std::string difference(const std::string &name, const Bytes &is,
                       const Bytes &expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (i >= is.size() || is[i] != expected[i])
      return name + " byte " + std::to_string(i) + " (word " +
             std::to_string(i / IN) + "): " +
             (i < is.size() ? std::to_string(is[i]) : "nothing") + " and not " +
             std::to_string(expected[i]);
  if (is.size() > expected.size())
    return name + " is too long";
  return "";
}
} // namespace

int main(int argc, char **argv) {
  Verilated::commandArgs(argc, argv);
  if (argc < 5)
    return 2;
  std::string folder = std::string(argv[1]) + "/";
  random_.seed(unsigned(std::atoi(argv[2])));
  stalls = unsigned(std::atoi(argv[3]));
  least = unsigned(std::atoi(argv[4]));
  bool isWrong = argc > 5 && argv[5][0] != '+';
  unsigned error = isWrong ? unsigned(std::atoi(argv[5])) : 0;

  // The program lies behind what memory 0 has.
  Bytes program, input, output;
  if (!read(folder + "program.bin", program))
    fail("no program");
  read(folder + "stream_in.bin", input);
  std::vector<Memory> memories(PORTS);
  std::vector<size_t> sizes;
  for (unsigned p = 0; p < PORTS; ++p) {
    memories[p].port = p;
    Bytes &bytes = memories[p].bytes;
    read(folder + "m" + std::to_string(p) + ".before.bin", bytes);
    sizes.push_back(bytes.size());
    memories[p].limit = bytes.size() / IN * IN;
    bytes.resize((bytes.size() + kPage - 1) / kPage * kPage);
  }
  Bytes &first = memories[0].bytes;
  size_t begins = first.size();
  first.insert(first.end(), program.begin(), program.end());
  first.resize((first.size() + kPage - 1) / kPage * kPage);
  memories[0].limit = (begins + program.size() + IN - 1) / IN * IN;

  Vrhz_engine top;
  uint64_t now = 0, runs[5] = {}, waits[5] = {};
  std::memset(&top.base_i, 0, sizeof top.base_i);
  std::memset(&top.limit_i, 0, sizeof top.limit_i);
  auto put = [](auto &signal, size_t from, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; ++i)
      *at(signal, (from + i) / 8) |= uint8_t((value >> i & 1) << (from + i) % 8);
  };
  for (unsigned p = 0; p < PORTS; ++p) {
    put(top.base_i, 52 * p, 52, memories[p].base() / kPage);
    put(top.limit_i, 29 * p, 29, memories[p].limit / IN);
  }
  top.program_i = uint32_t(begins / IN);
  top.start_i = 0;
  std::memset(&top.m_axi_rresp, 0, sizeof top.m_axi_rresp);
  std::memset(&top.m_axi_bresp, 0, sizeof top.m_axi_bresp);

  size_t taken = 0;
  bool offers = false;
  uint64_t started = 0, quiet = 0;
  std::vector<uint64_t> before;
  top.rst_ni = 0;
  top.clk_i = 0;
  for (; !failed; ++now) {
    top.rst_ni = now > 4;
    top.start_i = now == 8;
    for (Memory &memory : memories)
      memory.offer(top, now);
    if (!offers)
      offers = taken < input.size() && !stalled();
    top.s_axis_tvalid = offers;
    for (size_t i = 0; i < IN; ++i)
      *at(top.s_axis_tdata, i) =
          offers ? input[taken + i] : uint8_t(random_());
    top.m_axis_tready = !stalled();
    top.eval();
    bool moves = false;
    if (top.rst_ni) {
      for (Memory &memory : memories)
        memory.take(top, now);
      if (top.s_axis_tvalid && top.s_axis_tready) {
        taken += IN;
        offers = false;
        moves = true;
      }
      if (top.m_axis_tvalid && top.m_axis_tready) {
        output.insert(output.end(), at(top.m_axis_tdata, 0),
                      at(top.m_axis_tdata, IN));
        moves = true;
      }
      for (unsigned u = 0; u < 5; ++u) {
        runs[u] += top.unit_runs_o >> u & 1;
        waits[u] += top.unit_waits_o >> u & 1;
      }
      started = top.start_i ? now : started;
      if (top.done_o)
        break;
      moves |= top.m_axi_rvalid || top.m_axi_wvalid;
      quiet = moves ? 0 : quiet + 1;
      if (quiet > 1000000)
        fail("it hangs in cycle " + std::to_string(now));
    }
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
    top.eval();
  }
  top.final();
  if (top.error_o != error)
    fail("error " + std::to_string(top.error_o));
  if (bool(top.stopped_o) != (error >= 1 && error <= 4))
    fail("stopped_o is " + std::to_string(top.stopped_o));
  auto compare = [&](const std::string &file, Bytes is, size_t size) {
    Bytes expected;
    if (!failed && read(folder + file, expected)) {
      is.resize(size);
      std::string text = difference(file, is, expected);
      if (!text.empty())
        fail(text);
    }
  };
  for (unsigned p = 0; p < PORTS; ++p)
    compare("m" + std::to_string(p) + ".after.bin", memories[p].bytes,
            sizes[p]);
  compare("stream_out.bin", output, output.size());
  if (!failed && !isWrong && taken != input.size())
    fail("of the stream in, " + std::to_string(taken) + " bytes are taken");
  std::printf("{\"cycles\": %llu, \"runs\": [", (unsigned long long)(now - started));
  for (unsigned u = 0; u < 5; ++u)
    std::printf("%s%llu", u ? ", " : "", (unsigned long long)runs[u]);
  std::printf("], \"waits\": [");
  for (unsigned u = 0; u < 5; ++u)
    std::printf("%s%llu", u ? ", " : "", (unsigned long long)waits[u]);
  std::printf("]}\n");
  return failed;
}
