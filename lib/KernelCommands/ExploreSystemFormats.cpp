// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Systems in several number formats, side by side on all cores, and their
// errors: the front over error, rate and the share of a die.
#include "ExploreSystems.h"
#include "rhizome/KernelCommands/ExploreFormats.h"
#include "rhizome/Support/Failures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <cmath>
#include <mutex>
#include <tuple>

using namespace rhizome;
using namespace rhizome::kernelcommands;

const SystemPoint &SystemResult::best() const {
  for (const SystemPoint &point : llvm::reverse(points))
    if (formats.empty() || formats[point.format].overflows == 0)
      return point;
  return points.back();
}

/// Sorts points by their rates and marks those that nothing is better than. A
/// point competes with all formats of the same or a smaller error.
static void markFront(SystemResult &result) {
  std::vector<double> errors;
  for (const SystemFormat &format : result.formats)
    errors.push_back(format.overflows ? INFINITY : -format.snrDb);
  if (errors.empty())
    errors.push_back(0);
  llvm::sort(result.points, [&](const SystemPoint &a, const SystemPoint &b) {
    auto key = [&](const SystemPoint &p) {
      return std::tuple(p.elementsPerS, -p.share, -errors[p.format], -p.units,
                        p.format, p.stages, p.sideBySide, p.isShared);
    };
    return key(a) < key(b);
  });
  std::vector<double> levels = errors;
  llvm::sort(levels);
  levels.erase(llvm::unique(levels), levels.end());
  for (double level : levels) {
    double least = INFINITY;
    for (SystemPoint &p : llvm::reverse(result.points)) {
      const double error = errors[p.format];
      if (error > level || p.share >= least)
        continue;
      least = p.share;
      p.isPareto |= error == level && level < INFINITY;
    }
  }
}

/// The errors of the formats, with the results in double computed once.
static std::optional<Failure> measureErrors(const SystemRequest &request,
                                            SystemResult &result) {
  ExploreFormatsRequest errors;
  errors.kernel = request.path;
  errors.options = request.options;
  errors.options.numbers.format.reset();
  errors.choice = request.options.numbers;
  for (const SystemFormat &format : result.formats)
    errors.formats.push_back(format.format.str());
  auto explored = exploreFormats(errors);
  if (!explored)
    return explored.failure();
  for (SystemFormat &format : result.formats)
    for (const FormatPoint &point : explored->points)
      if (point.format == format.format) {
        format.snrDb = point.meanSquare > 0 && std::isfinite(point.meanSquare)
                           ? 10 * std::log10(point.signal / point.meanSquare)
                       : point.meanSquare > 0 ? -INFINITY
                                              : INFINITY;
        format.maximum = point.maximum;
        format.relative = point.relative;
        format.overflows = point.overflows;
      }
  return std::nullopt;
}

/// All formats and, next to them, their errors.
static rhizome::Result<SystemResult>
compareFormats(const SystemRequest &request,
               const planbuild::Targets &targets) {
  SystemResult result;
  for (const numeric::Format &format : request.formats)
    if (llvm::none_of(result.formats, [&](const SystemFormat &other) {
          return other.format == format;
        }))
      result.formats.emplace_back().format = format;
  const size_t count = result.formats.size();
  std::vector<std::optional<rhizome::Result<SystemResult>>> systems(count);
  std::optional<Failure> noErrors;
  std::mutex mutex;
  size_t done = 0;
  auto show = [&](size_t number) {
    if (request.progress)
      request.progress("formats: " + std::to_string(number) + " of " +
                       std::to_string(count) + " built");
  };
  show(0);
  std::vector<SystemFormat> measured = result.formats;
  llvm::parallelFor(0, count + 1, [&](size_t task) {
    if (task == count) {
      SystemResult errors;
      errors.formats = measured;
      noErrors = measureErrors(request, errors);
      measured = std::move(errors.formats);
      return;
    }
    HardwareRequest one = request;
    one.options.numbers.format = result.formats[task].format;
    systems[task] = systemsOf(one, targets);
    std::lock_guard<std::mutex> guard(mutex);
    show(++done);
  });
  if (noErrors)
    return std::move(*noErrors);
  result.formats = std::move(measured);
  bool isAny = false;
  for (size_t f = 0; f < count; ++f) {
    rhizome::Result<SystemResult> &one = *systems[f];
    if (!one) {
      result.formats[f].obstacle = one.failure().reason();
      continue;
    }
    isAny = true;
    result.operations = one->operations;
    result.clockMhz = one->clockMhz;
    result.device = one->device;
    for (SystemPoint &point : one->points) {
      point.format = f;
      result.points.push_back(std::move(point));
    }
  }
  if (!isAny)
    return systems[0]->failure();
  return std::move(result);
}

rhizome::Result<SystemResult>
kernelcommands::exploreSystems(const SystemRequest &request) {
  if (!request.target.cluster.empty())
    return Failure(Failure::Kind::Usage,
                   "a kernel's system is built for one device",
                   "name it with --device, or its board with --board");
  auto targets = planbuild::targetsOf(request.target);
  if (!targets)
    return failureOf(targets.takeError(), Failure::Kind::Input);
  auto result = request.formats.size() > 1 ? compareFormats(request, *targets)
                                           : systemsOf(request, *targets);
  if (result)
    markFront(*result);
  return result;
}
