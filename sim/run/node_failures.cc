#include "sim/run/node_failures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "model/distributions.h"
#include "model/key_error.h"
#include "model/random.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/name_pattern.h"

namespace drasim {
namespace {

// The shortest time: with 0, a node could fail for ever at one instant.
constexpr int64_t kShortestUpNs = kSecondNs;

// At most `most_ns`, which exceeds the length of any run.
int64_t PeriodNs(const Distribution& period, Random* random, int64_t least_ns, int64_t most_ns) {
  const double ns = period.Sample(*random) * 1e9;
  if (!(ns < static_cast<double>(most_ns))) return most_ns;
  return std::max(least_ns, static_cast<int64_t>(std::llround(std::max(0.0, ns))));
}

// Both at most kLongestNs, as is the sum.
int64_t LaterNs(int64_t at_ns, int64_t length_ns) {
  return length_ns >= kLongestNs - at_ns ? kLongestNs : at_ns + length_ns;
}

}  // namespace

SimTime EndWithoutWaiting(absl::Span<const JobArrival> jobs) {
  int64_t last_ns = 0;
  for (const JobArrival& job : jobs) {
    int64_t end_ns = std::min(kLongestNs, std::max<int64_t>(0, job.time.ns()));
    if (job.has_run_time) {
      end_ns = LaterNs(end_ns, job.run_time.ns());
      for (const SimDuration attempt : job.failed_attempts) end_ns = LaterNs(end_ns, attempt.ns());
    } else if (job.has_deletion) {
      end_ns = std::min(kLongestNs, std::max(end_ns, job.deletion.ns()));
    }
    last_ns = std::max(last_ns, end_ns);
  }
  return SimTime(last_ns);
}

absl::StatusOr<std::vector<NodeTransition>> MakeNodeFailures(const NodeFailureSpec& spec,
                                                             uint64_t seed,
                                                             const ClusterState& cluster,
                                                             SimTime until) {
  std::vector<NodeId> nodes;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    if (spec.nodes.empty() || MatchesPattern(spec.nodes, cluster.node_spec(NodeId(n)).name)) {
      nodes.push_back(NodeId(n));
    }
  }
  if (nodes.empty() && cluster.node_count() > 0) {
    return KeyError("cluster.failures.nodes",
                    absl::StrCat("found '", spec.nodes, "', which matches no node"));
  }
  absl::Status too_many =
      KeyError("cluster.failures",
               absl::StrCat("found more than ", kMaxNodeFailures, " failures up to ",
                            absl::FormatDuration(absl::Nanoseconds(until.ns())),
                            ", expected fewer: a longer mtbf, fewer nodes, or an earlier until"));
  const double cycle_s = std::max(1.0, spec.up.Mean()) + std::max(0.0, spec.down.Mean());
  const double expected = static_cast<double>(nodes.size()) * until.seconds() / cycle_s;
  if (expected > static_cast<double>(kMaxNodeFailures)) return too_many;
  std::vector<NodeTransition> changes;
  for (const NodeId node : nodes) {
    const std::string& name = cluster.node_spec(node).name;
    Random random(seed, absl::StrCat("cluster/failures/", name));
    int64_t at_ns = LaterNs(0, PeriodNs(spec.up, &random, kShortestUpNs, kLongestNs));
    while (at_ns <= until.ns() && at_ns < kLongestNs) {
      if (static_cast<int64_t>(changes.size()) >= 2 * kMaxNodeFailures) return too_many;
      changes.push_back({SimTime(at_ns), node, NodeTransition::Action::kFail, {}});
      at_ns = LaterNs(at_ns, PeriodNs(spec.down, &random, 0, kLongestNs));
      changes.push_back({SimTime(at_ns), node, NodeTransition::Action::kRecover, {}});
      at_ns = LaterNs(at_ns, PeriodNs(spec.up, &random, kShortestUpNs, kLongestNs));
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const NodeTransition& a, const NodeTransition& b) { return a.at < b.at; });
  return changes;
}

}  // namespace drasim
