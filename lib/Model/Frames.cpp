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

static InputSpec specOf(const HostModel::Value &value) {
  return {value.name, value.shape,   value.isFloat, value.lo,
          value.hi,   value.isWhole, value.isPlain};
}

/// Where values of graph inputs or outputs are: one file per value, or one .npz
/// with all their names; `count` gets the number of frames, at most `limit`.
static Expected<std::vector<FrameSource>>
openValues(ArrayRef<DataRequest> files, ArrayRef<HostModel::Value> values,
           int64_t limit, const char *what, size_t &count) {
  const bool shared =
      files.size() == 1 && StringRef(files[0].path).ends_with(".npz");
  if (!shared && files.size() != values.size())
    return createStringError("the model has %zu %ss (%s), %zu files are given",
                             values.size(), what, namesOf(values).c_str(),
                             files.size());
  std::vector<FrameSource> sources;
  count = 0;
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
    Expected<FrameSource> source = FrameSource::open(
        file.path, specOf(value), *normalize,
        std::make_shared<const ImageSteps>(std::move(*steps)));
    if (!source)
      return source.takeError();
    size_t has = source->size();
    if (limit)
      has = std::min(has, size_t(limit));
    if (k > 0 && has != count)
      return createStringError("'%s' has %zu frames, the %s before it %zu",
                               file.path.c_str(), has, what, count);
    count = has;
    sources.push_back(std::move(*source));
  }
  return sources;
}

/// A frame of each source.
static Expected<std::vector<Tensor>> frameOf(ArrayRef<FrameSource> sources,
                                             size_t i) {
  std::vector<Tensor> values;
  for (const FrameSource &source : sources) {
    Expected<Tensor> tensor = source.frame(i);
    if (!tensor)
      return tensor.takeError();
    values.push_back(std::move(*tensor));
  }
  return values;
}

Expected<Frames> model::readValues(ArrayRef<DataRequest> files,
                                   ArrayRef<HostModel::Value> values,
                                   int64_t limit, const char *what) {
  size_t count = 0;
  Expected<std::vector<FrameSource>> sources =
      openValues(files, values, limit, what, count);
  if (!sources)
    return sources.takeError();
  Frames frames;
  for (size_t f = 0; f < count; ++f) {
    Expected<std::vector<Tensor>> frame = frameOf(*sources, f);
    if (!frame)
      return frame.takeError();
    frames.push_back(std::move(*frame));
  }
  return frames;
}

Expected<FrameStream> FrameStream::open(const DataChoice &request,
                                        const HostModel &model) {
  FrameStream stream(model);
  if (!request.inputs.empty()) {
    Expected<std::vector<FrameSource>> sources = openValues(
        request.inputs, model.inputs(), request.frames, "input", stream.count);
    if (!sources)
      return sources.takeError();
    stream.sources = std::move(*sources);
    stream.areReal = true;
    return stream;
  }
  stream.count = size_t(std::max<int64_t>(request.frames, 1));
  std::vector<InputSpec> specs;
  std::pair<double, double> range(0, 1);
  stream.areCodes = !request.inputRange && model.isNetworkFree();
  if (stream.areCodes) {
    for (const BorderPort &port : model.networkInputs())
      specs.push_back({port.name, port.shape, /*isFloat=*/false,
                       port.element.lo, port.element.hi});
  } else {
    range = request.inputRange.value_or(range);
    for (const HostModel::Value &value : model.inputs())
      specs.push_back({value.name, value.shape, value.isFloat, 0, 1});
  }
  for (auto [k, spec] : enumerate(specs))
    stream.sources.push_back(
        FrameSource::random(spec, request.seed + k, stream.count,
                            float(range.first), float(range.second)));
  return stream;
}

Expected<FrameStream> FrameStream::of(std::vector<NamedTensor> arrays,
                                      const HostModel &model) {
  FrameStream stream(model);
  stream.areReal = true;
  if (arrays.size() != model.inputs().size())
    return createStringError("the model has %zu inputs (%s), %zu arrays are "
                             "given",
                             model.inputs().size(),
                             namesOf(model.inputs()).c_str(), arrays.size());
  for (auto [k, value] : enumerate(model.inputs())) {
    Expected<FrameSource> source = FrameSource::of(
        std::move(arrays[k]), "'" + value.name + "'", specOf(value));
    if (!source)
      return source.takeError();
    if (k > 0 && source->size() != stream.count)
      return createStringError("'%s' has %zu frames, the input before it %zu",
                               value.name.c_str(), source->size(),
                               stream.count);
    stream.count = source->size();
    stream.sources.push_back(std::move(*source));
  }
  return stream;
}

Expected<Passage>
FrameStream::frame(size_t i, std::optional<std::vector<Tensor>> states) const {
  Expected<std::vector<Tensor>> values = frameOf(sources, i);
  if (!values)
    return values.takeError();
  Frames one;
  one.push_back(std::move(*values));
  return areCodes ? Passage::ofCodes(model(), one)
                  : Passage(model(), one, std::move(states));
}

Expected<Passage> FrameStream::all() const {
  Frames frames;
  for (size_t f = 0; f < count; ++f) {
    Expected<std::vector<Tensor>> frame = frameOf(sources, f);
    if (!frame)
      return frame.takeError();
    frames.push_back(std::move(*frame));
  }
  return areCodes ? Passage::ofCodes(model(), frames)
                  : Passage(model(), frames);
}

Expected<Drawn> model::framesFor(const DataChoice &request,
                                 const HostModel &model) {
  Expected<FrameStream> stream = FrameStream::open(request, model);
  if (!stream)
    return stream.takeError();
  Expected<Passage> all = stream->all();
  if (!all)
    return all.takeError();
  return Drawn{std::move(*all), stream->isReal()};
}

void model::compareFrame(size_t frame, ArrayRef<Tensor> got,
                         ArrayRef<Tensor> want, const HostModel &model,
                         Comparison &result) {
  for (size_t k = 0; k < want.size(); ++k)
    for (size_t i = 0; i < want[k].ints.size(); ++i) {
      int64_t w = want[k].ints[i], g = got[k].ints[i];
      if (w == g)
        continue;
      if (result.mismatches++ == 0)
        result.firstMismatch =
            formatv("frame {0}, output '{1}', element {2}: {3} instead of "
                    "the interpreter's {4}",
                    frame, model.networkOutputs()[k].name, i, g, w);
    }
}

void model::compare(const Frames &got, const Frames &want,
                    const HostModel &model, Comparison &result) {
  for (size_t f = 0; f < want.size(); ++f)
    compareFrame(f, got[f], want[f], model, result);
}

/// Compares a frame of the graph's outputs with expected values.
static void compareExpected(size_t frame, ArrayRef<Tensor> got,
                            ArrayRef<Tensor> want, const HostModel &model,
                            Comparison &result) {
  for (size_t k = 0; k < got.size(); ++k)
    for (int64_t i = 0; i < got[k].size(); ++i) {
      const Tensor &t = got[k];
      const Tensor &expected = want[k];
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
                    frame, model.outputs()[k].name, i, g, w);
    }
}

static Error wrongCount(ArrayRef<HostModel::Value> values, size_t files) {
  return ofKind(
      Failure::Kind::Usage,
      createStringError("the model has %zu outputs (%s), %zu files are named",
                        values.size(), namesOf(values).c_str(), files));
}

/// The frame of each value, to its writer; these are made at the first one.
static Error writeFrame(ArrayRef<std::string> paths,
                        ArrayRef<HostModel::Value> values, size_t frames,
                        ArrayRef<Tensor> tensors,
                        std::vector<NpyWriter> &writers) {
  for (auto [k, tensor] : enumerate(tensors)) {
    if (writers.size() == k) {
      Expected<NpyWriter> writer = NpyWriter::create(
          paths[k], tensor.isFloat, tensor.shape, frames, values[k].type);
      if (!writer)
        return writer.takeError();
      writers.push_back(std::move(*writer));
    }
    if (Error error = writers[k].add(tensor))
      return error;
  }
  return Error::success();
}

static Error finishWriters(std::vector<NpyWriter> &writers) {
  for (NpyWriter &writer : writers)
    if (Error error = writer.finish())
      return error;
  writers.clear();
  return Error::success();
}

Error model::writeValues(const std::vector<std::string> &paths,
                         ArrayRef<HostModel::Value> values,
                         const Frames &frames) {
  if (paths.size() != values.size())
    return wrongCount(values, paths.size());
  std::vector<NpyWriter> writers;
  for (const std::vector<Tensor> &frame : frames)
    if (Error error = writeFrame(paths, values, frames.size(), frame, writers))
      return error;
  return finishWriters(writers);
}

Expected<OutputKeeper> OutputKeeper::open(const DataChoice &request,
                                          const HostModel &model,
                                          size_t frames) {
  OutputKeeper keeper(model);
  keeper.paths = request.outputs;
  keeper.frames = frames;
  if (!keeper.paths.empty() && keeper.paths.size() != model.outputs().size())
    return wrongCount(model.outputs(), keeper.paths.size());
  if (request.expect.empty())
    return keeper;
  std::vector<DataRequest> files;
  for (const std::string &path : request.expect)
    files.emplace_back().path = path;
  std::vector<HostModel::Value> values = model.outputs();
  for (HostModel::Value &value : values)
    value.isPlain = true; // expected values are not images
  Expected<std::vector<FrameSource>> expected = openValues(
      files, values, int64_t(frames), "output", keeper.expectedFrames);
  if (!expected)
    return ofKind(Failure::Kind::Input, expected.takeError());
  keeper.expected = std::move(*expected);
  return keeper;
}

Error OutputKeeper::add(ArrayRef<Tensor> outputs, Comparison &result) {
  const size_t frame = next++;
  if (!paths.empty())
    if (Error error = writeFrame(paths, model->outputs(), frames, outputs, writers))
      return ofKind(Failure::Kind::Environment, std::move(error));
  if (expected.empty())
    return Error::success();
  result.unexpected = std::max<int64_t>(result.unexpected, 0);
  if (frame >= expectedFrames)
    return Error::success();
  Expected<std::vector<Tensor>> want = frameOf(expected, frame);
  if (!want)
    return ofKind(Failure::Kind::Input, want.takeError());
  compareExpected(frame, outputs, *want, *model, result);
  return Error::success();
}

Error OutputKeeper::finish() {
  return ofKind(Failure::Kind::Environment, finishWriters(writers));
}

Error model::keepOutputs(const DataChoice &request, const HostModel &model,
                         Passage &passage, Comparison &result) {
  if (request.outputs.empty() && request.expect.empty())
    return Error::success();
  Expected<OutputKeeper> keeper =
      OutputKeeper::open(request, model, passage.size());
  if (!keeper)
    return keeper.takeError();
  Expected<Frames> outputs = passage.outputs();
  if (!outputs)
    return outputs.takeError();
  for (const std::vector<Tensor> &frame : *outputs)
    if (Error error = keeper->add(frame, result))
      return error;
  return keeper->finish();
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
