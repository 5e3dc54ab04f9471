// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Frames.h"
#include "Model.h"
#include "Saturation.h"
#include "rhizome/Support/Data.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::pipeline;

static Frames emptyFrames(int64_t n) { return Frames(size_t(n)); }

static std::string namesOf(ArrayRef<HostModel::Value> values) {
  std::vector<std::string> names;
  for (const HostModel::Value &value : values)
    names.push_back("'" + value.name + "'");
  return join(names, ", ");
}

/// Values of graph inputs or outputs, [frame][value], from one file per value
/// or from one .npz that names them all.
Expected<Frames> pipeline::readValues(ArrayRef<DataRequest> files,
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
    Expected<Normalise> normalise =
        Normalise::parse(file.normalise, file.normaliseOption);
    if (!normalise)
      return normalise.takeError();
    InputSpec spec{value.name, value.shape,   value.isFloat, value.lo,
                   value.hi,   value.isWhole, value.isPlain};
    Expected<FrameSource> source =
        FrameSource::open(file.path, spec, *normalise);
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

Expected<PreparedFrames> pipeline::prepare(const HostModel &model,
                                           const Frames &frames) {
  PreparedFrames prepared{emptyFrames(frames.size()),
                          emptyFrames(frames.size())};
  if (Error error = parallelFrames(frames.size(), [&](int64_t i) -> Error {
        Expected<HostModel::Prepared> out = model.runPrologue(frames[i]);
        if (!out)
          return out.takeError();
        prepared.inputs[i] = std::move(out->inputs);
        prepared.carried[i] = std::move(out->carried);
        return Error::success();
      }))
    return error;
  return prepared;
}

/// Seeded frames, one value per spec.
static Expected<Frames> randomFrames(ArrayRef<InputSpec> specs, int64_t n,
                                     uint64_t seed,
                                     std::pair<double, double> range) {
  Frames frames = emptyFrames(n);
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

Expected<PreparedFrames> pipeline::framesFor(const DataChoice &request,
                                             const HostModel &model) {
  int64_t n = std::max<int64_t>(request.frames, 1);
  std::vector<InputSpec> specs;
  // Without a host's part that reads the graph's inputs, the network's own.
  if (request.inputs.empty() && !request.inputRange && !model.carriedCount()) {
    for (const BorderPort &port : model.networkInputs())
      specs.push_back({port.name, port.shape, /*isFloat=*/false,
                       port.element.lo, port.element.hi});
    Expected<Frames> integers = randomFrames(specs, n, request.seed, {0, 1});
    if (!integers)
      return integers.takeError();
    return PreparedFrames{std::move(*integers), emptyFrames(n)};
  }
  if (request.inputs.empty()) {
    for (const HostModel::Value &value : model.inputs())
      specs.push_back({value.name, value.shape, value.isFloat, 0, 1});
    Expected<Frames> given = randomFrames(
        specs, n, request.seed,
        request.inputRange.value_or(std::pair<double, double>(0, 1)));
    if (!given)
      return given.takeError();
    return prepare(model, *given);
  }
  Expected<Frames> given =
      readValues(request.inputs, model.inputs(), request.frames, "input");
  if (!given)
    return given.takeError();
  Expected<PreparedFrames> prepared = prepare(model, *given);
  if (prepared)
    prepared->given = std::move(*given);
  return prepared;
}

/// Counts elements that differ, and describes the first.
void pipeline::compare(const Frames &got, const Frames &want,
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

Expected<Frames> pipeline::runInterpreter(const HostModel &model,
                                          const Frames &frames,
                                          SaturationCounter *watcher) {
  Frames outputs = emptyFrames(frames.size());
  if (Error error = parallelFrames(frames.size(), [&](int64_t i) -> Error {
        Expected<std::vector<Tensor>> out = model.runNetwork(
            frames[i], watcher ? watcher->watch(frames[i]) : ProbeFn());
        if (!out)
          return out.takeError();
        outputs[i] = std::move(*out);
        return Error::success();
      }))
    return error;
  return outputs;
}

Expected<std::vector<Saturation>>
pipeline::prologueSaturation(const HostModel &model, const Frames &given) {
  SaturationCounter counter(model.prologuePart());
  if (!model.isPrologueLight())
    return std::vector<Saturation>();
  Interpreter interpreter(model.prologuePart());
  if (Error error = parallelFrames(given.size(), [&](int64_t i) -> Error {
        if (failed(interpreter.run(given[i], counter.watch(given[i]))))
          return createStringError("the prologue cannot be evaluated");
        return Error::success();
      }))
    return error;
  return counter.counts();
}

/// Runs integer frames on the CPU path.
Expected<Frames> pipeline::runCpu(const HostModel &model,
                                  const Frames &frames) {
  if (model.networkOutputs().empty()) // all on the host
    return Frames(frames.size());
  Frames outputs(frames.size());
  if (Error error = parallelFrames(frames.size(), [&](int64_t i) -> Error {
        Expected<std::vector<Tensor>> out = model.runCompiledNetwork(frames[i]);
        if (!out)
          return out.takeError();
        outputs[i] = std::move(*out);
        return Error::success();
      }))
    return error;
  return outputs;
}

/// Compares the graph's outputs with expected values.
Error pipeline::compareExpected(const DataChoice &request,
                                const HostModel &model, const Frames &outputs,
                                const Frames &carried, Comparison &result) {
  std::vector<DataRequest> files;
  for (const std::string &path : request.expect)
    files.push_back({path, ""});
  std::vector<HostModel::Value> values = model.outputs();
  for (HostModel::Value &value : values)
    value.isPlain = true; // what is expected is no picture
  Expected<Frames> want =
      readValues(files, values, int64_t(outputs.size()), "output");
  if (!want)
    return want.takeError();
  result.unexpected = 0;
  for (size_t f = 0; f < std::min(want->size(), outputs.size()); ++f) {
    Expected<std::vector<Tensor>> got =
        model.runEpilogue(outputs[f], carried[f]);
    if (!got)
      return got.takeError();
    for (size_t k = 0; k < got->size(); ++k)
      for (int64_t i = 0; i < (*got)[k].size(); ++i) {
        const Tensor &t = (*got)[k];
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

Error pipeline::writeValues(const std::vector<std::string> &paths,
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
    return createStringError("the model has %zu outputs (%s), %zu files are "
                             "named",
                             all.size(), namesOf(values).c_str(), paths.size());
  for (auto [path, tensor] : llvm::zip_equal(paths, all))
    if (Error error = writeNpy(path, tensor))
      return error;
  return Error::success();
}

/// Runs the epilogue and writes each graph output of all frames to its file.
Error pipeline::writeOutputs(const DataChoice &request, const HostModel &model,
                             const Frames &outputs, const Frames &carried) {
  Frames all;
  for (auto [frame, past] : llvm::zip_equal(outputs, carried)) {
    Expected<std::vector<Tensor>> values = model.runEpilogue(frame, past);
    if (!values)
      return values.takeError();
    all.push_back(std::move(*values));
  }
  return writeValues(request.outputs, model.outputs(), all);
}
