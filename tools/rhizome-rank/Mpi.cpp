// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Mpi.h"
#include <cstring>
#include <ctime>
#include <mpi.h>
#include <sched.h>

using namespace rhizome;
using namespace rhizome::clustersim;

namespace {
constexpr int kTag = 1;
constexpr int kSpins = 64; // before the first sleep
constexpr int kShortPauses = 5000;

/// Yields the processor; the longer nothing has arrived, the longer it sleeps.
class Patience {
public:
  void wait() {
    if (++tries <= kSpins) {
      sched_yield();
      return;
    }
    // While a client sends nothing, all ranks sleep.
    timespec pause{0, tries < kShortPauses ? 20'000 : 1'000'000};
    nanosleep(&pause, nullptr);
  }

private:
  int tries = 0;
};

template <typename T> void put(std::vector<uint8_t> &bytes, const T &value) {
  auto *raw = reinterpret_cast<const uint8_t *>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}
template <typename T> T take(const uint8_t *&at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  at += sizeof(T);
  return value;
}

std::vector<uint8_t> pack(const PartyStatus &report) {
  std::vector<uint8_t> bytes;
  put(bytes, report.next);
  put(bytes, uint8_t(report.done));
  return bytes;
}

void pack(std::vector<uint8_t> &bytes, const Datagram &datagram) {
  put(bytes, datagram.number);
  put(bytes, uint64_t(datagram.link));
  put(bytes, datagram.firstBit);
  put(bytes, datagram.lastBit);
  put(bytes, uint64_t(datagram.bytes.size()));
  bytes.insert(bytes.end(), datagram.bytes.begin(), datagram.bytes.end());
}

PartyStatus unpack(const std::vector<uint8_t> &bytes, int from, int to,
                   std::vector<Datagram> &received) {
  const uint8_t *at = bytes.data(), *end = at + bytes.size();
  PartyStatus report;
  report.next = take<Picoseconds>(at);
  report.done = take<uint8_t>(at);
  while (at < end) {
    Datagram datagram;
    datagram.from = from;
    datagram.to = to;
    datagram.number = take<uint64_t>(at);
    datagram.link = size_t(take<uint64_t>(at));
    datagram.firstBit = take<Picoseconds>(at);
    datagram.lastBit = take<Picoseconds>(at);
    auto size = take<uint64_t>(at);
    datagram.bytes.assign(at, at + size);
    at += size;
    received.push_back(std::move(datagram));
  }
  return report;
}
} // namespace

MpiTransport::MpiTransport(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &myRank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

MpiTransport::~MpiTransport() { MPI_Finalize(); }

void MpiTransport::abort() { MPI_Abort(MPI_COMM_WORLD, 1); }

std::vector<PartyStatus>
MpiTransport::exchange(const PartyStatus &mine, std::vector<Datagram> sent,
                       std::vector<Datagram> &received) {
  std::vector<std::vector<uint8_t>> messages(size_t(ranks), pack(mine));
  for (const Datagram &datagram : sent)
    pack(messages[size_t(datagram.to)], datagram);
  std::vector<MPI_Request> requests;
  for (int r = 0; r < ranks; ++r)
    if (r != myRank)
      MPI_Isend(messages[size_t(r)].data(), int(messages[size_t(r)].size()),
                MPI_BYTE, r, kTag, MPI_COMM_WORLD, &requests.emplace_back());
  std::vector<PartyStatus> all(size_t(ranks), mine);
  Patience patience;
  for (int r = 0; r < ranks; ++r) {
    if (r == myRank)
      continue;
    MPI_Message message;
    MPI_Status status;
    for (int there = 0; !there;) {
      MPI_Improbe(r, kTag, MPI_COMM_WORLD, &there, &message, &status);
      if (!there)
        patience.wait();
    }
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::vector<uint8_t> bytes(static_cast<size_t>(size));
    MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    all[size_t(r)] = unpack(bytes, r, myRank, received);
  }
  for (int complete = 0; !complete;) {
    MPI_Testall(int(requests.size()), requests.data(), &complete,
                MPI_STATUSES_IGNORE);
    if (!complete)
      patience.wait();
  }
  return all;
}
