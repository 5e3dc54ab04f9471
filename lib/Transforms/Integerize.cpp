// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over `@main` in order, one visit per operation, and the pipeline of
// the layer's steps.
#include "Integerizer.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/RegionUtils.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;

namespace rhizome {
#define GEN_PASS_DEF_OSAINTEGERIZE
#include "rhizome/Transforms/Passes.h.inc"
} // namespace rhizome

std::string rhizome::modelOpName(Operation *op) {
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    if (auto child = dyn_cast<NameLoc>(name.getChildLoc()))
      return child.getName().str();
  return op->getName().stripDialect().str();
}

SmallVector<Value> rhizome::valuesRead(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  values.append(captured.begin(), captured.end());
  return values;
}

Refusal rhizome::whyHost(Operation *op) {
  Refusal entry{osa::nodeName(op), modelOpName(op), "", ""};
  if (auto why = op->getAttrOfType<StringAttr>(marks::kWhyHost))
    entry.reason = why.str();
  if (auto remedy = op->getAttrOfType<StringAttr>(marks::kHostRemedy))
    entry.remedy = remedy.str();
  return entry;
}

Refusals rhizome::hostReasons(ModuleOp module) {
  Refusals entries;
  llvm::StringSet<> seen;
  module.walk([&](Operation *op) {
    Refusal entry = whyHost(op);
    if (!entry.reason.empty() && seen.insert(entry.node).second)
      entries.push_back(std::move(entry));
  });
  return entries;
}

void Integerizer::leaveToHost(Operation *op, std::string reason,
                              std::string remedy) {
  reasons.insert({op,
                  {osa::nodeName(op), modelOpName(op), std::move(reason),
                   std::move(remedy)}});
  stayOnHost(op);
}

unsigned Integerizer::stageFor(Operation *op) const {
  unsigned stage = 0;
  for (Value v : valuesRead(op))
    if (Lazy t = held.lookup(v))
      stage = std::max(stage, regionOf(*t) + 1);
    else
      stage = std::max(stage, stages.lookup(v));
  return stage;
}

Refusal Integerizer::whyReal(Operation *layer) const {
  Refusal why{osa::nodeName(layer), modelOpName(layer),
              "it computes on real numbers: no quantizer stands before it",
              "quantize the model, or give --calibration DATA or "
              "--number-format 'fixed<I,F>'"};
  // One may stand there of which there is no hardware.
  Operation *before = layer->getOperand(0).getDefiningOp();
  while (isa_and_nonnull<osa::DequantizeOp, osa::ReshapeOp, osa::TransposeOp,
                         osa::MaxPoolOp, osa::GatherOp, osa::PadOp>(before))
    before = before->getOperand(0).getDefiningOp();
  auto found = reasons.find(before);
  if (!isa_and_nonnull<osa::QuantizeOp>(before) || found == reasons.end())
    return why;
  why.reason = "the host computes the quantizer before it, '" +
               found->second.node + "': " + found->second.reason;
  why.remedy = found->second.remedy;
  return why;
}

void Integerizer::stayOnHost(Operation *op) {
  unsigned stage = stageFor(op);
  for (Value v : op->getResults())
    stages[v] = stage;
}

Integerizer::Lazy Integerizer::lazy(Value v) {
  Lazy t = held.lookup(v);
  if (!t || regionOf(*t) >= current)
    return t;
  // A value that a later region needs from an earlier one goes through the
  // host.
  Lazy &copy = moved[{v.getAsOpaquePointer(), current}];
  if (copy)
    return copy;
  settle(v.getDefiningOp(), *t);
  copy = std::make_shared<LazyTensor>(*t);
  copy->physical =
      take(regionAt(current), regionTensor(t->physical), v.getLoc());
  return copy;
}

Value Integerizer::constant(Location loc, StringRef name,
                            ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
  int64_t lo = values.empty() ? 0 : *llvm::min_element(values);
  int64_t hi = values.empty() ? 0 : *llvm::max_element(values);
  num::IntType type = intType(lo, hi);
  auto attr = osa::makeIntAttr(builder.getContext(),
                               (name + std::to_string(blobs++)).str(), shape,
                               type, values);
  return osa::ConstantOp::create(builder, loc,
                                 RankedTensorType::get(shape, type), attr);
}

Integerizer::Lazy Integerizer::makeLazy(Value physical, const LazyTensor &like,
                                        std::vector<PiecewiseLinear> f) {
  auto out = std::make_shared<LazyTensor>(like);
  out->physical = physical;
  out->sum.reset();
  out->curve.reset();
  out->f = std::move(f);
  return out;
}

bool Integerizer::settle(Operation *op, LazyTensor &t) {
  if (!t.sum)
    return true;
  PendingSum sum = *t.sum;
  auto [lo, hi] = t.range();
  // The location of its operands, which may be an earlier region.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(sum.lhs.getParentBlock());
  auto type = RankedTensorType::get(
      cast<RankedTensorType>(sum.lhs.getType()).getShape(), intType(lo, hi));
  t.physical = osa::ScaledAddOp::create(builder, op->getLoc(), type, sum.lhs,
                                        sum.rhs, sum.p, sum.q);
  t.sum.reset();
  return true;
}

Integerizer::Lazy Integerizer::materialize(Operation *op, Lazy source) {
  auto t = std::make_shared<LazyTensor>(*source);
  if (!settle(op, *t))
    return nullptr;
  if (t->layout.empty())
    return t;
  if (t->curve) {
    leaveToHost(op, "its input has an activation but no quantizer",
                "put a quantizer before it");
    return nullptr;
  }
  // The functions, per channel of the logical tensor's last axis.
  auto map = t->elementMap();
  std::vector<PiecewiseLinear> f = t->f;
  if (f.size() > 1) {
    int64_t elements = llvm::product_of(t->shape);
    int64_t last = t->shape.empty() ? 1 : t->shape.back();
    std::vector<int64_t> channel(last, -1);
    bool unique = true;
    for (int64_t i = 0; i < elements && unique; ++i) {
      int64_t c = (map ? (*map)[i] : i) % t->channels();
      int64_t &slot = channel[i % last];
      unique = slot < 0 || slot == c;
      slot = c;
    }
    if (unique) {
      f.clear();
      for (int64_t c : channel)
        f.push_back(t->f[c]);
    } else {
      // One function for all, if they differ only in their ranges.
      auto [lo, hi] = t->range();
      for (const PiecewiseLinear &g : t->f) {
        bool same = g.isAffine() && t->f[0].isAffine() &&
                    g.pieces()[0].slope == t->f[0].pieces()[0].slope &&
                    g.pieces()[0].offset == t->f[0].pieces()[0].offset;
        if (!same) {
          leaveToHost(op,
                      "its input's channels, of different scales, are moved "
                      "to another axis",
                      "quantize it with one scale");
          return nullptr;
        }
      }
      f = {t->f[0].over(lo, hi)};
    }
  }
  Type element = cast<RankedTensorType>(t->physical.getType()).getElementType();
  auto reshapeTo = [&](ArrayRef<int64_t> shape) {
    t->physical = osa::ReshapeOp::create(builder, op->getLoc(),
                                         RankedTensorType::get(shape, element),
                                         t->physical);
  };
  if (!map) {
    reshapeTo(t->shape);
  } else {
    for (const LayoutStep &step : t->layout) {
      if (step.permutation.empty()) {
        reshapeTo(step.shape);
        continue;
      }
      t->physical = osa::TransposeOp::create(
          builder, op->getLoc(), RankedTensorType::get(step.shape, element),
          t->physical, step.permutation);
    }
  }
  t->layout.clear();
  t->physicalShape = t->shape;
  t->f = std::move(f);
  return t;
}

void Integerizer::visit(Operation *op) {
  if (isa<func::ReturnOp, osa::ConstantOp>(op) || op->getNumResults() == 0)
    return;
  // Constants are evaluated where they are used.
  auto isConstant = [&](Value v) { return constants.get(v) != nullptr; };
  if (llvm::all_of(op->getOperands(), isConstant) &&
      isConstant(op->getResult(0)))
    return;

  SmallVector<Value> reads = valuesRead(op);
  if (llvm::any_of(reads, [&](Value v) { return dependsOnInput.contains(v); }))
    for (Value v : op->getResults())
      dependsOnInput.insert(v);
  if (onHost.contains(op))
    return stayOnHost(op);
  bool anyHost = false, anyHeld = false;
  current = 0;
  for (Value v : reads) {
    if (Lazy t = held.lookup(v)) {
      anyHeld = true;
      current = std::max(current, regionOf(*t));
    } else if (stages.contains(v)) {
      anyHost = true;
    }
  }
  if (!anyHeld) {
    if (isa<osa::QuantizeOp, osa::MultiThresholdOp>(op))
      return visitEntry(op);
    if (anyHost && isa<osa::Conv2dOp, osa::DenseOp>(op))
      reasons.insert({op, whyReal(op)});
    return stayOnHost(op);
  }
  if (!isa<osa::OsaDialect>(op->getDialect())) {
    Refusal why = whyHost(op);
    if (!why.reason.empty())
      return leaveToHost(op, why.reason, why.remedy);
    return leaveToHost(op, "the FPGA has no unit for " + modelOpName(op),
                       "leave it to the host; 'rhizome evaluate' computes a "
                       "model without any layer for the FPGA");
  }
  if (anyHost)
    return leaveToHost(op,
                       "it joins a tensor of the network with one that is "
                       "real (not quantized)",
                       "put a quantizer on each operand");

  builder.setInsertionPointToEnd(&regionAt(current).function.front());
  SmallVector<Lazy> tensors;
  for (Value v : reads)
    if (Lazy t = lazy(v))
      tensors.push_back(t);
  Lazy in = tensors[0];
  llvm::TypeSwitch<Operation *>(op)
      .Case<osa::QuantizeOp>([&](auto q) { visitQuantize(q, in); })
      .Case<osa::MultiThresholdOp>([&](auto t) { visitMultiThreshold(t, in); })
      .Case<osa::DequantizeOp>([&](auto d) { visitDequantize(d, in); })
      .Case<osa::Conv2dOp, osa::DenseOp>([&](auto) { visitLinear(op, in); })
      .Case<osa::MaxPoolOp>([&](auto pool) { visitMaxPool(pool, in); })
      .Case<osa::AvgPoolOp>([&](auto pool) { visitAvgPool(pool, in); })
      .Case<osa::ConcatOp>([&](auto concat) { visitConcat(concat); })
      .Case<osa::PadOp>([&](auto pad) { visitPad(pad, in); })
      .Case<osa::GatherOp>([&](auto gather) { visitGather(gather, in); })
      .Case<osa::ReshapeOp>([&](auto reshape) {
        auto out = std::make_shared<LazyTensor>(*in);
        out->reshape(cast<RankedTensorType>(reshape.getType()).getShape());
        setResult(op, out);
      })
      .Case<osa::TransposeOp>([&](auto transpose) {
        auto out = std::make_shared<LazyTensor>(*in);
        out->transpose(transpose.getPermutation());
        setResult(op, out);
      })
      .Case<osa::AddOp, osa::SubOp>([&](auto) {
        if (tensors.size() != 2)
          visitElementwise(op, in);
        else if ((in->isAffine() && tensors[1]->isAffine()) ||
                 !applyCurve(op, tensors))
          visitSum(op, tensors[0], tensors[1]);
      })
      .Case<osa::MulOp>([&](auto mul) {
        if (tensors.size() != 2)
          visitElementwise(op, in);
        else if (!applyCurve(op, tensors))
          visitProduct(mul, tensors[0], tensors[1]);
      })
      .Case<osa::MatmulOp>([&](auto) {
        if (tensors.size() == 2)
          visitMatmul(op, tensors[0], tensors[1]);
        else
          leaveToHost(op, "one of its operands is a constant", "");
      })
      .Case<osa::DivOp>([&](auto) {
        if (tensors.size() != 2)
          visitElementwise(op, in);
        else if (!applyCurve(op, tensors))
          leaveToHost(op, "it divides by a tensor that depends on the input",
                      "");
      })
      .Case<osa::MaxOp, osa::MinOp>([&](auto) {
        if (tensors.size() != 2)
          visitElementwise(op, in);
        else if (!applyCurve(op, tensors))
          visitMax(op, tensors[0], tensors[1]);
      })
      .Case<osa::ReluOp, osa::LeakyReluOp, osa::ClipOp, osa::BatchNormOp>(
          [&](auto) { visitElementwise(op, in); })
      .Case<osa::UnaryOp>([&](auto) { visitElementwise(op, in); })
      .Case<osa::SoftmaxOp>([&](auto softmax) { visitSoftmax(softmax, in); })
      .Case<osa::NormalizeOp>([&](auto norm) { visitNormalize(norm, in); })
      .Default([&](Operation *) {
        leaveToHost(op, "it is computed on the host", "move it to the end");
      });
}

void Integerizer::walk() {
  model = module.lookupSymbol<func::FuncOp>("main");
  addInputs();
  for (Operation &op : model.getBody().front())
    visit(&op);
}

Integerizer::Reasons Integerizer::discard() {
  for (Tasks *tasks : {&hosts, &regions})
    for (std::unique_ptr<Task> &task : *tasks)
      if (task)
        task->function.erase();
  return std::move(reasons);
}

/// A walk finds what the FPGA can hold. If some of it is better placed on the
/// host, the next walk leaves that out, until nothing is left to move.
LogicalResult rhizome::lowerToIntegers(ModuleOp module, Refusals &refusals,
                                       IntegerizeStats &stats,
                                       const Placer &placer) {
  func::FuncOp model = findNetwork(module, refusals);
  if (!model)
    return failure();
  module.getContext()->loadDialect<flow::FlowDialect>();
  const IntegerizeStats before = stats;
  llvm::DenseSet<Operation *> onHost;
  Integerizer::Reasons reasons; // the first reasons are the most specific
  while (true) {
    stats = before;
    Integerizer integerizer(module, stats, onHost, std::move(reasons));
    integerizer.walk();
    llvm::DenseSet<Operation *> more = integerizer.choosePlaces(placer);
    if (more.empty()) {
      integerizer.finish();
      return success();
    }
    reasons = integerizer.discard();
    onHost.insert(more.begin(), more.end());
    for (Operation *op : more)
      reasons.insert({op,
                      {osa::nodeName(op), modelOpName(op),
                       "a copy to the FPGA and back would take longer", ""}});
  }
}

/// Keeps what the quantizers' codes mean with the integer model.
static void noteQuantizers(ModuleOp module, const IntegerizeStats &stats) {
  Builder b(module.getContext());
  SmallVector<Attribute> list;
  for (const QuantizerStats &q : stats.quantizers)
    if (!q.scales.empty())
      list.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("name", b.getStringAttr(q.node)),
           b.getNamedAttr("op", b.getStringAttr(q.op)),
           b.getNamedAttr("lo", b.getI64IntegerAttr(q.lo)),
           b.getNamedAttr("hi", b.getI64IntegerAttr(q.hi)),
           b.getNamedAttr("scale", b.getDenseF32ArrayAttr(q.scales)),
           b.getNamedAttr("zero", b.getDenseI64ArrayAttr(q.zeros))}));
  if (!list.empty())
    module->setAttr(marks::kQuantizers, b.getArrayAttr(list));
}

LogicalResult rhizome::integerize(ModuleOp module,
                                  const IntegerizeOptions &options,
                                  Refusals &refusals, IntegerizeStats &stats) {
  canonicalizeReal(module);
  if (options.fixed &&
      failed(applyFixedPoint(module, options, refusals, stats)))
    return failure();
  canonicalizeReal(module);
  if (failed(lowerToIntegers(module, refusals, stats, options.placer)))
    return failure();
  module.walk([](Operation *op) {
    op->removeAttr(marks::kWhyHost);
    op->removeAttr(marks::kHostRemedy);
  });
  noteQuantizers(module, stats);
  return verify(module);
}

func::FuncOp rhizome::findNetwork(ModuleOp module, Refusals &refusals) {
  auto refuse = [&](const std::string &reason) {
    refusals.push_back({"", "", reason, ""});
    return func::FuncOp();
  };
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return refuse("the module has no function @main");
  if (!main.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(main.getBody().front().getTerminator()))
    return refuse("@main is not one block with a return at its end");
  auto isTensor = [](Type type) {
    return osa::isTensorOf(type, [](Type element) {
      return element.isIntOrFloat() || isa<num::IntType>(element);
    });
  };
  if (!llvm::all_of(main.getArgumentTypes(), isTensor) ||
      !llvm::all_of(main.getResultTypes(), isTensor))
    return refuse("@main takes or gives other than tensors of known size");
  return main;
}

void rhizome::emitRefusals(ModuleOp module, const Refusals &refusals) {
  for (const Refusal &r : refusals) {
    auto diag = module.emitError();
    if (!r.node.empty())
      diag << "\"" << r.node << "\" (" << r.op << "): ";
    diag << r.reason;
    if (!r.remedy.empty())
      diag.attachNote() << r.remedy;
  }
}

namespace {
struct OsaIntegerize : rhizome::impl::OsaIntegerizeBase<OsaIntegerize> {
  void runOnOperation() override {
    Refusals refusals;
    IntegerizeStats stats;
    if (failed(lowerToIntegers(getOperation(), refusals, stats, {}))) {
      emitRefusals(getOperation(), refusals);
      signalPassFailure();
    }
    // Only used by reports.
    getOperation().walk(
        [](Operation *op) { op->removeAttr(marks::kSaturates); });
    for (const Refusal &entry : stats.host)
      if (!entry.reason.empty()) {
        InFlightDiagnostic remark = mlir::emitRemark(getOperation().getLoc())
                                    << "\"" << entry.node << "\" (" << entry.op
                                    << "): " << entry.reason;
        if (!entry.remedy.empty())
          remark.attachNote() << entry.remedy;
      }
  }
};
} // namespace
