#include "model/kube/spec_of_node.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/kube/manifests.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

NodeSpec SpecOfText(absl::string_view status, absl::string_view spec = "",
                    absl::string_view meta = "") {
  const KubeManifest read = kube_manifests::ReadManifest(
      absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: n-1", meta.empty() ? "" : ", ",
                   meta, "}, spec: {", spec, "}, status: {", status, "}}"));
  EXPECT_EQ(read.objects.size(), 1u);
  return read.objects.empty() ? NodeSpec() : SpecOfNode(read.objects[0].object.node());
}

TEST(SpecOfNodeTest, AllocatableAmounts) {
  const NodeSpec node = SpecOfText(
      "capacity: {cpu: 9, pods: 9}, allocatable: {cpu: 7500m, memory: 1Gi, pods: 20, "
      "nvidia.com/gpu: 8, ephemeral-storage: 1Mi, hugepages-2Mi: 0, storage: 5}");
  EXPECT_EQ(node.name, "n-1");
  EXPECT_EQ(node.cpu_milli, 7500);
  EXPECT_EQ(node.memory_bytes, 1 << 30);
  EXPECT_EQ(node.pods, 20);
  EXPECT_EQ(node.gpu_count, 0);
  EXPECT_THAT(node.extended,
              ElementsAre(Pair("ephemeral-storage", 1 << 20), Pair("nvidia.com/gpu", 8)));
}

TEST(SpecOfNodeTest, TheCapacityStandsInForAllAmountsOrNone) {
  const NodeSpec whole = SpecOfText("capacity: {cpu: 9, pods: 9}");
  EXPECT_EQ(whole.cpu_milli, 9000);
  EXPECT_EQ(whole.pods, 9);
  const NodeSpec part = SpecOfText("capacity: {cpu: 9, pods: 9}, allocatable: {cpu: 1}");
  EXPECT_EQ(part.cpu_milli, 1000);
  EXPECT_EQ(part.pods, 0);
}

TEST(SpecOfNodeTest, AmountsBeyondInt64AreCut) {
  EXPECT_EQ(SpecOfText("allocatable: {memory: 1e30}").memory_bytes,
            std::numeric_limits<int64_t>::max());
}

TEST(SpecOfNodeTest, WhatElseDecides) {
  const NodeSpec node = SpecOfText(
      "images: [{names: [\"a:1\", \"a@sha256:00\"], sizeBytes: 5}, {names: [b]}]",
      "unschedulable: true, taints: [{key: b, effect: NoSchedule}, {key: a, value: v, effect: "
      "NoExecute}]",
      "labels: {b: x, a: w, nvidia.com/gpu.count: \"8\"}");
  EXPECT_THAT(node.labels,
              ElementsAre(Pair("a", "w"), Pair("b", "x"), Pair("nvidia.com/gpu.count", "8")));
  EXPECT_THAT(node.taints, ElementsAre(Taint{"b", "", "NoSchedule"}, Taint{"a", "v", "NoExecute"}));
  EXPECT_THAT(node.images, ElementsAre(NodeImage{{"a:1", "a@sha256:00"}, 5}, NodeImage{{"b"}, 0}));
  EXPECT_TRUE(node.unschedulable);
  const NodeSpec plain = SpecOfText("");
  EXPECT_FALSE(plain.unschedulable);
  EXPECT_THAT(plain.extended, IsEmpty());
}

}  // namespace
}  // namespace drasim
