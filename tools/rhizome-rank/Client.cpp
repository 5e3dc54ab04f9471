// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Client.h"
#include <cerrno>
#include <poll.h>
#include <unistd.h>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::clustersim;

PipeClient::PipeClient(const Plan &plan, int answers) : answers(answers) {
  std::vector<link::ChannelConfig> channels = channelsOf(plan, kHost);
  link::Router router = routerOf(plan, kHost, /*receives=*/false);
  for (size_t k = 0; k < router.size(); ++k) {
    auto channel = find_if(channels, [&](const link::ChannelConfig &config) {
      return config.id == router.next(k).front();
    });
    assert(channel != channels.end() && "the plan was checked");
    sizes.push_back(channel->frameBytes());
  }
  regions = regionsOf(plan);
  if (regions.empty())
    regions.push_back({0, sizes.size(), 0, 0});
}

static Error writeAll(int to, const uint8_t *bytes, size_t size) {
  while (size) {
    ssize_t count = write(to, bytes, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return createStringError(std::error_code(errno, std::generic_category()),
                               "nobody takes the answers");
    bytes += count;
    size -= size_t(count);
  }
  return Error::success();
}

Error PipeClient::ready() { return writeAll(answers, &runtime::kMpiReady, 1); }

Expected<bool> PipeClient::fill(size_t size, bool waits) {
  while (inbox.size() < size && !isEnded) {
    pollfd events{STDIN_FILENO, POLLIN, 0};
    // The rest of a frame arrives soon.
    int count = poll(&events, 1, waits || !inbox.empty() ? -1 : 0);
    if (count == 0)
      return false;
    if (count < 0 && errno == EINTR)
      continue;
    std::vector<uint8_t> part(size - inbox.size());
    ssize_t got = read(STDIN_FILENO, part.data(), part.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      isEnded = true;
    else
      inbox.insert(inbox.end(), part.begin(), part.begin() + got);
  }
  return inbox.size() >= size;
}

Expected<LiveHostParty::Client::Asked>
PipeClient::next(bool waits, LiveHostParty::Job &job) {
  const size_t head = regions.size() > 1 ? runtime::kMpiRegion : 0;
  Expected<bool> has = fill(head, waits);
  if (has && *has) {
    for (size_t i = 0; i < head; ++i)
      job.region |= size_t(inbox[i]) << 8 * i;
    if (job.region >= regions.size())
      return createStringError("the design has no region %zu", job.region);
    size_t size = head;
    for (size_t k = 0; k < regions[job.region].inputs; ++k)
      size += sizes[regions[job.region].firstInput + k];
    has = fill(size, waits);
  }
  if (!has)
    return has.takeError();
  if (!*has)
    return isEnded ? Asked::End : Asked::Nothing;
  auto at = inbox.begin() + ptrdiff_t(head);
  for (size_t k = 0; k < regions[job.region].inputs; ++k) {
    const size_t size = sizes[regions[job.region].firstInput + k];
    job.inputs.emplace_back(at, at + ptrdiff_t(size));
    at += ptrdiff_t(size);
  }
  inbox.clear();
  return Asked::Frame;
}

Error PipeClient::answer(const LiveHostParty::Frame &frame) {
  for (const std::vector<uint8_t> &tensor : frame)
    if (Error error = writeAll(answers, tensor.data(), tensor.size()))
      return error;
  return Error::success();
}
