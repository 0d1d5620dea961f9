// Divergence of two worlds: each kind of decision by hand, and random runs against a search through
// all records.
#include "sim/compare/divergence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/proto/scenario.pb.h"
#include "model/record.h"
#include "model/text/json_writer.h"
#include "sim/run/simulation.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {

void PrintTo(const Divergence& d, std::ostream* out) { *out << DivergenceText(d, "a", "b"); }

namespace divergence_test {

using Kind = WorldDecision::Kind;

// The divergence of the scenario in two variants.
std::optional<Divergence> Find(absl::string_view yaml, absl::string_view a, absl::string_view b) {
  const absl::StatusOr<std::optional<Divergence>> found =
      FindDivergence(SpecOf({yaml, a}), SpecOf({yaml, b}));
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? *found : std::nullopt;
}

SimTime At(int64_t seconds) { return SimTime(seconds * kSecondNs); }

WorldDecision Bound(int64_t seconds, const std::string& node, int64_t feasible,
                    std::vector<CandidateNode> candidates) {
  WorldDecision d;
  d.kind = Kind::kBound;
  d.time = At(seconds);
  d.node = node;
  d.feasible = feasible;
  d.candidates = std::move(candidates);
  return d;
}

const std::string& TwoNodesText() { return TestText("TwoNodes"); }

TEST(DivergenceTest, EqualWorldsDoNotPart) {
  const char* const spread = "scheduler: {policy: least-allocated}";
  EXPECT_EQ(Find(TwoNodesText(), spread, spread), std::nullopt);
  // Nor does it matter when.
  EXPECT_EQ(Find(TwoNodesText(), spread,
                 "scheduler: {policy: least-allocated}\ntiming: {bind: 300ms, schedule: 50ms}"),
            std::nullopt);
}

// LeastAllocated: the node with small-a would have 4 of 16 CPUs and 16 of 64 GiB in use, 75 and
// 75 left; the other 87 and 87. Balance is 100 on both. MostAllocated: two of two GPUs, or one.
TEST(DivergenceTest, TwoNodesForOnePod) {
  Divergence expected;
  expected.pod = "small-b";
  expected.time = At(1);
  expected.decisions[0] = Bound(1, "node-000001", 2, {{"node-000001", 187}, {"node-000000", 175}});
  expected.decisions[1] = Bound(1, "node-000000", 2, {{"node-000000", 100}, {"node-000001", 50}});
  const std::optional<Divergence> found =
      Find(TwoNodesText(), "scheduler: {policy: least-allocated}",
           "scheduler: {policy: most-allocated}");
  EXPECT_EQ(found, expected);
  EXPECT_EQ(DivergenceText(expected, "spread", "pack"), TestText("TwoNodesForOnePod"));
  JsonWriter json;
  WriteDivergence(expected, "spread", "pack", &json);
  const std::string text = json.text();
  for (const char* part : {"\"pod\": \"small-b\"", "\"time_seconds\": 1,", "\"world\": \"spread\"",
                           "\"decision\": \"bound\"", "\"node\": \"node-000001\"", "\"score\": 187",
                           "\"feasible_nodes\": 2", "\"why\": null", "\"first_choice\": null"}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part << "\n" << text;
  }
}

TEST(DivergenceTest, OneFindsNoNode) {
  const std::string& halves = TestText("OneFindsNoNode.halves");
  const std::optional<Divergence> found =
      Find(halves, "front_end: {kind: direct}",
           "front_end: {kind: device-plugin, lowering: {rule: whole-gpu}}");
  Divergence expected;
  expected.pod = "b";
  expected.time = At(5);
  // 2 of 16 CPUs, 2 of 64 GiB: 87 and 96, balanced to within 4.69.
  expected.decisions[0] = Bound(5, "node-000000", 1, {{"node-000000", 91 + 95}});
  expected.decisions[1].kind = Kind::kRejected;
  expected.decisions[1].time = At(5);
  expected.decisions[1].failed_attempts = 1;
  expected.decisions[1].why = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(absl::EndsWith(DivergenceText(expected, "direct", "plugin"),
                             "  plugin: no node at 5 s\n"
                             "    0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\n"
                             "    nodes that passed the filters: 0\n"));
}

// `c` waits in both worlds for the end of the others.
const std::string& LateJobText() { return TestText("LateJob"); }
constexpr char kBothFull[] = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.";

TEST(DivergenceTest, WhereAPodGoesThatWaitedFirst) {
  const std::optional<Divergence> found = Find(
      LateJobText(), "{}", "cluster: {events: [{at: 15s, nodes: node-000000, action: cordon}]}");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pod, "c");
  EXPECT_EQ(found->time, At(20));
  for (size_t w = 0; w < 2; ++w) {
    const WorldDecision& d = found->decisions[w];
    EXPECT_EQ(d.kind, Kind::kBound);
    EXPECT_EQ(d.time, At(20));
    EXPECT_EQ(d.node, w == 0 ? "node-000000" : "node-000001");
    EXPECT_EQ(d.failed_attempts, 1);
    EXPECT_EQ(d.why, kBothFull);
    EXPECT_EQ(d.first_choice, "");
  }
  EXPECT_TRUE(absl::StrContains(DivergenceText(*found, "a", "b"),
                                absl::StrCat("    failed attempts before: 1\n"
                                             "    the last failed with: ",
                                             kBothFull, "\n")))
      << DivergenceText(*found, "a", "b");
}

TEST(DivergenceTest, OneWaitsForEver) {
  const std::optional<Divergence> found =
      Find(LateJobText(), "{}", "cluster: {events: [{at: 15s, nodes: 'node-*', action: cordon}]}");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pod, "c");
  EXPECT_EQ(found->time, At(20));
  EXPECT_EQ(found->decisions[0].kind, Kind::kBound);
  WorldDecision waits;
  waits.time = At(20);
  // It is tried again when the others have left.
  waits.failed_attempts = 2;
  waits.why = "0/2 nodes are available: 2 node(s) were unschedulable.";
  EXPECT_EQ(found->decisions[1], waits) << DivergenceText(*found, "a", "b");
  EXPECT_TRUE(absl::EndsWith(DivergenceText(*found, "a", "b"),
                             absl::StrCat("  b: waiting at 20 s\n"
                                          "    failed attempts before: 2\n    ",
                                          waits.why, "\n")));
}

TEST(DivergenceTest, ANodeTurnsThePodAway) {
  const std::string& replicas = TestText("ANodeTurnsThePodAway.replicas");
  const std::optional<Divergence> found =
      Find(replicas, "{}",
           "front_end: {device_plugin: {time_slicing: {fail_requests_greater_than_one: true}}}");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pod, "two");
  EXPECT_EQ(found->time, At(5));
  EXPECT_EQ(found->decisions[0].kind, Kind::kBound);
  const WorldDecision& away = found->decisions[1];
  EXPECT_EQ(away.kind, Kind::kTurnedAway);
  EXPECT_EQ(away.time, At(5));
  EXPECT_EQ(away.node, "node-000000");
  EXPECT_EQ(away.why,
            "UnexpectedAdmissionError: Allocate failed: the plugin refuses requests for more than "
            "one shared device");
  EXPECT_EQ(away.feasible, 1);
  EXPECT_TRUE(absl::StrContains(
      DivergenceText(*found, "a", "b"),
      "  b: bound to node-000000 at 5 s, which turned it away\n    UnexpectedAdmissionError: "));
}

// No node of that world ever admits it: it waits for its owner to recreate it when the other world
// has it.
TEST(DivergenceTest, TurnedAwayAfterWaiting) {
  const std::string& release = TestText("TurnedAwayAfterWaiting.release");
  const std::optional<Divergence> found =
      Find(release, "{}", "front_end: {kubelet: {device_release: 1h}}");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pod, "second");
  EXPECT_EQ(found->time, At(60));
  EXPECT_EQ(found->decisions[0].kind, Kind::kBound);
  EXPECT_EQ(found->decisions[1].kind, Kind::kWaiting);
  EXPECT_EQ(found->decisions[1].why,
            "UnexpectedAdmissionError: Allocate failed: fewer devices are available than "
            "requested");
}

// A gang that finds no room fails at one pod or another; that is one verdict about the job.
TEST(DivergenceTest, AGangIsOneDecision) {
  const std::string& gang = TestText("AGangIsOneDecision.gang");
  EXPECT_EQ(Find(gang, "{}", "scheduler: {cache: false}"), std::nullopt);
  // With a fourth node the gang starts at once.
  const absl::StatusOr<std::optional<Divergence>> found =
      FindDivergence(SpecOf({gang}), SpecOf({gang, "cluster: {nodes: 4}"}));
  ASSERT_TRUE(found.ok() && found->has_value()) << found.status();
  EXPECT_EQ((*found)->pod, "gang-0");
  EXPECT_EQ((*found)->time, At(5));
  EXPECT_EQ((*found)->decisions[0].kind, Kind::kRejected);
  EXPECT_EQ((*found)->decisions[1].kind, Kind::kBound);
}

TEST(DivergenceTest, NegotiationIsNoVerdict) {
  const std::string& claims = TestText("NegotiationIsNoVerdict");
  // Three of four GPUs are taken, one on each node: neither world has room for c.
  EXPECT_EQ(Find(claims, "front_end: {kind: device-plugin}", "front_end: {kind: dra-classic}"),
            std::nullopt);
}

TEST(DivergenceTest, WorkloadsMustBeTheSame) {
  const absl::StatusOr<std::optional<Divergence>> found = FindDivergence(
      SpecOf({TwoNodesText()}), SpecOf({TwoNodesText(), "workload: {jobs: [{name: other}]}"}));
  EXPECT_EQ(found.status(),
            absl::InvalidArgumentError("the workloads differ: pod 0 is 'small-a' in one world and "
                                       "'other' in the other"));
}

// --- Random runs ---

// Everything a run recorded.
class AllRecords : public RecordSink {
 public:
  void OnRecord(const Record& record, const ClusterState&) override { records.push_back(record); }
  std::vector<Record> records;
};

struct Fate {
  std::string first;  // "", "bound", "no"
  int64_t first_ns = 0;
  std::string node;  // "": never
  int64_t bound_ns = 0;
};

// By pod, of a run without admission failures; jobs are single pods.
std::vector<Fate> FatesOf(const RunSpec& spec) {
  std::unique_ptr<Simulation> sim = *Simulation::Build(spec);
  AllRecords all;
  sim->AddSink(&all);
  EXPECT_EQ(sim->Start(), absl::OkStatus());
  EXPECT_EQ(sim->Run(), absl::OkStatus());
  std::vector<Fate> fates(sim->cluster().pod_count());
  for (const Record& r : all.records) {
    if (!r.pod.valid()) continue;
    Fate& fate = fates[r.pod.value()];
    if (r.kind == RecordKind::kAttemptFailed && fate.first.empty()) {
      fate.first = "no";
      fate.first_ns = r.time.ns();
    }
    if (r.kind == RecordKind::kPodBound) {
      if (fate.first.empty()) {
        fate.first = "bound";
        fate.first_ns = r.time.ns();
      }
      if (fate.node.empty()) {
        fate.node = sim->cluster().node_spec(r.node).name;
        fate.bound_ns = r.time.ns();
      }
    }
  }
  return fates;
}

// When the worlds part about a pod; -1: they do not.
int64_t PartedNs(const Fate& a, const Fate& b) {
  if (!a.first.empty() && !b.first.empty() && a.first != b.first) {
    return std::min(a.first_ns, b.first_ns);
  }
  if (a.node == b.node) return -1;
  if (a.node.empty()) return b.bound_ns;
  if (b.node.empty()) return a.bound_ns;
  return std::min(a.bound_ns, b.bound_ns);
}

TEST(DivergenceTest, RandomRunsAgreeWithASearchThroughAllRecords) {
  const std::string& generated = TestText("RandomRunsAgreeWithASearchThroughAllRecords.generated");
  const std::pair<const char*, const char*> pairs[] = {
      {"{}", "scheduler: {policy: consolidate}"},
      {"{}", "timing: {bind: 3s}"},
      {"{}", "cluster: {events: [{at: 600s, nodes: node-000002, action: cordon}]}"},
      {"{}", "{}"},
  };
  size_t different = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    for (const auto& [a, b] : pairs) {
      const std::string with_seed = absl::StrCat("seed: ", seed);
      const RunSpec specs[] = {SpecOf({generated, with_seed, a}),
                               SpecOf({generated, with_seed, b})};
      const std::vector<Fate> fates[] = {FatesOf(specs[0]), FatesOf(specs[1])};
      ASSERT_EQ(fates[0].size(), fates[1].size());
      int64_t first_ns = -1;
      size_t first = 0;
      for (size_t p = 0; p < fates[0].size(); ++p) {
        const int64_t ns = PartedNs(fates[0][p], fates[1][p]);
        if (ns < 0 || (first_ns >= 0 && ns >= first_ns)) continue;
        first_ns = ns;
        first = p;
      }
      const absl::StatusOr<std::optional<Divergence>> found = FindDivergence(specs[0], specs[1]);
      ASSERT_TRUE(found.ok()) << found.status();
      ASSERT_EQ(found->has_value(), first_ns >= 0) << seed << " " << b;
      if (first_ns < 0) continue;
      ++different;
      EXPECT_EQ((*found)->time.ns(), first_ns) << seed << " " << b;
      for (size_t w = 0; w < 2; ++w) {
        const WorldDecision& d = (*found)->decisions[w];
        const Fate& fate = fates[w][first];
        if (d.kind == Kind::kBound) {
          EXPECT_EQ(d.node, fate.node) << seed << " " << b;
          EXPECT_EQ(d.time.ns(), fate.bound_ns) << seed << " " << b;
          EXPECT_GE(d.feasible, 1) << seed << " " << b;
        } else if (d.kind == Kind::kRejected) {
          EXPECT_EQ(fate.first, "no") << seed << " " << b;
          EXPECT_EQ(d.time.ns(), fate.first_ns) << seed << " " << b;
          EXPECT_EQ(d.feasible, 0) << seed << " " << b;
        } else {
          EXPECT_EQ(fate.node, "") << seed << " " << b;
        }
      }
    }
  }
  EXPECT_GE(different, 12u);  // else the above says little
}

}  // namespace divergence_test
}  // namespace drasim
