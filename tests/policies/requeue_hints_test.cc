#include "policies/framework/requeue_hints.h"

#include <cstdint>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace {

// Waits for `events`; every hint is `answer`.
class HintingPlugin : public RequeuePlugin {
 public:
  HintingPlugin(uint32_t events, bool answer) : events_(events), answer_(answer) {}
  absl::string_view name() const override { return "Hinting"; }
  uint32_t requeue_events() const override { return events_; }
  bool MayHelp(const ClusterChange&, const PodContext&, const ClusterState&) const override {
    return answer_;
  }

 private:
  uint32_t events_;
  bool answer_;
};

bool WokenBy(const HintingPlugin& plugin, ClusterEvent event, bool detailed = true) {
  const ClusterBuilder builder;
  ClusterChange change;
  change.event = event;
  change.detailed = detailed;
  return Requeues(plugin, change, PodContext(), builder.cluster());
}

TEST(RequeueHintsTest, TheHintDecidesOnRegisteredEvents) {
  const HintingPlugin yes(kPodRemoved | kNodeLabels, true);
  const HintingPlugin no(kPodRemoved | kNodeLabels, false);
  EXPECT_TRUE(WokenBy(yes, kPodRemoved));
  EXPECT_TRUE(WokenBy(yes, kNodeLabels));
  EXPECT_FALSE(WokenBy(yes, kNodeTaints));
  EXPECT_FALSE(WokenBy(no, kPodRemoved));
  EXPECT_EQ(RegisteredEvents(yes), uint32_t{kPodRemoved | kNodeLabels});
}

TEST(RequeueHintsTest, WhoWaitsForNodesAloneIsWokenByEveryTaint) {
  const HintingPlugin nodes(kNodeAdded, false);
  EXPECT_TRUE(WokenBy(nodes, kNodeTaints));
  EXPECT_TRUE(WokenBy(nodes, kNodeSchedulable));
  EXPECT_FALSE(WokenBy(nodes, kNodeAdded));
  EXPECT_FALSE(WokenBy(nodes, kNodeLabels));
  EXPECT_EQ(RegisteredEvents(nodes), uint32_t{kNodeAdded | kNodeTaints | kNodeSchedulable});
  // The cordon is no event of its own upstream.
  const HintingPlugin with_cordon(kNodeAdded | kNodeSchedulable, false);
  EXPECT_TRUE(WokenBy(with_cordon, kNodeSchedulable));
  EXPECT_FALSE(WokenBy(with_cordon, kNodeSchedulable, /*detailed=*/false));
  EXPECT_FALSE(WokenBy(nodes, kNodeTaints, /*detailed=*/false));
  // One that judges taints itself is not.
  const HintingPlugin taints(kNodeAdded | kNodeTaints, false);
  EXPECT_FALSE(WokenBy(taints, kNodeTaints));
  EXPECT_FALSE(WokenBy(taints, kNodeSchedulable));
}

}  // namespace
}  // namespace drasim
