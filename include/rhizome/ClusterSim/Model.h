// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verilated designs that were built as shared libraries (data/sim/model.cpp):
// loaded, reset, clocked. Model is a design alone, which exchanges frames;
// NodeModel has a link endpoint around it and exchanges datagrams. Both convert
// them to and from beats at the border.
#pragma once

#include "rhizome/Package/Plan.h"
#include "llvm/Support/Error.h"
#include <deque>
#include <memory>

namespace rhizome::clustersim {
/// A loaded library and one design of it.
class Library;

class Model {
public:
  /// Loads the library and resets the design. `images` is the folder of its
  /// memory images.
  static llvm::Expected<std::unique_ptr<Model>> open(const std::string &library,
                                                     const std::string &images,
                                                     const PlannedNode &node,
                                                     uint64_t seed);
  ~Model();

  /// Whether input `port` can take another frame now: at most one is being
  /// transferred, and one waits.
  bool canPush(size_t port) const;
  /// Takes a bit-packed frame; padding to whole beats is added here.
  void push(size_t port, std::vector<uint8_t> frame);
  /// Prevents output `port` from starting another frame, or allows it.
  void hold(size_t port, bool held);
  /// Takes a complete frame from output `port`, bit-packed.
  bool pop(size_t port, std::vector<uint8_t> &frame);
  /// One clock cycle. Fails if the design breaks the stream protocol.
  llvm::Error cycle();

  /// True if the design contains no part of a frame, nothing waits, and its
  /// border has been quiet for so long that another cycle changes nothing.
  bool isIdle() const;

  struct Statistics {
    int64_t cycles = 0;  ///< clocked
    int64_t busy = 0;    ///< cycles with a beat at some port
    int64_t starved = 0; ///< cycles with an input ready and nothing offered
    int64_t blocked = 0; ///< cycles with an output offered and not taken
    int64_t frames = 0;  ///< complete at output 0
  };
  const Statistics &statistics() const { return counts; }

private:
  Model();
  struct Input {
    BorderPort port;
    std::deque<std::vector<uint8_t>> frames; ///< padded; first in transfer
    int64_t beat = 0;                        ///< of the first
    int64_t taken = 0;                       ///< frames accepted completely
  };
  struct Output {
    BorderPort port;
    std::vector<uint8_t> current;
    std::vector<uint8_t> beatData, waitingData;
    std::deque<std::vector<uint8_t>> frames;
    int64_t beat = 0, given = 0;
    bool held = false, waiting = false, waitingLast = false;
  };
  std::unique_ptr<Library> library;
  std::string name;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  int64_t quiet = 0; ///< cycles since the border last moved
  Statistics counts;
};

/// rhz_node: a design in its link endpoint, connected to a shell's byte
/// streams.
class NodeModel {
public:
  static llvm::Expected<std::unique_ptr<NodeModel>>
  open(const std::string &library, const std::string &images, const Plan &plan,
       const PlannedNode &node, uint64_t seed);
  ~NodeModel();

  /// Takes a datagram for the node. They enter one after another.
  void push(std::vector<uint8_t> datagram);
  /// Whether the shell takes beats of outgoing datagrams.
  void accept(bool accepts) { accepting = accepts; }
  struct Outgoing {
    uint16_t to; ///< an address
    std::vector<uint8_t> bytes;
  };
  /// Takes an outgoing datagram.
  bool pop(Outgoing &datagram);
  /// One clock cycle. Fails if the node breaks the stream protocol.
  llvm::Error cycle();
  int64_t cycles() const { return clocked; }
  /// Datagrams that wait for the node.
  size_t waiting() const { return arriving.size(); }

private:
  NodeModel();
  std::unique_ptr<Library> library;
  unsigned beatBytes = 8;
  std::deque<std::vector<uint8_t>> arriving;
  size_t position = 0; ///< in the first
  std::vector<uint8_t> beat, current;
  std::deque<Outgoing> leaving;
  bool accepting = true;
  int64_t clocked = 0;
};
} // namespace rhizome::clustersim
