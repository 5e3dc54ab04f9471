/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C interface of a compiled service: integers in, integers out, as the
 * network between the model's first and last quantiser has them. */
#ifndef RHIZOME_CLIENT_H
#define RHIZOME_CLIENT_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct rhz_client rhz_client;

/* A tensor of one frame: row-major, channels last. */
typedef struct {
  const char *name;
  size_t elements;
  unsigned width; /* bits of an element */
  int is_signed;
} rhz_tensor;

size_t rhz_inputs(void);
size_t rhz_outputs(void);
rhz_tensor rhz_input(size_t index);
rhz_tensor rhz_output(size_t index);

/* Joins all nodes into one service. `places` are "NODE=ADDRESS:PORT" for every
 * node ("host=…" says where to listen), the last one NULL. Gives up after
 * `patience_s` seconds, here and later. NULL on failure, with a sentence in
 * `error`, which names the nodes that do not answer. */
rhz_client *rhz_open(const char *const *places, double patience_s, char *error,
                     size_t error_size);
void rhz_close(rhz_client *client);

/* Sends frames and waits for all answers: inputs[k] holds frames × elements
 * values of input k, outputs[k] gets those of output k. 0 if all is well. */
int rhz_infer(rhz_client *client, size_t frames, const int64_t *const *inputs,
              int64_t *const *outputs);
/* Why the last call failed. */
const char *rhz_error(const rhz_client *client);

/* Told, during rhz_infer, of nodes that fall silent and come back. */
void rhz_on_event(rhz_client *client,
                  void (*told)(void *context, const char *line),
                  void *context);

#ifdef __cplusplus
}
#endif
#endif
