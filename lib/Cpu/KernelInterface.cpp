// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs include to call a kernel: a header for C and C++ and a module
// for Fortran.
#include "rhizome/Cpu/Kernel.h"
#include "rhizome/Support/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace rhizome::kernel;

/// The same with names that C and C++ accept.
static Signature withLegalNames(Signature signature) {
  rhizome::NameScope scope(rhizome::Language::C);
  for (llvm::StringRef taken : {"arrays", "elements", "threads"})
    scope.reserve(taken);
  for (const char *ending : {"", "_run", "_batch"})
    scope.reserve(signature.name + ending);
  for (Argument &one : signature.arguments)
    one.name = scope.unique(one.name);
  return signature;
}

static const char *cType(const Argument &one) {
  return one.bits == 32 ? "float" : "double";
}

static std::string numbers(llvm::ArrayRef<int64_t> values,
                           llvm::StringRef separator = ", ") {
  std::string out;
  for (int64_t value : values)
    out += (out.empty() ? "" : separator.str()) + std::to_string(value);
  return out;
}

/// The strides and the element stride of the whole array that a caller passes:
/// with its element dimension, if it has one.
static std::pair<std::vector<int64_t>, int64_t>
layoutOf(const Argument &one, const Signature &signature) {
  std::vector<int64_t> strides = one.strides;
  if (one.element == ElementDim::None)
    return {strides, 0};
  // Row-major, the first dimension is the outermost; column-major, the last.
  bool outermost = (one.element == ElementDim::First) != one.columnMajor;
  if (outermost)
    return {strides, one.size()};
  for (int64_t &stride : strides)
    stride *= signature.elements;
  return {strides, 1};
}

/// "const double *S, …"
static std::string parameters(const Signature &signature) {
  std::string out;
  for (const Argument &one : signature.arguments)
    out += std::string(out.empty() ? "" : ", ") +
           (one.isOutput ? "" : "const ") + cType(one) + " *" + one.name;
  return out;
}

static std::string describe(const Argument &one) {
  std::string out = one.isInput && one.isOutput ? "in and out"
                    : one.isOutput              ? "out"
                                                : "in";
  out +=
      one.shape.empty() ? ", a scalar" : ", [" + numbers(one.shape, " ") + "]";
  if (one.shape.size() > 1)
    out += one.columnMajor ? ", column-major" : ", row-major";
  if (one.element != ElementDim::None)
    out += one.element == ElementDim::First
               ? ", with the element dimension in front"
               : ", with the element dimension behind";
  return out;
}

std::string rhizome::kernel::printHeader(const Signature &given) {
  const Signature signature = withLegalNames(given);
  const std::string &name = signature.name;
  std::string upper = llvm::StringRef(name).upper(), text;
  llvm::raw_string_ostream os(text);
  int64_t elements = std::max<int64_t>(signature.elements, 1);
  size_t count = signature.arguments.size();
  os << "/* The kernel '" << name << "', written by rhizome compile. */\n"
     << "#ifndef RHIZOME_KERNEL_" << upper << "_H\n#define RHIZOME_KERNEL_"
     << upper << "_H\n\n#include \"rhizome_kernel.h\"\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << "/* Applies the kernel to `elements` elements, on `threads` threads. "
        "The arrays:\n";
  for (const Argument &one : signature.arguments)
    os << " *   " << one.name << ": " << one.bits / 8 << " bytes, "
       << describe(one) << "\n";
  os << " * Any strides will do; those of the declared layout are the fastest. "
        "*/\n"
     << "void " << name
     << "_run(int64_t elements, int32_t threads, const rhz_array *arrays);\n\n";
  os << "/* " << (signature.elements ? "All elements" : "One application")
     << ", on dense arrays. */\n"
     << "static inline void " << name << "(" << parameters(signature)
     << ") {\n  rhz_array arrays[" << count << "] = {\n";
  for (const Argument &one : signature.arguments) {
    auto [strides, elementStride] = layoutOf(one, signature);
    os << "      {(void *)" << one.name << ", " << elementStride << ", {"
       << (strides.empty() ? "0" : numbers(strides)) << "}},\n";
  }
  os << "  };\n  " << name << "_run(" << elements << ", 1, arrays);\n}\n\n"
     << "#ifdef __cplusplus\n} /* extern \"C\" */\n\n"
     << "/// One application, on views of any strides.\ninline void " << name
     << "(";
  auto interleave = [&](auto each) {
    for (auto [i, one] : llvm::enumerate(signature.arguments)) {
      os << (i ? ",\n    " : "");
      each(one);
    }
  };
  auto typeOf = [&](const Argument &one) {
    return std::string("<") + (one.isOutput ? "" : "const ") + cType(one) +
           ", " + std::to_string(one.shape.size()) + ">";
  };
  interleave([&](const Argument &one) {
    os << "rhizome::view" << typeOf(one) << " " << one.name;
  });
  os << ") {\n  rhz_array arrays[] = {";
  interleave([&](const Argument &one) {
    os << one.name << ".array({" << numbers(one.shape) << "})";
  });
  os << "};\n  " << name << "_run(1, 1, arrays);\n}\n\n"
     << "/// `elements` applications on `threads` threads.\ninline void "
     << name << "_batch(int64_t elements, int32_t threads,\n    ";
  interleave([&](const Argument &one) {
    os << "rhizome::batch" << typeOf(one) << " " << one.name;
  });
  os << ") {\n  rhz_array arrays[] = {";
  interleave([&](const Argument &one) {
    os << one.name << ".first.array({" << numbers(one.shape) << "}, "
       << one.name << ".element_stride)";
  });
  os << "};\n  " << name << "_run(elements, threads, arrays);\n}\n"
     << "#endif /* __cplusplus */\n#endif /* RHIZOME_KERNEL_" << upper
     << "_H */\n";
  return text;
}

/// A line of Fortran, continued before it gets too long.
static void fortranLine(llvm::raw_ostream &os, llvm::StringRef indent,
                        llvm::StringRef text) {
  constexpr size_t most = 100;
  while (indent.size() + text.size() > most) {
    size_t cut = text.take_front(most - indent.size()).rfind(", ");
    if (cut == llvm::StringRef::npos || cut == 0)
      break;
    os << indent << text.take_front(cut + 1) << " &\n";
    text = text.drop_front(cut + 2);
  }
  os << indent << text << "\n";
}

std::string rhizome::kernel::printFortranModule(const Signature &signature) {
  const std::string &name = signature.name;
  rhizome::NameScope scope(rhizome::Language::Fortran);
  for (const char *ending : {"", "_elements", "_fortran", "_kernel"})
    scope.reserve(name + ending);
  for (llvm::StringRef used : {"c_double", "c_float", "c_int", "check", "int",
                               "iso_c_binding", "status", "threads", "which"})
    scope.reserve(used);
  std::vector<std::string> names;
  for (const Argument &one : signature.arguments)
    names.push_back(scope.unique(one.name));
  std::string list = llvm::join(names, ", "), text;
  llvm::raw_string_ostream os(text);
  auto declare = [&](llvm::StringRef indent, bool anyRank) {
    for (auto [one, as] : llvm::zip(signature.arguments, names)) {
      os << indent << "real(" << (one.bits == 32 ? "c_float" : "c_double")
         << "), intent("
         << (one.isInput && one.isOutput ? "inout"
             : one.isOutput              ? "out"
                                         : "in")
         << ") :: " << as;
      if (anyRank) {
        os << "(..)";
      } else if (!one.shape.empty()) {
        os << "(";
        for (size_t d = 0; d < one.shape.size(); ++d)
          os << (d ? ", :" : ":");
        os << ")";
      }
      os << "\n";
    }
  };
  os << "! The kernel '" << name << "', written by rhizome compile.\n"
     << "module " << name << "_kernel\n"
     << "  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int\n"
     << "  implicit none\n  private\n  public :: " << name << ", " << name
     << "_elements\n\n  interface\n";
  fortranLine(os, "    ",
              "function " + name + "_fortran(threads, " + list +
                  ") result(status) bind(C, name=\"" + name + "_fortran\")");
  os << "      import :: c_double, c_float, c_int\n"
     << "      integer(c_int), value :: threads\n";
  declare("      ", true);
  os << "      integer(c_int) :: status\n    end function\n  end interface\n\n"
     << "contains\n\n"
     << "  ! One application. Arrays may be strided; column-major ones of the "
        "declared\n  ! layout are used where they lie.\n";
  fortranLine(os, "  ", "subroutine " + name + "(" + list + ")");
  declare("    ", false);
  fortranLine(os, "    ",
              "call check(" + name + "_fortran(1_c_int, " + list + "))");
  os << "  end subroutine\n\n"
     << "  ! One application for each element, the last dimension of the "
        "arrays "
        "that have\n  ! one more than the kernel's; the others are shared.\n";
  fortranLine(os, "  ",
              "subroutine " + name + "_elements(threads, " + list + ")");
  os << "    integer, intent(in) :: threads\n";
  declare("    ", true);
  fortranLine(os, "    ",
              "call check(" + name + "_fortran(int(threads, c_int), " + list +
                  "))");
  os << "  end subroutine\n\n"
     << "  subroutine check(which)\n    integer(c_int), intent(in) :: which\n"
     << "    if (which == 0) return\n"
     << "    print '(a, i0, a)', '" << name << ": argument ', which, &\n"
     << "      ' has other extents than the kernel''s'\n"
     << "    error stop 1\n  end subroutine\nend module\n";
  return text;
}
