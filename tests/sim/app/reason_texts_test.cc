// Texts of reasons are for people: runs, comparisons and explanations with every text rewritten
// decide, part and explain as those with the texts of today. A comparison by text fails here.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/proto/scenario.pb.h"
#include "model/record.h"
#include "policies/framework/reason.h"
#include "sim/compare/cell.h"
#include "sim/compare/divergence.h"
#include "sim/explain/attempt.h"
#include "sim/run/simulation.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace reason_texts_test {

using ::testing::Each;

std::string WithMore(absl::string_view text) { return absl::StrCat(text, " (edited)"); }
// Nothing can be told apart by such texts.
std::string AllTheSame(absl::string_view) { return "no"; }

constexpr ScopedReasonTexts::Rewrite kRewrites[] = {&WithMore, &AllTheSame};

RunSpec GoldenSpec(absl::string_view name) {
  std::ifstream file(absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/scenarios/", name, ".yaml"),
                     std::ios::binary);
  const std::string yaml((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_NE(yaml, "") << name;
  return SpecOf({yaml});
}

// An explanation without the texts of reasons.
std::string BareExplanation(const AttemptExplanation& why) {
  std::string text =
      absl::StrCat("; nodes ", why.nodes, " step ", why.by_step, " agrees ", why.agrees,
                   " complete ", why.complete(), " room ", why.room_for.value_or(0), " claims ",
                   absl::StrJoin(why.claims, "|"));
  for (const Rejection& r : why.rejections) {
    absl::StrAppend(&text, "; ", r.plugin, " ", r.object, " ", r.reason_index, " kind ",
                    static_cast<int>(r.kind), " nodes ", r.nodes, " lacks ",
                    static_cast<int>(r.lack), " ", r.least_missing, "..", r.most_missing, " of ",
                    r.wanted, " idle ", r.idle_all, " near ", r.near.size(), " [",
                    absl::StrJoin(r.examples, " "), "]");
    if (r.state != r.reason) absl::StrAppend(&text, " ", r.state);
  }
  return text;
}

// Explanations cost more than the attempts themselves.
constexpr int64_t kMostExplained = 300;

// Every record of a run as a line, the first failed attempts with what explains them.
class DecisionLog : public RecordSink {
 public:
  explicit DecisionLog(const Simulation* sim)
      : sim_(sim),
        explainer_(&sim->cluster(), &sim->jobs(), &sim->summaries(), sim->profiles(),
                   ClaimHooksOf(*sim)) {}

  void OnRecord(const Record& record, const ClusterState& cluster) override {
    ++counts_[static_cast<size_t>(record.kind)];
    std::string line =
        absl::StrCat(record.time.ns(), " ", RecordKindName(record.kind), " ", record.pod.value(),
                     " ", record.node.value(), " ", record.devices.bits(), " ", record.detail);
    if (MayGiveDevices(record.kind)) {
      for (const DeviceGrant& grant : cluster.pod_grants(record.pod)) {
        absl::StrAppend(&line, " ", int{grant.device}, ":", int{grant.placement}, ":", grant.milli);
      }
    }
    if (record.kind == RecordKind::kAttemptFailed) {
      const SummaryId why(record.detail);
      for (const auto& [reason, nodes] : sim_->summaries().row(why).rejected) {
        absl::StrAppend(&line, " ", int{reason}, " (kind ",
                        static_cast<int>(sim_->summaries().kind(reason)), ") x", nodes);
      }
      if (count(record.kind) <= kMostExplained) {
        line += BareExplanation(explainer_.OfFailure(record.pod, why, record.time));
      }
    }
    lines_.push_back(std::move(line));
  }

  const std::vector<std::string>& lines() const { return lines_; }
  int64_t count(RecordKind kind) const { return counts_[static_cast<size_t>(kind)]; }

 private:
  const Simulation* sim_;
  AttemptExplainer explainer_;
  std::vector<std::string> lines_;
  int64_t counts_[kRecordKinds] = {};
};

struct Outcome {
  std::vector<std::string> texts;  // of the reasons
  std::vector<std::string> decisions;
  int64_t failed_attempts = 0;
  int64_t evictions = 0;
  StartFigures starts;
  std::vector<int64_t> failures;  // pods by reason, most first
};

Outcome OutcomeOf(const RunSpec& spec) {
  Outcome outcome;
  const absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(spec);
  EXPECT_TRUE(built.ok()) << built.status();
  if (!built.ok()) return outcome;
  Simulation& sim = **built;
  DecisionLog log(&sim);
  sim.AddSink(&log);
  EXPECT_EQ(sim.Start(), absl::OkStatus());
  EXPECT_EQ(sim.Run(), absl::OkStatus());
  outcome.texts = sim.summaries().reasons();
  outcome.decisions = log.lines();
  outcome.failed_attempts = log.count(RecordKind::kAttemptFailed);
  outcome.evictions = log.count(RecordKind::kPodEvicted);
  const absl::StatusOr<CellResult> cell = RunCell(spec, /*with_starts=*/true);
  EXPECT_TRUE(cell.ok()) << cell.status();
  if (!cell.ok()) return outcome;
  outcome.starts = cell->starts;
  for (const FailureCount& failure : cell->failures) outcome.failures.push_back(failure.count);
  std::sort(outcome.failures.rbegin(), outcome.failures.rend());
  return outcome;
}

// The outcome, which is the same whatever the reasons are called.
Outcome WhateverTheTexts(const RunSpec& spec) {
  const Outcome plain = OutcomeOf(spec);
  EXPECT_GT(plain.failed_attempts, 0);
  for (const ScopedReasonTexts::Rewrite rewrite : kRewrites) {
    const ScopedReasonTexts rewritten(rewrite);
    const Outcome edited = OutcomeOf(spec);
    EXPECT_EQ(edited.texts.size(), plain.texts.size());
    for (size_t i = 0; i < std::min(plain.texts.size(), edited.texts.size()); ++i) {
      EXPECT_EQ(edited.texts[i], rewrite(plain.texts[i]));
    }
    EXPECT_EQ(edited.decisions, plain.decisions);
    EXPECT_EQ(edited.starts, plain.starts);
    EXPECT_EQ(edited.failures, plain.failures);
  }
  return plain;
}

// Preempted, too large for what is left, a gang; and at the end one that fits nowhere.
const std::string& JobsText() { return TestText("Jobs"); }

TEST(ReasonTextsTest, DirectReplayWithPreemption) {
  EXPECT_GT(WhateverTheTexts(SpecOf({JobsText(), "front_end: {kind: direct}"})).evictions, 0);
}

TEST(ReasonTextsTest, DevicePluginReplayWithPreemption) {
  EXPECT_GT(WhateverTheTexts(SpecOf({JobsText(), "front_end: {kind: device-plugin}"})).evictions,
            0);
}

TEST(ReasonTextsTest, ClassicDra) {
  const Outcome outcome = WhateverTheTexts(SpecOf({JobsText(), "front_end: {kind: dra-classic}"}));
  EXPECT_GT(outcome.starts.mean_negotiation_seconds, 0);
  EXPECT_FALSE(outcome.failures.empty());
}

TEST(ReasonTextsTest, LargerScenarios) {
  for (const char* const name :
       {"replay_dra_mig", "mig_nos_backlog", "device_plugin_time_sliced"}) {
    SCOPED_TRACE(name);
    WhateverTheTexts(GoldenSpec(name));
  }
}

// --- Where worlds part ---

std::optional<Divergence> DivergenceOf(const RunSpec& a, const RunSpec& b,
                                       std::vector<std::string>* whys) {
  absl::StatusOr<std::optional<Divergence>> found = FindDivergence(a, b);
  EXPECT_TRUE(found.ok()) << found.status();
  if (!found.ok() || !found->has_value()) return std::nullopt;
  Divergence divergence = **found;
  for (WorldDecision& decision : divergence.decisions) {
    whys->push_back(decision.why);
    decision.why.clear();
  }
  return divergence;
}

TEST(ReasonTextsTest, WorldsPartAtTheSameDecision) {
  const RunSpec plugin = SpecOf({JobsText(), "front_end: {kind: device-plugin}"});
  const RunSpec claims = SpecOf({JobsText(), "front_end: {kind: dra-classic}"});
  std::vector<std::string> whys;
  const std::optional<Divergence> plain = DivergenceOf(plugin, claims, &whys);
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->pod, "wide");
  const ScopedReasonTexts rewritten(&WithMore);
  std::vector<std::string> edited_whys;
  EXPECT_EQ(DivergenceOf(plugin, claims, &edited_whys), plain);
  EXPECT_NE(edited_whys, whys);
  EXPECT_THAT(edited_whys, Each(testing::HasSubstr(" (edited)")));
}

// A driver that is asked is no verdict, whatever it is called: three of four GPUs are taken, one on
// each node, so neither world has room for the last.
TEST(ReasonTextsTest, NegotiationIsNoVerdict) {
  const std::string& three =
      TestText("NegotiationIsNoVerdict", "tests/sim/compare/divergence_test.cc");
  for (const ScopedReasonTexts::Rewrite rewrite : kRewrites) {
    const ScopedReasonTexts rewritten(rewrite);
    std::vector<std::string> whys;
    EXPECT_EQ(DivergenceOf(SpecOf({three, "front_end: {kind: device-plugin}"}),
                           SpecOf({three, "front_end: {kind: dra-classic}"}), &whys),
              std::nullopt);
  }
}

}  // namespace reason_texts_test
}  // namespace drasim
