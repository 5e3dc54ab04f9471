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
  /// Begins with frames of the graph's inputs, in order: what the model keeps
  /// goes from each to the next. It begins as given, or as after a reset.
  Passage(const HostModel &model, const Frames &given,
          std::optional<std::vector<Tensor>> states = std::nullopt);
  /// Begins with what the FPGA takes, of a model whose network is free.
  static Passage ofCodes(const HostModel &model, const Frames &codes);

  /// One task of the FPGA for one frame; safe from several threads.
  using Run = std::function<llvm::Expected<std::vector<Tensor>>(
      const HostModel::Task &task, llvm::ArrayRef<Tensor> in)>;
  /// Runs all tasks up to the FPGA's last one; all tasks of a model that keeps
  /// something.
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
  /// The same for a model that keeps something: each frame is given to the
  /// design when the one before has ended. `predicted` may be empty where the
  /// FPGA runs once.
  llvm::Error runInTurn(const Design &design, const Frames &predicted);

  // All regions by whoever calls, frame by frame.
  /// Runs a frame's tasks on the host from that number on, as far as the FPGA's
  /// next one, and gives its number; endOfRegions() if none is left. Frames of
  /// a model that keeps something begin when the one before has ended.
  llvm::Expected<size_t> runToRegion(size_t frame, size_t from);
  /// What a task has made of a frame.
  void give(const HostModel::Task &task, size_t frame,
            std::vector<Tensor> results);
  /// Where the tasks begin that have not been run, and where those after the
  /// FPGA's last one do: none of a model that keeps something, whose next frame
  /// may need what the last task gives.
  size_t nextTask() const { return next; }
  size_t endOfRegions() const;
  /// All frames have been brought as far as that.
  void skipRegions() { next = std::max(next, endOfRegions()); }

  /// Runs the host's tasks before the FPGA's first, and gives what that takes.
  /// Of a model that keeps something there may be one frame.
  llvm::Expected<Frames> codes();

  size_t size() const { return values.size(); }
  /// What the FPGA takes and gives, of all regions; after one of the above.
  Frames networkInputs() const { return collect(true); }
  Frames networkOutputs() const { return collect(false); }
  /// The graph's outputs; runs what is left of the tasks.
  llvm::Expected<Frames> outputs();
  /// What the model keeps after the last frame; once all tasks have run.
  std::vector<Tensor> states() const;
  /// What a task takes of a frame.
  std::vector<Tensor> taken(const HostModel::Task &task, size_t frame) const;

private:
  explicit Passage(const HostModel &model) : model(&model) {}
  Frames collect(bool inputs) const;
  /// One task of the FPGA for a frame by its number.
  using RunFrame = std::function<llvm::Expected<std::vector<Tensor>>(
      size_t frame, const HostModel::Task &task, llvm::ArrayRef<Tensor> in)>;
  llvm::Error runTasks(size_t from, size_t to, const RunFrame &fpga);
  llvm::Error runFrame(size_t frame, size_t from, size_t to,
                       const RunFrame &fpga);
  llvm::Error answer(const Frames &answers, size_t begin, size_t end,
                     bool isFirst);
  void carry(size_t frame);
  std::vector<Tensor> statesAfter(size_t frame) const;

  const HostModel *model;
  std::vector<Tensor> begin;               ///< the states before frame 0
  std::vector<std::vector<Tensor>> values; ///< [frame][tensor]
  size_t next = 0;                         ///< task
};

/// The stand-ins: the interpreter, which is the reference, and the CPU path.
Passage::Run interpreted(const HostModel &model);
Passage::Run compiled(const HostModel &model);
} // namespace rhizome::model
