// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options with which a kernel was compiled, as a file in its folder.
#include "KernelFile.h"
#include "rhizome/Numeric/Arithmetic.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace rhizome;
using namespace rhizome::kernelcommands;

static llvm::Error textError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

std::string kernelcommands::kernelOptionsText(const KernelOptions &options) {
  llvm::json::Object object{
      {"cfdlang_compat", options.cfdlangCompat},
      {"keep_order", options.keepOrder},
      {"gemm", options.gemm},
      {"rounding", numeric::name(options.numbers.rounding)},
      {"saturate", options.numbers.saturate},
      {"fused", options.numbers.fused}};
  if (options.numbers.format)
    object["numbers"] = options.numbers.format->str();
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
  return text;
}

llvm::Expected<KernelOptions>
kernelcommands::parseKernelOptions(llvm::StringRef text,
                                   KernelOptions options) {
  auto value = parseJson(text);
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  auto flag = [&](llvm::StringRef key, bool &to) {
    auto found = object ? object->getBoolean(key) : std::nullopt;
    to = found.value_or(to);
    return found.has_value();
  };
  auto rounding = numeric::parseRounding(
      object ? object->getString("rounding").value_or("").str() : "");
  if (!flag("cfdlang_compat", options.cfdlangCompat) ||
      !flag("keep_order", options.keepOrder) || !flag("gemm", options.gemm) ||
      !flag("saturate", options.numbers.saturate) ||
      !flag("fused", options.numbers.fused) || !rounding)
    return textError("it does not hold a kernel's options; remedy: compile the "
                     "kernel again");
  options.numbers.rounding = *rounding;
  if (auto format = object->getString("numbers")) {
    std::string error;
    options.numbers.format = numeric::Format::parse(format->str(), error);
    if (!options.numbers.format)
      return textError(error);
  }
  return options;
}

llvm::Expected<KernelOptions>
kernelcommands::readKernelOptions(const std::string &folder,
                                  KernelOptions options) {
  const std::string path = folder + "/" + kernelOptionsFile;
  auto text = readFile(path);
  if (!text)
    return text.takeError();
  auto read = parseKernelOptions(*text, std::move(options));
  if (!read)
    return textError(path + ": " + llvm::toString(read.takeError()));
  return read;
}
