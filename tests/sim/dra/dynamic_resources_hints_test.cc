// The queueing hints, by the names of upstream's cases (Test_isSchedulableAfterClaimChange,
// Test_isSchedulableAfterPodSchedulingContextChange), under 1.28, where a hint can say
// "immediately", and 1.29.
//
// Upstream's cases "...wrong-old-object" and "...wrong-new-object" pass something of another Go
// type. Objects have one type each here, so these keep the nearest meaning: an old state that is
// missing or far behind, a new object that is not the pod's although it has the name.
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/optional.h"
#include "gtest/gtest.h"
#include "sim/dra/dynamic_resources.h"
#include "tests/sim/dra/dynamic_resources_world.h"

namespace drasim {
namespace dynamic_resources_hints_test {

using dynamic_resources_testing::Hint;
using dynamic_resources_testing::kWorker;
using dynamic_resources_testing::OfRelease;
using dynamic_resources_testing::World;
using Mode = AllocationMode;

// An event about a pod, and what it should mean since 1.29.
template <typename T>
struct Change {
  absl::optional<T> before;
  absl::optional<T> after;
  Hint hint = Hint::kSkip;
  // Whether 1.28 says "immediately" instead of "queue".
  bool immediate = false;
};
using ClaimChange = Change<ResourceClaim>;
using ContextChange = Change<PodSchedulingContext>;

template <typename T>
const T* PointerTo(const absl::optional<T>& object) {
  return object.has_value() ? &*object : nullptr;
}

template <typename T>
Hint WantIn(DraRelease release, const Change<T>& change) {
  return release == DraRelease::k28 && change.immediate ? Hint::kQueueImmediately : change.hint;
}

struct ClaimCase {
  const char* name;
  std::function<ClaimChange(World&)> make;
};
struct ContextCase {
  const char* name;
  std::function<ContextChange(World&)> make;
};

void AddNamedPod(World& w, const std::vector<std::string>& entries = {"my-resource"}) {
  w.pod = w.AddPod(w.PodWith("my-pod", entries));
}

void AddTemplatePod(World& w, bool in_status) {
  Pod pod = w.PodWith("my-pod", {"my-resource"});
  pod.claims[0].from_template = std::exchange(pod.claims[0].claim, Name());
  if (in_status) pod.claim_names = {{w.N("my-resource"), w.N("my-pod-my-resource")}};
  w.pod = w.AddPod(pod);
}

Ref<ResourceClaim> AddPending(World& w, Mode mode, const char* entry = "my-resource") {
  return w.AddClaim(w.ClaimOf(entry, mode, w.pod->meta.uid));
}

ResourceClaim WithAllocation(World& w, ResourceClaim claim) {
  w.Allocate(NodeSet(), false, &claim);
  return claim;
}

std::vector<ClaimCase> UpstreamClaimCases() {
  return {
      {"skip-deletes",
       [](World& w) {
         AddNamedPod(w);
         const auto claim = AddPending(w, Mode::kWaitForFirstConsumer);
         return ClaimChange{WithAllocation(w, *claim), absl::nullopt, Hint::kSkip, false};
       }},
      // The claim of the name in a former life.
      {"backoff-wrong-new-object",
       [](World& w) {
         AddNamedPod(w);
         ResourceClaim former = *AddPending(w, Mode::kWaitForFirstConsumer);
         former.meta.uid += 1000;
         return ClaimChange{absl::nullopt, former, Hint::kSkip, false};
       }},
      {"skip-wrong-claim",
       [](World& w) {
         AddTemplatePod(w, true);
         ResourceClaim claim =
             w.ClaimOf("my-resource", Mode::kWaitForFirstConsumer, w.pod->meta.uid + 123);
         return ClaimChange{absl::nullopt, *w.AddClaim(claim), Hint::kSkip, false};
       }},
      {"skip-unrelated-claim",
       [](World& w) {
         AddNamedPod(w);
         AddPending(w, Mode::kWaitForFirstConsumer);
         ResourceClaim other =
             w.ClaimOf("my-resource-foo", Mode::kWaitForFirstConsumer, w.pod->meta.uid);
         return ClaimChange{absl::nullopt, *w.AddClaim(other), Hint::kSkip, false};
       }},
      {"queue-on-add",
       [](World& w) {
         AddNamedPod(w);
         return ClaimChange{absl::nullopt, *AddPending(w, Mode::kImmediate), Hint::kQueue, true};
       }},
      // No old state, though the object is not new: the watch was broken.
      {"backoff-wrong-old-object",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim claim =
             WithAllocation(w, w.ClaimOf("my-resource", Mode::kImmediate, 0));
         return ClaimChange{absl::nullopt, *w.AddClaim(claim), Hint::kQueue, true};
       }},
      {"skip-adding-finalizer",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim before = *AddPending(w, Mode::kImmediate);
         ResourceClaim after = before;
         after.meta.finalizers.push_back(w.N("foo"));
         return ClaimChange{before, after, Hint::kSkip, false};
       }},
      {"queue-on-status-change",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim before = *AddPending(w, Mode::kImmediate);
         return ClaimChange{before, WithAllocation(w, before), Hint::kQueue, true};
       }},
  };
}

std::vector<ClaimCase> ClaimCases() {
  std::vector<ClaimCase> cases = UpstreamClaimCases();
  const std::vector<ClaimCase> ours = {
      // Ours: the other claim of the pod is not there yet.
      {"skip-incomplete-pod",
       [](World& w) {
         AddNamedPod(w, {"my-resource", "my-resource-2"});
         const ResourceClaim before = *AddPending(w, Mode::kImmediate);
         return ClaimChange{before, WithAllocation(w, before), Hint::kSkip, false};
       }},
      // Ours: the other claim of the pod is on its way out.
      {"skip-pod-with-deleted-claim",
       [](World& w) {
         AddNamedPod(w, {"my-resource", "my-resource-2"});
         const ResourceClaim before = *AddPending(w, Mode::kImmediate);
         ResourceClaim other = w.ClaimOf("my-resource-2", Mode::kImmediate, 0);
         other.meta.finalizers.push_back(w.N("foo"));
         w.AddClaim(other);
         w.Delete(ObjectKind::kResourceClaim, "my-pod-my-resource-2");
         return ClaimChange{before, WithAllocation(w, before), Hint::kSkip, false};
       }},
      // Ours: no rule asks whether the new status is better than the old one.
      {"queue-on-deallocation-request",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim before =
             WithAllocation(w, *AddPending(w, Mode::kWaitForFirstConsumer));
         ResourceClaim after = before;
         after.status.deallocation_requested = true;
         return ClaimChange{before, after, Hint::kQueue, true};
       }},
      // Ours: an equal status in another place of memory is equal.
      {"skip-copied-status",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim bare = *AddPending(w, Mode::kWaitForFirstConsumer);
         return ClaimChange{WithAllocation(w, bare), WithAllocation(w, bare), Hint::kSkip, false};
       }},
  };
  cases.insert(cases.end(), ours.begin(), ours.end());
  return cases;
}

// The context with an entry for each claim, on the worker node.
PodSchedulingContext Info(World& w) {
  PodSchedulingContext context = w.ContextOf(*w.pod);
  context.potential = {kWorker};
  context.claims = {{w.N("my-resource"), {}}, {w.N("my-resource-2"), {}}};
  return context;
}

void AddPodAndClaim(World& w) {
  AddTemplatePod(w, true);
  AddPending(w, Mode::kWaitForFirstConsumer);
}

std::vector<ContextCase> SkippedContextCases() {
  return {
      {"skip-deleted",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{w.ContextOf(*w.pod), absl::nullopt, Hint::kSkip, false};
       }},
      // Found missing when everything was listed anew; the old state is the last one known.
      {"skip-missed-deleted",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{Info(w), absl::nullopt, Hint::kSkip, false};
       }},
      {"skip-unrelated-object",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext other = Info(w);
         other.meta.name = w.N("my-pod-foo");
         return ContextChange{absl::nullopt, other, Hint::kSkip, false};
       }},
      // Ours: the name in another namespace.
      {"skip-other-namespace",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext other = Info(w);
         other.meta.ns = w.N("elsewhere");
         return ContextChange{absl::nullopt, other, Hint::kSkip, false};
       }},
      {"skip-missing-claim",
       [](World& w) {
         AddTemplatePod(w, false);
         return ContextChange{w.ContextOf(*w.pod), Info(w), Hint::kSkip, false};
       }},
      {"skip-missing-infos",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{w.ContextOf(*w.pod), w.ContextOf(*w.pod), Hint::kSkip, false};
       }},
      // Ours: one of two drivers has answered.
      {"skip-half-the-infos",
       [](World& w) {
         AddNamedPod(w, {"my-resource", "my-resource-2"});
         AddPending(w, Mode::kWaitForFirstConsumer);
         AddPending(w, Mode::kWaitForFirstConsumer, "my-resource-2");
         PodSchedulingContext half = Info(w);
         half.claims.pop_back();
         return ContextChange{w.ContextOf(*w.pod), half, Hint::kSkip, false};
       }},
      {"skip-spec-changes",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.selected = kWorker;
         return ContextChange{Info(w), after, Hint::kSkip, false};
       }},
  };
}

std::vector<ContextCase> QueuedContextCases() {
  return {
      // No old state, though drivers have answered already.
      {"backoff-wrong-old-object",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{absl::nullopt, Info(w), Hint::kQueue, true};
       }},
      // An old state from before the plugin's own last write and the drivers' answers.
      {"backoff-missed-wrong-old-object",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.selected = kWorker;
         return ContextChange{w.ContextOf(*w.pod), after, Hint::kQueue, true};
       }},
      // The context of a former pod of the name: names are all that is compared.
      {"backoff-wrong-new-object",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext former = Info(w);
         former.meta.owner += 1000;
         return ContextChange{w.ContextOf(*w.pod), former, Hint::kQueue, true};
       }},
      {"queue-new-infos",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{w.ContextOf(*w.pod), Info(w), Hint::kQueue, true};
       }},
      // Ours: claims that are allocated, or Immediate, need no answer.
      {"queue-new-infos-of-pending-claims",
       [](World& w) {
         AddNamedPod(w, {"my-resource", "my-resource-2"});
         AddPending(w, Mode::kImmediate);
         w.AddClaim(WithAllocation(
             w, w.ClaimOf("my-resource-2", Mode::kWaitForFirstConsumer, w.pod->meta.uid)));
         return ContextChange{absl::nullopt, w.ContextOf(*w.pod), Hint::kQueue, true};
       }},
      {"queue-bad-selected-node",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext before = Info(w);
         before.selected = kWorker;
         PodSchedulingContext after = before;
         after.claims[0].unsuitable = {kWorker};
         return ContextChange{before, after, Hint::kQueue, true};
       }},
  };
}

std::vector<ContextCase> BackoffContextCases() {
  return {
      {"backoff-other-changes",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.meta.finalizers.push_back(w.N("foo"));
         return ContextChange{Info(w), after, Hint::kQueue, false};
       }},
      // Ours: another node has become unsuitable, which the next attempt should know.
      {"backoff-bad-potential-node",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.claims[1].unsuitable = {kWorker};
         return ContextChange{Info(w), after, Hint::kQueue, false};
       }},
      // Ours: a driver's answer in the same write as the plugin's is no "spec change".
      {"backoff-spec-and-status",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.selected = kWorker;
         after.claims[0].unsuitable = {NodeId(uint32_t{1})};
         return ContextChange{Info(w), after, Hint::kQueue, false};
       }},
  };
}

std::vector<ContextCase> ContextCases() {
  std::vector<ContextCase> cases = SkippedContextCases();
  for (ContextCase& one : QueuedContextCases()) cases.push_back(std::move(one));
  for (ContextCase& one : BackoffContextCases()) cases.push_back(std::move(one));
  return cases;
}

template <typename Case>
std::string TestName(const testing::TestParamInfo<std::tuple<DraRelease, Case>>& param) {
  return absl::StrCat("r", static_cast<int>(std::get<0>(param.param)), "_",
                      absl::StrReplaceAll(std::get<1>(param.param).name, {{"-", "_"}}));
}

const auto kReleases = testing::Values(DraRelease::k28, DraRelease::k29, DraRelease::k30);

class AfterClaimChange : public testing::TestWithParam<std::tuple<DraRelease, ClaimCase>> {};

TEST_P(AfterClaimChange, HintsAsUpstream) {
  const DraRelease release = std::get<0>(GetParam());
  World world(OfRelease(release));
  const ClaimChange change = std::get<1>(GetParam()).make(world);
  world.Start();
  const Hint hint = world.plugin().AfterClaimChange(*world.pod, PointerTo(change.before),
                                                    PointerTo(change.after));
  EXPECT_EQ(static_cast<int>(hint), static_cast<int>(WantIn(release, change)));
}
INSTANTIATE_TEST_SUITE_P(, AfterClaimChange,
                         testing::Combine(kReleases, testing::ValuesIn(ClaimCases())),
                         TestName<ClaimCase>);

class AfterContextChange : public testing::TestWithParam<std::tuple<DraRelease, ContextCase>> {};

TEST_P(AfterContextChange, HintsAsUpstream) {
  const DraRelease release = std::get<0>(GetParam());
  World world(OfRelease(release));
  const ContextChange change = std::get<1>(GetParam()).make(world);
  world.Start();
  const Hint hint = world.plugin().AfterContextChange(*world.pod, PointerTo(change.before),
                                                      PointerTo(change.after));
  EXPECT_EQ(static_cast<int>(hint), static_cast<int>(WantIn(release, change)));
}
INSTANTIATE_TEST_SUITE_P(, AfterContextChange,
                         testing::Combine(kReleases, testing::ValuesIn(ContextCases())),
                         TestName<ContextCase>);

}  // namespace dynamic_resources_hints_test
}  // namespace drasim
