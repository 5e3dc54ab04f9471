// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Verilated design that was built as a shared library (data/sim/model.cpp):
// loaded, reset, clocked. Frames go in and out whole; this turns them into
// beats at its border.
#pragma once

#include "rhizome/Package/Plan.h"
#include "llvm/Support/Error.h"
#include <deque>
#include <memory>

namespace rhizome::cluster {
class Model {
public:
  /// Loads the library and resets the design. `images` is the folder of its
  /// memory images.
  static llvm::Expected<std::unique_ptr<Model>> open(const std::string &library,
                                                     const std::string &images,
                                                     const PlannedNode &node,
                                                     uint64_t seed);
  ~Model();

  /// Whether input `port` can take another frame now: one is on its way in at
  /// most, and one waits.
  bool canPush(size_t port) const;
  /// A frame, bit-packed; padding to whole beats is added here.
  void push(size_t port, std::vector<uint8_t> frame);
  /// Stops output `port` from starting another frame, or lets it.
  void hold(size_t port, bool held);
  /// A frame that has left output `port` in full, bit-packed.
  bool pop(size_t port, std::vector<uint8_t> &frame);
  /// One clock cycle. Fails if the design breaks the stream protocol.
  llvm::Error cycle();

  /// True if the design holds no part of a frame, nothing waits, and its
  /// border has been quiet for so long that another cycle changes nothing.
  bool isIdle() const;

  struct Statistics {
    int64_t cycles = 0;  ///< clocked
    int64_t busy = 0;    ///< of them with a beat over some port
    int64_t starved = 0; ///< with an input ready and nothing offered
    int64_t blocked = 0; ///< with an output offered and not taken
    int64_t frames = 0;  ///< complete at output 0
  };
  const Statistics &statistics() const { return counts; }

private:
  Model() = default;
  struct Library;
  struct Input {
    BorderPort port;
    std::deque<std::vector<uint8_t>> frames; ///< padded; the first is going in
    int64_t beat = 0;                        ///< of the first
    int64_t taken = 0;                       ///< frames accepted in full
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
} // namespace rhizome::cluster
