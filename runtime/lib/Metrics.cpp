// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of version 0.0.4, and a server of one page: it answers from a
// copy of the text, so that a monitor never waits for the service, nor the
// service for a monitor. One thread serves all connections, each for a bounded
// time, so that none of them waits for another.
#include "rhizome/runtime/metrics.h"
#include "rhizome/runtime/driver.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace rhizome::runtime {
namespace {
using Clock = std::chrono::steady_clock;
constexpr auto kEvery = std::chrono::milliseconds(200);

/// The shortest text that gives the value back.
std::string number(double value) {
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

std::string escaped(const std::string &value) {
  std::string out;
  for (char c : value)
    if (c == '\n')
      out += "\\n";
    else
      out += (c == '\\' || c == '"' ? "\\" : "") + std::string(1, c);
  return out;
}
} // namespace

void Histogram::add(double seconds) {
  const size_t bucket =
      size_t(std::lower_bound(kBounds.begin(), kBounds.end(), seconds) -
             kBounds.begin());
  ++counts[bucket];
  sum += seconds;
}

void MetricsText::describe(const std::string &name, const std::string &help,
                           const char *type) {
  if (described == name)
    return;
  described = name;
  written +=
      "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

void MetricsText::value(const std::string &name, const Labels &labels,
                        double value) {
  written += name;
  const char *separator = "{";
  for (const auto &[label, text] : labels) {
    written += separator + label + "=\"" + escaped(text) + "\"";
    separator = ",";
  }
  written += (labels.empty() ? " " : "} ") + number(value) + "\n";
}

void MetricsText::counter(const std::string &name, const std::string &help,
                          double count, const Labels &labels) {
  describe(name, help, "counter");
  value(name, labels, count);
}

void MetricsText::gauge(const std::string &name, const std::string &help,
                        double now, const Labels &labels) {
  describe(name, help, "gauge");
  value(name, labels, now);
}

void MetricsText::histogram(const std::string &name, const std::string &help,
                            const Histogram &histogram) {
  describe(name, help, "histogram");
  uint64_t count = 0;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    count += histogram.counts[i];
    const bool isLast = i == Histogram::kBounds.size();
    value(name + "_bucket",
          {{"le", isLast ? "+Inf" : number(Histogram::kBounds[i])}},
          double(count));
  }
  value(name + "_sum", {}, histogram.sum);
  value(name + "_count", {}, double(count));
}

void addMetrics(MetricsText &text, const Statistics &s) {
  text.counter("rhizome_requests_total", "Frames that were sent.",
               double(s.launched));
  text.counter("rhizome_answers_total", "Frames that were answered.",
               double(s.done));
  text.gauge("rhizome_requests_outstanding", "Frames without an answer.",
             double(s.launched - s.done));
  text.histogram("rhizome_request_seconds", "From a frame to its answer.",
                 s.latency);
  text.counter("rhizome_faults_total",
               "Calls of the driver that failed, time-outs left out.",
               double(s.faults));
  text.counter("rhizome_time_outs_total", "Waits without an answer.",
               double(s.timeOuts));
  text.counter("rhizome_frame_errors_total",
               "Frames that came too short or too long at the design's border.",
               double(s.frameErrors));
  if (s.nodes.empty())
    return;
  text.counter("rhizome_requests_repeated_total",
               "Frames that were sent again after a node had been lost.",
               double(s.repeated));
  text.counter("rhizome_failovers_total",
               "Times that a replica's frames went to the others.",
               double(s.failovers));
  if (s.replicas) {
    text.gauge("rhizome_replicas", "Replicas of the network.",
               double(s.replicas));
    text.gauge("rhizome_replicas_up", "Replicas that take frames.",
               double(s.replicasUp));
  }
  for (const Statistics::Node &node : s.nodes)
    text.gauge("rhizome_node_up", "Whether a node answers.", node.isUp,
               {{"node", node.name}, {"place", node.place}});
  for (const Statistics::Node &node : s.nodes)
    text.counter("rhizome_node_silences_total",
                 "Times that a node fell silent.", double(node.silences),
                 {{"node", node.name}});
  text.counter("rhizome_datagrams_sent_total", "Datagrams sent.",
               double(s.datagramsSent));
  text.counter("rhizome_datagrams_received_total", "Datagrams received.",
               double(s.datagramsReceived));
  text.counter("rhizome_datagrams_resent_total", "Datagrams sent again.",
               double(s.resent));
}

//===----------------------------------------------------------------------===//
// Where the text goes
//===----------------------------------------------------------------------===//

bool MetricsOutput::isDue() const {
  const auto now = uint64_t(Clock::now().time_since_epoch().count());
  return last == 0 || now - last >= uint64_t(Clock::duration(kEvery).count());
}

void MetricsOutput::published() {
  last = uint64_t(Clock::now().time_since_epoch().count());
}

namespace {
class FileOutput : public MetricsOutput {
public:
  explicit FileOutput(const std::string &path) { thePlace = path; }
  /// False with a sentence.
  bool write(const std::string &text, std::string &error) {
    const std::string part = thePlace + ".part-" + std::to_string(getpid());
    FILE *file = std::fopen(part.c_str(), "w");
    const bool isWritten =
        file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool isClosed = file && std::fclose(file) == 0;
    if (isWritten && isClosed &&
        std::rename(part.c_str(), thePlace.c_str()) == 0)
      return true;
    error = "cannot write '" + thePlace + "': " + std::strerror(errno);
    if (file)
      std::remove(part.c_str());
    return false;
  }
  void publish(std::string text) override {
    std::string ignored; // the next one may succeed
    write(text, ignored);
    published();
  }
};

class HttpOutput : public MetricsOutput {
public:
  ~HttpOutput() override {
    if (server.joinable()) {
      const char stop = 0;
      while (::write(pipe[1], &stop, 1) < 0 && errno == EINTR) {
      }
      server.join();
    }
    for (int descriptor : {listening, pipe[0], pipe[1]})
      if (descriptor >= 0)
        close(descriptor);
  }

  bool start(const std::string &address, const std::string &port,
             std::string &error) {
    addrinfo hints = {}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    if (int code = getaddrinfo(address.c_str(), port.c_str(), &hints, &found)) {
      error = "'" + address + ":" + port + "': " + gai_strerror(code);
      return false;
    }
    const int yes = 1;
    listening =
        socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool good = listening >= 0 &&
                setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes,
                           sizeof yes) == 0 &&
                bind(listening, found->ai_addr, found->ai_addrlen) == 0 &&
                listen(listening, 64) == 0 && pipe2(pipe, O_CLOEXEC) == 0;
    sockaddr_storage own = {};
    socklen_t size = sizeof own;
    char text[NI_MAXSERV] = "";
    good = good &&
           getsockname(listening, reinterpret_cast<sockaddr *>(&own), &size) ==
               0 &&
           getnameinfo(reinterpret_cast<sockaddr *>(&own), size, nullptr, 0,
                       text, sizeof text, NI_NUMERICSERV) == 0;
    if (!good)
      error = "cannot listen at " + address + ":" + port + ": " +
              std::strerror(errno);
    freeaddrinfo(found);
    if (!good)
      return false;
    thePlace = "http://" + address + ":" + text + "/metrics";
    server = std::thread([this] { serve(); });
    return true;
  }

  void publish(std::string text) override {
    std::lock_guard<std::mutex> guard(mutex);
    latest = std::move(text);
    published();
  }

private:
  /// A connection: its request as it comes, then what is left of the answer.
  struct Connection {
    int socket = -1;
    Clock::time_point end;
    std::string request, reply;
    size_t sent = 0;
  };
  static constexpr size_t kMostConnections = 256, kLongestRequest = 8192;
  /// For all of a request, and then for all of its answer.
  static constexpr auto kPatience = std::chrono::seconds(1);

  void serve() {
    std::vector<Connection> connections;
    for (;;) {
      std::vector<pollfd> waits = {{pipe[0], POLLIN, 0},
                                   {listening, POLLIN, 0}};
      for (const Connection &each : connections)
        waits.push_back(
            {each.socket, short(each.reply.empty() ? POLLIN : POLLOUT), 0});
      if (poll(waits.data(), waits.size(), connections.empty() ? -1 : 50) < 0 &&
          errno != EINTR)
        break;
      if (waits[0].revents)
        break;
      // A slow one, or one that is through, goes; so do those that are too
      // many, the oldest first.
      const auto now = Clock::now();
      size_t kept = 0;
      for (size_t i = 0; i < connections.size(); ++i) {
        Connection &each = connections[i];
        const bool goesOn =
            now < each.end && (!waits[i + 2].revents || advance(each, now));
        if (!goesOn)
          close(each.socket);
        else if (kept++ != i)
          connections[kept - 1] = std::move(each);
      }
      connections.resize(kept);
      if (!(waits[1].revents & POLLIN))
        continue;
      const int client =
          accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0)
        continue;
      if (connections.size() == kMostConnections) {
        close(connections.front().socket);
        connections.erase(connections.begin());
      }
      connections.push_back({client, now + kPatience, "", "", 0});
    }
    for (const Connection &each : connections)
      close(each.socket);
  }

  /// Reads or writes what there is; false if the connection is to end.
  bool advance(Connection &c, Clock::time_point now) {
    if (!c.reply.empty()) {
      const ssize_t sent = send(c.socket, c.reply.data() + c.sent,
                                c.reply.size() - c.sent, MSG_NOSIGNAL);
      if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
      c.sent += size_t(sent);
      return c.sent < c.reply.size();
    }
    char part[1024];
    const ssize_t got = recv(c.socket, part, sizeof part, 0);
    if (got < 0)
      return errno == EAGAIN || errno == EINTR;
    c.request.append(part, size_t(got));
    if (c.request.find("\r\n\r\n") == std::string::npos)
      return got > 0 && c.request.size() < kLongestRequest;
    c.reply = replyTo(c.request.substr(0, c.request.find("\r\n")));
    c.end = now + kPatience;
    return !c.reply.empty();
  }

  /// "" to what is no request.
  std::string replyTo(const std::string &request) {
    const size_t space = request.find(' ');
    if (space == std::string::npos)
      return "";
    const std::string method = request.substr(0, space);
    std::string path = request.substr(space + 1);
    path = path.substr(0, path.find_first_of(" ?"));
    std::string body, state = "200 OK";
    if (method != "GET" && method != "HEAD") {
      state = "405 Method Not Allowed";
    } else if (path != "/metrics" && path != "/") {
      state = "404 Not Found";
    } else {
      std::lock_guard<std::mutex> guard(mutex);
      body = latest;
    }
    std::string reply = "HTTP/1.1 " + state +
                        "\r\nContent-Type: text/plain; version=0.0.4; "
                        "charset=utf-8\r\nConnection: close\r\n"
                        "Content-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n";
    if (method != "HEAD")
      reply += body;
    return reply;
  }

  int listening = -1, pipe[2] = {-1, -1};
  std::thread server;
  std::mutex mutex;
  std::string latest;
};

bool isPort(const std::string &text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string::npos &&
         std::stoul(text) <= 65535;
}
} // namespace

std::unique_ptr<MetricsOutput> MetricsOutput::open(const std::string &where,
                                                   std::string &error) {
  const size_t colon = where.rfind(':');
  const bool isAddress = colon != std::string::npos && colon > 0 &&
                         isPort(where.substr(colon + 1)) &&
                         where.find('/') == std::string::npos;
  if (isPort(where) || isAddress) {
    auto output = std::make_unique<HttpOutput>();
    const std::string address =
        isAddress ? where.substr(0, colon) : "127.0.0.1";
    if (!output->start(address, isAddress ? where.substr(colon + 1) : where,
                       error))
      return nullptr;
    return output;
  }
  auto output = std::make_unique<FileOutput>(where);
  if (!output->write("", error))
    return nullptr;
  return output;
}
} // namespace rhizome::runtime
