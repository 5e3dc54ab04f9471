// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A card in front of the package's simulator ($STANDIN_SIMULATOR in
// $STANDIN_FOLDER): movers that have been started wait for each other, then the
// frame is computed. A buffer's content must be synchronized to be seen on the
// other side; what the design reads from memory must be what $STANDIN_MEMORY<n>
// names when the kernel is started.
#include "xrt/xrt_kernel.h"
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace {
std::map<std::string, std::deque<std::shared_ptr<xrt::run::State>>> started;
bool kernelRuns = false;

std::string variable(const std::string &name) {
  const char *value = std::getenv(name.c_str());
  return value ? value : "";
}

std::vector<uint8_t> contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "mm2s_0" of "mm2s:{mm2s_0}".
std::string unitOf(const std::string &name) {
  const size_t brace = name.find('{');
  if (brace == std::string::npos || name.back() != '}')
    throw std::runtime_error("no such compute unit: " + name);
  return name.substr(brace + 1, name.size() - brace - 2);
}

/// Computes frames while every mover has one.
void step() {
  const size_t inputs = std::stoul(variable("STANDIN_INPUTS")),
               outputs = std::stoul(variable("STANDIN_OUTPUTS"));
  std::vector<std::string> units;
  for (size_t k = 0; k < inputs; ++k)
    units.push_back("mm2s_" + std::to_string(k));
  for (size_t k = 0; k < outputs; ++k)
    units.push_back("s2mm_" + std::to_string(k));
  while (std::all_of(units.begin(), units.end(),
                     [](auto &unit) { return !started[unit].empty(); })) {
    if (!variable("STANDIN_MEMORY0").empty() && !kernelRuns)
      throw std::runtime_error("the kernel was not started");
    const std::string work = variable("STANDIN_WORK");
    std::string command = "cd '" + variable("STANDIN_FOLDER") + "' && '" +
                          variable("STANDIN_SIMULATOR") +
                          "' --frames 1 --total 1 --stalls-in 0 --stalls-out "
                          "0 --seed 1 --hang 10000000 --report '" +
                          work + "/report'";
    for (const std::string &unit : units) {
      auto &run = *started[unit].front();
      if (run.numbers[3] != 1)
        throw std::runtime_error("a mover of several frames");
      const std::vector<uint8_t> &card = run.buffers.at(0).sides->card;
      const std::string path = work + "/" + unit;
      if (unit[0] == 'm')
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char *>(card.data()),
                   std::streamsize(card.size()));
      command += (unit[0] == 'm' ? " --in '" : " --out '") + path + "' " +
                 std::to_string(run.numbers[2]) + " " +
                 std::to_string(card.size() / run.numbers[2]);
    }
    if (std::system((command + " >/dev/null").c_str()))
      throw std::runtime_error("the simulator failed: " + command);
    for (const std::string &unit : units) {
      auto &run = *started[unit].front();
      if (unit[0] == 's')
        run.buffers.at(0).sides->card = contentOf(work + "/" + unit);
      run.isDone = true;
      started[unit].pop_front();
    }
  }
}
} // namespace

xrt::device::device(unsigned number) {
  if (number != 0)
    throw std::runtime_error("no such card");
}
xrt::uuid xrt::device::load_xclbin(const std::string &program) {
  if (!std::ifstream(program))
    throw std::runtime_error("no such file: " + program);
  return {program};
}

xrt::bo::bo(const device &, size_t bytes, int group)
    : sides(std::make_shared<Sides>()) {
  sides->host.resize(bytes);
  sides->card.assign(bytes, 0xaa);
  sides->group = group;
}
size_t xrt::bo::size() const { return sides->host.size(); }
void xrt::bo::write(const void *from, size_t bytes, size_t seek) {
  if (seek + bytes > size())
    throw std::runtime_error("written past the end");
  auto *data = static_cast<const uint8_t *>(from);
  std::copy(data, data + bytes, sides->host.begin() + ptrdiff_t(seek));
}
void xrt::bo::read(void *to, size_t bytes, size_t skip) {
  if (skip + bytes > size())
    throw std::runtime_error("read past the end");
  auto begin = sides->host.begin() + ptrdiff_t(skip);
  std::copy(begin, begin + ptrdiff_t(bytes), static_cast<uint8_t *>(to));
}
void xrt::bo::sync(xclBOSyncDirection direction, size_t bytes, size_t offset) {
  auto &from =
      direction == XCL_BO_SYNC_BO_TO_DEVICE ? sides->host : sides->card;
  auto &to = direction == XCL_BO_SYNC_BO_TO_DEVICE ? sides->card : sides->host;
  auto begin = from.begin() + ptrdiff_t(offset);
  std::copy(begin, begin + ptrdiff_t(bytes), to.begin() + ptrdiff_t(offset));
}

xrt::kernel::kernel(const device &, const uuid &, const std::string &name)
    : name(unitOf(name)) {}
/// A bank of its own for each kernel and argument.
int xrt::kernel::group_id(int argument) const {
  return int(std::hash<std::string>()(name) % 1000) * 100 + argument;
}

xrt::run::run(const kernel &kernel) : state(std::make_shared<State>()) {
  state->kernel = kernel.name;
}
void xrt::run::set_arg(int index, const bo &buffer) {
  kernel kernel;
  kernel.name = state->kernel;
  if (buffer.sides->group != kernel.group_id(index))
    throw std::runtime_error("a buffer in another bank");
  state->buffers[index] = buffer;
}
void xrt::run::set_arg(int index, unsigned value) {
  state->numbers[index] = value;
}
void xrt::run::start() {
  state->isDone = false;
  if (state->kernel != "rhz_kernel_0") {
    started[state->kernel].push_back(state);
    return step();
  }
  for (const auto &[index, buffer] : state->buffers) {
    std::vector<uint8_t> wanted =
        contentOf(variable("STANDIN_MEMORY" + std::to_string(index)));
    if (wanted.empty() || buffer.sides->card != wanted)
      throw std::runtime_error("memory " + std::to_string(index) +
                               " holds something else");
  }
  kernelRuns = state->isDone = true;
}
ert_cmd_state xrt::run::wait(const std::chrono::milliseconds &) const {
  return state->isDone ? ERT_CMD_STATE_COMPLETED : ERT_CMD_STATE_TIMEOUT;
}
