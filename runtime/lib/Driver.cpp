// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/driver.h"
#include "rhizome/runtime/border.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

namespace rhizome::runtime {
namespace {
using Clock = std::chrono::steady_clock;

Status checked(const File &file, std::span<const uint8_t> bytes) {
  if (bytes.size() != file.bytes)
    return {Fault::File, "'" + file.path + "' has " +
                             std::to_string(bytes.size()) + " bytes, not " +
                             std::to_string(file.bytes) +
                             "; copy the package again"};
  if (rhz_checksum(bytes.data(), bytes.size()) != file.checksum)
    return {Fault::File, "'" + file.path +
                             "' was altered; copy the package again, or "
                             "compile anew"};
  return {};
}

std::string sizeText(size_t given, size_t wanted) {
  return std::to_string(given) + " bytes were given, a frame has " +
         std::to_string(wanted);
}
} // namespace

std::vector<uint64_t> Design::memoryBytes() const {
  std::vector<uint64_t> sizes;
  for (const Segment &segment : segments) {
    if (segment.port >= sizes.size())
      sizes.resize(segment.port + 1);
    sizes[segment.port] = std::max(sizes[segment.port],
                                   uint64_t(segment.address) + segment.bytes);
  }
  return sizes;
}

Status readFile(const Design &design, const File &file, Bytes &bytes) {
  FILE *stream = std::fopen((design.folder + "/" + file.path).c_str(), "rb");
  if (!stream)
    return {Fault::File,
            "'" + file.path + "' is missing: " + std::strerror(errno)};
  bytes.clear();
  uint8_t part[1 << 16];
  while (size_t got = std::fread(part, 1, sizeof part, stream))
    bytes.insert(bytes.end(), part, part + got);
  bool bad = std::ferror(stream);
  std::fclose(stream);
  if (bad)
    return {Fault::File, "'" + file.path + "' cannot be read"};
  return checked(file, bytes);
}

Status checkImages(const Design &design) {
  Bytes bytes;
  for (const File &image : design.images)
    if (Status status = readFile(design, image, bytes); !status)
      return status;
  return {};
}

Status Driver::usable() const {
  if (isGone)
    return {Fault::Gone, "the device is gone; close the driver"};
  if (!isOpen)
    return {Fault::Order, "the driver is not open"};
  return {};
}

/// What makes a device unusable stays so.
Status Driver::noted(Status status) {
  isGone |= status.fault == Fault::Gone;
  return status;
}

Status Driver::open(Design design) {
  if (isOpen)
    return {Fault::Order, "the driver is open already"};
  theDesign = std::move(design);
  Status status = doOpen();
  if (!status) {
    doClose();
    return status;
  }
  isOpen = true;
  isGone = false;
  allocated = 1;
  counts = {};
  loaded.assign(theDesign.segments.size(), false);
  written.assign(theDesign.inputs.size(), {});
  isWritten.assign(theDesign.inputs.size(), false);
  started.clear();
  answer.clear();
  return {};
}

Status Driver::allocate(size_t frames) {
  if (Status status = usable(); !status)
    return status;
  if (!started.empty())
    return {Fault::Order, "frames are on their way"};
  if (frames == 0)
    return {Fault::Size, "there must be room for a frame"};
  allocated = frames;
  return {};
}

Status Driver::load(size_t segment, std::span<const uint8_t> bytes) {
  if (Status status = usable(); !status)
    return status;
  if (segment >= theDesign.segments.size())
    return {Fault::Segment, "the design has no segment " +
                                std::to_string(segment) + ", it has " +
                                std::to_string(theDesign.segments.size())};
  const Segment &wanted = theDesign.segments[segment];
  if (Status status = checked(wanted, bytes); !status)
    return status;
  Status status = noted(doLoad(wanted, bytes));
  loaded[segment] = loaded[segment] || bool(status);
  return status;
}

Status Driver::loadAll() {
  if (Status status = usable(); !status)
    return status;
  Bytes bytes;
  for (size_t i = 0; i < theDesign.segments.size(); ++i) {
    if (Status status = readFile(theDesign, theDesign.segments[i], bytes);
        !status)
      return status;
    if (Status status = load(i, bytes); !status)
      return status;
  }
  return {};
}

Status Driver::write(size_t input, std::span<const uint8_t> frame) {
  if (Status status = usable(); !status)
    return status;
  if (input >= theDesign.inputs.size())
    return {Fault::Size, "the design has no input " + std::to_string(input)};
  const Port &port = theDesign.inputs[input];
  if (frame.size() != port.frameBytes())
    return {Fault::Size,
            port.name + ": " + sizeText(frame.size(), port.frameBytes())};
  written[input].assign(frame.begin(), frame.end());
  isWritten[input] = true;
  counts.bytesWritten += frame.size();
  return {};
}

Status Driver::launch(size_t number) {
  if (Status status = usable(); !status)
    return status;
  if (number >= theDesign.regionCount())
    return {Fault::Size, "the design has no region " + std::to_string(number)};
  const Region region = theDesign.region(number);
  auto isOf = [&](size_t input) { return region.hasInput(input); };
  for (size_t i = 0; i < loaded.size(); ++i)
    if (!loaded[i])
      return {Fault::Segment, "the segment '" + theDesign.segments[i].path +
                                  "' was not loaded"};
  for (size_t i = 0; i < isWritten.size(); ++i)
    if (isOf(i) && !isWritten[i])
      return {Fault::Order,
              theDesign.inputs[i].name + ": the frame was not written"};
  if (started.size() >= allocated)
    return {Fault::Order, "all frames that were allocated (" +
                              std::to_string(allocated) + ") are on their way"};
  std::vector<Bytes> inputs;
  for (size_t i = 0; i < written.size(); ++i)
    if (isOf(i)) {
      inputs.push_back(std::exchange(written[i], {}));
      isWritten[i] = false;
    }
  Status status = noted(doLaunch(number, std::move(inputs)));
  if (!status) {
    ++counts.faults;
    return status;
  }
  started.push_back({number, Clock::now()});
  ++counts.launched;
  return {};
}

Status Driver::wait(Duration patience) {
  if (Status status = usable(); !status)
    return status;
  if (started.empty())
    return {Fault::Order, "no frame is on its way"};
  std::vector<Bytes> outputs;
  const size_t region = started.front().region;
  Status status = noted(doWait(region, patience, outputs));
  if (!status) {
    ++(status.fault == Fault::TimeOut ? counts.timeOuts : counts.faults);
    // A wrong answer is an answer: the frame is done with.
    if (status.fault == Fault::Device)
      started.pop_front();
    answer.clear();
    return status;
  }
  answer = std::move(outputs);
  answered = theDesign.region(region);
  Duration took = Clock::now() - started.front().launched;
  started.pop_front();
  counts.shortest = counts.done ? std::min(counts.shortest, took) : took;
  counts.longest = std::max(counts.longest, took);
  counts.sum += took;
  counts.latency.add(std::chrono::duration<double>(took).count());
  ++counts.done;
  return {};
}

Status Driver::tend(Duration longest) {
  if (Status status = usable(); !status)
    return status;
  return noted(doTend(longest));
}

Status Driver::doTend(Duration longest) {
  std::this_thread::sleep_for(longest);
  return {};
}

Status Driver::read(size_t output, std::span<uint8_t> frame) {
  if (Status status = usable(); !status)
    return status;
  if (output >= theDesign.outputs.size())
    return {Fault::Size, "the design has no output " + std::to_string(output)};
  if (answer.empty())
    return {Fault::Order, "no frame is done"};
  if (!answered.hasOutput(output))
    return {Fault::Order, theDesign.outputs[output].name +
                              ": it is not of the region that is done"};
  const Port &port = theDesign.outputs[output];
  if (frame.size() != port.frameBytes())
    return {Fault::Size,
            port.name + ": " + sizeText(frame.size(), port.frameBytes())};
  const Bytes &bytes = answer[output - answered.firstOutput];
  std::copy(bytes.begin(), bytes.end(), frame.begin());
  counts.bytesRead += frame.size();
  return {};
}

void Driver::close() {
  if (isOpen)
    doClose();
  isOpen = isGone = false;
  started.clear();
  answer.clear();
}
} // namespace rhizome::runtime
