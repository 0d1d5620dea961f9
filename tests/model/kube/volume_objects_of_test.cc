#include "model/kube/volume_objects_of.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/reader.h"
#include "model/kube/volumes_of_pod.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kGib = int64_t{1} << 30;

TEST(VolumeObjectsOfTest, ReadsEveryKind) {
  ASSERT_OK_AND_ASSIGN(const KubeManifest manifest,
                       ReadKubeObjects(TestText("ReadsEveryKind"), "v.yaml"));
  VolumeObjects objects;
  for (const KubeObject& read : manifest.objects) {
    const proto::kube::Object& object = read.object;
    if (object.has_persistent_volume()) AddVolumeObject(object.persistent_volume(), &objects);
    if (object.has_persistent_volume_claim()) {
      AddVolumeObject(object.persistent_volume_claim(), &objects);
    }
    if (object.has_storage_class()) AddVolumeObject(object.storage_class(), &objects);
    if (object.has_csi_node()) AddVolumeObject(object.csi_node(), &objects);
    if (object.has_csi_driver()) AddVolumeObject(object.csi_driver(), &objects);
    if (object.has_csi_storage_capacity()) AddVolumeObject(object.csi_storage_capacity(), &objects);
    if (object.has_volume_attachment()) AddVolumeObject(object.volume_attachment(), &objects);
  }
  objects.Sort();

  const PersistentVolumeObject* volume = objects.FindVolume("pv-b");
  ASSERT_NE(volume, nullptr);
  EXPECT_EQ(objects.FindVolume("pv"), nullptr);
  EXPECT_EQ(volume->capacity, 10 * kGib);
  EXPECT_TRUE(volume->available);
  EXPECT_TRUE(volume->block);
  EXPECT_EQ(volume->storage_class, "beta") << "the annotation goes first";
  EXPECT_THAT(volume->access_modes,
              ElementsAre(AccessMode::kReadWriteOnce, AccessMode::kReadOnlyMany));
  EXPECT_EQ(volume->claim, (ClaimReference{"ns", "c", "u"}));
  EXPECT_TRUE(volume->has_node_terms);
  EXPECT_EQ(volume->node_terms.size(), 1u);
  EXPECT_EQ(volume->source.kind, VolumeSource::Kind::kCsi);
  EXPECT_EQ(volume->source.driver, "csi.x");
  EXPECT_EQ(volume->source.id, "handle");
  EXPECT_FALSE(objects.FindVolume("pv-a")->has_node_terms);
  EXPECT_EQ(objects.FindVolume("pv-a")->source.kind, VolumeSource::Kind::kAwsEbs);
  EXPECT_EQ(objects.FindVolume("pv-a")->source.id, "vol-7");

  const VolumeClaimObject* claim = objects.FindClaim("ns", "c");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(objects.FindClaim("default", "c"), nullptr);
  EXPECT_EQ(claim->volume_name, "pv-b");
  EXPECT_TRUE(claim->is_bound());
  EXPECT_EQ(claim->controller_uid, "owner");
  EXPECT_EQ(claim->request, 5 * kGib);
  EXPECT_FALSE(claim->has_selected_node);
  const VolumeClaimObject* waiting = objects.FindClaim("default", "waiting");
  ASSERT_NE(waiting, nullptr);
  EXPECT_FALSE(waiting->is_bound());
  EXPECT_TRUE(waiting->deleting);
  EXPECT_EQ(waiting->selected_node, "n1");
  EXPECT_TRUE(waiting->selector.given);
  EXPECT_EQ(waiting->request, std::nullopt);

  const StorageClassObject* storage_class = objects.FindClass("std");
  ASSERT_NE(storage_class, nullptr);
  EXPECT_EQ(storage_class->binding_mode, StorageClassObject::BindingMode::kWaitForFirstConsumer);
  ASSERT_EQ(storage_class->allowed_topologies.size(), 1u);
  EXPECT_EQ(storage_class->allowed_topologies[0][0].first, "zone");
  EXPECT_EQ(objects.FindClass("unset")->binding_mode, StorageClassObject::BindingMode::kUnset);

  const CsiNodeObject* node = objects.FindCsiNode("n1");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->drivers[0].limit, 3);
  EXPECT_EQ(node->drivers[1].limit, std::nullopt);
  EXPECT_TRUE(IsMigrated(node, "kubernetes.io/aws-ebs"));
  EXPECT_FALSE(IsMigrated(node, "kubernetes.io/cinder"));
  EXPECT_FALSE(IsMigrated(node, "kubernetes.io/azure-file")) << "not counted as its driver's";
  EXPECT_FALSE(IsMigrated(nullptr, "kubernetes.io/aws-ebs"));
  EXPECT_TRUE(objects.FindCsiDriver("csi.x")->storage_capacity);
  ASSERT_EQ(objects.capacities.size(), 2u);
  EXPECT_EQ(objects.capacities[0].limit, 2 * kGib) << "the largest volume goes first";
  EXPECT_EQ(objects.capacities[1].limit, std::nullopt);
  EXPECT_FALSE(objects.capacities[1].node_topology.given);
  EXPECT_THAT(objects.attachments, ElementsAre(VolumeAttachmentObject{"csi.x", "n1", "pv-b"}));
}

TEST(VolumeObjectsOfTest, PodsKeepTheVolumesThatDecide) {
  ASSERT_OK_AND_ASSIGN(const KubeManifest manifest,
                       ReadKubeObjects(TestText("PodsKeepTheVolumesThatDecide"), "p.yaml"));
  const PodVolumes volumes = VolumesOfPod(manifest.objects.at(0).object.pod());
  ASSERT_EQ(volumes.volumes.size(), 4u);
  EXPECT_EQ(volumes.volumes[0].claim, "data");
  EXPECT_FALSE(volumes.volumes[0].ephemeral);
  EXPECT_EQ(volumes.volumes[1].claim, "p-scratch");
  EXPECT_TRUE(volumes.volumes[1].ephemeral);
  EXPECT_EQ(volumes.volumes[1].pod_uid, "uid-p");
  EXPECT_EQ(volumes.volumes[2].source.kind, VolumeSource::Kind::kRbd);
  EXPECT_EQ(volumes.volumes[2].source.pool, "k");
  EXPECT_THAT(volumes.volumes[2].source.monitors, ElementsAre("a", "b"));
  EXPECT_EQ(volumes.volumes[3].source.kind, VolumeSource::Kind::kGcePd);
  EXPECT_TRUE(volumes.volumes[3].source.read_only);
}

}  // namespace
}  // namespace drasim
