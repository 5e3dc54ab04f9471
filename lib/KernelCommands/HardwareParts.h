// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compile, coverage and simulate share about kernels in hardware.
#pragma once

#include "KernelFile.h"
#include "rhizome/Generator/Generator.h"
#include "rhizome/Generator/Loops/KernelUnit.h"
#include "rhizome/KernelCommands/Hardware.h"
#include "rhizome/KernelCommands/SystemDies.h"
#include "rhizome/Package/PlannedKernel.h"
#include "rhizome/Units/System.h"

namespace rhizome {
class PackageWriter;
}

namespace rhizome::kernelcommands {
/// Bits of the widest word of a stream.
inline constexpr unsigned kMostWordBits = 64;

/// The variable that an operation computes, or its line in the file.
std::string nameOf(mlir::Operation &op);
/// Names of a kernel's nests. A variable that takes several is numbered: t.1,
/// t.2, and t for the last one.
std::vector<std::string> namesOf(llvm::ArrayRef<mlir::linalg::GenericOp> nests);
/// "helmholtz.cfd:13:5", "" if it is unknown.
std::string placeOf(mlir::Location loc);

/// The operations of the kernel on integers, with those in formats.
llvm::DenseMap<mlir::Operation *, mlir::Operation *>
matchingFormats(const NumberedKernel &kernel);
/// Tensors of a stream, by values of the kernel on integers.
std::vector<PlannedTensor> tensorsOf(const NumberedKernel &kernel,
                                     llvm::ArrayRef<mlir::Value> values);

/// A nest's loops as --copies has them: those of its result's indices, then
/// those of its sum.
llvm::SmallVector<unsigned> loopsOf(mlir::linalg::GenericOp nest);

/// How the nests of a kernel are built in parallel.
struct ParallelKernel {
  KernelOptions options; ///< with the orders of its sums
  std::vector<gen::loops::NestChoice> nests;
};
/// Why there is no way to build a kernel for a goal, or with a user's copies.
Failure noCopies(bool hasGoal = true);
/// The ways to build the nests, best first, for a lane that may use at most
/// `most`, if as many words pass the border in a cycle; changes the kernel's
/// integers. The last one for a goal is without copies. Without a goal or
/// copies: as it is.
Result<std::vector<ParallelKernel>>
parallelize(const HardwareRequest &request, const NumberedKernel &kernel,
            const explore::Goal *goal, const gen::DeviceContext &device,
            const gen::Resources &most, int64_t words);

/// All that was decided about a unit that was built so.
UnitChoice choiceOf(const UnitChoice &asked, const ParallelKernel &way,
                    const gen::loops::KernelUnit &unit);
/// A kernel's nests and sums as a plan has chosen them.
ParallelKernel wayOf(KernelOptions options, const UnitChoice &choice);
std::vector<SumChoice> sumsOf(const UnitChoice &choice);
/// Why a kernel's unit for a device is not built by the plan at a path;
/// nothing if it is.
std::optional<Failure> whyNotFor(const Plan &plan, const std::string &path,
                                 const NumberedKernel &kernel,
                                 const std::string &device);

/// What the plan says of a kernel.
PlannedKernel describeKernel(const NumberedKernel &kernel,
                             const gen::loops::KernelUnit &unit);
/// The tensors, who reads and writes them, which may share a memory and which
/// do, as Mnemosyne's YAML has it: to look at.
std::string memoriesYaml(const PlannedKernel &kernel);

/// host/ of a package: an OpenCL host with its sources, which nothing of
/// rhizome is needed to build. `kernel` is that of the unit, before it is
/// built. A kernel whose border is not its arguments has none, and a note says
/// so.
llvm::Error writeKernelHost(PackageWriter &writer, const NumberedKernel &kernel,
                            const Plan &plan, std::vector<std::string> &notes);

/// README.md of a package: its tensors and ports, and how to run it.
std::string packagePage(const Plan &plan, bool hasHost);

/// Numbers for names; a usage error for inputs that are unknown, or if nothing
/// is left to read for each element.
Result<gen::loops::UnitOptions> unitOptions(const NumberedKernel &kernel,
                                            const UnitChoice &choice,
                                            const gen::DeviceContext &device);
/// Bits of the widest beat of a unit's streams; those of a node's link are
/// narrower.
int64_t mostBeatBits(const planbuild::Targets &targets);

/// Module of a unit's system.
inline constexpr const char *kSystem = "rhz_system";
/// Bits of a system's ports to off-chip memory, which the device must have.
int64_t systemPortBits(const gen::DeviceContext &device);
/// Width, burst and buffer for the device's memory; the rest is set.
void sizeMover(gen::Mover &mover, const gen::DeviceContext &device);
/// The bits of a word in a stream of these tensors.
unsigned wordBits(llvm::ArrayRef<mlir::Value> tensors);
/// What moves the streams of so many lanes of a unit, in their order.
std::vector<gen::Mover> moversOf(const gen::loops::KernelUnit &unit,
                                 int64_t lanes,
                                 const gen::DeviceContext &device);
/// Of the movers of one unit, and its registers.
gen::Resources priceOf(llvm::ArrayRef<gen::Mover> movers,
                       const gen::CostContext &context);
/// A unit of these resources and movers, as dies see it.
SystemUnit asSystemUnit(const gen::Resources &resources,
                        llvm::ArrayRef<gen::Mover> movers);
/// The system in a plan of its unit: ports, registers and banks of so many
/// units, and the prediction with the memory.
void addSystem(Plan &plan, const gen::loops::KernelUnit &unit,
               llvm::ArrayRef<gen::Mover> movers, int64_t units,
               const gen::DeviceContext &context);
/// Why a kernel's unit is not built for the nodes of a cluster; nothing if it
/// is.
std::optional<Failure> whyNotOnNodes(const planbuild::Targets &targets,
                                     const UnitChoice &unit);
/// How many nodes may have a unit.
int64_t mostNodes(const planbuild::Targets &targets, const explore::Goal *goal);
/// The fewest nodes that compute so many elements per second, at most those of
/// the plan.
int64_t fewestNodes(const Plan &plan, const planbuild::Targets &targets,
                    double wanted);
/// A plan of one unit becomes that of its choice's nodes: channels, endpoints,
/// and the prediction of all.
void addNodes(Plan &plan, const planbuild::Targets &targets);
/// Why the streams of a plan's unit cannot be those of a node; none if they
/// can.
Refusals whyNoStreams(const Plan &plan);
/// A rate that no plan with this border exceeds: what streams of the widest
/// beats carry, and, of a system, what the memory moves.
double boundOf(const Plan &plan, const gen::DeviceContext &device);
/// Which die of the room has which unit, and what each is full of.
void addDies(Plan &plan, const SystemUnit &unit, const SystemLayout &layout,
             const SystemRoom &room);

/// All reasons why a kernel is not built in hardware, by place.
Refusals whyNoHardware(const NumberedKernel &kernel);
} // namespace rhizome::kernelcommands
