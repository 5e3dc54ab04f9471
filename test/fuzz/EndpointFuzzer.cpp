// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A node's endpoint and a host's, with its controller, in simulated time: any
// datagrams, well formed or not, at any time. What they answer is bounded, and
// the frames that they give are of their channel's size.
#include "FuzzTarget.h"
#include "rhizome/runtime/control.h"

using namespace rhizome;
using namespace rhizome::link;

static ChannelConfig config(uint16_t id, bool transmit, uint16_t peer,
                            uint64_t bits, bool reliable) {
  ChannelConfig c;
  c.id = id;
  c.transmit = transmit;
  c.peer = peer;
  c.frameBits = bits;
  c.slotWords = 4;
  c.window = 4;
  c.reliable = reliable;
  return c;
}

/// A small frame, one of several datagrams, one that is lost nowhere.
static std::vector<ChannelConfig> configs(bool ofHost) {
  return {config(1, ofHost, ofHost, 20, false),
          config(2, !ofHost, ofHost, 900, false),
          config(3, ofHost, ofHost, 70, true),
          config(4, !ofHost, ofHost, 64, true)};
}

/// A datagram whose fields are the script's and whose check is right.
static std::vector<uint8_t> formed(fuzz::Script &script,
                                   const Endpoint &endpoint) {
  Header h;
  h.kind = Kind(script.byte() % 8);
  const uint8_t choice = script.byte();
  h.epoch = choice & 1 ? endpoint.epoch() : script.half();
  h.id = script.byte() % 6;
  h.words = choice & 2 ? uint8_t(h.kind == Kind::Data || h.kind == Kind::Ack ||
                                 h.kind == Kind::Status)
                       : script.byte();
  h.sequence = choice & 4 ? script.byte() : script.word();
  h.first = choice & 8 ? kNoFrameStart : script.byte();
  h.span = script.byte();
  std::vector<uint8_t> payload;
  for (char byte : script.take(choice & 16 ? 8 : 0))
    payload.push_back(uint8_t(byte));
  payload.resize(h.words * kWordBytes, choice);
  return encode(h, payload);
}

static void exchange(fuzz::Script script, bool isHost) {
  Endpoint endpoint(isHost ? kHostAddress : 1, configs(isHost));
  std::optional<Controller> controller;
  if (isHost)
    controller.emplace(endpoint, std::vector<uint16_t>{1, 2}, 7);
  Time now = 1'000'000;
  while (!script.isOver()) {
    switch (script.byte() % 4) {
    case 0:
      endpoint.push(now, formed(script, endpoint));
      break;
    case 1: {
      std::string raw = script.take(script.byte());
      endpoint.push(
          now, {reinterpret_cast<const uint8_t *>(raw.data()), raw.size()});
      break;
    }
    case 2:
      now += Time(script.byte()) << script.byte() % 40;
      break;
    case 3:
      for (const ChannelConfig &channel : endpoint.channels())
        if (channel.transmit) {
          if (endpoint.canSend(channel.id))
            fuzz::require(endpoint.send(
                channel.id,
                std::vector<uint8_t>(channel.frameBytes(), script.byte())));
        } else if (auto frame = endpoint.receive(channel.id)) {
          fuzz::require(frame->size() == channel.frameBytes());
        }
      if (controller && controller->lost())
        controller->restart(now);
      break;
    }
    if (controller)
      controller->run(now);
    // At one time nothing goes on for ever, and all that leaves is ours.
    int atOnce = 0;
    while (std::optional<Outgoing> out = endpoint.pull(now)) {
      fuzz::require(++atOnce < 10'000);
      fuzz::require(decode(out->bytes).has_value());
    }
    fuzz::require(endpoint.deadline(now) > now);
    while (endpoint.status())
      ;
  }
}

RHIZOME_FUZZ_TARGET(endpoint, bytes) {
  for (bool isHost : {false, true})
    exchange(fuzz::Script(bytes), isHost);
}
