// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Model/Frames.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/ImageSteps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <cmath>
#include <thread>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::model;

static std::string namesOf(ArrayRef<HostModel::Value> values) {
  std::vector<std::string> names;
  for (const HostModel::Value &value : values)
    names.push_back("'" + value.name + "'");
  return join(names, ", ");
}

/// Values of graph inputs or outputs, [frame][value], from one file per value
/// or from one .npz with all their names.
Expected<Frames> model::readValues(ArrayRef<DataRequest> files,
                                   ArrayRef<HostModel::Value> values,
                                   int64_t limit, const char *what) {
  const bool shared =
      files.size() == 1 && StringRef(files[0].path).ends_with(".npz");
  if (!shared && files.size() != values.size())
    return createStringError("the model has %zu %ss (%s), %zu files are given",
                             values.size(), what, namesOf(values).c_str(),
                             files.size());
  Frames frames;
  for (auto [k, value] : enumerate(values)) {
    const DataRequest &file = files[shared ? 0 : k];
    Expected<Normalize> normalize =
        Normalize::parse(file.normalize, file.normalizeOption);
    if (!normalize)
      return normalize.takeError();
    Expected<ImageSteps> steps =
        ImageSteps::parse(file.images, file.imagesOption);
    if (!steps)
      return steps.takeError();
    InputSpec spec{value.name, value.shape,   value.isFloat, value.lo,
                   value.hi,   value.isWhole, value.isPlain};
    Expected<FrameSource> source = FrameSource::open(
        file.path, spec, *normalize,
        std::make_shared<const ImageSteps>(std::move(*steps)));
    if (!source)
      return source.takeError();
    size_t count = source->size();
    if (limit)
      count = std::min(count, size_t(limit));
    if (k > 0 && count != frames.size())
      return createStringError("'%s' has %zu frames, the %s before it %zu",
                               file.path.c_str(), count, what, frames.size());
    frames.resize(count);
    for (size_t f = 0; f < count; ++f) {
      Expected<Tensor> tensor = source->frame(f);
      if (!tensor)
        return tensor.takeError();
      frames[f].push_back(std::move(*tensor));
    }
  }
  return frames;
}

/// Seeded frames, one value per spec.
static Expected<Frames> randomFrames(ArrayRef<InputSpec> specs, int64_t n,
                                     uint64_t seed,
                                     std::pair<double, double> range) {
  Frames frames{size_t(n)};
  for (auto [k, spec] : enumerate(specs)) {
    FrameSource source = FrameSource::random(spec, seed + k, size_t(n),
                                             range.first, range.second);
    for (auto [f, frame] : enumerate(frames)) {
      Expected<Tensor> tensor = source.frame(f);
      if (!tensor)
        return tensor.takeError();
      frame.push_back(std::move(*tensor));
    }
  }
  return frames;
}

Expected<Drawn> model::framesFor(const DataChoice &request,
                                 const HostModel &model) {
  int64_t n = std::max<int64_t>(request.frames, 1);
  std::vector<InputSpec> specs;
  if (request.inputs.empty() && !request.inputRange && model.isNetworkFree()) {
    for (const BorderPort &port : model.networkInputs())
      specs.push_back({port.name, port.shape, /*isFloat=*/false,
                       port.element.lo, port.element.hi});
    Expected<Frames> integers = randomFrames(specs, n, request.seed, {0, 1});
    if (!integers)
      return integers.takeError();
    return Drawn{Passage::ofCodes(model, *integers)};
  }
  if (request.inputs.empty()) {
    for (const HostModel::Value &value : model.inputs())
      specs.push_back({value.name, value.shape, value.isFloat, 0, 1});
    Expected<Frames> given = randomFrames(
        specs, n, request.seed,
        request.inputRange.value_or(std::pair<double, double>(0, 1)));
    if (!given)
      return given.takeError();
    return Drawn{Passage(model, *given)};
  }
  Expected<Frames> given =
      readValues(request.inputs, model.inputs(), request.frames, "input");
  if (!given)
    return given.takeError();
  return Drawn{Passage(model, *given), true};
}

/// Counts elements that differ, and describes the first.
void model::compare(const Frames &got, const Frames &want,
                    const HostModel &model, Comparison &result) {
  for (size_t f = 0; f < want.size(); ++f)
    for (size_t k = 0; k < want[f].size(); ++k)
      for (size_t i = 0; i < want[f][k].ints.size(); ++i) {
        int64_t w = want[f][k].ints[i], g = got[f][k].ints[i];
        if (w == g)
          continue;
        if (result.mismatches++ == 0)
          result.firstMismatch =
              formatv("frame {0}, output '{1}', element {2}: {3} instead of "
                      "the interpreter's {4}",
                      f, model.networkOutputs()[k].name, i, g, w);
      }
}

/// Compares the graph's outputs with expected values.
Error model::compareExpected(const DataChoice &request, const HostModel &model,
                             const Frames &outputs, Comparison &result) {
  std::vector<DataRequest> files;
  for (const std::string &path : request.expect)
    files.emplace_back().path = path;
  std::vector<HostModel::Value> values = model.outputs();
  for (HostModel::Value &value : values)
    value.isPlain = true; // expected values are not images
  Expected<Frames> want =
      readValues(files, values, int64_t(outputs.size()), "output");
  if (!want)
    return want.takeError();
  result.unexpected = 0;
  for (size_t f = 0; f < std::min(want->size(), outputs.size()); ++f) {
    const std::vector<Tensor> &got = outputs[f];
    for (size_t k = 0; k < got.size(); ++k)
      for (int64_t i = 0; i < got[k].size(); ++i) {
        const Tensor &t = got[k];
        const Tensor &expected = (*want)[f][k];
        double g = t.isFloat ? t.floats[i] : double(t.ints[i]);
        double w =
            expected.isFloat ? expected.floats[i] : double(expected.ints[i]);
        bool isSame = t.isFloat || expected.isFloat
                          ? std::abs(g - w) <= 1e-6 + 1e-5 * std::abs(w)
                          : t.ints[i] == expected.ints[i];
        if (isSame)
          continue;
        if (result.unexpected++ == 0 && result.firstMismatch.empty())
          result.firstMismatch =
              formatv("frame {0}, output '{1}', element {2}: {3} instead of "
                      "the expected {4}",
                      f, model.outputs()[k].name, i, g, w);
      }
  }
  return Error::success();
}

Error model::writeValues(const std::vector<std::string> &paths,
                         ArrayRef<HostModel::Value> values,
                         const Frames &frames) {
  std::vector<Tensor> all;
  for (const std::vector<Tensor> &frame : frames) {
    if (all.empty())
      for (const Tensor &value : frame) {
        Tensor joined;
        joined.isFloat = value.isFloat;
        joined.shape = value.shape;
        joined.shape.insert(joined.shape.begin(), int64_t(frames.size()));
        all.push_back(std::move(joined));
      }
    for (auto [joined, value] : llvm::zip_equal(all, frame)) {
      llvm::append_range(joined.floats, value.floats);
      llvm::append_range(joined.ints, value.ints);
    }
  }
  if (paths.size() != all.size())
    return ofKind(
        Failure::Kind::Usage,
        createStringError("the model has %zu outputs (%s), %zu files are named",
                          all.size(), namesOf(values).c_str(), paths.size()));
  for (auto [path, tensor, value] : llvm::zip_equal(paths, all, values))
    if (Error error = writeNpy(path, tensor, value.type))
      return error;
  return Error::success();
}

Error model::keepOutputs(const DataChoice &request, const HostModel &model,
                         Passage &passage, Comparison &result) {
  if (request.outputs.empty() && request.expect.empty())
    return Error::success();
  Expected<Frames> outputs = passage.outputs();
  if (!outputs)
    return outputs.takeError();
  if (!request.outputs.empty())
    if (Error error = writeValues(request.outputs, model.outputs(), *outputs))
      return ofKind(Failure::Kind::Environment, std::move(error));
  if (!request.expect.empty())
    return ofKind(Failure::Kind::Input,
                  compareExpected(request, model, *outputs, result));
  return Error::success();
}

Error model::parallelFrames(int64_t count,
                            const std::function<llvm::Error(int64_t)> &work) {
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::string first; // the message of the first failed frame
  int64_t failed = count;
  auto worker = [&] {
    for (int64_t i; (i = next++) < count;) {
      if (llvm::Error error = work(i)) {
        std::lock_guard<std::mutex> guard(mutex);
        std::string text = llvm::toString(std::move(error));
        if (i < failed) {
          failed = i;
          first = std::move(text);
        }
        next = count;
      }
    }
  };
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (int64_t t = 1; t < std::min<int64_t>(cores, count); ++t)
    threads.emplace_back(worker);
  worker();
  for (std::thread &thread : threads)
    thread.join();
  if (failed == count)
    return llvm::Error::success();
  return llvm::createStringError("frame %lld: %s", (long long)failed,
                                 first.c_str());
}
