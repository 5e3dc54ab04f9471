// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome-link-bench: numbered tensors over a bad medium, C++ peer to C++ peer
// in simulated time; counts what is lost or wrong and reports the rate. Then
// the cost of a key: SipHash-2-4 of a full datagram, at each end. Usage:
// rhizome-link-bench [tensors [bits]]
#include "Pair.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sodium.h>

using namespace rhizome::link;
using namespace rhizome::link::test;

static void timeKey() {
  constexpr size_t kBytes = kHeaderBytes + kMaxSlotWords * kWordBytes;
  constexpr int kRounds = 200'000;
  uint8_t datagram[kBytes] = {}, key[crypto_shorthash_KEYBYTES] = {1};
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i)
    crypto_shorthash(datagram, datagram, kBytes, key);
  double ns = std::chrono::duration<double, std::nano>(
                  std::chrono::steady_clock::now() - begin)
                  .count() /
              kRounds;
  // With 66 bytes of Ethernet, IP, UDP and gap.
  std::printf("key: %.0f ns for a datagram of %zu bytes at each end, which is "
              "%.0f ns on 10 GbE; 8 bytes more are %.1f %% of it\n",
              ns, kBytes, double(kBytes + 66) * 0.8,
              800.0 / double(kBytes + 66));
}

int main(int argc, char **argv) {
  uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  uint64_t bits = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 3072 * 8;
  if (count == 0 || bits == 0) {
    std::fprintf(stderr, "usage: rhizome-link-bench [tensors [bits]]\n");
    return 2;
  }
  std::printf("%llu tensors of %llu bits, 10 Gbit/s, 2 us each way, 20 %% "
              "overtaken\n%-6s %10s %6s %6s %12s %10s %8s\n",
              (unsigned long long)count, (unsigned long long)bits, "loss",
              "delivered", "lost", "wrong", "tensors/s", "sent again", "polls");
  bool failed = false;
  for (double loss : {0.0, 0.01, 0.05, 0.2, 0.5}) {
    ChannelConfig config;
    config.frameBits = bits;
    config.roundTrip = 10'000;
    config.minimumWait = 8'000;
    config.ackDelay = 2'000;
    MediumConfig medium;
    medium.loss = loss;
    medium.late = 0.2;
    medium.garbage = 0.05;
    Pair pair(config, medium, 42);
    Outcome o = pair.run(count);
    const Counters &c = pair.sender.counters();
    failed |= o.delivered != count || o.wrong || o.stuck;
    std::printf("%4.0f %% %10llu %6llu %6llu %12.0f %10llu %8llu\n", loss * 100,
                (unsigned long long)o.delivered,
                (unsigned long long)(count - o.delivered),
                (unsigned long long)o.wrong, o.tensorsPerS(),
                (unsigned long long)c.resent, (unsigned long long)c.polls);
    std::fflush(stdout);
  }
  timeKey();
  return failed;
}
