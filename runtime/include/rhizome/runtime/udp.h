// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A UDP socket that drives an endpoint: one socket, many peers, datagrams
// received and sent in batches. Peers are known by their address in the plan;
// what comes from elsewhere is dropped and counted.
#pragma once

#include "rhizome/runtime/link.h"
#include <functional>
#include <string>

namespace rhizome::link {
/// A keyed hash with a key of its own: 64 bits that nobody without the key can
/// tell from chance; key.h makes them.
using Mac = std::function<uint64_t(std::span<const uint8_t>)>;

class UdpSocket {
public:
  /// Drives `endpoint`, which outlives the socket.
  explicit UdpSocket(Endpoint &endpoint);
  ~UdpSocket();
  UdpSocket(const UdpSocket &) = delete;
  UdpSocket &operator=(const UdpSocket &) = delete;

  /// Binds to "address:port" (port 0: any). False with a sentence in `error`.
  bool bind(const std::string &local, std::string &error);
  /// The port that `bind` got.
  uint16_t port() const;
  /// Where a peer is: "address:port", names are looked up.
  bool addPeer(uint16_t peer, const std::string &remote, std::string &error);
  /// Takes a peer's place from its Opens and Probes, for nodes that do not know
  /// where their controller is: from the first with the endpoint's own address,
  /// and anew once it has been silent for half a second. With `mac` a place is
  /// taken that has answered a Challenge (H5, H6), so that no datagram with a
  /// forged sender changes anything.
  void learnPeer(uint16_t peer, Mac mac = nullptr);
  /// Every datagram ends with its hash, and one that does not is dropped: for
  /// parties that share a key (H8). Before `step`.
  void seal(Mac mac);

  /// Receives what is there, lets `work` use it, sends what is due; then waits
  /// for datagrams, for the endpoint's deadline or for `until`, whichever
  /// comes first. False with a sentence in `error` if the socket fails.
  bool step(Time until, const std::function<void(Time)> &work,
            std::string &error);
  /// Nanoseconds of the steady clock that `step` uses.
  static Time now();
  /// For epoll: readable when there is something to receive.
  int descriptor() const;
  /// Datagrams from places that are no peer's, or without the right hash.
  uint64_t strangers() const;

private:
  struct State;
  std::unique_ptr<State> state;
};
} // namespace rhizome::link
