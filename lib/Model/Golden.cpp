// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Model/Golden.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <random>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::model;

static constexpr StringLiteral kFolder = "model/golden";
static constexpr int64_t kFrames = 4;
/// Products and other steps of all frames together, and of one frame alone.
static constexpr int64_t kLittle = 2'000'000, kMost = 20'000'000;

int64_t model::goldenFrames(mlir::ModuleOp model) {
  int64_t steps = 1;
  for (mlir::FunctionOpInterface task : flow::tasksOf(model))
    task.walk([&](mlir::Operation *op) {
      if (auto one = dyn_cast<osa::OsaOpInterface>(op)) {
        osa::Work work = one.getWork();
        steps += work.macs + work.ops;
      }
    });
  if (steps > kMost)
    return 0;
  return std::clamp<int64_t>(kLittle / steps, 1, kFrames);
}

/// What a real input of the model is drawn from: what its quantizer tells
/// apart, or −1 to 1.
static std::pair<double, double> rangeOf(const Plan &plan,
                                         const std::string &name) {
  for (const HostBorder &border : plan.host.toDevice) {
    const HostTensor &tensor = plan.host.inputs[size_t(border.tensor)];
    if (!tensor.ofModel || tensor.name != name || border.scale.empty())
      continue;
    double scale = border.scale[0], zero = double(border.zeroPoint[0]);
    return {(double(border.element.lo) - zero) * scale,
            (double(border.element.hi) - zero) * scale};
  }
  return {-1, 1};
}

static Frames drawInputs(const Plan &plan, const HostModel &model,
                         int64_t frames) {
  std::mt19937_64 random(1);
  Frames result;
  for (int64_t f = 0; f < frames; ++f) {
    std::vector<Tensor> &frame = result.emplace_back();
    for (const HostModel::Value &value : model.inputs()) {
      Tensor tensor;
      tensor.isFloat = value.isFloat;
      tensor.shape = value.shape;
      auto [low, high] = rangeOf(plan, value.name);
      int64_t lo = value.lo == INT64_MIN ? 0 : value.lo;
      int64_t hi = value.hi == INT64_MAX ? std::max<int64_t>(lo, 1) : value.hi;
      int64_t count = 1;
      for (int64_t size : value.shape)
        count *= size;
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t bits = random();
        const double share = double(bits >> 11) * 0x1p-53;
        if (!value.isFloat)
          tensor.ints.push_back(lo + int64_t(share * (double(hi - lo) + 1)));
        else if (value.isWhole)
          tensor.floats.push_back(float(lo + int64_t(share * 2)));
        else
          tensor.floats.push_back(float(low + share * (high - low)));
      }
      frame.push_back(std::move(tensor));
    }
  }
  return result;
}

static std::vector<std::string> filesOf(StringRef folder, const char *kind,
                                        size_t count) {
  std::vector<std::string> files;
  for (size_t k = 0; k < count; ++k)
    files.push_back((folder + "/" + kind + Twine(k) + ".npy").str());
  return files;
}

/// Where the frames are from: the names of the files, which may lie anywhere.
static std::string sourceText(const Samples &samples) {
  json::Array files;
  for (const DataRequest &file : samples.files)
    files.push_back(json::fixUTF8(sys::path::filename(file.path)));
  StringRef from = samples.option;
  from.consume_front("--");
  return formatv("{0:2}\n", json::Value(json::Object{
                                {"from", samples.files.empty() ? "seed" : from},
                                {"files", std::move(files)}}))
      .str();
}

static Expected<Frames> sampled(const Plan &plan, const HostModel &model,
                                int64_t frames, const Samples &samples) {
  if (samples.files.empty())
    return drawInputs(plan, model, frames);
  Expected<Frames> read =
      readValues(samples.files, model.inputs(), frames, "input");
  if (!read)
    return ofKind(
        Failure::Kind::Input,
        createStringError("the golden vectors are the first frames of %s: %s; "
                          "--golden 0 makes none",
                          samples.option.c_str(),
                          toString(read.takeError()).c_str()));
  return read;
}

Expected<GoldenCodes> model::writeGolden(PackageWriter &writer,
                                         const Plan &plan, int64_t frames,
                                         const Samples &samples) {
  if (frames == 0)
    return GoldenCodes();
  Expected<std::unique_ptr<HostModel>> model =
      HostModel::read(writer.dir() + "/model/network.mlir");
  if (!model)
    return model.takeError();
  Expected<Frames> inputs = sampled(plan, **model, frames, samples);
  if (!inputs)
    return inputs.takeError();
  Passage passage(**model, *inputs);
  if (Error error = passage.run(interpreted(**model)))
    return error;
  GoldenCodes codes{passage.networkInputs(), passage.networkOutputs()};
  Expected<Frames> outputs = passage.outputs();
  if (!outputs)
    return outputs.takeError();
  Expected<std::string> folder = writer.makeFolder(kFolder);
  if (!folder)
    return folder.takeError();
  if (Error error =
          writeValues(filesOf(*folder, "input", (*model)->inputs().size()),
                      (*model)->inputs(), *inputs))
    return error;
  if (Error error = writer.writeFile((kFolder + "/source.json").str(),
                                     sourceText(samples)))
    return error;
  if (Error error =
          writeValues(filesOf(*folder, "output", (*model)->outputs().size()),
                      (*model)->outputs(), *outputs))
    return error;
  return codes;
}

Expected<std::optional<Golden>> model::readGolden(const Package &package,
                                                  const HostModel &model) {
  const std::string folder = package.path(kFolder);
  if (!sys::fs::is_directory(folder))
    return std::nullopt;
  auto read = [&](const std::vector<HostModel::Value> &given,
                  const char *kind) -> Expected<Frames> {
    std::vector<HostModel::Value> values = given;
    for (HostModel::Value &value : values)
      value.isPlain = true; // no picture's bytes
    std::vector<DataRequest> files;
    for (const std::string &path : filesOf(folder, kind, values.size()))
      files.emplace_back().path = path;
    return readValues(files, values, 0, kind);
  };
  Golden golden;
  Expected<std::string> source = readFile(folder + "/source.json");
  if (!source)
    return source.takeError();
  Expected<json::Value> told = parseJson(*source);
  if (!told)
    return told.takeError();
  if (const json::Object *object = told->getAsObject())
    golden.from = object->getString("from").value_or("").str();
  Expected<Frames> inputs = read(model.inputs(), "input");
  if (!inputs)
    return inputs.takeError();
  golden.inputs = std::move(*inputs);
  Expected<Frames> outputs = read(model.outputs(), "output");
  if (!outputs)
    return outputs.takeError();
  golden.outputs = std::move(*outputs);
  if (golden.inputs.size() != golden.outputs.size())
    return createStringError("'%s' has %zu frames in and %zu out",
                             folder.c_str(), golden.inputs.size(),
                             golden.outputs.size());
  return golden;
}
