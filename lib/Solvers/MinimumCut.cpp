// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Placement as a minimum cut. The source is the host, the sink the FPGA: an arc
// from a to b is paid for if a is on the host and b on the FPGA. A copy has two
// vertices of its own with one arc between them, so that it is paid for once.
#include "rhizome/Solvers/MinimumCut.h"
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

using namespace rhizome::place;

std::optional<Cost> rhizome::place::costOf(const Problem &problem,
                                           const Sides &sides) {
  Cost sum = 0;
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    const Node &node = problem.nodes[i];
    if (node.only && *node.only != sides[i])
      return std::nullopt;
    sum += sides[i] == Side::Host ? node.onHost : node.onFpga;
  }
  for (auto [a, b] : problem.needs)
    if (sides[a] == Side::Fpga && sides[b] == Side::Host)
      return std::nullopt;
  for (const Copy &copy : problem.copies) {
    auto any = [&](const std::vector<unsigned> &nodes, Side side) {
      return std::any_of(nodes.begin(), nodes.end(),
                         [&](unsigned n) { return sides[n] == side; });
    };
    if (any(copy.from, Side::Host) && any(copy.to, Side::Fpga))
      sum += copy.toFpga;
    if (any(copy.from, Side::Fpga) && any(copy.to, Side::Host))
      sum += copy.toHost;
  }
  return sum;
}

namespace {
using Traits =
    boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Vertex = Traits::vertex_descriptor;
using Arc = Traits::edge_descriptor;
using Graph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS,
    boost::property<
        boost::vertex_index_t, long,
        boost::property<
            boost::vertex_color_t, boost::default_color_type,
            boost::property<
                boost::vertex_distance_t, long,
                boost::property<boost::vertex_predecessor_t, Arc>>>>,
    boost::property<
        boost::edge_capacity_t, Cost,
        boost::property<boost::edge_residual_capacity_t, Cost,
                        boost::property<boost::edge_reverse_t, Arc>>>>;

class Cut {
public:
  explicit Cut(const Problem &problem);
  std::optional<Sides> run();

private:
  void arc(Vertex from, Vertex to, Cost capacity);
  Vertex vertex() { return boost::add_vertex(graph); }

  const Problem &problem;
  Graph graph;
  Vertex host, fpga;
  std::vector<Vertex> nodes;
  Cost never = 1; ///< more than everything together
};
} // namespace

void Cut::arc(Vertex from, Vertex to, Cost capacity) {
  if (capacity == 0)
    return;
  Arc there = boost::add_edge(from, to, graph).first;
  Arc back = boost::add_edge(to, from, graph).first;
  auto capacities = boost::get(boost::edge_capacity, graph);
  auto reverse = boost::get(boost::edge_reverse, graph);
  capacities[there] = capacity;
  capacities[back] = 0;
  reverse[there] = back;
  reverse[back] = there;
}

Cut::Cut(const Problem &problem) : problem(problem) {
  for (const Node &node : problem.nodes)
    never += node.onHost + node.onFpga;
  for (const Copy &copy : problem.copies)
    never += copy.toFpga + copy.toHost;
  host = vertex();
  fpga = vertex();
  for (const Node &node : problem.nodes) {
    nodes.push_back(vertex());
    arc(host, nodes.back(), node.only == Side::Host ? never : node.onFpga);
    arc(nodes.back(), fpga, node.only == Side::Fpga ? never : node.onHost);
  }
  // a on the FPGA and b on the host: an arc from b to a.
  for (auto [a, b] : problem.needs)
    arc(nodes[b], nodes[a], never);
  auto copy = [&](const std::vector<unsigned> &onHost,
                  const std::vector<unsigned> &onFpga, Cost cost) {
    if (cost == 0)
      return;
    Vertex first = vertex(), last = vertex();
    arc(first, last, cost);
    for (unsigned n : onHost)
      arc(nodes[n], first, never);
    for (unsigned n : onFpga)
      arc(last, nodes[n], never);
  };
  for (const Copy &c : problem.copies) {
    copy(c.from, c.to, c.toFpga);
    copy(c.to, c.from, c.toHost);
  }
}

std::optional<Sides> Cut::run() {
  if (problem.nodes.empty())
    return Sides();
  Cost flow = boost::boykov_kolmogorov_max_flow(graph, host, fpga);
  if (flow >= never)
    return std::nullopt;
  // Vertices that the source still reaches are on the host: the smallest such
  // set.
  auto residual = boost::get(boost::edge_residual_capacity, graph);
  std::vector<bool> reached(boost::num_vertices(graph));
  std::vector<Vertex> work{host};
  reached[host] = true;
  while (!work.empty()) {
    Vertex v = work.back();
    work.pop_back();
    auto [begin, end] = boost::out_edges(v, graph);
    for (auto it = begin; it != end; ++it) {
      Vertex to = boost::target(*it, graph);
      if (residual[*it] > 0 && !reached[to]) {
        reached[to] = true;
        work.push_back(to);
      }
    }
  }
  Sides sides;
  for (Vertex v : nodes)
    sides.push_back(reached[v] ? Side::Host : Side::Fpga);
  return sides;
}

std::optional<Sides> rhizome::place::cheapest(const Problem &problem) {
  return Cut(problem).run();
}
