// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Python programs import to call a kernel: a module that loads the shared
// library next to it, and its types.
#include "rhizome/Cpu/Kernel.h"
#include "rhizome/Support/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace rhizome::kernel;

std::string rhizome::kernel::pythonName(const Signature &signature) {
  return rhizome::pythonModuleName(signature.name);
}

/// The same with names that Python accepts.
static Signature withPythonNames(Signature signature) {
  rhizome::NameScope scope(rhizome::Language::Python);
  for (llvm::StringRef taken : {"threads", "_call"})
    scope.reserve(taken);
  for (Argument &one : signature.arguments)
    one.name = scope.unique(one.name);
  return signature;
}

/// "(11, 11)"; "()" for a scalar.
static std::string tuple(llvm::ArrayRef<int64_t> values) {
  std::string out = "(";
  for (int64_t value : values)
    out += std::to_string(value) + (values.size() == 1 ? "," : ", ");
  return (values.size() > 1 ? out.substr(0, out.size() - 2) : out) + ")";
}

static std::string parameters(const Signature &signature,
                              llvm::StringRef type) {
  std::string out;
  for (const Argument &one : signature.arguments)
    if (one.isInput)
      out += one.name + type.str() + ", ";
  return out;
}

static std::string documentation(const Signature &signature) {
  std::string out;
  for (const Argument &one : signature.arguments)
    out += "    " + one.name + ": float" + std::to_string(one.bits) +
           tuple(one.shape) +
           (one.isInput && one.isOutput ? ", which is returned changed"
            : one.isOutput              ? ", returned"
                                        : "") +
           "\n";
  return out;
}

std::string rhizome::kernel::printPythonModule(const Signature &given,
                                               llvm::StringRef shared) {
  const Signature signature = withPythonNames(given);
  const std::string name = pythonName(given);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "\"\"\"The kernel '" << given.name
     << "', written by rhizome compile.\n\n"
     << "    import numpy as np\n    import " << name << "\n\n"
     << "'" << name << "." << name
     << "' takes arrays of any strides; an array with one more dimension holds"
        " an\nelement in each place of it. What it returns is new.\n\"\"\"\n"
     << "_NAME = \"" << given.name << "\"\n"
     << "# Name, bits, shape, column-major, place of the element dimension, "
        "input, output.\n_ARGUMENTS = (\n";
  auto truth = [](bool value) { return value ? "True" : "False"; };
  for (const Argument &one : signature.arguments)
    os << "    (\"" << one.name << "\", " << one.bits << ", "
       << tuple(one.shape) << ", " << truth(one.columnMajor) << ", \""
       << (one.element == ElementDim::Last ? "last" : "first") << "\", "
       << truth(one.isInput) << ", " << truth(one.isOutput) << "),\n";
  os << ")\n"
     << shared.split('\n').second << "def " << name << "("
     << parameters(signature, "") << "*, threads=1):\n    \"\"\""
     << "Applies the kernel, on threads if there are many elements:\n\n"
     << documentation(signature) << "    \"\"\"\n    return _call((";
  os << parameters(signature, "") << "), threads)\n";
  return text;
}

std::string rhizome::kernel::printPythonStub(const Signature &given) {
  const Signature signature = withPythonNames(given);
  std::string text, result;
  llvm::raw_string_ostream os(text);
  size_t results = 0;
  for (const Argument &one : signature.arguments)
    if (one.isOutput) {
      result += (results++ ? ", " : "") +
                ("npt.NDArray[np.float" + std::to_string(one.bits) + "]");
    }
  if (results != 1)
    result = "tuple[" + result + "]";
  os << "import numpy as np\nimport numpy.typing as npt\n\ndef "
     << pythonName(given) << "(" << parameters(signature, ": npt.ArrayLike")
     << "*, threads: int = 1) -> " << result << ": ...\n";
  return text;
}
