/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C interface of a Verilated design as a shared library: what model.cpp
 * offers to the program that loads it. One call is one clock cycle. */
#ifndef RHZ_MODEL_H
#define RHZ_MODEL_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define RHZ_MODEL_ABI 2

/* One AXI4-Stream port in one cycle; `data` points to as many bytes as the
 * port has, `keep` has a bit for each. Of an input the caller sets all but
 * ready and gets ready, of an output the other way round. Tensors' ports use
 * neither keep nor dest. */
typedef struct {
  uint8_t valid, last, ready, keep;
  uint16_t dest;
  uint8_t *data;
} rhz_stream;

/* A design by itself (rhz_top) has a port for each tensor; with a link endpoint
 * around it (rhz_node) it has one input and one output of datagrams, and as
 * many `parts` of its configuration. */
typedef struct {
  int abi, inputs, outputs, parts;
} rhz_model_info;

rhz_model_info rhz_model_describe(void);
/* Makes a design and resets it. Memory images are read from `folder`; `seed`
 * chooses what registers without reset hold. `address` and the 16-bit parts of
 * `configuration` are those of a node with an endpoint. Null if the folder is
 * missing. */
void *rhz_model_open(const char *folder, uint64_t seed, uint16_t address,
                     const uint16_t *configuration);
void rhz_model_cycle(void *model, rhz_stream *inputs, rhz_stream *outputs);
void rhz_model_close(void *model);

#ifdef __cplusplus
}
#endif
#endif
