#include "model/kube/admission.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/model/kube/manifests.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

kube::PriorityClass MakeClass(const std::string& name, int32_t value, bool global_default = false,
                              const std::string& policy = "") {
  kube::PriorityClass made;
  made.mutable_metadata()->set_name(name);
  made.set_value(value);
  made.set_global_default(global_default);
  made.set_preemption_policy(policy);
  return made;
}

Admission MakeAdmission(const std::vector<kube::PriorityClass>& classes) {
  std::vector<const kube::PriorityClass*> pointers;
  for (const kube::PriorityClass& one : classes) pointers.push_back(&one);
  return Admission(pointers);
}

// The pod of that specification after admission.
kube::Pod Admitted(absl::string_view spec, const std::vector<kube::PriorityClass>& classes = {},
                   absl::string_view meta = "") {
  KubeReadOptions options;
  options.validate = false;
  const KubeManifest read =
      kube_manifests::ReadManifest(absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: p",
                                                meta, "}, spec: {", spec, "}}"),
                                   options);
  kube::Pod pod = read.objects.at(0).object.pod();
  const Admission admission = MakeAdmission(classes);
  admission.Admit(&pod);
  const std::string once = pod.DebugString();
  admission.Admit(&pod);
  EXPECT_EQ(pod.DebugString(), once) << "admission is not idempotent";
  return pod;
}

// "PRIORITY POLICY"
std::string PriorityText(absl::string_view spec, const std::vector<kube::PriorityClass>& classes) {
  const kube::Pod pod = Admitted(spec, classes);
  return absl::StrCat(pod.spec().priority(), " ", pod.spec().preemption_policy());
}

TEST(AdmissionTest, NamespaceAndScheduler) {
  const kube::Pod pod = Admitted("");
  EXPECT_EQ(pod.metadata().namespace_(), "default");
  EXPECT_EQ(pod.spec().scheduler_name(), "default-scheduler");
  const kube::Pod own = Admitted("schedulerName: mine", {}, ", namespace: ml");
  EXPECT_EQ(own.metadata().namespace_(), "ml");
  EXPECT_EQ(own.spec().scheduler_name(), "mine");
}

TEST(AdmissionTest, PriorityOfTheClass) {
  const std::vector<kube::PriorityClass> classes = {MakeClass("high", 1000, false, "Never"),
                                                    MakeClass("usual", 7, true, "Never")};
  EXPECT_EQ(PriorityText("priorityClassName: high", classes), "1000 Never");
  EXPECT_EQ(
      PriorityText("priorityClassName: high, preemptionPolicy: PreemptLowerPriority", classes),
      "1000 PreemptLowerPriority");
  EXPECT_EQ(PriorityText("priorityClassName: high, priority: 5", classes), "5 ");
  EXPECT_EQ(PriorityText("priority: 0", classes), "0 ");
  EXPECT_EQ(PriorityText("", classes), "7 Never");
  EXPECT_EQ(PriorityText("", {}), "0 ");
  EXPECT_EQ(PriorityText("priorityClassName: none", classes), "0 ");
}

TEST(AdmissionTest, BuiltInAndDefaultClasses) {
  EXPECT_EQ(PriorityText("priorityClassName: system-cluster-critical", {}), "2000000000 ");
  EXPECT_EQ(PriorityText("priorityClassName: system-node-critical", {}), "2000001000 ");
  EXPECT_EQ(PriorityText("priorityClassName: system-node-critical",
                         {MakeClass("system-node-critical", 3)}),
            "3 ");
  EXPECT_EQ(PriorityText("", {MakeClass("b", 9, true), MakeClass("a", -4, true, "Never"),
                              MakeClass("c", 5, true)}),
            "-4 Never");
}

TEST(AdmissionTest, LabelKeysJoinTheSelectors) {
  const kube::Pod pod = Admitted(
      "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, "
      "labelSelector: {}, matchLabelKeys: [rev, none], mismatchLabelKeys: [team]}, {topologyKey: "
      "b, matchLabelKeys: [rev]}]}, podAntiAffinity: "
      "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: "
      "{topologyKey: c, labelSelector: {matchExpressions: [{key: rev, operator: In, values: "
      "[\"7\"]}]}, matchLabelKeys: [rev]}}]}}",
      {}, ", labels: {rev: \"7\", team: x}");
  const auto& required =
      pod.spec().affinity().pod_affinity().required_during_scheduling_ignored_during_execution();
  EXPECT_EQ(required.Get(0).label_selector().ShortDebugString(),
            "match_expressions { key: \"rev\" operator: \"In\" values: \"7\" } "
            "match_expressions { key: \"team\" operator: \"NotIn\" values: \"x\" }");
  EXPECT_FALSE(required.Get(1).has_label_selector());
  const auto& preferred = pod.spec()
                              .affinity()
                              .pod_anti_affinity()
                              .preferred_during_scheduling_ignored_during_execution();
  EXPECT_EQ(preferred.Get(0).pod_affinity_term().label_selector().match_expressions_size(), 1);
  EXPECT_FALSE(Admitted("").spec().has_affinity());
}

}  // namespace
}  // namespace drasim
