#include "sim/perf/perf_claim_plugin.h"

#include <algorithm>
#include <utility>

#include "policies/allocator/allocation_outcome.h"
#include "policies/dra/claim_score.h"
#include "policies/plugins/default_normalize.h"

namespace drasim::perf {
namespace {

// Reasons by the point that gives them; upstream's words vary with the objects.
enum ClaimWhy : ReasonIndex {
  kNotUsable = 1,  // PreFilter
  kDoesNotFit,     // Filter
  kNodeRejected,
  kSearchFailed,
  kNotReserved,  // Reserve
  kNotBound,     // PreBind
};
constexpr Reason kClaimReasons[] = {
    {ReasonKind::kNegotiationStep, "resourceclaims cannot be used yet"},
    {ReasonKind::kClaim, "cannot allocate all claims"},
    {ReasonKind::kClaim, "the claims or devices of the node cannot be used"},
    {ReasonKind::kClaim, "the search for devices failed"},
    {ReasonKind::kClaim, "claim allocation not found for node"},
    {ReasonKind::kWaitsForDriver, "the devices are not bound"},
};

StepResult ClaimResultOf(ClaimStatus status, ClaimWhy why) {
  StepResult result;
  result.code = status.code;
  if (status.code != StepCode::kSuccess && status.code != StepCode::kSkip) result.reason = why;
  result.message = std::move(status.reason);
  return result;
}

}  // namespace

std::vector<Reason> PerfClaimPlugin::reasons() const {
  return {std::begin(kClaimReasons), std::end(kClaimReasons)};
}

StepResult PerfClaimPlugin::PreEnqueue(const PodContext& pod) {
  const PerfClaims::PodEntry* const entry = claims_.Find(pod.pod);
  if (entry == nullptr) return {};
  return ClaimResultOf(claims_.plugin_.PreEnqueue(entry->pod), kNotUsable);
}

StepResult PerfClaimPlugin::PreFilter(const PodContext& pod, const ClusterState& cluster) {
  attempt_ = nullptr;
  const PerfClaims::PodEntry* const entry = claims_.Find(pod.pod);
  if (entry == nullptr) return DynamicResourcesWithoutClaims::PreFilter(pod, cluster);
  auto attempt = std::make_unique<Attempt>();
  attempt->pod = pod.pod;
  StepResult result = ClaimResultOf(
      claims_.plugin_.PreFilter(entry->pod, claims_.NowNs(), &attempt->cycle), kNotUsable);
  if (result.code == StepCode::kSkip) return result;
  // Scores of prioritized lists need the devices of each node.
  if (result.code == StepCode::kSuccess && !claims_.lists_) {
    attempt->all = claims_.plugin_.FilterAll(attempt->cycle);
    // Nodes have come since the slices did.
    if (attempt->all != nullptr && attempt->all->size() < claims_.nodes_.size()) {
      attempt->all = nullptr;
    }
  }
  attempt_ = std::move(attempt);
  return result;
}

ReasonIndex PerfClaimPlugin::Judge(NodeId node) const {
  Attempt& attempt = *attempt_;
  if (attempt.failed) return kSearchFailed;
  if (attempt.all != nullptr) {
    switch (attempt.all->Of(node)) {
      case AllocationOutcome::kAllocated:
        return kFits;
      case AllocationOutcome::kNodeError:
        return kNodeRejected;
      case AllocationOutcome::kDoesNotFit:
      case AllocationOutcome::kError:
        return kDoesNotFit;
    }
  }
  ClaimStatus status = claims_.plugin_.Filter(&attempt.cycle, claims_.nodes_[node.value()]);
  if (status.ok()) return kFits;
  attempt.failed = status.code == StepCode::kError;
  attempt.words[node] = std::move(status.reason);
  return attempt.failed ? kSearchFailed : kNodeRejected;
}

void PerfClaimPlugin::Filter(const PodContext& pod, const ClusterState&,
                             absl::Span<const NodeId> nodes,
                             absl::Span<ReasonIndex> verdicts) const {
  if (!IsOf(pod)) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits) verdicts[i] = Judge(nodes[i]);
  }
}

std::vector<std::string> PerfClaimPlugin::ReasonTexts(const PodContext& pod,
                                                      const ClusterState& cluster, NodeId node,
                                                      ReasonIndex local) const {
  if (IsOf(pod)) {
    const auto words = attempt_->words.find(node);
    if (words != attempt_->words.end()) return {words->second};
  }
  return DynamicResourcesWithoutClaims::ReasonTexts(pod, cluster, node, local);
}

PostFilterResult PerfClaimPlugin::PostFilter(const PodContext& pod, PostFilterHandle& handle) {
  if (!IsOf(pod) || !handle.RanPreFilter(*this)) {
    return DynamicResourcesWithoutClaims::PostFilter(pod, handle);
  }
  PostFilterResult result;
  result.keeps_nomination = true;
  if (attempt_->failed) {
    result.code = StepCode::kError;
    result.message = "the search for devices failed";
    return result;
  }
  if (claims_.only_asks_) return result;
  ClaimStatus status =
      claims_.Finish(&attempt_->cycle, claims_.writes_.PostFilter(&attempt_->cycle));
  result.code = status.code;
  result.message = std::move(status.reason);
  return result;
}

void PerfClaimPlugin::Score(const PodContext& pod, const ClusterState&,
                            absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  std::fill(scores.begin(), scores.end(), 0);
  if (!IsOf(pod)) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = claims_.plugin_.Score(attempt_->cycle, claims_.NameOf(nodes[i]));
  }
}

void PerfClaimPlugin::NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t> scores) const {
  DefaultNormalizeScore(/*reverse=*/false, scores);
}

StepResult PerfClaimPlugin::Reserve(const PodContext& pod, const ClusterState&, NodeId node) {
  if (!IsOf(pod)) return {};
  PerfClaims::PodEntry& entry = *claims_.Find(pod.pod);
  const std::unique_ptr<Attempt> attempt = std::move(attempt_);
  if (attempt->failed) return ClaimResultOf({StepCode::kError, ""}, kSearchFailed);
  if (attempt->all != nullptr) {
    ClaimStatus found = claims_.plugin_.Filter(&attempt->cycle, claims_.nodes_[node.value()]);
    if (!found.ok()) return ClaimResultOf(std::move(found), kNotReserved);
  }
  entry.cycle = std::make_unique<StructuredCycle>(std::move(attempt->cycle));
  entry.ended = false;
  entry.timer = 0;
  return ClaimResultOf(claims_.plugin_.Reserve(entry.cycle.get(), claims_.NameOf(node)),
                       kNotReserved);
}

void PerfClaimPlugin::Unreserve(const PodContext& pod, const ClusterState&, NodeId) {
  PerfClaims::PodEntry* const entry = claims_.Find(pod.pod);
  if (entry == nullptr || entry->cycle == nullptr) return;
  const std::unique_ptr<StructuredCycle> cycle = std::move(entry->cycle);
  entry->timer = 0;
  claims_.Finish(cycle.get(), claims_.writes_.Unreserve(cycle.get()));
}

StepResult PerfClaimPlugin::PreBind(const PodContext& pod, const ClusterState&, NodeId node) {
  PerfClaims::PodEntry* const entry = claims_.Find(pod.pod);
  if (entry == nullptr || entry->cycle == nullptr) return {};
  StepResult waits;
  waits.code = StepCode::kWait;
  if (entry->timer != 0) return waits;
  if (!entry->ended &&
      claims_.Drive(
          pod.pod, entry,
          claims_.writes_.PreBind(entry->cycle.get(), claims_.NameOf(node), claims_.NowNs()))) {
    return waits;
  }
  return ClaimResultOf(entry->result, kNotBound);
}

}  // namespace drasim::perf
