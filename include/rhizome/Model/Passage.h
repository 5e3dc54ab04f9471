// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames on their way through a model's tasks, in order: those of the host are
// computed here, those of the FPGA by whoever stands in for it.
#pragma once

#include "rhizome/Model/HostModel.h"
#include <functional>
#include <optional>

namespace rhizome::model {
using Frames = std::vector<std::vector<Tensor>>; ///< [frame][value]

class Passage {
public:
  /// Begins with frames of the graph's inputs.
  Passage(const HostModel &model, const Frames &given);
  /// Begins with what the FPGA takes, of a model whose network is free.
  static Passage ofCodes(const HostModel &model, const Frames &codes);

  /// One task of the FPGA for one frame; safe from several threads.
  using Run = std::function<llvm::Expected<std::vector<Tensor>>(
      const HostModel::Task &task, llvm::ArrayRef<Tensor> in)>;
  /// Runs all tasks up to the FPGA's last one.
  llvm::Error run(const Run &fpga);

  /// All tasks of the FPGA at once, for all frames: from the network's inputs
  /// to its outputs.
  using Design = std::function<llvm::Expected<Frames>(const Frames &codes)>;
  /// Runs all tasks up to the FPGA's last one on a design that takes the codes
  /// of all regions together. `predicted` is what they are expected to be. The
  /// regions of a design share no data. So if what the host makes of the
  /// answers is what was predicted, the answers are those of region after
  /// region; otherwise the design runs again with it, at most once per region.
  llvm::Error runDesign(const Design &design, const Frames &predicted);

  // All regions by whoever calls, frame by frame.
  /// Runs a frame's tasks on the host from that number on, as far as the FPGA's
  /// next one, and gives its number; endOfRegions() if none is left.
  llvm::Expected<size_t> runToRegion(size_t frame, size_t from);
  /// What a task has made of a frame.
  void give(const HostModel::Task &task, size_t frame,
            std::vector<Tensor> results);
  /// Where the tasks begin that have not been run, and where those after the
  /// FPGA's last one do.
  size_t nextTask() const { return next; }
  size_t endOfRegions() const;
  /// All frames have been brought as far as that.
  void skipRegions() { next = std::max(next, endOfRegions()); }

  /// Runs the host's tasks before the FPGA's first, and gives what that takes.
  llvm::Expected<Frames> codes();

  size_t size() const { return values.size(); }
  /// What the FPGA takes and gives, of all regions; after one of the above.
  Frames networkInputs() const { return collect(true); }
  Frames networkOutputs() const { return collect(false); }
  /// The graph's outputs; runs what is left of the tasks.
  llvm::Expected<Frames> outputs();
  /// What a task takes of a frame.
  std::vector<Tensor> taken(const HostModel::Task &task, size_t frame) const;

private:
  explicit Passage(const HostModel &model) : model(&model) {}
  Frames collect(bool inputs) const;
  llvm::Error runTasks(size_t from, size_t to, const Run &fpga);

  const HostModel *model;
  std::vector<std::vector<Tensor>> values; ///< [frame][tensor]
  size_t next = 0;                         ///< task
};

/// The stand-ins: the interpreter, which is the reference, and the CPU path.
Passage::Run interpreted(const HostModel &model);
Passage::Run compiled(const HostModel &model);
} // namespace rhizome::model
