#include "model/kube/cluster_objects_of.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/kube/manifests.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

ClusterObjects ObjectsOfText(const std::string& text) {
  KubeReadOptions options;
  options.validate = false;
  const KubeManifest read = kube_manifests::ReadManifest(text, options);
  std::vector<const kube::Object*> objects;
  for (const KubeObject& one : read.objects) objects.push_back(&one.object);
  return ClusterObjectsOf(objects);
}

TEST(ClusterObjectsOfTest, NamespacesAreSorted) {
  const ClusterObjects objects = ObjectsOfText(TestText("NamespacesAreSorted"));
  ASSERT_THAT(objects.namespaces, SizeIs(2));
  EXPECT_EQ(objects.namespaces[0].name, "a");
  EXPECT_THAT(objects.namespaces[0].labels, ElementsAre(Pair("second", "yes")));
  EXPECT_EQ(objects.namespaces[1].name, "b");
}

TEST(ClusterObjectsOfTest, GroupsKeepTheirOrder) {
  std::string shown;
  for (const GroupObject& group : ObjectsOfText(TestText("GroupsKeepTheirOrder")).groups) {
    absl::StrAppend(&shown, group.kind, " ", group.ns, "/", group.name,
                    group.selector.given ? "" : " without selector");
    for (const LabelRequirement& one : group.selector.requirements) {
      absl::StrAppend(&shown, " ", one.key);
    }
    absl::StrAppend(&shown, "\n");
  }
  EXPECT_EQ(shown, TestText("GroupsKeepTheirOrder.2"));
}

TEST(ClusterObjectsOfTest, BudgetsHaveWhatTheControllerSays) {
  const ClusterObjects objects = ObjectsOfText(TestText("BudgetsHaveWhatTheControllerSays"));
  ASSERT_THAT(objects.budgets, SizeIs(2));
  EXPECT_EQ(objects.budgets[0].ns, "default");
  EXPECT_EQ(objects.budgets[0].name, "web");
  EXPECT_THAT(objects.budgets[0].selector.requirements, SizeIs(1));
  EXPECT_EQ(objects.budgets[0].disruptions_allowed, 2);
  EXPECT_THAT(objects.budgets[0].disrupted_pods, ElementsAre("a", "b"));
  EXPECT_EQ(objects.budgets[1].ns, "ml");
  EXPECT_FALSE(objects.budgets[1].selector.given);
  EXPECT_EQ(objects.budgets[1].disruptions_allowed, 0);
}

// A case and the same single objects give equal results.
TEST(ClusterObjectsOfTest, OfACase) {
  kube::KubeCase given;
  std::vector<kube::Object> objects(5);
  objects[0].mutable_namespace_()->mutable_metadata()->set_name("a");
  objects[1].mutable_service()->mutable_metadata()->set_name("s");
  objects[2].mutable_replication_controller()->mutable_metadata()->set_name("c");
  objects[3].mutable_pod_disruption_budget()->mutable_metadata()->set_name("b");
  objects[4].mutable_storage_class()->mutable_metadata()->set_name("fast");
  *given.add_namespaces() = objects[0].namespace_();
  *given.add_services() = objects[1].service();
  *given.add_replication_controllers() = objects[2].replication_controller();
  *given.add_pod_disruption_budgets() = objects[3].pod_disruption_budget();
  *given.add_storage_classes() = objects[4].storage_class();
  std::vector<const kube::Object*> pointers;
  for (const kube::Object& object : objects) pointers.push_back(&object);
  const ClusterObjects of_case = ClusterObjectsOf(given);
  EXPECT_THAT(of_case.groups, SizeIs(2));
  EXPECT_EQ(of_case, ClusterObjectsOf(pointers));
}

}  // namespace
}  // namespace drasim
