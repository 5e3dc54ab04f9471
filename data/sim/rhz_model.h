/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C interface of a Verilated design as a shared library: what model.cpp
 * offers to the program that loads it. One call is one clock cycle. */
#ifndef RHZ_MODEL_H
#define RHZ_MODEL_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define RHZ_MODEL_ABI 1

/* One AXI4-Stream port in one cycle; `data` points to as many bytes as the
 * port has. Of an input the caller sets valid, last and data and gets ready,
 * of an output the other way round. */
typedef struct {
  uint8_t valid, last, ready;
  uint8_t *data;
} rhz_stream;

typedef struct {
  int abi, inputs, outputs;
} rhz_model_info;

rhz_model_info rhz_model_describe(void);
/* Makes a design and resets it. Memory images are read from `folder`; `seed`
 * chooses what registers without reset hold. Null if the folder is missing. */
void *rhz_model_open(const char *folder, uint64_t seed);
void rhz_model_cycle(void *model, rhz_stream *inputs, rhz_stream *outputs);
void rhz_model_close(void *model);

#ifdef __cplusplus
}
#endif
#endif
