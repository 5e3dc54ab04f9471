/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads frames of integers as text from standard input, each input's elements
 * in turn, and writes the answers' elements, a line a frame:
 *   example node0=10.0.0.1:2719 … < frames.txt */
#include "rhizome_client.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads one frame; 0 at the end of the file. */
static int read_frame(int64_t **inputs) {
  for (size_t k = 0; k < rhz_inputs(); ++k)
    for (size_t i = 0; i < rhz_input(k).elements; ++i)
      if (scanf("%" SCNd64, &inputs[k][i]) != 1)
        return 0;
  return 1;
}

int main(int argc, char **argv) {
  char error[256];
  (void)argc;
  rhz_client *client =
      rhz_open((const char *const *)argv + 1, 5.0, error, sizeof error);
  if (!client) {
    fprintf(stderr, "error: %s\n", error);
    return 1;
  }
  int64_t **inputs = calloc(rhz_inputs(), sizeof *inputs);
  int64_t **outputs = calloc(rhz_outputs(), sizeof *outputs);
  for (size_t k = 0; k < rhz_inputs(); ++k)
    inputs[k] = calloc(rhz_input(k).elements, sizeof **inputs);
  for (size_t k = 0; k < rhz_outputs(); ++k)
    outputs[k] = calloc(rhz_output(k).elements, sizeof **outputs);
  while (read_frame(inputs)) {
    if (rhz_infer(client, 1, (const int64_t *const *)inputs, outputs)) {
      fprintf(stderr, "error: %s\n", rhz_error(client));
      return 1;
    }
    for (size_t k = 0; k < rhz_outputs(); ++k)
      for (size_t i = 0; i < rhz_output(k).elements; ++i)
        printf("%" PRId64 " ", outputs[k][i]);
    printf("\n");
  }
  rhz_close(client);
  return 0;
}
