#include "sim/extender/http_extender.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "sim/extender/extender_messages.h"
#include "sim/extender/http_channel.h"

namespace drasim {

bool HttpExtender::IsInterested(PodId pod) const {
  if (spec_.managed_resources.empty()) return true;
  const proto::kube::PodSpec& spec = objects_->PodObject(pod).spec();
  const auto names_any = [this](const proto::kube::Container& container) {
    const proto::kube::ResourceRequirements& given = container.resources();
    return std::any_of(spec_.managed_resources.begin(), spec_.managed_resources.end(),
                       [&given](const ExtenderSpec::ManagedResource& resource) {
                         return given.requests().count(resource.name) > 0 ||
                                given.limits().count(resource.name) > 0;
                       });
  };
  return std::any_of(spec.containers().begin(), spec.containers().end(), names_any) ||
         std::any_of(spec.init_containers().begin(), spec.init_containers().end(), names_any);
}

std::string HttpExtender::ArgsOf(PodId pod, absl::Span<const NodeId> nodes) const {
  const std::string object = PodJson(objects_->PodObject(pod));
  std::vector<std::string> texts;
  for (const NodeId node : nodes) {
    texts.push_back(spec_.node_cache_capable ? NameOf(node) : NodeJson(objects_->NodeObject(node)));
  }
  return spec_.node_cache_capable ? ExtenderArgsWithNames(object, texts)
                                  : ExtenderArgsWithNodes(object, texts);
}

absl::StatusOr<ExtenderVerdict> HttpExtender::Filter(PodId pod, absl::Span<const NodeId> nodes) {
  ASSIGN_OR_RETURN(const std::string text,
                   channel_->Call(spec_, spec_.filter_verb, ArgsOf(pod, nodes)));
  ASSIGN_OR_RETURN(const ExtenderFilterAnswer answer, ReadExtenderFilterResult(text));
  if (!answer.error.empty()) return absl::UnknownError(answer.error);
  ExtenderVerdict verdict;
  const std::vector<std::string>* passed = nullptr;
  if (answer.nodes.has_value()) passed = &*answer.nodes;
  if (spec_.node_cache_capable && answer.node_names.has_value()) passed = &*answer.node_names;
  if (passed != nullptr) {
    std::vector<NodeId> input(nodes.begin(), nodes.end());
    std::sort(input.begin(), input.end());
    for (const std::string& node : *passed) {
      const NodeId id = cluster_->FindNode(node);
      if (!id.valid() || !std::binary_search(input.begin(), input.end(), id)) {
        return absl::InvalidArgumentError(
            absl::StrCat("extender \"", spec_.url_prefix, "\" claims a filtered node \"", node,
                         "\" which is not found in the input node list"));
      }
      verdict.passed.push_back(id);
    }
  }
  // A node in both maps is unresolvable.
  std::map<NodeId, ExtenderVerdict::Failure> failures;
  for (const auto& [node, message] : answer.unresolvable) {
    const NodeId id = cluster_->FindNode(node);
    if (id.valid()) failures[id] = {id, true, message};
  }
  for (const auto& [node, message] : answer.failed) {
    const NodeId id = cluster_->FindNode(node);
    if (id.valid()) failures.try_emplace(id, ExtenderVerdict::Failure{id, false, message});
  }
  for (auto& [node, failure] : failures) verdict.failures.push_back(std::move(failure));
  return verdict;
}

absl::StatusOr<std::vector<ExtenderScore>> HttpExtender::Prioritize(
    PodId pod, absl::Span<const NodeId> nodes) {
  ASSIGN_OR_RETURN(const std::string text,
                   channel_->Call(spec_, spec_.prioritize_verb, ArgsOf(pod, nodes)));
  ASSIGN_OR_RETURN(const std::vector<HostPriority> answer, ReadHostPriorityList(text));
  std::vector<ExtenderScore> scores;
  for (const HostPriority& priority : answer) {
    const NodeId node = cluster_->FindNode(priority.host);
    if (node.valid()) scores.push_back({node, priority.score});
  }
  return scores;
}

absl::StatusOr<PodId> HttpExtender::FindVictim(const std::string& uid, NodeId node,
                                               absl::Span<const PodId> proposed) const {
  // A gang's victims may stand on other nodes.
  for (const absl::Span<const PodId> pods : {proposed, cluster_->pods_on(node)}) {
    for (const PodId pod : pods) {
      if (UidOf(pod) == uid) return pod;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("extender: ", spec_.url_prefix, " claims to preempt pod (UID: ", uid,
                   ") on node: ", NameOf(node), ", but the pod is not found on that node"));
}

absl::StatusOr<std::vector<PreemptionReport::Candidate>> HttpExtender::Preempt(
    PodId pod, absl::Span<const PreemptionReport::Candidate> candidates) {
  std::map<std::string, ExtenderVictims> by_node;
  std::map<NodeId, size_t> places;  // in `candidates`
  for (size_t i = 0; i < candidates.size(); ++i) {
    places[candidates[i].node] = i;
    ExtenderVictims& victims = by_node[NameOf(candidates[i].node)];
    victims.budget_violations = candidates[i].budget_violations;
    for (const PodId victim : candidates[i].victims) {
      victims.pods.push_back(spec_.node_cache_capable ? UidOf(victim)
                                                      : PodJson(objects_->PodObject(victim)));
    }
  }
  const std::string args = ExtenderPreemptionArgs(PodJson(objects_->PodObject(pod)), by_node,
                                                  /*meta=*/spec_.node_cache_capable);
  ASSIGN_OR_RETURN(const std::string text, channel_->Call(spec_, spec_.preempt_verb, args));
  ASSIGN_OR_RETURN(const auto answer, ReadExtenderPreemptionResult(text));
  std::map<std::pair<size_t, NodeId>, PreemptionReport::Candidate> left;  // others come last
  for (const auto& [name, victims] : answer) {
    const NodeId node = cluster_->FindNode(name);
    if (!node.valid()) {
      return absl::NotFoundError(absl::StrCat("nodeinfo not found for node name \"", name, "\""));
    }
    const auto place = places.find(node);
    const bool proposed = place != places.end();
    const size_t rank = proposed ? place->second : candidates.size();
    PreemptionReport::Candidate& candidate = left[{rank, node}];
    candidate.node = node;
    candidate.budget_violations = victims.budget_violations;
    for (const std::string& uid : victims.pods) {
      const absl::Span<const PodId> known =
          proposed ? absl::MakeConstSpan(candidates[rank].victims) : absl::Span<const PodId>();
      ASSIGN_OR_RETURN(const PodId victim, FindVictim(uid, node, known));
      candidate.victims.push_back(victim);
    }
  }
  std::vector<PreemptionReport::Candidate> result;
  for (auto& [place, candidate] : left) result.push_back(std::move(candidate));
  return result;
}

absl::Status HttpExtender::Bind(PodId pod, NodeId node) {
  const proto::kube::ObjectMeta& meta = objects_->PodObject(pod).metadata();
  const std::string args =
      ExtenderBindingArgs(meta.name(), meta.namespace_(), meta.uid(), NameOf(node));
  ASSIGN_OR_RETURN(const std::string text, channel_->Call(spec_, spec_.bind_verb, args));
  ASSIGN_OR_RETURN(const std::string error, ReadExtenderBindingResult(text));
  return error.empty() ? absl::OkStatus() : absl::UnknownError(error);
}

absl::StatusOr<std::vector<std::unique_ptr<HttpExtender>>> MakeExtenders(
    absl::Span<const ExtenderSpec> specs, const ClusterState* cluster,
    const ExtenderObjects* objects, ExtenderChannel* channel) {
  std::vector<std::unique_ptr<HttpExtender>> extenders;
  for (const ExtenderSpec& spec : specs) {
    RETURN_IF_ERROR(CheckTls(spec));
    extenders.push_back(std::make_unique<HttpExtender>(spec, cluster, objects, channel));
  }
  return extenders;
}

}  // namespace drasim
