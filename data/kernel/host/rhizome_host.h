/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * What the hosts of all kernels share: the choice of a device. C and C++.
 */
#ifndef RHIZOME_HOST_H
#define RHIZOME_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros choose for themselves. */
typedef struct rhz_host_options {
  /* The program of the FPGA (.xclbin, or any binary of OpenCL with the kernel
   * rhz_kernel); NULL: the kernel's machine code, on an OpenCL device that
   * calls functions of the host, such as PoCL's. */
  const char *program;
  /* A part of the OpenCL platform's name; NULL: any platform. */
  const char *platform;
  /* Units to use; 0: all of the program, or as many as were compiled for. */
  int32_t units;
  /* Elements in a buffer, of which each unit has two sets; 0: as many as take
   * about 4 MiB. */
  int64_t batch;
  /* Reads a register of 32 bits of a unit of the program, by the means of the
   * card's runtime, and returns 0 if it could. Then a call fails where the
   * memory answered the FPGA with an error; NULL: that is not known, as OpenCL
   * has no function for registers. */
  int32_t (*read_register)(void *context, int32_t unit, uint32_t offset,
                           uint32_t *value);
  void *context; /* which read_register gets */
} rhz_host_options;

/* A kernel on an open device. It is used by one thread at a time. */
typedef struct rhz_host rhz_host;

/* The name of the device. */
const char *rhz_host_device(const rhz_host *host);
/* How many units compute. */
int32_t rhz_host_units(const rhz_host *host);
/* Why the last call failed; "" if it did not. */
const char *rhz_host_error(const rhz_host *host);
/* NULL is allowed. */
void rhz_host_close(rhz_host *host);

#ifdef __cplusplus
}
#endif
#endif
