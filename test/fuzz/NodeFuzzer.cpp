// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A node at a socket on the loopback interface and strangers who have neither
// its token nor its key: it stays in its epoch, and none of them is sent more
// than it sent.
#include "FuzzTarget.h"
#include "rhizome/runtime/udp.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace rhizome;
using namespace rhizome::link;

/// A keyed hash that the fuzzer cannot look into.
__attribute__((no_sanitize("coverage"))) static uint64_t
hash(std::span<const uint8_t> bytes, uint64_t key) {
  static const uint64_t secret = uint64_t(getpid()) * 0x9E3779B97F4A7C15u;
  uint64_t sum = key ^ secret;
  for (uint8_t byte : bytes)
    sum = (sum ^ byte) * 0xD6E8FEB86659FD93u + (sum >> 31);
  return sum;
}

namespace {
class Stranger {
public:
  Stranger() : socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {}
  ~Stranger() { close(socket); }
  void send(uint16_t port, const std::vector<uint8_t> &bytes) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (sendto(socket, bytes.data(), bytes.size(), 0,
               reinterpret_cast<sockaddr *>(&to), sizeof to) > 0)
      sent += bytes.size();
  }
  /// All that has come is no more than what was sent.
  void check() {
    uint8_t buffer[4096];
    for (ssize_t count; (count = recv(socket, buffer, sizeof buffer, 0)) >= 0;)
      got += size_t(count);
    fuzz::require(got <= sent);
  }

private:
  int socket;
  size_t sent = 0, got = 0;
};
} // namespace

static ChannelConfig config(uint16_t id, bool transmit) {
  ChannelConfig c;
  c.id = id;
  c.transmit = transmit;
  c.frameBits = 64;
  return c;
}

static void visit(fuzz::Script script, bool hasKey) {
  Endpoint endpoint(1, {config(1, false), config(2, true)});
  UdpSocket node(endpoint);
  std::string error;
  fuzz::require(node.bind("127.0.0.1:0", error));
  node.learnPeer(kHostAddress,
                 [](std::span<const uint8_t> bytes) { return hash(bytes, 1); });
  if (hasKey)
    node.seal([](std::span<const uint8_t> bytes) { return hash(bytes, 2); });
  Stranger strangers[2];
  endpoint.send(2, std::vector<uint8_t>(8, 5));
  for (int steps = 0; !script.isOver() && steps < 64; ++steps) {
    const uint8_t choice = script.byte();
    std::vector<uint8_t> bytes;
    if (choice & 1) {
      for (char byte : script.take(script.byte()))
        bytes.push_back(uint8_t(byte));
    } else {
      Header h;
      h.kind = Kind(script.byte() % 8);
      h.epoch = choice & 2 ? endpoint.epoch() : script.half();
      h.id = choice & 4 ? 1 : script.half();
      h.sequence = script.word();
      h.first = script.byte();
      h.span = script.byte();
      h.words = choice & 8 ? 1 : 0;
      bytes = encode(h, std::vector<uint8_t>(h.words * kWordBytes, choice));
    }
    strangers[choice >> 7].send(node.port(), bytes);
    fuzz::require(node.step(UdpSocket::now(), [](Time) {}, error));
    for (Stranger &stranger : strangers)
      stranger.check();
    fuzz::require(endpoint.epoch() == kFirstEpoch);
  }
}

RHIZOME_FUZZ_TARGET(node, bytes) {
  for (bool hasKey : {false, true})
    visit(fuzz::Script(bytes), hasKey);
}
