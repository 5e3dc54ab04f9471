/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The border of a compiled model, in C: a model's tensors to the frames that a
 * device takes, and back. The tables are constants of a package's generated
 * header (host/rhizome_model.h); border.c gives them meaning, bit for bit as
 * the compiler's interpreter does. */
#ifndef RHIZOME_RUNTIME_BORDER_H
#define RHIZOME_RUNTIME_BORDER_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* What an element of a tensor is in the caller's memory. */
typedef enum { RHZ_FLOAT32 = 0, RHZ_INT64 = 1 } rhz_type;

/* How a quotient becomes a whole number; RHZ_SIGN gives 1 or -1. */
typedef enum {
  RHZ_HALF_EVEN = 0,
  RHZ_HALF_UP = 1,
  RHZ_HALF_DOWN = 2,
  RHZ_HALF_AWAY = 3,
  RHZ_HALF_TOWARD_ZERO = 4,
  RHZ_TOWARD_ZERO = 5,
  RHZ_AWAY_FROM_ZERO = 6,
  RHZ_UP = 7,
  RHZ_DOWN = 8,
  RHZ_SIGN = 9
} rhz_rounding;

/* A tensor that the caller gives or gets, row-major. */
typedef struct {
  const char *name;
  rhz_type type;
  int of_model; /* 1: the model's own; 0: what the host computes stands between
                   it and the model's */
  int rank;
  const int64_t *shape;
  int64_t elements;
} rhz_tensor;

/* Digits of a border's order at most. */
#define RHZ_DIGITS 16

/* How one frame of a device is made from a tensor, or the other way round.
 * Element i of the frame is element (sum of digit_d * strides[d]) of the
 * tensor, where the digits are those of i in the mixed radix `sizes`, the last
 * one least significant. Element m of the tensor has channel
 * m / inner % channels. Integers are packed without gaps, little-endian. */
typedef struct {
  const char *port; /* of the device, "s_axis_0" */
  int tensor;       /* index among the inputs, or outputs */
  int64_t elements;
  unsigned width; /* bits of an element */
  int is_signed;
  int64_t lo, hi;     /* what the integers can be */
  unsigned beat_bits; /* a frame on the port is padded to whole beats */
  int digits;
  const int64_t *sizes, *strides;
  /* Reals: in clamp(round(x / scale) + zero_point), out
   * (q - zero_point) * scale [+ offset]; NULL of a tensor of integers. */
  rhz_rounding rounding;
  int64_t channels, inner;
  const float *scale;
  const int64_t *zero_point;
  const float *offset; /* NULL: none */
} rhz_border;

/* A tensor that the host keeps from frame to frame: in the first frame after a
 * reset the input holds `initial`, later what the output was before. */
typedef struct {
  int input, output;   /* indices of tensors of one type and shape */
  const void *initial; /* elements of that type; NULL: zeros */
} rhz_state;

/* A file of the package that the device needs. */
typedef struct {
  const char *path; /* below the package */
  int64_t bytes;
  uint64_t checksum; /* rhz_checksum of its bytes */
} rhz_file;

/* A file that lies in a device's memory before the first frame. */
typedef struct {
  rhz_file file;
  const char *memory;
  int64_t bank, address;
  size_t port; /* which of the design's ports to memories reads it */
} rhz_segment;

/* What the device computes between two tasks of the host: so many frames to it
 * and from it, in order. */
typedef struct {
  size_t to_device_count, from_device_count;
} rhz_region;

/* OpenCL C that computes the design's frames, as driver.h says. */
typedef struct {
  const char *file; /* below the package's folder */
  const char *kernel;
  int64_t space_bytes;
} rhz_program;

/* A compiled model as the host sees it. */
typedef struct {
  const char *name;
  int complete; /* 1: the tensors are the model's; 0: some are not, of_model
                   says which */
  size_t input_count, output_count; /* tensors */
  const rhz_tensor *inputs, *outputs;
  size_t to_device_count, from_device_count; /* frames */
  const rhz_border *to_device, *from_device;
  size_t image_count, segment_count;
  const rhz_file *images; /* that the design's memories hold */
  const rhz_segment *segments;
  size_t region_count; /* 0: one of all frames */
  const rhz_region *regions;
  size_t state_count;
  const rhz_state *states;
  size_t kept_count;          /* tensors that the device itself keeps */
  const rhz_program *program; /* NULL: there is none */
} rhz_model;

typedef enum {
  RHZ_OK = 0,
  RHZ_NAN = 1,  /* no integer stands for an element */
  RHZ_RANGE = 2 /* an integer is not in lo..hi */
} rhz_result;

/* Bytes of a frame: bit-packed, whole bytes, not padded to beats. */
size_t rhz_frame_bytes(const rhz_border *border);

/* A tensor to the frame of rhz_frame_bytes. On failure `element` (may be NULL)
 * tells which element of the tensor it is. */
rhz_result rhz_to_frame(const rhz_border *border, const void *tensor,
                        uint8_t *frame, int64_t *element);

/* A frame to the tensor. */
void rhz_from_frame(const rhz_border *border, const uint8_t *frame,
                    void *tensor);

/* 64 bits of FNV-1a. */
uint64_t rhz_checksum(const uint8_t *bytes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
