// Explanations of pods with claims by drasim explain: classic DRA's rules, point by point.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/explain/cluster_rig.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace explain_cluster_claims_test {

using explain_rig::ExplainText;
using explain_rig::MessageOf;
using explain_rig::NodeYaml;
using explain_rig::PodYaml;
using explain_rig::SectionOf;
using explain_rig::SystemPodYaml;

constexpr char kOwned[] =
    "ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u-p, controller: true}]";
constexpr char kOnN1[] =
    "availableOnNodes: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, "
    "values: [n-1]}]}]}";

std::string ClassYaml(absl::string_view more = "") {
  return absl::StrCat(
      "---\n{apiVersion: resource.k8s.io/v1alpha2, kind: ResourceClass, metadata: {name: gpu}, "
      "driverName: gpu.example.com",
      more.empty() ? "" : ", ", more, "}\n");
}

std::string ClaimYaml(absl::string_view name, absl::string_view status = "",
                      absl::string_view mode = "WaitForFirstConsumer", absl::string_view meta = "",
                      absl::string_view spec = "") {
  return absl::StrCat(
      "---\n{apiVersion: resource.k8s.io/v1alpha2, kind: ResourceClaim, metadata: {name: ", name,
      ", namespace: default", meta.empty() ? "" : ", ", meta,
      "}, spec: {resourceClassName: gpu, allocationMode: ", mode, spec.empty() ? "" : ", ", spec,
      "}, status: {", status, "}}\n");
}

std::string Allocated(absl::string_view allocation, absl::string_view more = "") {
  return absl::StrCat("driverName: gpu.example.com, allocation: {", allocation, "}",
                      more.empty() ? "" : ", ", more);
}

std::string ReservedFor(absl::string_view pod, absl::string_view uid) {
  return absl::StrCat("reservedFor: [{resource: pods, name: ", pod, ", uid: ", uid, "}]");
}

std::string ContextYaml(absl::string_view spec, absl::string_view claims = "",
                        absl::string_view owner = kOwned) {
  return absl::StrCat(
      "---\n{apiVersion: resource.k8s.io/v1alpha2, kind: PodSchedulingContext, metadata: {name: p, "
      "namespace: default, ",
      owner, "}, spec: {", spec, "}, status: {resourceClaims: [", claims, "]}}\n");
}

// A pod "p" with these claims, each of its own entry.
std::string PodWith(const std::vector<std::string>& claims, absl::string_view more = "") {
  std::vector<std::string> entries;
  for (const std::string& claim : claims) {
    entries.push_back(
        absl::StrCat("{name: e-", claim, ", source: {resourceClaimName: ", claim, "}}"));
  }
  return PodYaml("p", absl::StrCat("containers: [{name: a}], resourceClaims: [",
                                   absl::StrJoin(entries, ", "), "]", more));
}

// With an entry "gpu" from the template "one-gpu".
std::string PodFromTemplate(absl::string_view status = "phase: Pending") {
  return PodYaml("p",
                 "containers: [{name: a}], resourceClaims: [{name: gpu, source: "
                 "{resourceClaimTemplateName: one-gpu}}]",
                 status);
}

std::string Nodes() {
  return absl::StrCat(NodeYaml("n-1", "pods: 9"), NodeYaml("n-2", "pods: 9"), SystemPodYaml());
}

// The first two lines, and whose turn it is.
std::string Explain(absl::string_view objects) {
  const std::string text = ExplainText(absl::StrCat(Nodes(), objects), "p").text;
  return absl::StrCat(text.substr(0, text.find('\n')), "\n", MessageOf(text), "\n",
                      SectionOf(text, "It waits for"));
}

constexpr char kTwoTake[] =
    "default/p (Pending): 2 of 2 nodes would take it now (n-1 and n-2).\n\n";

std::string OutOfQueue(absl::string_view why) {
  return absl::StrCat(
      "default/p (Pending): its claims keep it out of kube-scheduler's queue: ", why, ".\n\n");
}

std::string NotTried(absl::string_view why) {
  return absl::StrCat(
      "default/p (Pending): its claims keep it from being tried on any node.\n"
      "0/2 nodes are available: ",
      why, ".\n");
}

// --- Ahead of the queue ---

TEST(ExplainClaimsTest, NamedClaimIsMissing) {
  EXPECT_EQ(Explain(absl::StrCat(ClassYaml(), PodWith({"c"}))),
            OutOfQueue("resourceclaim \"c\" not found") +
                "ResourceClaim default/c to be created: the pod names it, and nobody makes it for "
                "the pod");
}

TEST(ExplainClaimsTest, ClaimOfATemplateIsMissing) {
  const std::string controller =
      "the claim controller (kube-controller-manager) to create the claim for the entry gpu from "
      "template default/one-gpu";
  EXPECT_EQ(Explain(PodFromTemplate()),
            OutOfQueue("ResourceClaim not created yet") +
                "ResourceClaimTemplate default/one-gpu to be created: without it there will be no "
                "claim for the entry gpu\n" +
                controller);
  constexpr char kTemplate[] =
      "---\n{apiVersion: resource.k8s.io/v1alpha2, kind: ResourceClaimTemplate, metadata: {name: "
      "one-gpu, namespace: default}, spec: {spec: {resourceClassName: gpu}}}\n";
  EXPECT_EQ(Explain(absl::StrCat(PodFromTemplate(), kTemplate)),
            OutOfQueue("ResourceClaim not created yet") + controller);
  // The controller has made it, but the pod's status does not say so yet.
  EXPECT_EQ(Explain(absl::StrCat(
                PodFromTemplate(), kTemplate,
                ClaimYaml("p-gpu-x1", "", "WaitForFirstConsumer",
                          absl::StrCat(kOwned,
                                       ", annotations: "
                                       "{resource.kubernetes.io/pod-claim-name: gpu}")))),
            OutOfQueue("ResourceClaim not created yet") +
                "the claim controller (kube-controller-manager) to note claim default/p-gpu-x1, "
                "which it has made, in the pod's status");
  // It was there, and has been deleted.
  constexpr char kNoted[] =
      "phase: Pending, resourceClaimStatuses: [{name: gpu, resourceClaimName: p-gpu-x1}]";
  EXPECT_EQ(Explain(absl::StrCat(PodFromTemplate(kNoted), kTemplate)),
            OutOfQueue("resourceclaim \"p-gpu-x1\" not found") + controller);
}

TEST(ExplainClaimsTest, ClaimOfATemplate) {
  constexpr char kNoted[] =
      "phase: Pending, resourceClaimStatuses: [{name: gpu, resourceClaimName: p-gpu-x1}]";
  const auto explain = [&](absl::string_view status, absl::string_view claim,
                           absl::string_view meta) {
    return Explain(absl::StrCat(ClassYaml(), PodFromTemplate(status),
                                ClaimYaml(claim, "", "WaitForFirstConsumer", meta)));
  };
  const std::string selects = absl::StrCat(
      kTwoTake, "kube-scheduler to create PodSchedulingContext default/p, selecting a node");
  EXPECT_EQ(explain(kNoted, "p-gpu-x1", kOwned), selects);
  // Up to 1.27 the status says nothing, and the name follows from the pod's.
  EXPECT_EQ(explain("phase: Pending", "p-gpu", kOwned), selects);
  EXPECT_EQ(explain(kNoted, "p-gpu-x1", ""),
            OutOfQueue("ResourceClaim p-gpu-x1 was not created for pod (pod is not owner)") +
                "claim default/p-gpu-x1 to be deleted: it has the name of the pod's claim, but "
                "another owner");
}

TEST(ExplainClaimsTest, ClaimIsBeingDeleted) {
  constexpr char kDeleted[] =
      "deletionTimestamp: \"2024-05-01T10:00:00Z\", finalizers: "
      "[gpu.example.com/deletion-protection, example.com/mine]";
  const auto explain = [&](absl::string_view status, absl::string_view pods) {
    return Explain(absl::StrCat(ClassYaml(), PodWith({"c"}), pods,
                                ClaimYaml("c", status, "WaitForFirstConsumer", kDeleted)));
  };
  const std::string finalizers = TestLines("ClaimIsBeingDeleted.finalizers");
  const std::string deleted = OutOfQueue("resourceclaim \"c\" is being deleted");
  EXPECT_EQ(explain("", ""), deleted + finalizers);
  // Drivers leave claims alone that are reserved.
  EXPECT_EQ(explain(Allocated(kOnN1, ReservedFor("q", "u-q")),
                    PodYaml("q", "nodeName: n-1, containers: [{name: a}]", "phase: Running")),
            deleted +
                "default/q to end: claim default/c is reserved for it, and until then no driver "
                "deallocates it\n" +
                finalizers);
}

// --- Ahead of nodes ---

TEST(ExplainClaimsTest, ImmediateClaimIsNotAllocated) {
  const std::string driver =
      "driver gpu.example.com to allocate claim default/c (mode Immediate: for a node of its own "
      "choice, before the pod is looked at)";
  const std::string objects = absl::StrCat(PodWith({"c"}), ClaimYaml("c", "", "Immediate"));
  EXPECT_EQ(Explain(absl::StrCat(ClassYaml(), objects)),
            NotTried("unallocated immediate resourceclaim") + driver);
  EXPECT_EQ(Explain(objects),
            NotTried("unallocated immediate resourceclaim") +
                "ResourceClass gpu to be created: without it no driver knows that the claim is its "
                "own\n"
                "the driver of class gpu to allocate claim default/c (mode Immediate: for a node "
                "of its own choice, before the pod is looked at)");
}

TEST(ExplainClaimsTest, ClaimMustBeReallocated) {
  EXPECT_EQ(Explain(absl::StrCat(ClassYaml(), PodWith({"c"}),
                                 ClaimYaml("c", Allocated(kOnN1, "deallocationRequested: true")))),
            NotTried("resourceclaim must be reallocated") +
                "driver gpu.example.com to deallocate claim default/c, as it has been asked to");
}

TEST(ExplainClaimsTest, ClassIsMissing) {
  EXPECT_EQ(Explain(absl::StrCat(PodWith({"c"}), ClaimYaml("c"))),
            NotTried("resource class gpu does not exist") +
                "ResourceClass gpu to be created: claim default/c is of that class");
}

TEST(ExplainClaimsTest, ClaimIsInUse) {
  const std::string objects =
      absl::StrCat(Nodes(), ClassYaml(), PodWith({"c"}),
                   ClaimYaml("c", Allocated(kOnN1, ReservedFor("q", "u-q"))));
  const auto explain = [&](absl::string_view pods) {
    const std::string text = ExplainText(absl::StrCat(objects, pods), "p").text;
    EXPECT_EQ(text.substr(0, text.find("\n\n") + 1), NotTried("resourceclaim in use"));
    return absl::StrCat(SectionOf(text, "Who holds what it wants"), "\n",
                        SectionOf(text, "It waits for"));
  };
  const std::string claim = "claim default/c: allocated for node n-1, not shareable\n";
  const std::string user = "nodeName: n-1, containers: [{name: a}]";
  EXPECT_EQ(explain(PodYaml("q", user, "phase: Running")),
            claim +
                "  default/q (Running)\n"
                "default/q to end: claim default/c is reserved for it and cannot be shared");
  const std::string dropped =
      "the claim controller (kube-controller-manager) to take default/q, which has ended, off the "
      "list of those that claim default/c is reserved for";
  EXPECT_EQ(explain(PodYaml("q", user, "phase: Succeeded")),
            claim + "  default/q (Succeeded)\n" + dropped);
  EXPECT_EQ(explain(""), claim + "  default/q (not in the dump)\n" + dropped);
  EXPECT_EQ(explain("---\n{apiVersion: v1, kind: Pod, metadata: {name: q, uid: other}, spec: "
                    "{containers: [{name: a}]}}\n"),
            claim + "  default/q (gone, another pod has its name)\n" + dropped);
}

TEST(ExplainClaimsTest, ReservationsThatDoNotKeepThePodWaiting) {
  const auto explain = [](absl::string_view status) {
    return Explain(absl::StrCat(ClassYaml(), PodWith({"c"}), ClaimYaml("c", status)));
  };
  const std::string bound = absl::StrCat(
      kTwoTake, "kube-scheduler to reserve its claims and bind it at its next attempt");
  EXPECT_EQ(explain(Allocated("")), bound);
  EXPECT_EQ(explain(Allocated("", ReservedFor("p", "u-p"))), bound);
  EXPECT_EQ(explain(Allocated("shareable: true", ReservedFor("q", "u-q"))), bound);
}

TEST(ExplainClaimsTest, NoMoreThan32Consumers) {
  const auto reserved = [](int consumers) {
    std::vector<std::string> list;
    for (int i = 0; i < consumers; ++i) {
      list.push_back(absl::StrCat("{resource: pods, name: q-", i, ", uid: q-", i, "}"));
    }
    return absl::StrCat(
        ClassYaml(), PodWith({"c"}),
        ClaimYaml("c", Allocated("shareable: true",
                                 absl::StrCat("reservedFor: [", absl::StrJoin(list, ", "), "]"))));
  };
  EXPECT_EQ(Explain(reserved(31)),
            absl::StrCat(kTwoTake,
                         "kube-scheduler to reserve its claims and bind it at its next attempt"));
  EXPECT_EQ(Explain(reserved(32)),
            absl::StrCat(kTwoTake,
                         "one of the 32 pods that share claim default/c to end: the API server "
                         "lets no more than 32 reserve it"));
}

// --- Nodes ---

TEST(ExplainClaimsTest, ClassExcludesNodes) {
  const std::string text =
      ExplainText(
          absl::StrCat(
              Nodes(), NodeYaml("n-3", "pods: 9", "", "gpu: a100"), PodWith({"c"}), ClaimYaml("c"),
              ClassYaml("suitableNodes: {nodeSelectorTerms: [{matchExpressions: [{key: gpu, "
                        "operator: Exists}]}]}")),
          "p")
          .text;
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "default/p (Pending): 1 of 3 nodes would take it now (n-3).");
  EXPECT_EQ(SectionOf(text, "Nodes that do not take it"),
            "2 nodes (n-1, n-2): excluded by resource class node filter: class gpu wants gpu "
            "Exists");
}

TEST(ExplainClaimsTest, DriverFindsNodesUnsuitable) {
  const std::string objects =
      absl::StrCat(Nodes(), ClassYaml(), PodWith({"c"}), ClaimYaml("c"),
                   ClaimYaml("d", Allocated(kOnN1, ReservedFor("q", "u-q"))),
                   PodYaml("q", "nodeName: n-1, containers: [{name: a}]", "phase: Running"));
  const std::string text =
      ExplainText(absl::StrCat(objects, ContextYaml("potentialNodes: [n-1, n-2]",
                                                    "{name: e-c, unsuitableNodes: [n-1, n-2]}")),
                  "p")
          .text;
  EXPECT_EQ(text, TestText("DriverFindsNodesUnsuitable"));
  // Holders of devices are named on further nodes, too.
  const std::string many =
      ExplainText(absl::StrCat(objects,
                               ClaimYaml("f", Allocated("availableOnNodes: "
                                                        "{nodeSelectorTerms: "
                                                        "[{matchFields: [{key: "
                                                        "metadata.name, operator: In, "
                                                        "values: [n-2]}]}]}")),
                               ClaimYaml("g0", Allocated(kOnN1)), ClaimYaml("g1", Allocated(kOnN1)),
                               ClaimYaml("g2", Allocated(kOnN1)), ClaimYaml("g3", Allocated(kOnN1)),
                               ClaimYaml("g4", Allocated(kOnN1)),
                               ContextYaml("potentialNodes: [n-1, n-2]",
                                           "{name: e-c, unsuitableNodes: [n-1, "
                                           "n-2]}")),
                  "p")
          .text;
  EXPECT_EQ(SectionOf(many, "Who holds what it wants"),
            TestLines("DriverFindsNodesUnsuitable: holders"));
  // The context of a former pod of that name says nothing about this one.
  const std::string former =
      ExplainText(
          absl::StrCat(
              objects,
              ContextYaml("potentialNodes: [n-1, n-2]", "{name: e-c, unsuitableNodes: [n-1, n-2]}",
                          "ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: "
                          "former, controller: true}]")),
          "p")
          .text;
  EXPECT_EQ(former.substr(0, former.find('\n') + 1) + "\n", kTwoTake);
  EXPECT_EQ(SectionOf(former, "Notes"),
            "PodSchedulingContext default/p is of a former pod of that name; the garbage collector "
            "has to delete it first");
}

TEST(ExplainClaimsTest, AllocatedForOtherNodes) {
  const auto explain = [](absl::string_view status, absl::string_view mode) {
    const std::string text =
        ExplainText(absl::StrCat(NodeYaml("n-1", "pods: 9", "unschedulable: true"),
                                 NodeYaml("n-2", "pods: 9"), SystemPodYaml(), ClassYaml(),
                                 PodWith({"c"}), ClaimYaml("c", status, mode)),
                    "p")
            .text;
    EXPECT_EQ(
        MessageOf(text),
        "0/2 nodes are available: 1 node(s) were unschedulable, 1 resourceclaim not available "
        "on the node.");
    EXPECT_EQ(SectionOf(text, "Nodes that do not take it"),
              "1 node (n-2): resourceclaim not available on the node: claim default/c is allocated "
              "for node n-1\n"
              "1 node (n-1): node(s) were unschedulable: cordoned");
    return absl::StrCat(SectionOf(text, "It waits for"), "\n", SectionOf(text, "Notes"));
  };
  const std::string uncordon = "a node to be uncordoned\n";
  EXPECT_EQ(explain(Allocated(kOnN1), "WaitForFirstConsumer"),
            uncordon +
                "kube-scheduler to have claim default/c deallocated, which keeps the pod off every "
                "other node; its next attempt asks for that\n");
  // Others use it.
  EXPECT_EQ(explain(Allocated(absl::StrCat("shareable: true, ", kOnN1), ReservedFor("q", "u-q")),
                    "WaitForFirstConsumer"),
            uncordon);
  EXPECT_EQ(
      explain(Allocated(kOnN1), "Immediate"),
      uncordon + "claim default/c is allocated for node n-1 until it is deleted (mode Immediate)");
}

// --- The component that has to act next ---

TEST(ExplainClaimsTest, OneClaim) {
  const auto explain = [](absl::string_view context) {
    return Explain(absl::StrCat(ClassYaml(), PodWith({"c"}), ClaimYaml("c"), context));
  };
  EXPECT_EQ(explain(""), absl::StrCat(kTwoTake,
                                      "kube-scheduler to create PodSchedulingContext default/p, "
                                      "selecting a node"));
  EXPECT_EQ(
      explain(ContextYaml("selectedNode: n-1")),
      absl::StrCat(kTwoTake, "driver gpu.example.com to allocate claim default/c on node n-1"));
  EXPECT_EQ(explain(ContextYaml("potentialNodes: [n-1]")),
            absl::StrCat(kTwoTake, "kube-scheduler to select a node"));
  EXPECT_EQ(explain(ContextYaml("selectedNode: n-1, potentialNodes: [n-1, n-2]",
                                "{name: e-c, unsuitableNodes: [n-1]}")),
            "default/p (Pending): 1 of 2 nodes would take it now (n-2).\n\n"
            "kube-scheduler to select another node than n-1, which driver gpu.example.com finds "
            "unsuitable for claim default/c");
}

// With several claims drivers are asked before a node is selected.
TEST(ExplainClaimsTest, TwoClaims) {
  const auto explain = [](absl::string_view context, absl::string_view d = "") {
    return Explain(
        absl::StrCat(ClassYaml(), PodWith({"c", "d"}), ClaimYaml("c"), ClaimYaml("d", d), context));
  };
  EXPECT_EQ(explain(""), absl::StrCat(kTwoTake,
                                      "kube-scheduler to create PodSchedulingContext default/p, "
                                      "asking the drivers about nodes"));
  EXPECT_EQ(explain(ContextYaml("potentialNodes: [n-1, n-2]", "{name: e-c}")),
            absl::StrCat(kTwoTake,
                         "driver gpu.example.com to say which of the 2 potential nodes do not suit "
                         "claim default/d"));
  EXPECT_EQ(explain(ContextYaml("potentialNodes: [n-1, n-2]", "{name: e-c}, {name: e-d}")),
            absl::StrCat(kTwoTake, "kube-scheduler to select a node"));
  const std::string selected =
      ContextYaml("selectedNode: n-2, potentialNodes: [n-1, n-2]", "{name: e-c}, {name: e-d}");
  EXPECT_EQ(explain(selected),
            absl::StrCat(kTwoTake,
                         "driver gpu.example.com to allocate claim default/c on node n-2\n"
                         "driver gpu.example.com to allocate claim default/d on node n-2"));
  // One driver was quicker.
  EXPECT_EQ(
      explain(selected, Allocated("", ReservedFor("p", "u-p"))),
      absl::StrCat(kTwoTake, "driver gpu.example.com to allocate claim default/c on node n-2"));
}

TEST(ExplainClaimsTest, Notes) {
  const auto notes = [](absl::string_view objects, absl::string_view spec) {
    return SectionOf(ExplainText(absl::StrCat(Nodes(), objects, PodWith({"c"}),
                                              ClaimYaml("c", "", "WaitForFirstConsumer", "", spec)),
                                 "p")
                         .text,
                     "Notes");
  };
  constexpr char kWants[] =
      "parametersRef: {apiGroup: gpu.resource.nvidia.com, kind: GpuClaimParameters, name: two}";
  const auto parameters = [](absl::string_view name) {
    return absl::StrCat(
        "---\n{apiVersion: gpu.resource.nvidia.com/v1alpha1, kind: GpuClaimParameters, metadata: "
        "{name: ",
        name, ", namespace: default}, spec: {count: 2}}\n");
  };
  EXPECT_EQ(notes(ClassYaml() + parameters("two"), kWants), "");
  EXPECT_EQ(notes(ClassYaml() + parameters("one"), kWants),
            "claim default/c refers to GpuClaimParameters default/two, which does not exist: its "
            "driver cannot allocate it");
  EXPECT_EQ(
      notes(ClassYaml(), kWants),
      "claim default/c refers to GpuClaimParameters default/two, which is not in the dump; if "
      "it does not exist, its driver cannot allocate the claim");
  EXPECT_EQ(
      notes(ClassYaml("structuredParameters: true"), ""),
      "class gpu uses structured parameters: kube-scheduler allocates claim default/c itself, "
      "which is not looked at here");
  EXPECT_EQ(SectionOf(ExplainText(absl::StrCat(Nodes(), PodWith({"c"})), "p").text, "Notes"),
            "apart from its claims, 2 of 2 nodes would take it now (n-1 and n-2)\n"
            "the dump has no ResourceClaim at all; was it made without resourceclaims, "
            "resourceclaimtemplates, resourceclasses and podschedulingcontexts?");
}

// A pod that was bound by hand: its kubelet prepares no claim that is not reserved for it.
TEST(ExplainClaimsTest, BoundPods) {
  const auto explain = [](absl::string_view status) {
    const std::string text =
        ExplainText(absl::StrCat(Nodes(), ClassYaml(), PodWith({"c"}, ", nodeName: n-1"),
                                 ClaimYaml("c", status)),
                    "p")
            .text;
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "default/p (Pending): it is bound to n-1, but has not started.");
    return SectionOf(text, "It waits for");
  };
  const std::string kubelet = "the kubelet of n-1 to start it; the scheduler has done its part";
  EXPECT_EQ(explain(""),
            "driver gpu.example.com to allocate claim default/c on node n-1\n" + kubelet);
  EXPECT_EQ(explain(Allocated("")),
            "the claim controller (kube-controller-manager) to reserve claim default/c for the "
            "pod: its kubelet prepares no other claim\n" +
                kubelet);
  EXPECT_EQ(explain(Allocated("", ReservedFor("p", "u-p"))), kubelet);
}

}  // namespace explain_cluster_claims_test
}  // namespace drasim
