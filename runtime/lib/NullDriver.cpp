// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No device: zeros of the right size. A new driver begins as a copy of this
// file; unittests/Runtime/DriverTest.cpp says what it has to pass.
#include "rhizome/runtime/drivers.h"

namespace rhizome::runtime {
namespace {
class NullDriver : public Driver {
public:
  const char *name() const override { return "null"; }

private:
  Status doOpen() override { return checkImages(design()); }
  Status doLoad(const Segment &, std::span<const uint8_t>) override {
    return {};
  }
  Status doLaunch(size_t, std::vector<Bytes>) override { return {}; }
  Status doWait(size_t region, Duration, std::vector<Bytes> &outputs) override {
    for (const Port &port : design().outputsOf(region))
      outputs.emplace_back(port.frameBytes());
    return {};
  }
  void doClose() override {}
};
} // namespace

std::unique_ptr<Driver> makeNullDriver() {
  return std::make_unique<NullDriver>();
}
} // namespace rhizome::runtime
