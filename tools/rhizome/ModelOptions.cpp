// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ModelOptions.h"
#include "Quantization.h"
#include "rhizome/Model/TensorFormat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::model;
using namespace rhizome::evaluate;

static numeric::Format formatOrUsage(const std::string &option, StringRef text,
                                     bool isTensor = false) {
  std::string error, note;
  std::optional<numeric::Format> format =
      isTensor ? parseTensorFormat(text, error, note)
               : parseNetworkFormat(text, error, note);
  if (!format)
    throw CLI::ValidationError(option, error);
  if (!note.empty())
    errs() << "note: " << option << ": " << note << "\n";
  return *format;
}

void cli::addModelOptions(CLI::App &command, ModelRequest &request) {
  command
      .add_option_function<std::vector<std::string>>(
          "--shape",
          [&request](const std::vector<std::string> &texts) {
            for (StringRef text : texts) {
              auto [name, sizes] = text.split('=');
              SmallVector<StringRef> parts;
              sizes.split(parts, ',');
              std::vector<int64_t> shape;
              for (StringRef part : parts) {
                int64_t size = 0;
                const bool isBound = part.consume_front("<=");
                if (part.getAsInteger(10, size) || size < 1)
                  throw CLI::ValidationError("--shape",
                                             "'" + text.str() +
                                                 "' is not NAME=SIZE,SIZE,…");
                shape.push_back(isBound ? -size : size);
              }
              request.shapes[name.str()] = std::move(shape);
            }
          },
          "shape of a graph input, e.g. image=1,3,32,32; otherwise an unnamed "
          "dynamic dimension is 1; words=1,<=128 has up to 128, and their "
          "number is a further input, with the dimension's name")
      ->type_name("NAME=SIZES")
      ->allow_extra_args(false);
  command
      .add_option_function<std::vector<std::string>>(
          "--input-type",
          [&request](const std::vector<std::string> &texts) {
            for (StringRef text : texts) {
              auto [name, type] = text.rsplit('=');
              bool isSigned = type.consume_front("s");
              unsigned width = 0;
              if (name.empty() || (!isSigned && !type.consume_front("u")) ||
                  type.getAsInteger(10, width) || width < 1 || width > 16)
                throw CLI::ValidationError("--input-type",
                                           "'" + text.str() +
                                               "' is not NAME=u8, NAME=s8, …");
              request.inputTypes[name.str()] = {isSigned, width};
            }
          },
          "a graph input of signed or unsigned integers of 1 to 16 bits: for "
          "networks that were integerized into float tensors")
      ->type_name("NAME=u8")
      ->allow_extra_args(false);
  command
      .add_option_function<std::vector<std::string>>(
          "--state",
          [&request](const std::vector<std::string> &texts) {
            for (StringRef text : texts) {
              auto [input, output] = text.split('=');
              if (input.empty() || output.empty())
                throw CLI::ValidationError(
                    "--state", "'" + text.str() + "' is not INPUT=OUTPUT");
              if (!request.states.insert({input.str(), output.str()}).second)
                throw CLI::ValidationError(
                    "--state", "'" + input.str() + "' is given two outputs");
            }
          },
          "keep a tensor from frame to frame: the graph input holds what the "
          "graph output gave in the frame before, in the first frame the "
          "file's default or zeros; once per tensor")
      ->type_name("INPUT=OUTPUT")
      ->allow_extra_args(false);
  command
      .add_option_function<std::string>(
          "--number-format",
          [&request](const std::string &text) {
            request.numberFormat = formatOrUsage("--number-format", text);
          },
          "build a float model in fixed point with I integer bits, including "
          "the sign, and F fraction bits; ap_fixed<W,I> is also accepted")
      ->type_name("fixed<I,F>");
  command
      .add_option_function<std::vector<std::string>>(
          "--tensor-format",
          [&request](const std::vector<std::string> &texts) {
            for (StringRef text : texts) {
              auto [name, format] = text.rsplit('=');
              if (name.empty() || name.size() == text.size())
                throw CLI::ValidationError("--tensor-format",
                                           "'" + text.str() +
                                               "' is not NAME=fixed<I,F>");
              request.tensorFormats[name.str()] =
                  formatOrUsage("--tensor-format", format, true);
            }
          },
          "another format for one tensor or node, by name; for an output of "
          "the model of up to 32 bits")
      ->type_name("NAME=fixed<I,F>")
      ->allow_extra_args(false);
  command.add_flag(
      "--raw-integers", request.rawIntegers,
      "the file's tensors contain the number format's integer codes");
  command.add_flag(
      "--fixed-point-functions", request.fixedPointFunctions,
      "compute Softmax and layer normalizations between quantizers in the "
      "network, by their fixed-point algorithms, instead of on the host");
  addCalibration(command, request);
}

void cli::addPixels(CLI::App &command, DataRequest &how) {
  command
      .add_option(
          "--normalize", how.normalize,
          "convert bytes to the model's range: 0..1, 0..255 or, of 0..1, "
          "MEAN,STD, with several channels MEAN1,MEAN2,…,STD1,STD2,…")
      ->type_name("RANGE")
      ->check([](const std::string &text) -> std::string {
        return isNormalization(text)
                   ? ""
                   : "'" + text + "' is not 0..1, 0..255 or MEAN,STD";
      });
  command
      .add_option("--images", how.images,
                  "what is done with images before, in this order, with the "
                  "pixels of Pillow and torchvision: resize=N (the shorter "
                  "side) or resize=HxW, bilinear or with :bicubic, crop=N or "
                  "crop=HxW from the middle, gray, rgb; e.g. "
                  "resize=256,crop=224")
      ->type_name("STEPS")
      ->check([](const std::string &text) { return wrongImageSteps(text); });
}

std::vector<DataRequest> cli::dataOf(const std::vector<std::string> &paths,
                                     DataRequest how) {
  std::vector<DataRequest> all;
  for (const std::string &path : paths) {
    how.path = path;
    all.push_back(how);
  }
  return all;
}

void cli::addData(CLI::App &command, DataChoice &choice,
                  std::vector<std::string> &inputs, DataRequest &how) {
  command
      .add_option("--input", inputs,
                  "values of a graph input (.npy .npz .pb idx .png .jpg or a "
                  "folder), once per input; otherwise random")
      ->allow_extra_args(false);
  command
      .add_option("--expect", choice.expect,
                  "expected values of a graph output, once per output")
      ->allow_extra_args(false);
  command
      .add_option(
          "--output", choice.outputs,
          "a .npy file for a graph output of all frames, once per output")
      ->allow_extra_args(false);
  addPixels(command, how);
  command
      .add_option_function<std::string>(
          "--input-range",
          [&choice](const std::string &text) {
            auto [low, high] = StringRef(text).split(',');
            double lo, hi;
            if (low.getAsDouble(lo) || high.getAsDouble(hi) || !(lo <= hi))
              throw CLI::ValidationError("--input-range",
                                         "'" + text + "' is not LOW,HIGH");
            choice.inputRange = {lo, hi};
          },
          "the range of random real inputs")
      ->type_name("LOW,HIGH");
  command
      .add_option("-n,--frames", choice.frames,
                  "frames to run; otherwise all of the data, or one")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 32))
      ->option_text("N");
  command.add_option(
      "--seed", choice.seed,
      "the seed of random data, stalls, loss and initial values");
}

void cli::addLevel(CLI::App &command, Level &level, bool boards) {
  std::map<std::string, Level> levels = {{"functional", Level::Functional},
                                         {"rtl", Level::Rtl}};
  std::string text = "the CPU path, the simulated hardware";
  if (!boards) {
    levels.insert({"float", Level::Float});
    text += ", or the file's own float arithmetic";
  }
  if (boards) {
    levels.insert({{"cluster", Level::Cluster},
                   {"board", Level::Board},
                   {"netlist", Level::Netlist},
                   {"bitstream", Level::Bitstream}});
    text += ", all nodes and the links between them, or the hardware on its "
            "board from the serial line's far end: its RTL, "
            "the netlist before routing, the bitstream";
  }
  command
      .add_option_function<std::string>(
          "--level",
          [&level, levels](const std::string &name) {
            auto found = levels.find(name);
            if (found != levels.end()) {
              level = found->second;
              return;
            }
            std::string names;
            for (const auto &entry : levels)
              names += (names.empty() ? "" : ", ") + entry.first;
            throw CLI::ValidationError("--level",
                                       "'" + name + "' is none of " + names);
          },
          "what computes: " + text)
      ->option_text(boards ? "functional|rtl|cluster|board|netlist|bitstream"
                           : "functional|rtl|float");
}

std::string cli::faultOfPath(const std::string &path) {
  return llvm::sys::fs::exists(path)
             ? ""
             : "'" + path + "': there is no such file; check the path";
}

std::string cli::faultOfFile(const std::string &path) {
  return llvm::sys::fs::is_directory(path)
             ? "'" + path + "' is a folder; name a file"
             : faultOfPath(path);
}
