/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rhizome/runtime/border.h"
#include <math.h>
#include <string.h>

/* The element of the tensor that comes next in the frame. */
typedef struct {
  const rhz_border *border;
  int64_t place, count[RHZ_DIGITS];
} walk;

static void walk_begin(walk *w, const rhz_border *border) {
  memset(w, 0, sizeof *w);
  w->border = border;
}

static void walk_step(walk *w) {
  int d;
  for (d = w->border->digits - 1; d >= 0; --d) {
    w->place += w->border->strides[d];
    if (++w->count[d] < w->border->sizes[d])
      return;
    w->place -= w->border->strides[d] * w->border->sizes[d];
    w->count[d] = 0;
  }
}

static int64_t channel_of(const rhz_border *border, int64_t element) {
  return border->channels == 1 ? 0 : element / border->inner % border->channels;
}

/* In double where adding a half to a float would round by itself. */
static double round_by(rhz_rounding rounding, float x) {
  switch (rounding) {
  case RHZ_TOWARD_ZERO:
    return truncf(x);
  case RHZ_UP:
    return ceilf(x);
  case RHZ_DOWN:
    return floorf(x);
  case RHZ_HALF_UP:
    return floor((double)x + 0.5);
  case RHZ_HALF_DOWN:
    return ceil((double)x - 0.5);
  case RHZ_HALF_AWAY:
    return roundf(x);
  case RHZ_HALF_TOWARD_ZERO:
    return x < 0 ? floor((double)x + 0.5) : ceil((double)x - 0.5);
  case RHZ_AWAY_FROM_ZERO:
    return x < 0 ? floorf(x) : ceilf(x);
  case RHZ_SIGN:
    return x >= 0 ? 1.0 : -1.0;
  case RHZ_HALF_EVEN:
    break;
  }
  return nearbyintf(x);
}

static int64_t quantize(const rhz_border *border, float x, int64_t channel) {
  int64_t zero = border->zero_point[channel];
  double rounded = round_by(border->rounding, x / border->scale[channel]);
  /* Saturate before the conversion: the quotient may be infinite. */
  if (rounded >= (double)border->hi - (double)zero)
    return border->hi;
  if (rounded <= (double)border->lo - (double)zero)
    return border->lo;
  return (int64_t)rounded + zero;
}

static float dequantize(const rhz_border *border, int64_t q, int64_t channel) {
  /* volatile: the product is rounded before the sum, also where the machine
   * could do both at once. */
  volatile float product =
      (float)(q - border->zero_point[channel]) * border->scale[channel];
  return border->offset ? product + border->offset[channel] : product;
}

static void put(uint8_t *frame, int64_t bit, unsigned width, uint64_t value) {
  while (width > 0) {
    unsigned at = (unsigned)(bit & 7), taken = 8 - at < width ? 8 - at : width;
    frame[bit >> 3] |= (uint8_t)((value & ((1u << taken) - 1)) << at);
    value >>= taken;
    bit += taken;
    width -= taken;
  }
}

static int64_t get(const uint8_t *frame, int64_t bit, unsigned width,
                   int is_signed) {
  uint64_t value = 0;
  unsigned got = 0;
  while (got < width) {
    unsigned at = (unsigned)(bit & 7);
    unsigned taken = 8 - at < width - got ? 8 - at : width - got;
    value |= (uint64_t)((frame[bit >> 3] >> at) & ((1u << taken) - 1)) << got;
    bit += taken;
    got += taken;
  }
  if (is_signed && width < 64 && value >> (width - 1) & 1)
    value |= ~(uint64_t)0 << width;
  return (int64_t)value;
}

size_t rhz_frame_bytes(const rhz_border *border) {
  return (size_t)((border->elements * (int64_t)border->width + 7) / 8);
}

rhz_result rhz_to_frame(const rhz_border *border, const void *tensor,
                        uint8_t *frame, int64_t *element) {
  walk w;
  int64_t i;
  walk_begin(&w, border);
  memset(frame, 0, rhz_frame_bytes(border));
  for (i = 0; i < border->elements; ++i, walk_step(&w)) {
    int64_t q;
    if (element)
      *element = w.place;
    if (border->scale) {
      float x = ((const float *)tensor)[w.place];
      if (isnan(x))
        return RHZ_NAN;
      q = quantize(border, x, channel_of(border, w.place));
    } else {
      q = ((const int64_t *)tensor)[w.place];
      if (q < border->lo || q > border->hi)
        return RHZ_RANGE;
    }
    put(frame, i * border->width, border->width, (uint64_t)q);
  }
  return RHZ_OK;
}

void rhz_from_frame(const rhz_border *border, const uint8_t *frame,
                    void *tensor) {
  walk w;
  int64_t i;
  walk_begin(&w, border);
  for (i = 0; i < border->elements; ++i, walk_step(&w)) {
    int64_t q = get(frame, i * border->width, border->width, border->is_signed);
    if (border->scale)
      ((float *)tensor)[w.place] =
          dequantize(border, q, channel_of(border, w.place));
    else
      ((int64_t *)tensor)[w.place] = q;
  }
}

uint64_t rhz_checksum(const uint8_t *bytes, size_t count) {
  uint64_t sum = 0xcbf29ce484222325u;
  size_t i;
  for (i = 0; i < count; ++i)
    sum = (sum ^ bytes[i]) * 0x100000001b3u;
  return sum;
}
