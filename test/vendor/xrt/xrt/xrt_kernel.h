// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stand-in for XRT's header: see standin.cpp.
#pragma once
#include "xrt_bo.h"
#include <chrono>
#include <map>

enum ert_cmd_state {
  ERT_CMD_STATE_NEW = 1,
  ERT_CMD_STATE_QUEUED = 2,
  ERT_CMD_STATE_RUNNING = 3,
  ERT_CMD_STATE_COMPLETED = 4,
  ERT_CMD_STATE_ERROR = 5,
  ERT_CMD_STATE_ABORT = 6,
  ERT_CMD_STATE_TIMEOUT = 8
};

namespace xrt {
class kernel {
public:
  kernel() = default;
  kernel(const device &device, const uuid &program, const std::string &name);
  int group_id(int argument) const;
  std::string name;
};

class run {
public:
  run() = default;
  explicit run(const kernel &kernel);
  void set_arg(int index, const bo &buffer);
  void set_arg(int index, unsigned value);
  void start();
  ert_cmd_state wait(const std::chrono::milliseconds &most =
                         std::chrono::milliseconds{0}) const;

  struct State {
    std::string kernel;
    std::map<int, bo> buffers;
    std::map<int, unsigned> numbers;
    bool isDone = false;
  };
  std::shared_ptr<State> state;
};
} // namespace xrt
