// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a monitor reads: the text form, and the page and the file where it is.
#include "rhizome/runtime/metrics.h"
#include "rhizome/runtime/driver.h"
#include <arpa/inet.h>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

using namespace rhizome::runtime;

namespace {
/// A connection to the loopback's port of `place`.
int connectTo(const std::string &place) {
  const size_t colon = place.rfind(':');
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(uint16_t(std::stoi(place.substr(colon + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int line = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(connect(line, reinterpret_cast<sockaddr *>(&to), sizeof to), 0);
  return line;
}

/// Sends `request` there; the whole reply.
std::string fetch(const std::string &place, const std::string &request) {
  const int line = connectTo(place);
  EXPECT_EQ(send(line, request.data(), request.size(), 0),
            ssize_t(request.size()));
  std::string reply;
  char part[4096];
  while (true) {
    const ssize_t got = recv(line, part, sizeof part, 0);
    if (got <= 0)
      break;
    reply.append(part, size_t(got));
  }
  close(line);
  return reply;
}

std::string get(const std::string &place, const std::string &path) {
  return fetch(place, "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
}
} // namespace

TEST(Metrics, AHistogramCountsUpToItsBounds) {
  Histogram latency;
  for (double seconds : {5e-6, 1e-5, 1.1e-5, 0.2, 11.0})
    latency.add(seconds);
  MetricsText text;
  text.histogram("t_seconds", "Times.", latency);
  const std::string &out = text.text();
  EXPECT_EQ(out.find("# HELP t_seconds Times.\n# TYPE t_seconds histogram\n"),
            0u);
  for (const char *line :
       {"t_seconds_bucket{le=\"1e-05\"} 2\n",
        "t_seconds_bucket{le=\"2.5e-05\"} 3\n",
        "t_seconds_bucket{le=\"0.1\"} 3\n", "t_seconds_bucket{le=\"0.25\"} 4\n",
        "t_seconds_bucket{le=\"10\"} 4\n", "t_seconds_bucket{le=\"+Inf\"} 5\n",
        "t_seconds_count 5\n"})
    EXPECT_NE(out.find(line), std::string::npos) << line << out;
}

TEST(Metrics, LabelsAreEscapedAndNamesDescribedOnce) {
  MetricsText text;
  text.gauge("up", "Whether.", 1, {{"node", "a\"b\\c\nd"}});
  text.gauge("up", "Whether.", 0, {{"node", "e"}, {"place", "f"}});
  text.counter("n_total", "Count.", 12345678901.0);
  EXPECT_EQ(text.text(), "# HELP up Whether.\n# TYPE up gauge\n"
                         "up{node=\"a\\\"b\\\\c\\nd\"} 1\n"
                         "up{node=\"e\",place=\"f\"} 0\n"
                         "# HELP n_total Count.\n# TYPE n_total counter\n"
                         "n_total 12345678901\n");
}

TEST(Metrics, StatisticsOfAClient) {
  Statistics statistics;
  statistics.launched = 7;
  statistics.done = 5;
  MetricsText alone;
  addMetrics(alone, statistics);
  EXPECT_EQ(alone.text().find("rhizome_node_up"), std::string::npos);
  EXPECT_NE(alone.text().find("\nrhizome_requests_outstanding 2\n"),
            std::string::npos);
  statistics.nodes = {{"n0", "h:1", true, 0}, {"n1", "h:2", false, 3}};
  statistics.replicas = 2;
  statistics.replicasUp = 1;
  MetricsText cluster;
  addMetrics(cluster, statistics);
  for (const char *line :
       {"\nrhizome_replicas 2\n", "\nrhizome_replicas_up 1\n",
        "\nrhizome_node_up{node=\"n1\",place=\"h:2\"} 0\n",
        "\nrhizome_node_silences_total{node=\"n1\"} 3\n"})
    EXPECT_NE(cluster.text().find(line), std::string::npos) << line;
}

TEST(Metrics, APageOfTheLoopbackInterface) {
  std::string error;
  std::unique_ptr<MetricsOutput> output = MetricsOutput::open("0", error);
  ASSERT_TRUE(output) << error;
  EXPECT_EQ(output->place().find("http://127.0.0.1:"), 0u);
  const std::string place =
      output->place().substr(0, output->place().rfind('/'));
  EXPECT_TRUE(output->isDue());
  output->publish("a_total 1\n");
  EXPECT_FALSE(output->isDue());
  const std::string reply = get(place, "/metrics");
  EXPECT_EQ(reply.find("HTTP/1.1 200 OK\r\n"), 0u);
  EXPECT_NE(reply.find("text/plain; version=0.0.4"), std::string::npos);
  EXPECT_NE(reply.find("\r\n\r\na_total 1\n"), std::string::npos);
  output->publish("a_total 2\n");
  EXPECT_NE(get(place, "/metrics?x=1").find("a_total 2"), std::string::npos);
  EXPECT_EQ(get(place, "/other").find("HTTP/1.1 404 "), 0u);
  EXPECT_EQ(
      fetch(place, "POST /metrics HTTP/1.1\r\n\r\n").find("HTTP/1.1 405 "), 0u);
  const std::string head = fetch(place, "HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_EQ(head.substr(head.size() - 4), "\r\n\r\n");
  // Nonsense does not end it.
  EXPECT_EQ(fetch(place, "\r\n\r\n"), "");
  EXPECT_EQ(fetch(place, std::string(9000, 'x')), "");
  EXPECT_NE(get(place, "/metrics").find("a_total 2"), std::string::npos);
  // The port is taken.
  const std::string port = place.substr(place.rfind(':') + 1);
  EXPECT_FALSE(MetricsOutput::open(port, error));
  EXPECT_EQ(error,
            "cannot listen at 127.0.0.1:" + port + ": Address already in use");
}

/// Connections that say nothing, or speak slowly, are still there when a
/// request that came after them is answered; too many push the oldest out.
TEST(Metrics, SilentConnectionsDelayNobody) {
  std::string error;
  std::unique_ptr<MetricsOutput> output = MetricsOutput::open("0", error);
  ASSERT_TRUE(output) << error;
  output->publish("a_total 1\n");
  const std::string place =
      output->place().substr(0, output->place().rfind('/'));
  for (size_t count : {24, 300}) {
    std::vector<int> idle;
    for (size_t i = 0; i < count; ++i) {
      idle.push_back(connectTo(place));
      if (i % 2)
        EXPECT_EQ(send(idle.back(), "GET /", 5, MSG_NOSIGNAL), 5);
    }
    EXPECT_NE(get(place, "/metrics").find("a_total 1"), std::string::npos);
    char byte;
    EXPECT_EQ(recv(idle.back(), &byte, 1, MSG_DONTWAIT), -1)
        << "it waited until all of them had been given up";
    for (int line : idle)
      close(line);
  }
  EXPECT_NE(get(place, "/metrics").find("a_total 1"), std::string::npos);
}

TEST(Metrics, AFileIsReplacedAsAWhole) {
  const std::string folder = testing::TempDir();
  const std::string path =
      folder + "/metrics-" + std::to_string(getpid()) + ".prom";
  std::string error;
  std::unique_ptr<MetricsOutput> output = MetricsOutput::open(path, error);
  ASSERT_TRUE(output) << error;
  EXPECT_EQ(output->place(), path);
  output->publish("a_total 1\n");
  output->publish("a_total 2\n");
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "a_total 2\n");
  std::remove(path.c_str());
  EXPECT_FALSE(MetricsOutput::open(folder + "/nowhere/m.prom", error));
  EXPECT_EQ(error, "cannot write '" + folder +
                       "/nowhere/m.prom': No such file or directory");
}
