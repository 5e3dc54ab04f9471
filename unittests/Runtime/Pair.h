// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two endpoints over a medium in simulated time: sends numbered tensors over a
// channel and checks what arrives. For the tests and the benchmark.
#pragma once

#include "Medium.h"
#include "rhizome/runtime/link.h"
#include <algorithm>

namespace rhizome::link::test {
struct Outcome {
  uint64_t delivered = 0, wrong = 0;
  Time finished = 0;
  bool stuck = false;
  double tensorsPerS() const {
    return finished ? double(delivered) * 1e9 / double(finished) : 0;
  }
};

class Pair {
public:
  static constexpr uint16_t kChannel = 7;

  Pair(ChannelConfig config, MediumConfig medium, uint64_t seed)
      : bits(config.frameBits), forth(medium, 2 * seed),
        back(medium, 2 * seed + 1), sender(0, {side(config, true)}),
        receiver(1, {side(config, false)}) {}

  /// Sends `count` tensors as fast as they are accepted; the receiver's user
  /// does not take any for a while with probability `stall` per step.
  Outcome run(uint64_t count, double stall = 0, Time limit = ~0ull >> 1) {
    Outcome outcome;
    Time start = now;
    uint64_t first = offered;
    while (taken < first + count) {
      while (offered < first + count && sender.canSend(kChannel)) {
        sender.send(kChannel, tensorBytes(offered, bits));
        ++offered;
      }
      bool takes = stall == 0 || double(random() % 1000) >= stall * 1000;
      while (takes && receiver.available(kChannel)) {
        auto frame = receiver.receive(kChannel);
        outcome.wrong += *frame != tensorBytes(taken, bits);
        ++taken;
        ++outcome.delivered;
      }
      Time due = std::min({step(sender, forth), step(receiver, back),
                           forth.next(), back.next()});
      if (!takes)
        due = std::min(due, now + 1000);
      if (taken >= first + count)
        break;
      if (due == kNever || now - start > limit) {
        outcome.stuck = true;
        break;
      }
      now = std::max(now, due);
      while (forth.next() <= now)
        receiver.push(now, forth.take());
      while (back.next() <= now)
        sender.push(now, back.take());
    }
    outcome.finished = now - start;
    return outcome;
  }

  Time now = 0;
  uint64_t bits, offered = 0, taken = 0;
  Medium forth, back;
  Endpoint sender, receiver;

private:
  std::mt19937_64 random{1};

  static ChannelConfig side(ChannelConfig c, bool transmit) {
    c.id = kChannel;
    c.transmit = transmit;
    c.peer = transmit ? 1 : 0;
    return c;
  }
  /// Sends what is due while the line is free; returns when to call again.
  Time step(Endpoint &end, Medium &line) {
    while (line.freeAt() <= now) {
      auto out = end.pull(now);
      if (!out)
        break;
      line.send(now, std::move(out->bytes));
    }
    Time due = end.deadline(now);
    return due <= now ? std::max(line.freeAt(), now + 1)
                      : std::max(due, line.freeAt());
  }
};
} // namespace rhizome::link::test
