// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Constraints.h"
#include "rhizome/Support/Files.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Transforms/Integerize.h"

using namespace llvm;
using namespace rhizome;

/// Our cluster for a device type of DOSA, "" if there is none.
static std::string clusterOf(StringRef type) {
  return type == "cF_FMKU60_Themisto_1" ? "ku060x20" : "";
}

Error pipeline::applyConstraints(CompileRequest &request,
                                 std::vector<std::string> &notes) {
  const std::string &path = request.constraints;
  Expected<std::string> text = readText(path);
  if (!text)
    return text.takeError();
  auto refuse = [&](const Twine &why) {
    return createStringError("the constraint file '%s' cannot be used: %s",
                             path.c_str(), why.str().c_str());
  };
  Expected<json::Value> value = parseJson(*text);
  if (!value)
    return refuse(toString(value.takeError()));
  const json::Object *file = value->getAsObject();
  if (!file)
    return refuse("expected an object");
  for (const char *key : {"name", "shape_dict", "used_batch_n", "targeted_hw",
                          "arch_gen_strategy"})
    if (!file->get(key))
      return refuse("it has no '" + Twine(key) + "'");
  if (file->getInteger("used_batch_n") != 1)
    return refuse("'used_batch_n' must be 1: every frame is one inference");
  const json::Object *shapes = file->getObject("shape_dict");
  if (!shapes)
    return refuse("'shape_dict' must be an object");
  for (const auto &[name, sizes] : *shapes) {
    std::vector<int64_t> shape;
    if (const json::Array *list = sizes.getAsArray())
      for (const json::Value &size : *list)
        shape.push_back(size.getAsInteger().value_or(0));
    if (shape.empty() || is_contained(shape, 0))
      return refuse("the shape of '" + name.str() + "' must be whole numbers");
    request.model.shapes.try_emplace(name.str(), std::move(shape));
  }
  auto positive = [&](const char *key) { // 0 if there is none
    return std::max(0.0, file->getNumber(key).value_or(0));
  };
  auto digits = [](double value) { // without trailing zeros
    std::string shortest;
    llvm::raw_string_ostream(shortest) << llvm::format("%.15g", value);
    return shortest;
  };
  StringRef strategy = file->getString("arch_gen_strategy").value_or("");
  if (strategy == "performance" || strategy == "throughput" ||
      strategy == "default") {
    if (positive("target_sps") <= 0)
      return refuse("'target_sps' must be positive");
    request.goal = "throughput=" + digits(positive("target_sps")) + "/s";
  } else if (strategy == "latency") {
    if (positive("target_latency") <= 0)
      return refuse("'target_latency' must be positive");
    request.goal = "latency=" + digits(positive("target_latency") * 1e9) + "ns";
  } else if (strategy == "resources") {
    request.goal = "min-nodes";
  } else {
    return refuse("'arch_gen_strategy' is '" + strategy +
                  "'; known are: performance, throughput, default, latency, "
                  "resources");
  }
  if (int64_t budget = int64_t(positive("target_resource_budget")))
    request.maxNodes = budget;
  const json::Array *hardware = file->getArray("targeted_hw");
  if (!hardware || hardware->size() != 1 || !(*hardware)[0].getAsString())
    return refuse("'targeted_hw' must name one device type");
  if (request.cluster.empty()) {
    request.cluster = clusterOf(*(*hardware)[0].getAsString());
    if (request.cluster.empty())
      return refuse("the device type '" + *(*hardware)[0].getAsString() +
                    "' is not known; --cluster NAME says what to use instead");
  }
  if (const json::Object *types = file->getObject("overwrite_dtypes")) {
    StringRef data = types->getString("data").value_or("");
    unsigned width = 0;
    if (data.consume_front("int") && !data.getAsInteger(10, width) &&
        !request.model.numberFormat) {
      int64_t fraction = types->getInteger("fixed_point_fraction_bits")
                             .value_or(int64_t(width) - 1);
      std::string why = "its width or fraction is out of range";
      if (width <= 128 && std::abs(fraction) <= 256) {
        request.model.numberFormat =
            numeric::Format::fixed(int(width - fraction), int(fraction));
        why = whyNotForNetworks(*request.model.numberFormat);
      }
      if (!why.empty())
        return refuse("the number format of 'overwrite_dtypes': " + why);
    }
  }
  for (const char *key : {"fallback_hw", "osg_allowlist", "quantization"})
    if (const json::Value *unused = file->get(key))
      if (unused->getAsString() != "none")
        notes.push_back("'" + std::string(key) + "' of " + path +
                        " has no meaning here and is left aside");
  return Error::success();
}
