#include "sim/explain/cluster_scheduled.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "sim/explain/cluster_claims.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

struct FailureMeaning {
  absl::string_view reason;  // of the pod's status
  absl::string_view what;
};

// Why kubelets and controllers end pods. Each is final: a new pod has to be made.
constexpr FailureMeaning kFailureMeanings[] = {
    {"UnexpectedAdmissionError",
     "the kubelet turned the pod away when it came: its device plugins did not give it the devices "
     "that the scheduler had counted upon (too few of them healthy and idle, a plugin that had "
     "just restarted, or one that refused)"},
    {"TopologyAffinityError",
     "the kubelet turned the pod away when it came: its TopologyManager found no CPUs and devices "
     "on few enough NUMA nodes, which the scheduler does not look at"},
    {"NodeAffinity", "the kubelet turned the pod away: the node no longer met its affinity"},
    {"Evicted", "the kubelet evicted the pod, because the node ran short of something"},
    {"Preempting", "the kubelet ended the pod for a critical one"},
    {"Terminated", "its node was shut down"},
    {"NodeShutdown", "its node was shut down"},
    {"DeadlineExceeded", "it ran for longer than its activeDeadlineSeconds"},
};

std::string MeaningOf(absl::string_view reason) {
  for (const FailureMeaning& known : kFailureMeanings) {
    if (known.reason == reason) return std::string(known.what);
  }
  if (absl::ConsumePrefix(&reason, "OutOf")) {
    return absl::StrCat("the kubelet turned the pod away: the node had too little ", reason,
                        " when it came");
  }
  return "";
}

std::string OnNode(const std::string& node) {
  return node.empty() ? std::string() : absl::StrCat(" on ", node);
}

// "UnexpectedAdmissionError: Allocate failed"
std::string ReasonAndMessage(const std::string& reason, const std::string& message) {
  return absl::StrCat(reason, reason.empty() || message.empty() ? "" : ": ", message);
}

// Containers that ended badly, or wait for something.
void NoteContainers(const kube::PodStatus& status, ClusterExplanation* explanation) {
  const auto note = [explanation](absl::string_view kind, const kube::ContainerStatus& container) {
    const std::string name = absl::StrCat(kind, container.name());
    if (container.state().has_waiting()) {
      const auto& waiting = container.state().waiting();
      explanation->notes.push_back(
          absl::StrCat(name, " waits: ", ReasonAndMessage(waiting.reason(), waiting.message())));
    } else if (container.state().has_terminated() &&
               container.state().terminated().exit_code() != 0) {
      const auto& ended = container.state().terminated();
      const std::string why = ReasonAndMessage(ended.reason(), ended.message());
      explanation->notes.push_back(absl::StrCat(name, " ended with exit code ", ended.exit_code(),
                                                why.empty() ? "" : ", ", why));
    }
  };
  for (const auto& container : status.init_container_statuses()) note("init container ", container);
  for (const auto& container : status.container_statuses()) note("container ", container);
}

void ExplainEnd(const DumpPod& pod, ClusterExplanation* explanation) {
  const kube::PodStatus& status = pod.status();
  const bool failed = status.phase() == "Failed";
  explanation->verdict = failed ? "failed" : "finished";
  const std::string why = ReasonAndMessage(status.reason(), status.message());
  explanation->summary = absl::StrCat(failed ? "it has failed" : "it has done its work",
                                      OnNode(pod.spec().node_name()), why.empty() ? "" : ": ", why);
  const std::string meaning = MeaningOf(status.reason());
  if (!meaning.empty()) explanation->notes.push_back(meaning);
  if (failed) {
    explanation->notes.push_back("this is final: it is never tried again, only a new pod can be");
  }
  NoteContainers(status, explanation);
}

void ExplainDeletion(const DumpPod& pod, ClusterExplanation* explanation) {
  const kube::ObjectMeta& meta = pod.object->metadata();
  const std::string& node = pod.spec().node_name();
  explanation->verdict = "deleting";
  explanation->summary =
      absl::StrCat("it is being deleted since ", meta.deletion_timestamp(), OnNode(node),
                   node.empty() ? ", and kube-scheduler passes over it" : "");
  if (!node.empty()) {
    explanation->waits_for.push_back(
        {absl::StrCat("the kubelet of ", node), "to stop its containers and say so"});
  }
  if (!meta.finalizers().empty()) {
    explanation->waits_for.push_back(
        {"whoever set them",
         absl::StrCat("to remove its finalizers ", absl::StrJoin(meta.finalizers(), ", "))});
  }
}

void NoteNode(const ClusterDump& dump, const std::string& name, ClusterExplanation* explanation) {
  const DumpNode* node = dump.FindNode(name);
  if (node == nullptr) {
    explanation->notes.push_back(absl::StrCat("node ", name, " is not in the dump"));
    return;
  }
  for (const kube::Condition& condition : node->object->status().conditions()) {
    if (condition.type() != "Ready" || condition.status() == "True") continue;
    explanation->notes.push_back(
        absl::StrCat("node ", name,
                     " is not ready: ", ReasonAndMessage(condition.reason(), condition.message())));
  }
}

void ExplainBound(const ClusterDump& dump, const DumpPod& pod, ClusterExplanation* explanation) {
  const std::string& node = pod.spec().node_name();
  if (pod.status().phase() == "Running") {
    explanation->verdict = "running";
    const std::string& since = pod.status().start_time();
    explanation->summary = absl::StrCat("it runs on ", node, since.empty() ? "" : " since ", since);
  } else {
    explanation->verdict = "starting";
    explanation->summary = absl::StrCat("it is bound to ", node, ", but has not started");
    explanation->waits_for = DumpClaims(dump, pod).AwaitedByKubelet();
    explanation->waits_for.push_back(
        {absl::StrCat("the kubelet of ", node), "to start it; the scheduler has done its part"});
  }
  NoteNode(dump, node, explanation);
  NoteContainers(pod.status(), explanation);
}

}  // namespace

bool ExplainPastScheduler(const ClusterDump& dump, const DumpPod& pod,
                          ClusterExplanation* explanation) {
  explanation->node = pod.spec().node_name();
  if (pod.is_finished()) {
    ExplainEnd(pod, explanation);
  } else if (pod.is_deleting()) {
    ExplainDeletion(pod, explanation);
  } else if (!pod.spec().node_name().empty()) {
    ExplainBound(dump, pod, explanation);
  } else {
    return false;
  }
  return true;
}

}  // namespace drasim
