// Explanations of failed attempts, word by word for each kind of reason.
#include "sim/explain/attempt.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/job_table.h"
#include "model/mig_table.h"
#include "model/record.h"
#include "sim/core/quotas.h"
#include "sim/explain/node_room.h"
#include "sim/explain/queue_place.h"
#include "tests/sim/explain/attempt_rig.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace explain_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- Amounts ----

TEST(ExplainTest, CpuMemoryAndPodSlots) {
  ExplainRig rig;
  NodeSpec a = TestNode("a", 8000, 0);
  NodeSpec b = TestNode("b", 16000, 0);
  NodeSpec c = TestNode("c", 16000, 0);
  b.memory_bytes = 4 * kTestGib;
  c.pods = 1;
  const NodeId on_a = rig.AddNode(a);
  rig.AddNode(b);
  const NodeId on_c = rig.AddNode(c);
  PodShape shape = TestShape(6000, 0);
  shape.request.memory_bytes = 8 * kTestGib;
  const ShapeId wanted = rig.AddShape(shape);
  const ShapeId small = rig.AddShape(TestShape(3000, 0));
  rig.Run("on-a", small, on_a, DeviceSet(), 100);
  rig.Run("on-c", small, on_c, DeviceSet(), 200);
  const AttemptExplanation why = rig.Explain(rig.Wait("p", wanted));
  EXPECT_THAT(
      RejectionLines(why),
      ElementsAre("NodeResourcesFit/Insufficient cpu/cpu: 1 [a] wants 6000 lacks 1000..1000 "
                  "idle 5000/5000 too small 0",
                  "NodeResourcesFit/Insufficient memory/memory: 1 [b] wants 8589934592 lacks "
                  "4294967296..4294967296 idle 4294967296/4294967296 too small 1",
                  "NodeResourcesFit/Too many pods/pods: 1 [c] wants 1 lacks 1..1 idle 0/0 too "
                  "small 0"));
  EXPECT_TRUE(why.agrees);
  EXPECT_TRUE(why.complete());
  ASSERT_EQ(why.rejections[0].near.size(), 1u);
  const NearNode& near = why.rejections[0].near[0];
  ASSERT_EQ(near.holders.size(), 1u);
  EXPECT_EQ(near.holders[0].pod, "on-a");
  EXPECT_EQ(near.holders[0].amount, 3000);
  EXPECT_EQ(near.room_at, SimTime(100 * kSecondNs));
  EXPECT_THAT(near.room_after, ElementsAre("on-a"));
  // Nothing comes free on b.
  EXPECT_THAT(why.rejections[1].near, IsEmpty());
  EXPECT_EQ(why.rejections[2].near[0].room_at, SimTime(200 * kSecondNs));
}

TEST(ExplainTest, WholeGpusInPieces) {
  ExplainRig rig;
  for (const char* name : {"a", "b"}) rig.AddNode(TestNode(name, 64000, 2));
  rig.AddNode(TestNode("one", 64000, 1));
  const ShapeId one = rig.AddShape(TestShape(1000, 1));
  const ShapeId two = rig.AddShape(TestShape(1000, 2));
  rig.Run("x", one, NodeId(size_t{0}), DeviceSet::Of(0), 0);
  rig.Run("y", one, NodeId(size_t{1}), DeviceSet::Of(1), 50);
  const AttemptExplanation why = rig.Explain(rig.Wait("p", two));
  EXPECT_THAT(RejectionLines(why),
              ElementsAre("GpuShareFit/Insufficient GPU/GPU: 3 [a b one] wants 2 lacks 1..1 idle "
                          "3/1 pieces too small 1"));
  const Rejection& r = why.rejections[0];
  ASSERT_EQ(r.near.size(), 2u);
  EXPECT_EQ(r.near[0].holders[0].devices, "GPU 0");
  EXPECT_FALSE(r.near[0].holders[0].ends.has_value());
  EXPECT_FALSE(r.near[0].room_at.has_value());
  EXPECT_EQ(r.near[1].holders[0].devices, "GPU 1");
  EXPECT_EQ(r.near[1].room_at, SimTime(50 * kSecondNs));
}

TEST(ExplainTest, SharesOfGpus) {
  ExplainRig rig;
  rig.AddNode(TestNode("a", 64000, 2));
  const ShapeId most = rig.AddShape(TestShape(1000, 1, 700));
  const ShapeId half = rig.AddShape(TestShape(1000, 1, 500));
  const ShapeId halves = rig.AddShape(TestShape(1000, 2, 500));
  rig.Run("x", most, NodeId(size_t{0}), DeviceSet::Of(0), 10);
  rig.Run("y", most, NodeId(size_t{0}), DeviceSet::Of(1), 20);
  EXPECT_THAT(RejectionLines(rig.Explain(rig.Wait("p", half))),
              ElementsAre("GpuShareFit/Insufficient GPU/GPU: 1 [a] wants 500 lacks 200..200 idle "
                          "600/300 pieces too small 0"));
  EXPECT_THAT(RejectionLines(rig.Explain(rig.Wait("q", halves))),
              ElementsAre("GpuShareFit/Insufficient GPU/GPU: 1 [a] wants 2 lacks 2..2 idle 1/0 "
                          "too small 0"));
}

TEST(ExplainTest, ExtendedResourcesAndGroups) {
  ExplainRig rig;
  NodeSpec node = TestNode("a", 64000, 0);
  node.extended = {{"example.com/fpga", 0}, {"example.com/nic", 2}};
  rig.AddNode(node);
  PodShape nic = TestShape(1000, 0);
  nic.request.extended = {{"example.com/nic", 2}};
  PodShape unknown = TestShape(1000, 0);
  unknown.request.extended = {{"example.com/fpga", 1}};
  PodShape grouped = TestShape(1000, 0);
  grouped.constraints.group = "app";
  grouped.constraints.max_per_node = 1;
  const ShapeId wants_nic = rig.AddShape(nic);
  const ShapeId wants_unknown = rig.AddShape(unknown);
  const ShapeId in_group = rig.AddShape(grouped);
  rig.Run("holder", wants_nic, NodeId(size_t{0}), DeviceSet(), 60);
  rig.Run("member", in_group, NodeId(size_t{0}), DeviceSet(), 70);
  const AttemptExplanation why = rig.Explain(rig.Wait("p", wants_nic));
  EXPECT_THAT(RejectionLines(why),
              ElementsAre("NodeResourcesFit/Insufficient example.com/nic/"
                          "example.com/nic: 1 [a] wants 2 lacks 2..2 idle 0/0 too "
                          "small 0"));
  EXPECT_EQ(why.rejections[0].near[0].holders[0].pod, "holder");
  EXPECT_THAT(RejectionLines(rig.Explain(rig.Wait("q", wants_unknown))),
              ElementsAre("NodeResourcesFit/Insufficient example.com/fpga/"
                          "example.com/fpga: 1 [a] wants 1 lacks 1..1 idle 0/0 too small 1"));
  const AttemptExplanation group = rig.Explain(rig.Wait("r", in_group));
  EXPECT_THAT(RejectionLines(group),
              ElementsAre("GroupLimit/node(s) had the most pods of the group that are allowed/app: "
                          "1 [a] wants 1 lacks 1..1 idle 0/0 too small 0"));
  EXPECT_EQ(group.rejections[0].near[0].holders[0].pod, "member");
  EXPECT_EQ(group.rejections[0].near[0].room_at, SimTime(70 * kSecondNs));
}

TEST(ExplainTest, MigInstances) {
  const MigTable table = *MigTable::Make(TestA100());
  ExplainRig rig;
  const ModelId model = *rig.models().Intern("A100");
  rig.models().SetMig(model, &table);
  rig.AddNode(TestNode("a", 64000, 1, "A100"));
  rig.AddNode(TestNode("b", 64000, 0));
  const auto shape = [&rig](std::vector<std::pair<std::string, int32_t>> mig) {
    PodShape s = TestShape(1000, 0);
    s.request.mig = std::move(mig);
    return rig.AddShape(s);
  };
  const ShapeId one = shape({{"1g.10gb", 1}});
  const ShapeId four = shape({{"4g.40gb", 1}});
  const ShapeId joint = shape({{"2g.20gb", 1}, {"3g.40gb", 1}});
  // In the middle, where every 4g.40gb would be.
  const int placement = table.FindPlacement(static_cast<size_t>(table.FindProfile("1g.10gb")), 2);
  ASSERT_GE(placement, 0);
  const DeviceGrant grant = {0, static_cast<uint8_t>(placement), 125};
  rig.Run("holder", one, NodeId(size_t{0}), DeviceSet::Of(0), 90, absl::MakeConstSpan(&grant, 1));
  const AttemptExplanation why = rig.Explain(rig.Wait("p", four));
  EXPECT_THAT(RejectionLines(why),
              ElementsAre("MigFit/Insufficient MIG slots/4g.40gb: 1 [a] wants 1 lacks 1..1 idle "
                          "0/0 pieces too small 0",
                          "MigFit/node(s) had no GPU with MIG/MIG: 1 [b] the pod wants 4g.40gb, "
                          "these nodes have no GPU"));
  EXPECT_EQ(why.rejections[0].near[0].layout, "GPU 0: 1g.10gb@2");
  EXPECT_EQ(why.rejections[0].near[0].holders[0].devices, "GPU 0:1g.10gb@2");
  EXPECT_EQ(why.rejections[0].near[0].room_at, SimTime(90 * kSecondNs));
  // Each alone would still fit: 3g.40gb at 4, or 2g.20gb at 0 or 4.
  const int three = table.FindPlacement(static_cast<size_t>(table.FindProfile("1g.10gb")), 0);
  const DeviceGrant second = {0, static_cast<uint8_t>(three), 125};
  rig.Run("holder-2", one, NodeId(size_t{0}), DeviceSet::Of(0), 95,
          absl::MakeConstSpan(&second, 1));
  EXPECT_THAT(RejectionLines(rig.Explain(rig.Wait("q", joint)))[0],
              "MigFit/Insufficient MIG slots/1 2g.20gb with 1 3g.40gb: 1 [a] wants 2 lacks 1..1 "
              "idle 1/1 pieces too small 0");
}

// ---- States ----

TEST(ExplainTest, StatesOfNodes) {
  ExplainRig rig;
  NodeSpec cordoned = TestNode("cordoned", 64000, 1, "G2");
  cordoned.unschedulable = true;
  NodeSpec tainted = TestNode("tainted", 64000, 1, "G2");
  tainted.taints = {{"soft", "", "PreferNoSchedule"}, {"team", "blue", "NoSchedule"}};
  NodeSpec east = TestNode("east", 64000, 1, "G2");
  east.labels = {{"zone", "east"}};
  NodeSpec nowhere = TestNode("nowhere", 64000, 1, "G2");
  for (NodeSpec* spec : {&cordoned, &tainted}) spec->labels = {{"zone", "west"}};
  for (const NodeSpec& spec : {cordoned, tainted, east, nowhere}) rig.AddNode(spec);
  NodeSpec west = TestNode("no-gpu", 64000, 0);
  west.labels = {{"zone", "west"}};
  rig.AddNode(west);
  west = TestNode("other-gpu", 64000, 1, "T4");
  west.labels = {{"zone", "west"}};
  rig.AddNode(west);
  west.name = "gone";
  west.absent = true;
  rig.AddNode(west);
  PodShape shape = TestShape(1000, 1, 1000, "G2|V100");
  shape.constraints.node_selector = {{"zone", "west"}};
  const AttemptExplanation why = rig.Explain(rig.Wait("p", rig.AddShape(shape)));
  EXPECT_THAT(
      RejectionLines(why),
      ElementsAre("NodeAffinity/node(s) didn't match Pod's node affinity/selector/label zone: 2 "
                  "[east nowhere] the pod wants west, these nodes have east, no such label",
                  "NodeUnschedulable/node(s) were unschedulable/node: 1 [cordoned] cordoned",
                  "TaintToleration/node(s) had untolerated taint(s)/taint team=blue:NoSchedule: 1 "
                  "[tainted] not tolerated by the pod",
                  "GpuShareFit/node(s) had no GPU/GPU: 1 [no-gpu] the pod wants some, these nodes "
                  "have none",
                  "GpuShareFit/node(s) had another GPU model/GPU model: 1 [other-gpu] the pod "
                  "wants G2|V100, these nodes have T4"));
  EXPECT_EQ(why.nodes_out, 1u);
  EXPECT_TRUE(why.agrees && why.complete());
}

TEST(ExplainTest, NoNodeAtAll) {
  ExplainRig rig;
  NodeSpec spec = TestNode("a", 1000, 0);
  spec.absent = true;
  rig.AddNode(spec);
  const AttemptExplanation why = rig.Explain(rig.Wait("p", rig.AddShape(TestShape(100, 0))));
  EXPECT_THAT(RejectionLines(why),
              ElementsAre("//nodes: 0 [] none of 1 is part of the cluster: absent, or failed"));
  EXPECT_TRUE(why.complete());
}

TEST(ExplainTest, StepsAndClaims) {
  ExplainRig rig;
  rig.AddNode(TestNode("a", 1000, 0));
  rig.AddNode(TestNode("b", 1000, 0));
  PodShape shape = TestShape(100, 0);
  const PodId plain = rig.Wait("plain", rig.AddShape(shape));
  shape.claims = {{"gpu", "shared", ""}};
  const PodId claiming = rig.Wait("claiming", rig.AddShape(shape));
  const auto step = static_cast<uint8_t>(rig.profile().reasons().size() + 1);
  ClaimHooks hooks;
  hooks.claims = [](PodId) -> std::vector<std::string> {
    return {"claim shared: allocated, reserved for other"};
  };
  const AttemptExplainer explainer = rig.MakeExplainer(hooks);
  // One of two nodes was chosen, and then refused.
  AttemptExplanation why =
      explainer.OfFailure(plain, rig.summaries().Intern({2, {{step, 1}}}), SimTime());
  EXPECT_THAT(RejectionLines(why),
              ElementsAre("a plugin without filters/refused by a step/step of the "
                          "attempt: 0 [] refused by a step"));
  EXPECT_TRUE(why.by_step);
  EXPECT_THAT(why.claims, IsEmpty());
  // Both nodes were kept out by what the pod claims.
  why = explainer.OfFailure(claiming, rig.summaries().Intern({2, {{step, 2}}}), SimTime());
  EXPECT_THAT(RejectionLines(why),
              ElementsAre("DynamicResources/refused by a step/resource claims: 2 [] "
                          "refused by a step"));
  EXPECT_FALSE(why.by_step);
  EXPECT_THAT(why.claims, ElementsAre("claim shared: allocated, reserved for other"));
  // Not even a reason.
  why = explainer.OfFailure(plain, rig.summaries().Intern({2, {}}), SimTime());
  EXPECT_TRUE(why.complete());
  EXPECT_TRUE(why.by_step);
}

// ---- Gangs ----

TEST(ExplainTest, PodsOfAGangInEachOthersWay) {
  ExplainRig rig;
  rig.AddNode(TestNode("a", 64000, 4));
  rig.AddNode(TestNode("b", 64000, 2));
  const ShapeId two = rig.AddShape(TestShape(1000, 2));
  const ShapeId one = rig.AddShape(TestShape(1000, 1));
  rig.Run("x", one, NodeId(size_t{1}), DeviceSet::Of(0), 100);
  const PodId first = rig.Wait("gang", two, 3);
  const PodId third(first.value() + 2);
  // Two have found their place on a; b lacks a GPU whatever they do.
  const auto reason =
      static_cast<uint8_t>(std::find(rig.profile().reasons().begin(), rig.profile().reasons().end(),
                                     "Insufficient GPU") -
                           rig.profile().reasons().begin() + 1);
  const AttemptExplanation why =
      rig.MakeExplainer().OfFailure(third, rig.summaries().Intern({2, {{reason, 2}}}), SimTime());
  EXPECT_THAT(RejectionLines(why),
              ElementsAre("GpuShareFit/Insufficient GPU/GPU: 1 [b] wants 2 lacks 1..1 idle 1/1 "
                          "too small 0",
                          "GpuShareFit/Insufficient GPU/place for all pods of the job: 1 [a] wants "
                          "3 lacks 1..1 for the job"));
  EXPECT_EQ(why.placed, 2u);
  EXPECT_EQ(why.room_for, 2u);
  EXPECT_TRUE(why.agrees && why.complete());
  const auto now = rig.MakeExplainer().OfNow(rig.jobs().job_of(first), SimTime());
  ASSERT_TRUE(now.has_value());
  EXPECT_EQ(now->summary,
            "0/2 nodes are available: 1 Insufficient GPU, 1 No room for all pods of the job.");
  // Two of them would fit.
  EXPECT_FALSE(rig.MakeExplainer()
                   .OfNow(rig.jobs().job_of(rig.Wait("pair", two, 2)), SimTime())
                   .has_value());
}

TEST(ExplainTest, RoomIsTakenUntilItIsGone) {
  ExplainRig rig;
  const NodeId node = rig.AddNode(TestNode("a", 10000, 2));
  const ShapeId share = rig.AddShape(TestShape(1000, 1, 400));
  rig.Wait("p", share);
  NodeRoom room(rig.cluster(), node, share);
  int taken = 0;
  while (room.Take()) ++taken;
  EXPECT_EQ(taken, 4);  // two on each GPU
  room.Clear();
  EXPECT_THAT(room.Lacks(), IsEmpty());
}

// ---- Quotas ----

TEST(ExplainTest, QuotasNameTheResourceThatIsOver) {
  Quotas quotas;
  quotas.Add("a", SimTime(), {Quotas::kUnlimited, 100, 8000});
  quotas.Add("a", SimTime(50), {Quotas::kUnlimited, 100, 4000});
  EXPECT_FALSE(OverQuota(quotas, "a", SimTime(), {1, 50, 4000}, {1, 50, 4000}).has_value());
  EXPECT_FALSE(OverQuota(quotas, "b", SimTime(), {1, 50, 4000}, {1, 500, 40000}).has_value());
  const auto gpus = OverQuota(quotas, "a", SimTime(), {0, 0, 6000}, {0, 0, 4500});
  ASSERT_TRUE(gpus.has_value());
  EXPECT_EQ(QuotaText(*gpus), "tenant a holds 6 of 8 GPUs, the job wants 4.5, 2.5 too many");
  EXPECT_EQ(OverQuota(quotas, "a", SimTime(60), {0, 0, 2000}, {0, 0, 3000})->missing(), 1000);
  const auto memory = OverQuota(quotas, "a", SimTime(), {0, 60, 0}, {0, 50, 0});
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(QuotaResourceName(memory->resource), "memory");
  EXPECT_EQ(memory->missing(), 10);
}

}  // namespace explain_test
}  // namespace drasim
