// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite on a design that is no network, and what single drivers
// do besides.
#include "../TestFolder.h"
#include "DriverSuite.h"
#include "Toy.h"
#include "rhizome/runtime/infer.h"
#include "rhizome/runtime/udp.h"
#include <cmath>
#include <limits>

using namespace rhizome::runtime;
using namespace rhizome::test;
using namespace std::chrono_literals;

static constexpr Duration kLong = 60s;

const Subject &rhizome::test::subject() {
  static const Subject subject = {toy::design(""), toy::compute, toy::frame,
                                  RHIZOME_TOY_SIMULATOR, "/"};
  return subject;
}

TEST(Inference, TakesAndGivesTensors) {
  // Five bytes of a scale and a zero point; twenty bits as five numbers.
  const int64_t shape[] = {5}, sizes[] = {5}, one[] = {1};
  const int64_t zero[] = {3}, none[] = {0};
  const float half[] = {0.5f}, eighth[] = {0.125f}, offset[] = {1.f};
  const rhz_tensor in = {"x", RHZ_FLOAT32, 1, 1, shape, 5};
  const rhz_tensor out = {"y", RHZ_FLOAT32, 1, 1, shape, 5};
  const rhz_border to = {"s_axis_0", 0,  5,    8,     0,      0,
                         255,        32, 1,    sizes, one,    RHZ_HALF_EVEN,
                         1,          1,  half, zero,  nullptr};
  const rhz_border from = {"m_axis_0", 0,  5,      4,     1,     -8,
                           7,          16, 1,      sizes, one,   RHZ_HALF_EVEN,
                           1,          1,  eighth, none,  offset};
  const rhz_model model = {"toy", 1,   1,     1, &in, &out,    1,
                           1,     &to, &from, 0, 0,   nullptr, nullptr};
  for (bool computes : {true, false}) {
    auto device =
        computes ? udpDevice(toy::compute, toy::design("")) : nullDevice();
    Inference inference(model, "", device->driver());
    inference.patience = kLong;
    Status status = inference.open();
    ASSERT_TRUE(status) << status.text;
    const size_t frames = 5;
    std::vector<float> x, y(5 * frames);
    for (size_t i = 0; i < 5 * frames; ++i)
      x.push_back(float(i) * 1.25f);
    const void *inputs[] = {x.data()};
    void *outputs[] = {y.data()};
    status = inference.infer(inputs, outputs, frames);
    ASSERT_TRUE(status) << status.text;
    for (size_t f = 0; f < frames; ++f) {
      Bytes frame;
      for (size_t i = 0; i < 5; ++i)
        frame.push_back(uint8_t(std::nearbyint(x[5 * f + i] / 0.5f) + 3));
      Bytes answer = device->computes ? toy::compute(frame) : Bytes(3);
      for (size_t i = 0; i < 5; ++i) {
        int code = answer[i / 2] >> (i % 2 * 4) & 15;
        EXPECT_EQ(y[5 * f + i],
                  float(code < 8 ? code : code - 16) * 0.125f + 1);
      }
    }
    x[7] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FAULT(Fault::Size, "input 'x', frame 1, element 2: NaN",
                 inference.infer(inputs, outputs, frames));
    x[7] = 0;
    status = inference.infer(inputs, outputs, frames);
    EXPECT_TRUE(status) << status.text;
  }
}

TEST(SimulationDriver, SaysWhatTheSimulatorSays) {
  setenv("RHZ_TOY", "error", 1);
  auto driver = simulationDevice(RHIZOME_TOY_SIMULATOR, "/")->driver();
  setenv("RHZ_TOY", "error", 1);
  ASSERT_TRUE(driver->open(toy::design("")));
  ASSERT_TRUE(driver->write(0, toy::frame(0)));
  ASSERT_TRUE(driver->launch());
  EXPECT_FAULT(Fault::Device, "misbehaves: it hangs", driver->wait(kLong));
  setenv("RHZ_TOY", "short", 1);
  ASSERT_TRUE(driver->write(0, toy::frame(0)));
  ASSERT_TRUE(driver->launch());
  EXPECT_FAULT(Fault::Device, "wrote 0 bytes of m_axis_0 instead of 4",
               driver->wait(kLong));
  unsetenv("RHZ_TOY");
  SimulationOptions options;
  options.program = "/no/such/program";
  driver = makeSimulationDriver(options);
  EXPECT_FAULT(Fault::Gone, "'/no/such/program' cannot be run",
               driver->open(toy::design("")));
}

TEST(UartDriver, RefusesWhatIsNoLine) {
  TestFolder folder;
  std::string file = folder.path() + "/file";
  std::ofstream(file) << "no line";
  auto driver = makeUartDriver({file, 1000000});
  EXPECT_FAULT(Fault::Unsupported, "is not a serial line",
               driver->open(toy::design("")));
  driver = makeUartDriver({file + "-absent", 1000000});
  EXPECT_FAULT(Fault::Gone, "cannot open", driver->open(toy::design("")));
  driver = makeUartDriver({file, 12345});
  EXPECT_FAULT(Fault::Unsupported, "no line speed of 12345 baud",
               driver->open(toy::design("")));
  Design design = toy::design("");
  design.inputs.push_back(design.inputs[0]);
  EXPECT_FAULT(Fault::Unsupported, "has 2 and 1", driver->open(design));
}

TEST(UdpDriver, RefusesDesignsWithoutLinksAndNamesSilentNodes) {
  auto driver = makeUdpDriver({});
  EXPECT_FAULT(Fault::Unsupported, "no links", driver->open(toy::design("")));
  UdpOptions options;
  options.service.nodes = {{"node0", 1}};
  options.listen = "127.0.0.1:0";
  options.patience = 100ms;
  driver = makeUdpDriver(options);
  EXPECT_FAULT(Fault::Gone, "not said where node0 is",
               driver->open(toy::design("")));
  // Nothing answers at a port that a closed socket had.
  rhizome::link::Endpoint endpoint(1, {});
  {
    rhizome::link::UdpSocket socket(endpoint);
    std::string error;
    ASSERT_TRUE(socket.bind("127.0.0.1:0", error)) << error;
    options.places[1] = "127.0.0.1:" + std::to_string(socket.port());
  }
  driver = makeUdpDriver(options);
  EXPECT_FAULT(Fault::Gone, "no answer from node0 (127.0.0.1:",
               driver->open(toy::design("")));
}
