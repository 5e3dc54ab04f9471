// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a running service tells a monitor, in Prometheus' text form: latencies
// as a histogram, the text itself, and where it can be fetched. The programs
// decide what they count; see driver.h for the statistics of a client.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rhizome::runtime {
struct Statistics;

/// Durations counted by their size.
struct Histogram {
  /// Upper bounds in seconds; longer ones are in the last bucket.
  static constexpr std::array<double, 19> kBounds = {
      1e-5,   2.5e-5, 5e-5, 1e-4,   2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2,
      2.5e-2, 5e-2,   1e-1, 2.5e-1, 5e-1,   1,    2.5,  5,      10};
  std::array<uint64_t, kBounds.size() + 1> counts{};
  double sum = 0; ///< seconds
  void add(double seconds);
};

/// Builds the text. Values of one name follow each other: the description
/// stands before the first.
class MetricsText {
public:
  using Labels = std::vector<std::pair<std::string, std::string>>;
  /// A count that only grows, whose name ends in _total.
  void counter(const std::string &name, const std::string &help, double value,
               const Labels &labels = {});
  void gauge(const std::string &name, const std::string &help, double value,
             const Labels &labels = {});
  void histogram(const std::string &name, const std::string &help,
                 const Histogram &histogram);
  const std::string &text() const { return written; }

private:
  void describe(const std::string &name, const std::string &help,
                const char *type);
  void value(const std::string &name, const Labels &labels, double value);
  std::string written, described;
};

/// A client's statistics: requests, answers, latencies, nodes and replicas.
void addMetrics(MetricsText &text, const Statistics &statistics);

/// Offers the text that was published last.
class MetricsOutput {
public:
  virtual ~MetricsOutput() = default;
  /// `where`: a port of the loopback interface, ADDRESS:PORT, or a file, which
  /// is replaced as a whole. Null with a sentence in `error`.
  static std::unique_ptr<MetricsOutput> open(const std::string &where,
                                             std::string &error);
  /// May be called as often as is convenient: see `isDue`.
  virtual void publish(std::string text) = 0;
  /// Whether a fifth of a second went by since the last `publish`.
  bool isDue() const;
  /// "http://127.0.0.1:9464/metrics", or the file's name.
  const std::string &place() const { return thePlace; }

protected:
  void published();
  std::string thePlace;

private:
  uint64_t last = 0; ///< nanoseconds of the steady clock; 0: never
};
} // namespace rhizome::runtime
