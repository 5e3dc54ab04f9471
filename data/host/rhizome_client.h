/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C interface of a compiled model: its tensors in, its tensors out. What
 * they are stands in rhizome_model.h, which the compiler wrote. */
#ifndef RHIZOME_CLIENT_H
#define RHIZOME_CLIENT_H
#include "rhizome/runtime/border.h"
#include "rhizome/runtime/cpu.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct rhz_client rhz_client;

/* Tensors, conversions and files of this model. */
const rhz_model *rhz_compiled_model(void);

/* Opens a device. `package` is the folder of the compiled package; files that
 * the device needs are compared with what was compiled. `driver` is "null",
 * "cpu", "simulation", "uart", "udp" or "opencl"; `where`, the last one NULL,
 * says where the device is: a simulator's program; a serial line and its baud
 * rate; for every node "NODE=ADDRESS:PORT" ("host=…" says where to listen,
 * "key=FILE" which key the nodes share: that needs libsodium); an OpenCL program
 * and a part of its platform's name. "cpu" needs the package's machine code
 * (--cpu-object), and so does "opencl" without a program, unless the package
 * has one of its own. Gives up after `patience_s` seconds, here and later with
 * each frame. NULL on failure, with a sentence in `error`. */
rhz_client *rhz_open(const char *package, const char *driver,
                     const char *const *where, double patience_s, char *error,
                     size_t error_size);
void rhz_close(rhz_client *client);

/* Computes frames: inputs[k] holds frames × elements of input k in its type,
 * outputs[k] gets those of output k. An input that is a state (rhz_model's
 * states) is kept by the client and may be NULL. 0 if all is well. */
int rhz_infer(rhz_client *client, size_t frames, const void *const *inputs,
              void *const *outputs);
/* The same on the model's own tensors, which rhz_compiled_cpu_model tells: the
 * device computes its tasks, this CPU those of the host before, between and
 * after them. inputs[k] holds frames × elements of the model's input k, of
 * float or of int64_t. Needs the package's machine code (--cpu-object). */
int rhz_run(rhz_client *client, size_t frames, const void *const *inputs,
            void *const *outputs);
/* Brings the states back to how they begin; they begin so, too. */
void rhz_reset(rhz_client *client);

/* The whole model on this CPU, host's tasks included: inputs[k] holds one frame
 * of the model's own input k, outputs[k] gets that of output k; of float, or of
 * int64_t where the tensor is of integers. Needs the package's machine code,
 * whose tensors rhz_compiled_cpu_model tells; that is NULL without it. It keeps
 * nothing: states follow the inputs, and their next values the outputs. 0 if all
 * is well. */
const rhz_cpu_model *rhz_compiled_cpu_model(void);
int rhz_compute(const void *const *inputs, void *const *outputs, char *error,
                size_t error_size);

/* Why the last call failed. */
const char *rhz_error(const rhz_client *client);

/* Told, during rhz_infer over UDP, of nodes that fall silent and come back. */
void rhz_on_event(rhz_client *client,
                  void (*told)(void *context, const char *line), void *context);

#ifdef __cplusplus
}
#endif
#endif
