// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Toy.h's design as two ranks: rank 0 takes frames on standard input and gives
// the answers on standard output, rank 1 computes them.
#include "Toy.h"
#include <cstdio>
#include <mpi.h>
#include <unistd.h>

using rhizome::runtime::Bytes;

/// False at the end of the input.
static bool readFrame(Bytes &frame) {
  for (size_t got = 0; got < frame.size();) {
    ssize_t count = read(0, frame.data() + got, frame.size() - got);
    if (count <= 0)
      return false;
    got += size_t(count);
  }
  return true;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  Bytes frame(5), answer(3);
  if (rank == 0) {
    if (write(1, "R", 1) != 1)
      return 1;
    while (readFrame(frame)) {
      MPI_Send(frame.data(), 5, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(answer.data(), 3, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      if (write(1, answer.data(), 3) != 3)
        return 1;
    }
    MPI_Send(frame.data(), 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else {
    for (;;) {
      MPI_Status status;
      int size = 0;
      MPI_Recv(frame.data(), 5, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_BYTE, &size);
      if (size == 0)
        break;
      answer = toy::compute(frame);
      MPI_Send(answer.data(), 3, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
