#include "gui/view/what_if.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "gui/view/key_reference.h"
#include "model/record.h"

namespace drasim {
namespace what_if_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using view::CheckValue;
using view::LifeMark;
using view::PodInspection;
using view::RoomyNode;
using view::ScenarioKey;
using view::ScenarioKeys;
using view::SearchKeys;
using view::SuggestChanges;
using view::WhatIfSuggestion;

constexpr char kReplay[] = R"(name: what-if
mode: replay
seed: 7
cluster:
  nodes: 20
  events:
    - {at: 1h, nodes: node-1, action: fail}
    - {at: 2h, nodes: node-2, action: drain, duration: 1h}
workload:
  generated:
    mig:
      - {profile: 7g.80gb, weight: 1.2}
scheduler:
  policy: fgd
  queue: kubernetes
preemption:
  mode: priority
quotas:
  - {tenant: red, gpus: 4}
  - {tenant: blue, gpus: 6}
)";

constexpr char kDra[] = R"(mode: replay
cluster: {nodes: 4}
scheduler: {policy: least-allocated}
front_end:
  kind: dra-classic
  dra:
    drivers:
      - {kind: nvidia}
    driver_controllers: {burst: 20}
)";

const ScenarioKey* FindKey(const std::vector<ScenarioKey>& keys, const std::string& key) {
  for (const ScenarioKey& k : keys) {
    if (k.key == key) return &k;
  }
  return nullptr;
}

TEST(WhatIfTest, ListsKeysWithTypeDefaultMeaningAndValue) {
  const std::vector<ScenarioKey> keys = ScenarioKeys(kReplay);
  const ScenarioKey* const mode = FindKey(keys, "mode");
  ASSERT_NE(mode, nullptr);
  EXPECT_EQ(mode->type, "choice");
  EXPECT_EQ(mode->fallback, "fill");
  EXPECT_EQ(mode->value, "replay");
  EXPECT_THAT(mode->meaning, AllOf(HasSubstr("Use of time.\n- fill: "), HasSubstr("\n- replay: ")));
  const ScenarioKey* const backoff = FindKey(keys, "scheduler.kubernetes.max_backoff");
  ASSERT_NE(backoff, nullptr);
  EXPECT_EQ(backoff->type, "duration");
  EXPECT_EQ(backoff->fallback, "10s");
  EXPECT_EQ(backoff->value, "");
  // A link becomes its text.
  const ScenarioKey* const policy = FindKey(keys, "scheduler.policy");
  ASSERT_NE(policy, nullptr);
  EXPECT_THAT(policy->meaning, HasSubstr("a device chooser (list)"));
  // A section that several keys share.
  EXPECT_NE(FindKey(keys, "front_end.dra.driver_controllers.qps"), nullptr);
  EXPECT_NE(FindKey(keys, "front_end.dra.scheduler.qps"), nullptr);
  // Sections and lists have no value of their own.
  EXPECT_EQ(FindKey(keys, "scheduler"), nullptr);
  EXPECT_EQ(FindKey(keys, "cluster.events"), nullptr);
}

TEST(WhatIfTest, ItemsOfListsHaveKeysEachAndOneMore) {
  const std::vector<ScenarioKey> keys = ScenarioKeys(kReplay);
  std::vector<std::string> nodes;
  for (const ScenarioKey& key : keys) {
    if (key.key.rfind("cluster.events.", 0) == 0 && key.key.find(".nodes") != std::string::npos) {
      nodes.push_back(absl::StrCat(key.key, "=", key.value));
    }
  }
  EXPECT_THAT(nodes, ElementsAre("cluster.events.0.nodes=node-1", "cluster.events.1.nodes=node-2",
                                 "cluster.events.2.nodes="));
  ASSERT_NE(FindKey(keys, "cluster.events.0.duration"), nullptr);
  EXPECT_EQ(FindKey(keys, "cluster.events.0.duration")->value, "");
  EXPECT_EQ(FindKey(keys, "cluster.events.1.duration")->value, "1h");
  EXPECT_EQ(FindKey(keys, "workload.generated.mig.0.weight")->value, "1.2");
  // No list of its own yet.
  EXPECT_NE(FindKey(keys, "preemption.restart.0.delay"), nullptr);
}

// Every key of the list can be set, or the reference and the schema differ.
TEST(WhatIfTest, TheSchemaHasAllKeys) {
  const std::vector<ScenarioKey> keys = ScenarioKeys(kReplay);
  EXPECT_GT(keys.size(), 150u);
  for (const ScenarioKey& key : keys) {
    const absl::Status status = CheckValue(kReplay, key.key, key.value);
    if (status.ok()) continue;
    // Only the value may be wrong: nothing is given yet.
    EXPECT_THAT(std::string(status.message()), HasSubstr("found ''")) << key.key;
  }
}

TEST(WhatIfTest, ListsOfScalarsAreOneValue) {
  const std::vector<ScenarioKey> keys =
      ScenarioKeys("scheduler: {policy: fgd}\ncomparison: {policies: [fgd, best-fit]}\n");
  const ScenarioKey* const policies = FindKey(keys, "comparison.policies");
  ASSERT_NE(policies, nullptr);
  EXPECT_EQ(policies->value, "fgd,best-fit");
  EXPECT_THAT(ScenarioKeys(": ["), IsEmpty());
}

TEST(WhatIfTest, SearchesByLettersOfTheKey) {
  const std::vector<ScenarioKey> keys = ScenarioKeys(kReplay);
  const std::vector<size_t> found = SearchKeys(keys, "max_backoff");
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(keys[found[0]].key, "front_end.owner.max_backoff");
  EXPECT_EQ(keys[found[1]].key, "scheduler.kubernetes.max_backoff");
  const std::vector<size_t> words = SearchKeys(keys, "driver_c qps");
  ASSERT_FALSE(words.empty());
  EXPECT_EQ(keys[words[0]].key, "front_end.dra.driver_controllers.qps");
  EXPECT_EQ(keys[SearchKeys(keys, "seed")[0]].key, "seed");
  EXPECT_THAT(SearchKeys(keys, "no such key at all"), IsEmpty());
  EXPECT_EQ(SearchKeys(keys, "").size(), keys.size());
  EXPECT_EQ(SearchKeys(keys, "")[1], 1u);
}

TEST(WhatIfTest, ChecksAValueAsSetDoes) {
  EXPECT_EQ(CheckValue(kReplay, "seed", "43"), absl::OkStatus());
  EXPECT_EQ(CheckValue(kReplay, "cluster.events.2.at", "1h"), absl::OkStatus());
  EXPECT_EQ(CheckValue(kReplay, "seed", "many").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(CheckValue(kReplay, "seed", "many").message()),
              HasSubstr("change: seed: found 'many'"));
  EXPECT_THAT(std::string(CheckValue(kReplay, "sed", "1").message()),
              HasSubstr("unknown key (did you mean 'seed'?)"));
  EXPECT_FALSE(CheckValue(kReplay, "cluster.events.3.at", "1h").ok());
}

// A pod that waits, and got this answer some times.
PodInspection WaitingPod(const std::string& verdict, int64_t times) {
  PodInspection pod;
  pod.waits = SimDuration::Seconds(100);
  pod.wants = "1 GPU";
  if (times > 0) {
    pod.attempts_failed = times;
    pod.verdicts.push_back({.text = verdict, .times = times, .first = {}, .last = {}});
  }
  return pod;
}

std::vector<std::string> Texts(const std::vector<WhatIfSuggestion>& suggestions) {
  std::vector<std::string> texts;
  for (const WhatIfSuggestion& s : suggestions) {
    EXPECT_NE(s.why, "");
    texts.push_back(absl::StrCat(s.key, ": ", s.old, " -> ", s.value));
  }
  return texts;
}

TEST(WhatIfTest, APodThatWaitsForADriverGetsFasterDrivers) {
  PodInspection pod = WaitingPod(
      "0/4 nodes are available: 1 waiting for resource driver to provide information.", 3);
  pod.verdicts[0].of_claims = true;
  EXPECT_THAT(Texts(SuggestChanges(pod, kDra)),
              ElementsAre("front_end.dra.driver_controllers.qps: 5 -> 50",
                          "front_end.dra.driver_controllers.burst: 20 -> 200",
                          "scheduler.policy: least-allocated -> most-allocated"));
  EXPECT_THAT(SuggestChanges(pod, kDra)[0].why, HasSubstr("5 calls a second"));
  // Without limits there is nothing to raise.
  const std::string unlimited = absl::StrCat(kDra, "    zero_latency: true\n");
  EXPECT_THAT(
      Texts(SuggestChanges(pod, unlimited)),
      ElementsAre("scheduler.policy: least-allocated -> most-allocated", "cluster.nodes: 4 -> 5"));
  // A driver that refuses may place otherwise.
  PodInspection refused = WaitingPod(
      "0/4 nodes are available: 4 resourceclaim cannot be allocated for the node (unsuitable).", 3);
  refused.verdicts[0].of_claims = refused.verdicts[0].of_refusal = true;
  EXPECT_THAT(Texts(SuggestChanges(refused, unlimited)),
              ::testing::Contains("front_end.dra.drivers.0.placement:  -> best-fit"));
}

TEST(WhatIfTest, APodThatWaitsForRoomGetsAnotherPolicyAnOrderAndNodes) {
  PodInspection pod = WaitingPod("0/20 nodes are available: 20 Insufficient GPU.", 5);
  EXPECT_THAT(Texts(SuggestChanges(pod, kReplay)),
              ElementsAre("scheduler.policy: fgd -> best-fit", "scheduler.queue: kubernetes -> sjf",
                          "cluster.nodes: 20 -> 22"));
  pod.wants_mig = true;
  EXPECT_EQ(SuggestChanges(pod, kReplay)[0].value, "mig-mfi-any");
}

TEST(WhatIfTest, APodWithRoomWaitsToBeTried) {
  PodInspection pod = WaitingPod("0/20 nodes are available: 20 Insufficient GPU.", 5);
  pod.nodes_that_fit = 1;
  EXPECT_THAT(Texts(SuggestChanges(pod, kReplay)),
              ElementsAre("scheduler.kubernetes.max_backoff: 10s -> 1s",
                          "scheduler.kubernetes.unschedulable_flush: 5m -> 30s"));
}

TEST(WhatIfTest, APodThatWasNeverTriedMayBeOverItsQuota) {
  PodInspection pod = WaitingPod("", 0);
  pod.nodes_that_fit = 3;
  pod.tenant = "blue";
  EXPECT_THAT(Texts(SuggestChanges(pod, kReplay)), ElementsAre("quotas.1.gpus: 6 -> 12"));
  pod.tenant = "green";
  EXPECT_THAT(SuggestChanges(pod, kReplay), IsEmpty());
}

TEST(WhatIfTest, AnEvictedPodGetsPeace) {
  PodInspection pod = WaitingPod("", 0);
  pod.phase = PodPhase::kSucceeded;
  pod.times_evicted = 1;
  LifeMark mark;
  mark.kind = LifeMark::Kind::kEvicted;
  mark.cause = EvictionCause::kPreempted;
  pod.marks.push_back(mark);
  EXPECT_THAT(Texts(SuggestChanges(pod, kReplay)),
              ElementsAre("preemption.mode: priority -> none"));
  pod.marks[0].cause = EvictionCause::kNodeLost;
  EXPECT_THAT(SuggestChanges(pod, kReplay), IsEmpty());
}

TEST(WhatIfTest, NothingHelpsAPodThatNeverWaited) {
  PodInspection pod = WaitingPod("0/20 nodes are available: 20 Insufficient GPU.", 5);
  pod.waits = SimDuration();
  EXPECT_THAT(SuggestChanges(pod, kReplay), IsEmpty());
}

TEST(WhatIfTest, TheReferenceIsThePageOfTheDocuments) {
  EXPECT_THAT(std::string(EmbeddedScenarioKeys()), ::testing::StartsWith("# Scenario keys\n"));
}

}  // namespace what_if_test
}  // namespace drasim
