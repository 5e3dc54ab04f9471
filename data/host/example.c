/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads frames of numbers as text from standard input, each input's elements in
 * turn but for those of states, and writes the answers' elements, a line a frame:
 *   example net.rhz udp node0=10.0.0.1:2719 … < frames.txt
 *   example net.rhz uart /dev/ttyUSB1 < frames.txt
 * With "model" for the driver the whole model is computed here. Where the host
 * computes between regions of the device, it is done here, too. */
#include "rhizome_client.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(const rhz_tensor *tensor) {
  size_t size = tensor->type == RHZ_FLOAT32 ? sizeof(float) : sizeof(int64_t);
  return calloc((size_t)tensor->elements, size);
}

static int is_state(const rhz_model *model, size_t input) {
  size_t k;
  for (k = 0; k < model->state_count; ++k)
    if (model->states[k].input == (int)input)
      return 1;
  return 0;
}

/* Reads one frame; 0 at the end of the file. */
static int read_frame(const rhz_model *model, void **inputs) {
  size_t k;
  int64_t i;
  for (k = 0; k < model->input_count; ++k)
    for (i = 0; !is_state(model, k) && i < model->inputs[k].elements; ++i)
      if (model->inputs[k].type == RHZ_FLOAT32
              ? scanf("%f", (float *)inputs[k] + i) != 1
              : scanf("%" SCNd64, (int64_t *)inputs[k] + i) != 1)
        return 0;
  return 1;
}

static void print_frame(const rhz_model *model, void **outputs) {
  size_t k;
  int64_t i;
  for (k = 0; k < model->output_count; ++k)
    for (i = 0; i < model->outputs[k].elements; ++i)
      if (model->outputs[k].type == RHZ_FLOAT32)
        printf("%.9g ", (double)((float *)outputs[k])[i]);
      else
        printf("%" PRId64 " ", ((int64_t *)outputs[k])[i]);
  printf("\n");
}

/* Frames through the package's machine code, with the device's tasks by the
 * client if there is one. */
static int run_model(rhz_client *client) {
  const rhz_cpu_model *model = rhz_compiled_cpu_model();
  char error[256];
  void **inputs, **outputs;
  size_t k;
  int64_t i;
  if (!model) {
    rhz_compute(NULL, NULL, error, sizeof error);
    fprintf(stderr, "error: %s\n", error);
    return 1;
  }
  inputs = calloc(model->input_count, sizeof *inputs);
  outputs = calloc(model->output_count, sizeof *outputs);
  for (k = 0; k < model->input_count; ++k)
    inputs[k] = calloc((size_t)model->tensors[model->inputs[k]].elements, 8);
  for (k = 0; k < model->output_count; ++k)
    outputs[k] = calloc((size_t)model->tensors[model->outputs[k]].elements, 8);
  for (;;) {
    for (k = 0; k < model->input_count; ++k) {
      const rhz_cpu_tensor *tensor = &model->tensors[model->inputs[k]];
      for (i = 0; i < tensor->elements; ++i)
        if (tensor->is_float ? scanf("%f", (float *)inputs[k] + i) != 1
                             : scanf("%" SCNd64, (int64_t *)inputs[k] + i) != 1)
          return 0;
    }
    if (client
            ? rhz_run(client, 1, (const void *const *)inputs, outputs)
            : rhz_compute((const void *const *)inputs, outputs, error,
                          sizeof error)) {
      fprintf(stderr, "error: %s\n", client ? rhz_error(client) : error);
      return 1;
    }
    for (k = 0; k < model->output_count; ++k) {
      const rhz_cpu_tensor *tensor = &model->tensors[model->outputs[k]];
      for (i = 0; i < tensor->elements; ++i)
        if (tensor->is_float)
          printf("%.9g ", (double)((float *)outputs[k])[i]);
        else
          printf("%" PRId64 " ", ((int64_t *)outputs[k])[i]);
    }
    printf("\n");
  }
}

int main(int argc, char **argv) {
  const rhz_model *model = rhz_compiled_model();
  char error[256];
  rhz_client *client;
  void **inputs, **outputs;
  size_t k;
  if (argc < 3) {
    fprintf(stderr, "usage: %s PACKAGE DRIVER [WHERE...] < frames.txt\n",
            argv[0]);
    return 2;
  }
  if (!strcmp(argv[2], "model"))
    return run_model(NULL);
  client = rhz_open(argv[1], argv[2], (const char *const *)argv + 3, 5.0, error,
                    sizeof error);
  if (!client) {
    fprintf(stderr, "error: %s\n", error);
    return 1;
  }
  if (model->region_count > 1) {
    int failed = run_model(client);
    rhz_close(client);
    return failed;
  }
  inputs = calloc(model->input_count, sizeof *inputs);
  outputs = calloc(model->output_count, sizeof *outputs);
  for (k = 0; k < model->input_count; ++k)
    inputs[k] = allocate(&model->inputs[k]);
  for (k = 0; k < model->output_count; ++k)
    outputs[k] = allocate(&model->outputs[k]);
  while (read_frame(model, inputs)) {
    if (rhz_infer(client, 1, (const void *const *)inputs, outputs)) {
      fprintf(stderr, "error: %s\n", rhz_error(client));
      return 1;
    }
    print_frame(model, outputs);
  }
  rhz_close(client);
  return 0;
}
