// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel on its device from the command line: arrays of numpy in and out, or
// random numbers to see how fast it is.
#include "kernel_device.h"
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <random>
#include <stdexcept>

using namespace rhizome::host;

/// Of the generated file.
const Kernel &rhizome_kernel();

static const char kUsage[] =
    " [options]\n"
    "  --program FILE      the program of the FPGA (.xclbin); without it, "
    "this\n"
    "                      machine computes in its place\n"
    "  --platform NAME     an OpenCL platform, by a part of its name\n"
    "  --units N           units to use; all of the program\n"
    "  --batch N           elements in a buffer\n"
    "  --registers FILE.so reads the units' registers, so that errors of the\n"
    "                      memory are found: a library with the function\n"
    "                      int32_t rhz_read_register(int32_t unit,\n"
    "                      uint32_t offset, uint32_t *value)\n"
    "  -n, --elements N    elements; as many as the data have\n"
    "  --input FILE.npy    an array of float64 or float32, row-major: in the\n"
    "                      order of the inputs, or NAME=FILE.npy. Its first\n"
    "                      dimension counts elements; without that it is the\n"
    "                      same for all. Without any: random numbers\n"
    "  --output FILE.npy   in the order of the outputs\n"
    "  --seed N            of random numbers\n";

namespace {
[[noreturn]] void fail(const std::string &text) {
  throw std::runtime_error(text);
}

struct Options {
  rhz_host_options device = {};
  int64_t elements = 0;
  uint64_t seed = 1;
  std::vector<std::string> inputs, outputs;
};

int64_t numberOf(const std::string &option, const std::string &text) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stop != end || value < 1)
    fail(option + ": '" + text + "' is not a number from 1 on");
  return value;
}

using ReadRegister = int32_t (*)(int32_t, uint32_t, uint32_t *);
int32_t readRegister(void *context, int32_t unit, uint32_t offset,
                     uint32_t *value) {
  return (*static_cast<ReadRegister *>(context))(unit, offset, value);
}

/// The function of a library; `context` is its address.
auto readerOf(const std::string &path, void *&context) {
  static ReadRegister function;
  void *library = dlopen(path.c_str(), RTLD_NOW);
  if (!library)
    fail("--registers: " + std::string(dlerror()));
  function =
      reinterpret_cast<ReadRegister>(dlsym(library, "rhz_read_register"));
  if (!function)
    fail("--registers: '" + path + "' has no function rhz_read_register");
  context = &function;
  return readRegister;
}

Options parse(int count, char **arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string option = arguments[i];
    if (option == "--help" || option == "-h") {
      std::printf("usage: %s%s", arguments[0], kUsage);
      std::exit(0);
    }
    if (i + 1 == count)
      fail("'" + option + "' is unknown, or lacks its value; --help lists all");
    const char *value = arguments[++i];
    if (option == "--program")
      options.device.program = value;
    else if (option == "--platform")
      options.device.platform = value;
    else if (option == "--units")
      options.device.units =
          int32_t(std::min<int64_t>(numberOf(option, value), 1024));
    else if (option == "--batch")
      options.device.batch = numberOf(option, value);
    else if (option == "--registers")
      options.device.read_register = readerOf(value, options.device.context);
    else if (option == "-n" || option == "--elements")
      options.elements = numberOf(option, value);
    else if (option == "--seed")
      options.seed = uint64_t(numberOf(option, value));
    else if (option == "--input")
      options.inputs.push_back(value);
    else if (option == "--output")
      options.outputs.push_back(value);
    else
      fail("'" + option + "' is unknown; --help lists all options");
  }
  return options;
}

/// An array of a file.
struct Array {
  std::vector<int64_t> shape;
  std::vector<double> numbers;
};

/// The text between `key` and `end` in the header of a file.
std::string fieldOf(const std::string &header, const std::string &key,
                    char begin, char end) {
  size_t at = header.find("'" + key + "'");
  if (at != std::string::npos)
    at = header.find(begin, at + key.size() + 2);
  if (at == std::string::npos)
    return "";
  return header.substr(at + 1, header.find(end, at + 1) - at - 1);
}

Array readNpy(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail("'" + path + "' cannot be read");
  auto broken = [&]() { fail("'" + path + "' is no .npy file"); };
  unsigned char start[12] = {};
  file.read(reinterpret_cast<char *>(start), 10);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0)
    broken();
  size_t length = start[8] | size_t(start[9]) << 8;
  if (start[6] > 1) {
    file.read(reinterpret_cast<char *>(start + 10), 2);
    length |= size_t(start[10]) << 16 | size_t(start[11]) << 24;
  }
  if (!file || length > (1 << 20))
    broken();
  std::string header(length, ' ');
  file.read(header.data(), std::streamsize(length));
  const std::string type = fieldOf(header, "descr", '\'', '\'');
  if (type != "<f8" && type != "<f4")
    fail("'" + path + "' holds '" + type + "'; float64 or float32 are read");
  if (header.find("'fortran_order': False") == std::string::npos)
    fail("'" + path + "' is column-major; numpy.ascontiguousarray changes it");
  Array array;
  int64_t size = 1, number = 0;
  bool isNumber = false;
  for (char c : fieldOf(header, "shape", '(', ')') + ",") {
    if (c >= '0' && c <= '9') {
      number = isNumber ? 10 * number + (c - '0') : c - '0';
      isNumber = true;
      if (number > (int64_t(1) << 40))
        broken();
    } else if (c == ',' && isNumber) {
      array.shape.push_back(number);
      if (number > 0 && size > (int64_t(1) << 40) / number)
        broken();
      size *= number;
      isNumber = false;
    }
  }
  // As many as the file has: its header may promise more.
  const int bytes = type == "<f8" ? 8 : 4;
  const auto begin = file.tellg();
  file.seekg(0, std::ios::end);
  if (!file || file.tellg() - begin < std::streamoff(size * bytes))
    fail("'" + path + "' is shorter than its shape");
  file.seekg(begin);
  array.numbers.resize(size_t(size));
  if (bytes == 8) {
    file.read(reinterpret_cast<char *>(array.numbers.data()),
              std::streamsize(size * 8));
    return array;
  }
  std::vector<float> single(array.numbers.size());
  file.read(reinterpret_cast<char *>(single.data()), std::streamsize(size * 4));
  array.numbers.assign(single.begin(), single.end());
  return array;
}

void writeNpy(const std::string &path, const std::vector<int64_t> &shape,
              const void *data, int64_t size, int bits) {
  std::string text = "{'descr': '<f" + std::to_string(bits / 8) +
                     "', 'fortran_order': False, 'shape': (";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  text += shape.size() == 1 ? ",), }" : "), }";
  text.resize((text.size() + 11 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  std::ofstream file(path, std::ios::binary);
  const char start[] = "\x93NUMPY\x01";
  file.write(start, 8); // with the zero at its end: version 1.0
  file.put(char(text.size() & 255)).put(char(text.size() >> 8));
  file << text;
  file.write(static_cast<const char *>(data), std::streamsize(size * bits / 8));
  file.close();
  if (!file)
    fail("'" + path + "' cannot be written");
}

/// A caller's array.
struct Numbers {
  std::vector<double> doubles;
  std::vector<float> floats;
  void *data() {
    return floats.empty() ? static_cast<void *>(doubles.data())
                          : static_cast<void *>(floats.data());
  }
  void set(const Argument &argument, std::vector<double> values) {
    if (argument.bits == 32)
      floats.assign(values.begin(), values.end());
    else
      doubles = std::move(values);
  }
};

/// The arrays of the files, by argument.
std::vector<const Array *> assign(const Kernel &kernel,
                                  const std::vector<std::string> &inputs,
                                  std::vector<Array> &files) {
  std::vector<const Array *> given(kernel.arguments.size());
  files.reserve(inputs.size());
  size_t next = 0;
  for (const std::string &input : inputs) {
    std::string path = input;
    size_t at = kernel.arguments.size();
    for (size_t a = 0; a < at; ++a)
      if (kernel.arguments[a].isInput &&
          input.rfind(kernel.arguments[a].name + "=", 0) == 0) {
        path = input.substr(kernel.arguments[a].name.size() + 1);
        at = a;
      }
    if (at == kernel.arguments.size()) {
      while (next < at && (!kernel.arguments[next].isInput || given[next]))
        ++next;
      at = next;
    }
    if (at == kernel.arguments.size())
      fail("'" + path + "' is one input too many");
    given[at] = &files.emplace_back(readNpy(path));
  }
  for (size_t a = 0; a < given.size() && !inputs.empty(); ++a)
    if (kernel.arguments[a].isInput && !given[a])
      fail("there is no --input for '" + kernel.arguments[a].name + "'");
  return given;
}

int run(const Options &options) {
  const Kernel &kernel = rhizome_kernel();
  std::vector<Array> files;
  std::vector<const Array *> given = assign(kernel, options.inputs, files);
  int64_t elements = options.elements;
  for (size_t a = 0; a < given.size(); ++a) {
    const Argument &argument = kernel.arguments[a];
    if (!given[a] || given[a]->shape == argument.shape)
      continue;
    std::vector<int64_t> shape = given[a]->shape;
    const int64_t count = shape.empty() ? 0 : shape.front();
    if (!shape.empty())
      shape.erase(shape.begin());
    if (shape != argument.shape || count < 1)
      fail("'" + argument.name + "' has another shape than the kernel's");
    if (argument.isOnce)
      fail("'" + argument.name +
           "' stays on the device: it has one value for all elements");
    elements = elements ? std::min(elements, count) : count;
  }
  if (elements == 0)
    elements = 1;
  std::vector<Numbers> numbers(given.size());
  std::vector<void *> arrays;
  std::mt19937_64 random(options.seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (size_t a = 0; a < given.size(); ++a) {
    const Argument &argument = kernel.arguments[a];
    const int64_t size = argument.size();
    const int64_t count = size * (argument.isOnce ? 1 : elements);
    std::vector<double> values(static_cast<size_t>(count));
    for (int64_t k = 0; k < count && argument.isInput; ++k)
      values[size_t(k)] =
          !given[a] ? uniform(random)
                    : given[a]->numbers[size_t(k) % given[a]->numbers.size()];
    numbers[a].set(argument, std::move(values));
    arrays.push_back(numbers[a].data());
  }
  Device device(kernel, options.device, arrays.data());
  const auto begin = std::chrono::steady_clock::now();
  device.compute(elements, arrays.data());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  size_t next = 0;
  for (size_t a = 0; a < given.size(); ++a) {
    const Argument &argument = kernel.arguments[a];
    if (!argument.isOutput || next == options.outputs.size())
      continue;
    std::vector<int64_t> shape = argument.shape;
    shape.insert(shape.begin(), elements);
    writeNpy(options.outputs[next++], shape, arrays[a],
             argument.size() * elements, argument.bits);
  }
  if (next < options.outputs.size())
    fail("the kernel has " + std::to_string(next) + " outputs");
  std::printf("%s: %lld elements on %s, %d %s, %.6g elements per second\n",
              kernel.name.c_str(), static_cast<long long>(elements),
              device.name().c_str(), device.units(),
              device.units() == 1 ? "unit" : "units",
              double(elements) / seconds);
  return 0;
}
} // namespace

int main(int count, char **arguments) {
  try {
    return run(parse(count, arguments));
  } catch (const std::exception &problem) {
    std::fprintf(stderr, "%s: %s\n", arguments[0], problem.what());
    return 1;
  }
}
