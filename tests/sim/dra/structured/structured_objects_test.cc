#include "sim/dra/structured/structured_objects.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/gpu_model_table.h"
#include "model/shape_table.h"
#include "policies/dra/claim_version.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StructuredObjectsTest : public ::testing::Test {
 protected:
  StructuredObjectsTest() {
    for (const char* zone : {"a", "b", "a"}) {
      NodeSpec node;
      node.name = "node-" + std::to_string(cluster_.node_count());
      node.labels = {{"zone", zone}};
      EXPECT_TRUE(cluster_.AddNode(node).ok());
    }
  }

  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  NamePool names_;
};

kube::NodeSelector SelectorOfNames(const std::vector<const char*>& names) {
  kube::NodeSelector selector;
  auto* const field = selector.add_node_selector_terms()->add_match_fields();
  field->set_key("metadata.name");
  field->set_operator_("In");
  for (const char* name : names) field->add_values(name);
  return selector;
}

TEST_F(StructuredObjectsTest, SelectorsOfNamesAndOfLabels) {
  EXPECT_THAT(NodesOfSelector(SelectorOfNames({"node-1", "node-9"}), cluster_).nodes(),
              ElementsAre(NodeId(1U)));
  kube::NodeSelector selector;
  auto* const label = selector.add_node_selector_terms()->add_match_expressions();
  label->set_key("zone");
  label->set_operator_("In");
  label->add_values("a");
  EXPECT_THAT(NodesOfSelector(selector, cluster_).nodes(), ElementsAre(NodeId(0U), NodeId(2U)));
}

// A claim with everything set survives both ways.
TEST_F(StructuredObjectsTest, AClaimThereAndBack) {
  kube::AllocationResultV1 result;
  for (const char* device : {"gpu-0", "gpu-1"}) {
    auto* const one = result.mutable_devices()->add_results();
    one->set_driver("gpu.example.com");
    one->set_device(device);
  }
  *result.mutable_node_selector() = SelectorOfNames({"node-1"});
  kube::DeviceClaim spec;
  spec.add_requests()->set_name("gpu");
  kube::ResourceClaimStatusV1 devices;
  devices.add_devices()->set_device("gpu-0");

  ResourceClaim claim;
  claim.meta = {names_.Intern("ns"), names_.Intern("claim"), 7, 9, false, {}, 3};
  claim.meta.finalizers.push_back(names_.Intern(kStructuredClaimFinalizer));
  claim.pod_claim_name = names_.Intern("entry");
  claim.labels = {{"app", "x"}, {"tier", "y"}};
  claim.spec.devices = SharedMessage<kube::DeviceClaim>(spec);
  claim.status.allocation =
      AllocationFromV1(std::make_shared<kube::AllocationResultV1>(result), cluster_, names_);
  claim.status.reserved_for.push_back({names_.Intern("pods"), names_.Intern("pod"), 3});
  claim.status.devices = SharedMessage<kube::ResourceClaimStatusV1>(devices);

  // A message alone, without the object that it was made of.
  const ClaimRef v1(ClaimToV1(std::make_shared<ResourceClaim>(claim)).message());
  ASSERT_EQ(ObjectOf(v1), nullptr);
  EXPECT_EQ(v1->metadata().uid(), "7");
  EXPECT_EQ(v1->metadata().resource_version(), "9");
  EXPECT_EQ(v1->status().allocation().devices().results_size(), 2);
  const Ref<ResourceClaim> back = ClaimFromV1(v1, cluster_, names_);
  EXPECT_EQ(*back, claim);
  EXPECT_EQ(back->spec.devices.shared(), claim.spec.devices.shared());
  EXPECT_EQ(back->status.allocation->result.shared(), claim.status.allocation->result.shared());
}

// The fields that a reference gives without its message are those of the message.
void ExpectFieldsOfItsMessage(const ClaimRef& claim) {
  const ClaimRef message(claim.message());
  EXPECT_EQ(claim.ns(), message.ns());
  EXPECT_EQ(claim.name(), message.name());
  EXPECT_EQ(claim.uid(), message.uid());
  EXPECT_EQ(claim.deleting(), message.deleting());
  EXPECT_EQ(claim.guarded(), message.guarded());
  EXPECT_EQ(claim.devices(), message.devices());
  EXPECT_EQ(claim.allocation(), message.allocation());
  for (const char* uid : {"3", "4", "7", "33", "0", ""}) {
    EXPECT_EQ(claim.IsControlledBy(uid), message.IsControlledBy(uid)) << uid;
    EXPECT_EQ(claim.IsReservedFor(uid), message.IsReservedFor(uid)) << uid;
  }
}

TEST_F(StructuredObjectsTest, FieldsNeedNoMessage) {
  ResourceClaim claim;
  claim.meta = {names_.Intern("ns"), names_.Intern("claim"), 7, 9, false, {}, 3};
  claim.spec.devices = SharedMessage<kube::DeviceClaim>(kube::DeviceClaim());
  const auto ref = [&claim] { return ClaimToV1(std::make_shared<ResourceClaim>(claim)); };
  ExpectFieldsOfItsMessage(ref());
  EXPECT_FALSE(ref().guarded());
  claim.meta.finalizers.push_back(names_.Intern("own"));
  ExpectFieldsOfItsMessage(ref());
  EXPECT_FALSE(ref().guarded());
  ClaimEdit edit;
  edit.guards = true;
  ExpectFieldsOfItsMessage(EditClaim(ref(), edit));
  EXPECT_TRUE(EditClaim(ref(), edit).guarded());
  edit = {};
  edit.consumer = {"second", "4"};
  const ClaimRef joined = EditClaim(ref(), edit);
  ExpectFieldsOfItsMessage(joined);
  EXPECT_TRUE(joined.IsReservedFor("4"));
  EXPECT_FALSE(joined.guarded());
  claim.meta.finalizers.push_back(names_.Intern(kStructuredClaimFinalizer));
  claim.meta.deleting = true;
  claim.meta.owner = 0;
  claim.status.reserved_for.push_back({names_.Intern("pods"), names_.Intern("first"), 33});
  ExpectFieldsOfItsMessage(ref());
  EXPECT_TRUE(ref().guarded());
  EXPECT_TRUE(ref().IsReservedFor("33"));
  ExpectFieldsOfItsMessage(EditClaim(ref(), edit));
}

// Written without its message or by way of it, an edited claim is the same object.
TEST_F(StructuredObjectsTest, EditsNeedNoMessage) {
  kube::AllocationResultV1 result;
  result.mutable_devices()->add_results()->set_driver("gpu.example.com");
  *result.mutable_node_selector() = SelectorOfNames({"node-1"});
  auto claim = std::make_shared<ResourceClaim>();
  claim->meta = {names_.Intern("ns"), names_.Intern("claim"), 7, 9, false, {}, 3};
  claim->meta.finalizers.push_back(names_.Intern("own"));
  claim->labels = {{"app", "x"}};
  claim->spec.devices = SharedMessage<kube::DeviceClaim>(kube::DeviceClaim());
  claim->status.reserved_for.push_back({names_.Intern("pods"), names_.Intern("first"), 3});

  ClaimEdit edit;
  edit.guards = true;
  edit.allocation = std::make_shared<kube::AllocationResultV1>(result);
  edit.consumer = {"second", "4"};
  const ClaimRef edited = EditClaim(ClaimToV1(claim), edit);
  EXPECT_EQ(edited.uid(), "7");
  for (const char* owner : {"3", "4", "0", ""}) {
    EXPECT_EQ(edited.IsControlledBy(owner), ClaimRef(edited.message()).IsControlledBy(owner));
    EXPECT_EQ(edited.IsControlledBy(owner), std::string(owner) == "3");
  }
  EXPECT_FALSE(edited.deleting());
  EXPECT_EQ(edited.allocation(), edit.allocation);
  const Ref<ResourceClaim> at_once = ClaimFromV1(edited, cluster_, names_);
  EXPECT_EQ(*at_once, *ClaimFromV1(ClaimRef(edited.message()), cluster_, names_));
  EXPECT_EQ(at_once->meta.finalizers.size(), 2U);
  EXPECT_EQ(at_once->status.allocation->node, NodeId(1U));
  ASSERT_EQ(at_once->status.reserved_for.size(), 2U);
  EXPECT_EQ(at_once->status.reserved_for[1].uid, 4U);
}

TEST_F(StructuredObjectsTest, AllocationsNameTheirDriversAndTheirNode) {
  kube::AllocationResultV1 result;
  for (const char* driver : {"a", "b", "a"}) {
    result.mutable_devices()->add_results()->set_driver(driver);
  }
  const Ref<Allocation> everywhere =
      AllocationFromV1(std::make_shared<kube::AllocationResultV1>(result), cluster_, names_);
  ASSERT_EQ(everywhere->handles.size(), 2U);
  EXPECT_EQ(everywhere->handles[1].driver.text(), "b");
  EXPECT_TRUE(everywhere->available_on.everywhere());
  EXPECT_FALSE(everywhere->node.valid());
  EXPECT_TRUE(everywhere->shareable);

  *result.mutable_node_selector() = SelectorOfNames({"node-2"});
  EXPECT_EQ(
      AllocationFromV1(std::make_shared<kube::AllocationResultV1>(result), cluster_, names_)->node,
      NodeId(2U));
}

TEST_F(StructuredObjectsTest, PodsKeepTheirClaims) {
  Pod pod;
  pod.meta.ns = names_.Intern("ns");
  pod.meta.name = names_.Intern("pod");
  pod.meta.uid = 5;
  pod.claims.resize(1);
  pod.claims[0].entry = names_.Intern("gpu");
  pod.claims[0].from_template = names_.Intern("one");
  EXPECT_THAT(ClaimingPodOf(pod).generated, IsEmpty());
  pod.claim_names.push_back({names_.Intern("gpu"), names_.Intern("pod-gpu-x")});
  const ClaimingPod claiming = ClaimingPodOf(pod);
  EXPECT_EQ(claiming.uid, "5");
  EXPECT_EQ(claiming.claims[0].name, "gpu");
  EXPECT_EQ(claiming.claims[0].from_template, "one");
  EXPECT_EQ(claiming.generated[0].claim, "pod-gpu-x");
  EXPECT_EQ(claiming.containers, nullptr);
}

}  // namespace
}  // namespace drasim
