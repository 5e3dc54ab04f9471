/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A model as machine code: the functions of a package's model/cpu.o, and the
 * tensors between them. The tables are those of the package's host/cpu.cpp. */
#ifndef RHIZOME_RUNTIME_CPU_H
#define RHIZOME_RUNTIME_CPU_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor as the functions have it: dense, row-major, of float, or of integers
 * of 8, 16, 32 or 64 bits whose values are lo to hi. */
typedef struct rhz_cpu_tensor {
  const char *name;
  int64_t elements;
  int is_float;
  unsigned storage_bits;
  int is_signed;
  unsigned width; /* of an integer in a frame */
  int64_t lo, hi;
} rhz_cpu_tensor;

/* What a task requires of an integer that the model computes: from lo to hi, or
 * anything but 0 if lo > hi. */
typedef struct rhz_cpu_check {
  const char *node, *what; /* "gather1", "index" */
  int64_t lo, hi;
} rhz_cpu_check;

/* A task of the model: takes and gives tensors by their numbers. `run` gets the
 * pointers of what it takes, then of what it gives, then, if it has checks, of
 * int64_t[3], all 0: there it leaves the number of the first check that did not
 * hold, from 1, the value and its element. */
typedef struct rhz_cpu_task {
  void (*run)(void **buffers);
  int on_device; /* what the device computes */
  size_t take_count, give_count;
  const unsigned *takes, *gives;
  size_t inside_count; /* the last ones that it gives, which do not leave the
                          device */
  size_t check_count;
  const rhz_cpu_check *checks;
} rhz_cpu_task;

/* A tensor of integers that the device keeps from frame to frame: the last ones
 * that its task takes. */
typedef struct rhz_cpu_kept {
  unsigned tensor, next;  /* of this frame, and of the next one */
  const int64_t *initial; /* NULL: zeros */
} rhz_cpu_kept;

typedef struct rhz_cpu_model {
  size_t tensor_count, task_count, input_count, output_count;
  const rhz_cpu_tensor *tensors;
  const rhz_cpu_task *tasks;        /* in order */
  const unsigned *inputs, *outputs; /* what is kept is among them, at the end */
  size_t kept_count;
  const rhz_cpu_kept *kept;
} rhz_cpu_model;

#ifdef __cplusplus
} /* extern "C" */

#include "rhizome/runtime/drivers.h"

namespace rhizome::runtime {
/// What the device computes, for makeCpuDriver: its tasks, a region each.
/// `model` outlives it. What the device keeps it keeps, for one driver.
Compute computeOf(const rhz_cpu_model &model);

/// The whole model: inputs[k] holds one frame of the model's input k,
/// outputs[k] gets that of output k, each of float or int64_t. False with a
/// sentence.
bool run(const rhz_cpu_model &model, std::span<const void *const> inputs,
         std::span<void *const> outputs, std::string &error);

/// The same for `frames` frames, one after the other in inputs[k] and
/// outputs[k], with the device's tasks by a driver that is open; as many frames
/// are on their way as it has room for. `patience`: with each of its jobs. What
/// the device keeps is no input or output here.
Status runOn(const rhz_cpu_model &model, Driver &driver, Duration patience,
             std::span<const void *const> inputs,
             std::span<void *const> outputs, size_t frames);
} // namespace rhizome::runtime
#endif
#endif
