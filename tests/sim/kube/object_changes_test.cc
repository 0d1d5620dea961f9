#include "sim/kube/object_changes.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PodShape WebPod() {
  PodShape shape;
  shape.identity.labels = {{"app", "web"}};
  shape.request.cpu_milli = 500;
  shape.request.memory_bytes = 1 << 20;
  shape.request.extended = {{"example.com/a", 2}, {"example.com/b", 1}};
  return shape;
}

TEST(ChangesOfPodTest, EachAspectHasItsEvent) {
  const PodShape before = WebPod();
  PodShape after = before;
  EXPECT_THAT(ChangesOfPod(before, after), ElementsAre(kPodOther));

  after.identity.labels = {{"app", "db"}};
  EXPECT_THAT(ChangesOfPod(before, after), ElementsAre(kPodLabels));

  after.constraints.tolerations.push_back({"gpu", "", "", true});
  EXPECT_THAT(ChangesOfPod(before, after), ElementsAre(kPodLabels, kPodTolerations));
}

TEST(ChangesOfPodTest, OnlyLessOfSomethingIsAScaleDown) {
  const PodShape before = WebPod();
  const auto changes = [&before](void (*change)(ResourceRequest&)) {
    PodShape after = before;
    change(after.request);
    return ChangesOfPod(before, after);
  };
  EXPECT_THAT(changes([](ResourceRequest& r) { r.cpu_milli = 499; }), ElementsAre(kPodScaledDown));
  EXPECT_THAT(changes([](ResourceRequest& r) { r.cpu_milli = 501; }), ElementsAre(kPodOther));
  EXPECT_THAT(changes([](ResourceRequest& r) { r.memory_bytes = 1; }), ElementsAre(kPodScaledDown));
  EXPECT_THAT(changes([](ResourceRequest& r) { r.extended[1].second = 3; }),
              ElementsAre(kPodOther));
  EXPECT_THAT(changes([](ResourceRequest& r) { r.extended[0].second = 1; }),
              ElementsAre(kPodScaledDown));
  EXPECT_THAT(changes([](ResourceRequest& r) { r.extended.pop_back(); }),
              ElementsAre(kPodScaledDown));
  // One thing grew, another shrank.
  EXPECT_THAT(changes([](ResourceRequest& r) {
                r.cpu_milli = 900;
                r.extended.erase(r.extended.begin());
              }),
              ElementsAre(kPodScaledDown));
}

TEST(ChangesOfPodTest, GatesCountWhenAllAreGone) {
  PodShape before = WebPod();
  before.constraints.gates = {"a", "b"};
  PodShape after = before;
  after.constraints.gates = {"b"};
  EXPECT_THAT(ChangesOfPod(before, after), ElementsAre(kPodOther));
  after.constraints.gates.clear();
  EXPECT_THAT(ChangesOfPod(before, after), ElementsAre(kPodGates));
  EXPECT_THAT(ChangesOfPod(after, after), ElementsAre(kPodOther));
}

proto::kube::Node WorkerNode() {
  proto::kube::Node node;
  (*node.mutable_metadata()->mutable_labels())["zone"] = "a";
  (*node.mutable_status()->mutable_allocatable())["cpu"] = "4";
  proto::kube::Condition* ready = node.mutable_status()->add_conditions();
  ready->set_type("Ready");
  ready->set_status("True");
  return node;
}

TEST(ChangesOfNodeTest, EachAspectHasItsEventInUpstreamsOrder) {
  proto::kube::Node before = WorkerNode();
  before.mutable_spec()->set_unschedulable(true);
  proto::kube::Node after = before;
  EXPECT_THAT(ChangesOfNode(before, after), IsEmpty());

  (*after.mutable_metadata()->mutable_annotations())["note"] = "x";
  after.mutable_spec()->add_taints()->set_key("gpu");
  (*after.mutable_metadata()->mutable_labels())["zone"] = "b";
  (*after.mutable_status()->mutable_allocatable())["cpu"] = "8";
  after.mutable_spec()->set_unschedulable(false);
  EXPECT_THAT(ChangesOfNode(before, after), ElementsAre(kNodeSchedulable, kNodeAllocatable,
                                                        kNodeLabels, kNodeTaints, kNodeOther));
}

TEST(ChangesOfNodeTest, WhatHelpsNobodyIsNoEvent) {
  const proto::kube::Node before = WorkerNode();
  proto::kube::Node after = before;
  after.mutable_spec()->set_unschedulable(true);
  EXPECT_THAT(ChangesOfNode(before, after), IsEmpty());
  after = before;
  after.mutable_status()->mutable_conditions(0)->set_last_heartbeat_time("2025-01-01T00:00:00Z");
  EXPECT_THAT(ChangesOfNode(before, after), IsEmpty());
  after.mutable_status()->mutable_conditions(0)->set_status("False");
  EXPECT_THAT(ChangesOfNode(before, after), ElementsAre(kNodeOther));
}

TEST(ChangesOfNodeTest, TheSameAmountInOtherWordsIsNoChange) {
  const proto::kube::Node before = WorkerNode();
  proto::kube::Node after = before;
  (*after.mutable_status()->mutable_allocatable())["cpu"] = "4000m";
  EXPECT_THAT(ChangesOfNode(before, after), IsEmpty());
  (*after.mutable_status()->mutable_allocatable())["cpu"] = "4001m";
  EXPECT_THAT(ChangesOfNode(before, after), ElementsAre(kNodeAllocatable));
}

TEST(ChangesOfNodeTest, ARemovedKeyIsAChange) {
  const proto::kube::Node before = WorkerNode();
  proto::kube::Node after = before;
  after.mutable_metadata()->clear_labels();
  after.mutable_status()->clear_allocatable();
  EXPECT_THAT(ChangesOfNode(before, after), ElementsAre(kNodeAllocatable, kNodeLabels));
}

}  // namespace
}  // namespace drasim
