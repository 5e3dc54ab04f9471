// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints one rtl.module. Constants, concatenations, slices and extensions are
// written where they are used; instance outputs, results of logic, registers,
// words read from memories and sliced values without a name become
// wires.
#include "rhizome/Rtl/Emit.h"
#include "rhizome/Support/Names.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Support/Version.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;

namespace {
constexpr size_t kLine = 80;

unsigned widthOf(Value v) { return v.getType().getIntOrFloatBitWidth(); }

/// "logic" or "logic [7:0]".
std::string typeText(unsigned width) {
  return width == 1 ? "logic" : "logic [" + std::to_string(width - 1) + ":0]";
}

/// The part low … low+width-1 of a named signal of `total` bits.
std::string sliceText(StringRef name, unsigned total, unsigned low,
                      unsigned width) {
  if (width == total)
    return name.str();
  if (width == 1)
    return (name + "[" + Twine(low) + "]").str();
  return (name + "[" + Twine(low + width - 1) + ":" + Twine(low) + "]").str();
}

/// Operations whose result is a wire with its own assignment.
bool isLogic(Operation *op) {
  return isa<rtl::AddOp, rtl::SubOp, rtl::MulOp, rtl::AndOp, rtl::OrOp,
             rtl::XorOp, rtl::NotOp, rtl::ShiftLeftOp, rtl::ShiftRightOp,
             rtl::ShiftRightSignedOp, rtl::CompareOp, rtl::AtLeastOp,
             rtl::MuxOp, rtl::LookupOp>(op);
}

/// Parts with commas between them, on lines of their own if one would be so
/// long that tools refuse it: Verilator reads 40,000 tokens.
std::string listText(ArrayRef<std::string> parts, unsigned indent) {
  constexpr size_t kLongLine = 4096;
  std::string text = llvm::join(parts, ", ");
  if (text.size() <= kLongLine)
    return text;
  text.clear();
  size_t column = kLine;
  for (const std::string &part : parts) {
    if (!text.empty())
      text += ",";
    if (column + part.size() + 2 > kLine) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else {
      text += " ";
      ++column;
    }
    text += part;
    column += part.size() + 1;
  }
  return text;
}

/// "8'h2a".
std::string constantText(const llvm::APInt &value) {
  SmallString<32> digits;
  value.toString(digits, 16, /*Signed=*/false);
  return (Twine(value.getBitWidth()) + "'h" + StringRef(digits).lower()).str();
}

class Printer {
public:
  Printer(rtl::ModuleOp module, raw_ostream &os) : module(module), os(os) {}
  void print();

private:
  void nameValues();
  void markUses();
  void markOperands(Operation *op);
  unsigned lowestBitSeen(rtl::AtLeastOp op);
  void markUsed(Value v, unsigned low, unsigned width);
  void printHeader();
  void printWires();
  void printInstance(rtl::InstanceOp op);
  void printUnused();
  void printRegisters();
  void printMemory(rtl::MemoryOp op);
  std::string signText(Value v);
  std::string atLeastText(rtl::AtLeastOp op);
  std::string expression(Value v, unsigned indent);
  /// "lhs operation rhs".
  std::string infix(Operation *op, StringRef operation, unsigned indent,
                    bool isSigned = false);
  std::string compareText(rtl::CompareOp op, unsigned indent);
  std::string productText(rtl::MulOp op, unsigned indent);
  bool hasName(Value v) const { return names.count(v); }

  rtl::ModuleOp module;
  raw_ostream &os;
  NameScope scope;
  DenseMap<Value, std::string> names; // inputs and wires
  DenseMap<Operation *, std::string> instanceNames;
  DenseMap<Value, llvm::BitVector> used; // which bits of a named value
  SmallVector<Value> wires;              // in the order of declaration
  SmallVector<Value> assigned;           // wires that need an assign
  DenseMap<Value, std::string> memories;
  /// For each lookup: the names of its bits' constants.
  DenseMap<Value, SmallVector<std::string>> lookups;
};

void Printer::nameValues() {
  Block &body = module.getBody().front();
  for (Attribute name : module.getOutputNames())
    scope.reserve(legalName(cast<StringAttr>(name).getValue()));
  for (auto [arg, name] :
       llvm::zip(body.getArguments(), module.getInputNames()))
    names[arg] = scope.unique(cast<StringAttr>(name).getValue());
  for (auto op : body.getOps<rtl::InstanceOp>()) {
    StringRef plain = op.getName();
    plain.consume_front("u_");
    instanceNames[op] = scope.unique("u_" + legalName(plain));
    StringRef unique = StringRef(instanceNames[op]).drop_front(2);
    for (auto [result, port] :
         llvm::zip(op.getOutputs(), op.getOutputNames())) {
      std::string wire =
          (unique + "_" + cast<StringAttr>(port).getValue()).str();
      names[result] =
          scope.unique(result.use_empty() ? "unused_" + wire : wire);
      wires.push_back(result);
    }
  }
  unsigned number = 0;
  for (Operation &op : body) {
    if (auto memory = dyn_cast<rtl::MemoryOp>(op))
      memories[memory.getMemory()] = scope.unique(memory.getName());
    bool isRegister = isa<rtl::RegisterOp, rtl::ReadOp>(op);
    if (!isRegister && !isLogic(&op))
      continue;
    Value result = op.getResult(0);
    names[result] =
        scope.unique((isRegister ? "q" : "w") + std::to_string(number++));
    wires.push_back(result);
    if (!isRegister)
      assigned.push_back(result);
  }
  // Slices, signs and bounds need a name.
  for (Operation &op : body) {
    if (!isa<rtl::ExtractOp, rtl::SignExtendOp, rtl::AtLeastOp>(op))
      continue;
    Value in = op.getOperand(0);
    bool slice = in.getDefiningOp<rtl::ExtractOp>() && !isa<rtl::AtLeastOp>(op);
    if (hasName(in) || slice)
      continue;
    names[in] = scope.unique("joined");
    wires.push_back(in);
    assigned.push_back(in);
  }
}

void Printer::markUsed(Value v, unsigned low, unsigned width) {
  if (hasName(v)) {
    llvm::BitVector &bits = used[v];
    bits.resize(widthOf(v));
    bits.set(low, low + width);
    return;
  }
  if (auto extract = v.getDefiningOp<rtl::ExtractOp>())
    markUsed(extract.getInput(), low + extract.getLow(), width);
  else if (auto concat = v.getDefiningOp<rtl::ConcatOp>())
    for (Value in : concat.getInputs())
      markUsed(in, 0, widthOf(in));
  else if (auto extend = v.getDefiningOp<rtl::SignExtendOp>())
    markUsed(extend.getInput(), 0, widthOf(extend.getInput()));
}

/// Marks what the text of `op` reads.
void Printer::markOperands(Operation *op) {
  if (auto extract = dyn_cast<rtl::ExtractOp>(op))
    return markUsed(extract.getInput(), extract.getLow(),
                    widthOf(extract.getResult()));
  if (auto atLeast = dyn_cast<rtl::AtLeastOp>(op))
    return markUsed(atLeast.getInput(), lowestBitSeen(atLeast),
                    widthOf(atLeast.getInput()) - lowestBitSeen(atLeast));
  for (Value v : op->getOperands())
    if (!isa<rtl::MemoryType>(v.getType()))
      markUsed(v, 0, widthOf(v));
}

void Printer::markUses() {
  for (Operation &op : module.getBody().front())
    if (isa<rtl::InstanceOp, rtl::OutputOp, rtl::RegisterOp, rtl::ReadOp,
            rtl::WriteOp>(op) ||
        isLogic(&op))
      markOperands(&op);
  for (Value v : assigned)
    if (!isLogic(v.getDefiningOp()))
      markOperands(v.getDefiningOp());
}

/// The top bit of a value that has a name or is a slice of one.
std::string Printer::signText(Value v) {
  unsigned at = widthOf(v) - 1;
  while (!hasName(v)) {
    auto slice = v.getDefiningOp<rtl::ExtractOp>();
    assert(slice && "what is extended has a name");
    at += slice.getLow();
    v = slice.getInput();
  }
  return sliceText(names[v], widthOf(v), at, 1);
}

static uint64_t magnitudeOf(int64_t value) {
  return value < 0 ? -uint64_t(value) : uint64_t(value);
}

/// The lowest bit that a comparison's text reads; the width if none.
unsigned Printer::lowestBitSeen(rtl::AtLeastOp op) {
  int64_t bound = op.getBound();
  if (op.isAlways())
    return widthOf(op.getInput());
  if (op.getIsSigned() && bound == 0)
    return widthOf(op.getInput()) - 1;
  return llvm::isPowerOf2_64(magnitudeOf(bound))
             ? llvm::Log2_64(magnitudeOf(bound))
             : 0;
}

/// Comparisons with bounds that are zero or a power of two, of either sign, are
/// printed as tests of some bits, however a tool maps comparisons.
std::string Printer::atLeastText(rtl::AtLeastOp op) {
  Value in = op.getInput();
  unsigned width = widthOf(in);
  int64_t bound = op.getBound();
  const std::string &name = names[in];
  if (op.isAlways())
    return "1'h1";
  std::string positive = "~" + sliceText(name, width, width - 1, 1);
  if (op.getIsSigned() && bound == 0)
    return positive;
  unsigned magnitude = width - (op.getIsSigned() ? 1 : 0);
  unsigned low = lowestBitSeen(op);
  if (llvm::isPowerOf2_64(magnitudeOf(bound)) && low < magnitude) {
    std::string above = sliceText(name, width, low, magnitude - low) + ")";
    if (bound < 0)
      return positive + " | (&" + above;
    return (op.getIsSigned() ? positive + " & " : "") + "(|" + above;
  }
  std::string text = std::to_string(width);
  if (!op.getIsSigned())
    return name + " >= " + text + "'d" + std::to_string(bound);
  return "$signed(" + name + ") >= " + (bound < 0 ? "-" : "") + text + "'sd" +
         std::to_string(magnitudeOf(bound));
}

std::string Printer::infix(Operation *op, StringRef operation, unsigned indent,
                           bool isSigned) {
  auto text = [&](Value v) {
    std::string plain = expression(v, indent);
    return isSigned ? "$signed(" + plain + ")" : plain;
  };
  return (Twine(text(op->getOperand(0))) + " " + operation + " " +
          text(op->getOperand(1)))
      .str();
}

/// Synthesis sees how many bits a factor has only if it extends its sign.
std::string Printer::productText(rtl::MulOp op, unsigned indent) {
  if (llvm::none_of(op->getOperands(), [](Value v) {
        return v.getDefiningOp<rtl::SignExtendOp>();
      }))
    return infix(op, "*", indent);
  auto text = [&](Value v) {
    if (auto extend = v.getDefiningOp<rtl::SignExtendOp>())
      v = extend.getInput();
    return "$signed(" + expression(v, indent) + ")";
  };
  return text(op.getLhs()) + " * " + text(op.getRhs());
}

std::string Printer::compareText(rtl::CompareOp op, unsigned indent) {
  switch (op.getPredicate()) {
  case rtl::Predicate::Equal:
    return infix(op, "==", indent);
  case rtl::Predicate::NotEqual:
    return infix(op, "!=", indent);
  case rtl::Predicate::SignedLess:
    return infix(op, "<", indent, /*isSigned=*/true);
  case rtl::Predicate::SignedAtMost:
    return infix(op, "<=", indent, /*isSigned=*/true);
  case rtl::Predicate::UnsignedLess:
    return infix(op, "<", indent);
  case rtl::Predicate::UnsignedAtMost:
    return infix(op, "<=", indent);
  }
  llvm_unreachable("every predicate is handled");
}

std::string Printer::expression(Value v, unsigned indent) {
  if (hasName(v))
    return names[v];
  return llvm::TypeSwitch<Operation *, std::string>(v.getDefiningOp())
      .Case([&](rtl::ConstantOp op) { return constantText(op.getBits()); })
      .Case([&](rtl::ConcatOp op) {
        if (op.getInputs().size() == 1)
          return expression(op.getInputs()[0], indent);
        SmallVector<std::string> parts;
        size_t length = 0;
        for (Value in : llvm::reverse(op.getInputs())) {
          parts.push_back(expression(in, indent + 2));
          length += parts.back().size() + 2;
        }
        if (indent + length < kLine)
          return "{" + llvm::join(parts, ", ") + "}";
        std::string pad(indent + 2, ' ');
        return "{\n" + pad + llvm::join(parts, ",\n" + pad) + "\n" +
               std::string(indent, ' ') + "}";
      })
      .Case([&](rtl::AddOp op) { return infix(op, "+", indent); })
      .Case([&](rtl::SubOp op) { return infix(op, "-", indent); })
      .Case([&](rtl::MulOp op) { return productText(op, indent); })
      .Case([&](rtl::AndOp op) { return infix(op, "&", indent); })
      .Case([&](rtl::OrOp op) { return infix(op, "|", indent); })
      .Case([&](rtl::XorOp op) { return infix(op, "^", indent); })
      .Case([&](rtl::NotOp op) {
        return "~" + expression(op.getInput(), indent);
      })
      .Case([&](rtl::ShiftLeftOp op) { return infix(op, "<<", indent); })
      .Case([&](rtl::ShiftRightOp op) { return infix(op, ">>", indent); })
      .Case([&](rtl::ShiftRightSignedOp op) {
        return "$signed(" + expression(op.getInput(), indent) + ") >>> " +
               expression(op.getAmount(), indent);
      })
      .Case([&](rtl::CompareOp op) { return compareText(op, indent); })
      .Case([&](rtl::AtLeastOp op) { return atLeastText(op); })
      .Case([&](rtl::MuxOp op) {
        return expression(op.getCondition(), indent) + " ? " +
               expression(op.getOnTrue(), indent) + " : " +
               expression(op.getOnFalse(), indent);
      })
      .Case([&](rtl::SignExtendOp op) {
        unsigned more = widthOf(v) - widthOf(op.getInput());
        std::string sign = signText(op.getInput());
        if (more > 1)
          sign = "{" + std::to_string(more) + "{" + sign + "}}";
        return "{" + sign + ", " + expression(op.getInput(), indent) + "}";
      })
      .Case([&](rtl::LookupOp op) {
        // Each bit separately: constants that the index selects from.
        SmallVector<std::string> parts;
        std::string index = expression(op.getIndex(), indent);
        for (const std::string &table : llvm::reverse(lookups[v]))
          parts.push_back(table + "[" + index + "]");
        return parts.size() == 1 ? parts[0]
                                 : "{" + llvm::join(parts, ", ") + "}";
      })
      .Case([&](rtl::ExtractOp op) {
        Value in = op.getInput();
        unsigned low = op.getLow();
        while (!hasName(in)) {
          auto outer = in.getDefiningOp<rtl::ExtractOp>();
          assert(outer && "a sliced concatenation has a name");
          low += outer.getLow();
          in = outer.getInput();
        }
        return sliceText(names[in], widthOf(in), low, widthOf(v));
      });
}

void Printer::printHeader() {
  os << "// generated by rhizome " << version() << "\n";
  if (auto comment = module.getComment()) {
    SmallVector<StringRef> lines;
    comment->split(lines, '\n');
    for (StringRef line : lines)
      os << "// " << withoutControls(line) << "\n";
  }
  os << "module " << legalName(module.getSymName()) << " (";
  StringRef separator = "\n";
  for (Value arg : module.getBody().getArguments()) {
    os << separator << "  input  " << typeText(widthOf(arg)) << " "
       << names[arg];
    separator = ",\n";
  }
  Operation *output = module.getBody().front().getTerminator();
  for (auto [value, name] :
       llvm::zip(output->getOperands(), module.getOutputNames())) {
    os << separator << "  output " << typeText(widthOf(value)) << " "
       << legalName(cast<StringAttr>(name).getValue());
    separator = ",\n";
  }
  os << "\n);\n";
}

void Printer::printWires() {
  for (Value v : wires)
    os << "  " << typeText(widthOf(v)) << " " << names[v] << ";\n";
  unsigned columns = 0;
  for (auto op : module.getBody().getOps<rtl::LookupOp>()) {
    unsigned entries = unsigned(op.getValues().size());
    for (unsigned bit = 0; bit < widthOf(op.getResult()); ++bit) {
      llvm::APInt column(entries, 0);
      for (auto [i, value] : llvm::enumerate(op.getValues()))
        column.setBitVal(unsigned(i), uint64_t(value) >> bit & 1);
      SmallString<64> digits;
      column.toString(digits, 16, /*Signed=*/false);
      lookups[op.getResult()].push_back(
          scope.unique("Column" + std::to_string(columns++)));
      os << "  localparam " << typeText(entries) << " "
         << lookups[op.getResult()].back() << " = " << entries << "'h"
         << StringRef(digits).lower() << ";\n";
    }
  }
  for (Value v : assigned) {
    std::string name = std::move(names[v]);
    names.erase(v); // print its definition, not its name
    os << "  assign " << name << " = " << expression(v, 2) << ";\n";
    names[v] = std::move(name);
  }
}

void Printer::printRegisters() {
  Value clock; // of everything in one block
  for (auto op : module.getBody().getOps<rtl::RegisterOp>()) {
    if (op.getClock() != clock) {
      if (clock)
        os << "  end\n";
      clock = op.getClock();
      os << "\n  always_ff @(posedge " << expression(clock, 2) << ") begin\n";
    }
    os << "    ";
    if (Value reset = op.getReset())
      os << "if (!" << expression(reset, 4) << ") " << names[op.getResult()]
         << " <= " << constantText(op.getResetValueAttr().getValue())
         << ";\n    else ";
    if (Value enable = op.getEnable())
      os << "if (" << expression(enable, 4) << ") ";
    os << names[op.getResult()] << " <= " << expression(op.getInput(), 4)
       << ";\n";
  }
  if (clock)
    os << "  end\n";
}

/// Prints all ports in one block, so that of two writes the later one wins.
void Printer::printMemory(rtl::MemoryOp op) {
  const std::string &name = memories[op.getMemory()];
  rtl::MemoryType type = op.getMemory().getType();
  os << "\n  ";
  if (auto style = op.getStyle())
    os << "(* ram_style = \"" << rtl::stringifyStyle(*style) << "\" *) ";
  os << typeText(type.getWord().getWidth()) << " " << name
     << " [0:" << type.getDepth() - 1 << "];\n";
  if (auto initial = op.getInitial()) {
    os << "  initial begin\n";
    for (auto [at, word] : llvm::enumerate(
             cast<DenseIntElementsAttr>(*initial).getValues<llvm::APInt>()))
      os << "    " << name << "[" << at << "] = " << constantText(word)
         << ";\n";
    os << "  end\n";
  }
  // In the order of the body; users are listed in another.
  bool isOpen = false;
  for (Operation &port : module.getBody().front()) {
    auto read = dyn_cast<rtl::ReadOp>(port);
    auto write = dyn_cast<rtl::WriteOp>(port);
    if (!(read && read.getMemory() == op.getMemory()) &&
        !(write && write.getMemory() == op.getMemory()))
      continue;
    if (!isOpen)
      os << "  always_ff @(posedge "
         << expression(read ? read.getClock() : write.getClock(), 2)
         << ") begin\n";
    isOpen = true;
    std::string word =
        name + "[" +
        expression(read ? read.getAddress() : write.getAddress(), 4) + "]";
    os << "    ";
    if (Value enable = read ? read.getEnable() : write.getEnable())
      os << "if (" << expression(enable, 4) << ") ";
    if (read)
      os << names[read.getResult()] << " <= " << word << ";\n";
    else
      os << word << " <= " << expression(write.getData(), 4) << ";\n";
  }
  if (isOpen)
    os << "  end\n";
}

void Printer::printInstance(rtl::InstanceOp op) {
  os << "\n  " << legalName(op.getCallee());
  if (!op.getParameters().empty()) {
    os << " #(";
    StringRef separator = "\n";
    for (NamedAttribute parameter : op.getParameters()) {
      os << separator << "    ." << parameter.getName().strref() << "(";
      if (auto text = dyn_cast<StringAttr>(parameter.getValue()))
        os << '"' << text.getValue() << '"';
      else {
        int64_t n = cast<IntegerAttr>(parameter.getValue()).getInt();
        if (llvm::isInt<32>(n))
          os << n;
        else
          os << "64'h" << llvm::utohexstr(static_cast<uint64_t>(n), true);
      }
      os << ")";
      separator = ",\n";
    }
    os << "\n  )";
  }
  os << " " << instanceNames[op] << " (";
  StringRef separator = "\n";
  for (auto [value, port] : llvm::zip(op.getInputs(), op.getInputNames())) {
    os << separator << "    ." << legalName(cast<StringAttr>(port).getValue())
       << "(" << expression(value, 4) << ")";
    separator = ",\n";
  }
  for (auto [value, port] : llvm::zip(op.getOutputs(), op.getOutputNames())) {
    os << separator << "    ." << legalName(cast<StringAttr>(port).getValue())
       << "(" << names[value] << ")";
    separator = ",\n";
  }
  os << "\n  );\n";
}

/// Collects unused bits of values that have other readers,
/// and inputs without any reader, in one wire with a telling name.
void Printer::printUnused() {
  SmallVector<std::string> parts;
  auto collect = [&](Value v) {
    llvm::BitVector bits = used.lookup(v);
    bits.resize(widthOf(v));
    for (int low = bits.find_first_unset(); low >= 0;) {
      int next = bits.find_next(low);
      unsigned end = next < 0 ? bits.size() : next;
      parts.push_back(sliceText(names[v], bits.size(), low, end - low));
      low = next < 0 ? -1 : bits.find_next_unset(next);
    }
  };
  for (Value arg : module.getBody().getArguments())
    collect(arg);
  for (Value v : wires)
    if (!v.use_empty())
      collect(v);
  if (parts.empty())
    return;
  std::string name = scope.unique("unused_bits");
  os << "\n  logic " << name << ";\n  assign " << name << " = ^{"
     << listText(parts, 4) << "};\n";
}

void Printer::print() {
  nameValues();
  markUses();
  printHeader();
  printWires();
  printRegisters();
  for (auto op : module.getBody().getOps<rtl::MemoryOp>())
    printMemory(op);
  for (auto op : module.getBody().getOps<rtl::InstanceOp>())
    printInstance(op);
  os << "\n";
  Operation *output = module.getBody().front().getTerminator();
  for (auto [value, name] :
       llvm::zip(output->getOperands(), module.getOutputNames()))
    os << "  assign " << legalName(cast<StringAttr>(name).getValue()) << " = "
       << expression(value, 2) << ";\n";
  printUnused();
  os << "endmodule\n";
}
} // namespace

void rhizome::emitSystemVerilog(rtl::ModuleOp module, raw_ostream &os) {
  Printer(module, os).print();
}
