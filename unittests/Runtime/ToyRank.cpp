// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Toy.h's designs as two ranks: rank 0 takes jobs on standard input and gives
// the answers on standard output, rank 1 computes them. The last argument
// "regions" chooses the design of two regions.
#include "Toy.h"
#include "rhizome/runtime/drivers.h"
#include <cstdio>
#include <cstring>
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
  const bool isTwo = argc > 1 && !std::strcmp(argv[argc - 1], "regions");
  const rhizome::runtime::Design design =
      isTwo ? toy::regions("") : toy::design("");
  // A message's tag is the job's region; an empty one ends the computing.
  if (rank == 0) {
    if (write(1, "R", 1) != 1)
      return 1;
    for (Bytes head(isTwo ? rhizome::runtime::kMpiRegion : 0);
         readFrame(head);) {
      const size_t region = isTwo ? head[0] : 0;
      Bytes frame(design.inputs[region].frameBytes());
      Bytes answer(design.outputs[region].frameBytes());
      if (!readFrame(frame))
        break;
      MPI_Send(frame.data(), int(frame.size()), MPI_BYTE, 1, int(region),
               MPI_COMM_WORLD);
      MPI_Recv(answer.data(), int(answer.size()), MPI_BYTE, 1, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (write(1, answer.data(), answer.size()) != ssize_t(answer.size()))
        return 1;
    }
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else {
    for (;;) {
      MPI_Status status;
      int size = 0;
      Bytes frame(8);
      MPI_Recv(frame.data(), 8, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
               &status);
      MPI_Get_count(&status, MPI_BYTE, &size);
      if (size == 0)
        break;
      Bytes answer = toy::compute(size_t(status.MPI_TAG), frame);
      MPI_Send(answer.data(), int(answer.size()), MPI_BYTE, 0, 0,
               MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
