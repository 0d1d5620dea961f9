#include "sim/explain/cluster_remedies.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/kube/rules.h"
#include "sim/explain/cluster_report.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// Changing the pod or a node's labels is more of a change than a pod that leaves.
constexpr int64_t kConditionCost = 2;

// The amounts that are still lacked, by resource.
using Needs = KubeAmounts;

// DaemonSets replace their pods, and static pods cannot be deleted through the API.
bool IsMovable(const DumpPod& pod) {
  const kube::ObjectMeta& meta = pod.object->metadata();
  if (meta.annotations().find("kubernetes.io/config.mirror") != meta.annotations().end()) {
    return false;
  }
  const auto& owners = meta.owner_references();
  return std::none_of(owners.begin(), owners.end(), [](const kube::OwnerReference& owner) {
    return owner.kind() == "DaemonSet" || owner.kind() == "Node";
  });
}

int64_t GivenUp(const DumpPod& pod, const std::string& resource) {
  return resource == "pods" ? 1 : AmountOf(pod.request, resource);
}

// The needs that remain when `pods` have gone.
Needs Remaining(Needs needs, const std::vector<const DumpPod*>& pods) {
  for (const DumpPod* pod : pods) {
    for (auto need = needs.begin(); need != needs.end();) {
      need->second -= std::min(need->second, GivenUp(*pod, need->first));
      need = need->second == 0 ? needs.erase(need) : std::next(need);
    }
  }
  return needs;
}

// Whether the needs are met when `pods` have gone.
bool MeetNeeds(const Needs& needs, const std::vector<const DumpPod*>& pods) {
  return std::all_of(needs.begin(), needs.end(), [&pods](const auto& need) {
    int64_t left = need.second;
    for (const DumpPod* pod : pods) left -= std::min(left, GivenUp(*pod, need.first));
    return left == 0;
  });
}

// The pod's part of the needs, in thousandths of each; no more than the need itself counts if
// `capped`. Cut to a number of which thousands can be added.
int64_t PartOf(const DumpPod& pod, const Needs& needs, bool capped) {
  constexpr int64_t kMostPart = int64_t{1} << 44;
  int64_t sum = 0;
  for (const auto& [resource, need] : needs) {
    const int64_t given_up = GivenUp(pod, resource);
    const int64_t part = std::min(capped ? need : kMostPart, given_up);
    sum += need >= 1000 ? part / (need / 1000) : part * 1000 / need;
  }
  return std::min(sum, kMostPart);
}

using DumpPods = std::vector<const DumpPod*>;

// The better of two choices of as many pods: of a lower priority, then giving up less.
bool IsBetterToLeave(const DumpPods& a, const DumpPods& b, const Needs& needs) {
  const auto merit = [&needs](const DumpPods& pods) {
    std::pair<int32_t, int64_t> sum(std::numeric_limits<int32_t>::min(), 0);
    for (const DumpPod* pod : pods) {
      sum.first = std::max(sum.first, pod->priority());
      sum.second += PartOf(*pod, needs, false);
    }
    return sum;
  };
  return merit(a) < merit(b);
}

// False where not even the two largest holders of each resource are enough.
bool MayMeetByTwo(const Needs& needs, const DumpPods& candidates) {
  return std::all_of(needs.begin(), needs.end(), [&candidates](const auto& need) {
    int64_t largest = 0;
    int64_t second = 0;
    for (const DumpPod* pod : candidates) {
      const int64_t given_up = GivenUp(*pod, need.first);
      if (given_up > largest) {
        second = largest;
        largest = given_up;
      } else {
        second = std::max(second, given_up);
      }
    }
    return largest >= need.second || second >= need.second - largest;
  });
}

// The best one or two pods whose leaving is enough; none when no two are.
DumpPods OneOrTwoToLeave(const Needs& needs, const DumpPods& candidates) {
  DumpPods best;
  const auto consider = [&](const DumpPods& pods) {
    if (!MeetNeeds(needs, pods)) return;
    if (best.empty() || IsBetterToLeave(pods, best, needs)) best = pods;
  };
  for (const DumpPod* pod : candidates) consider({pod});
  if (!best.empty() || !MayMeetByTwo(needs, candidates)) return best;
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (size_t j = i + 1; j < candidates.size(); ++j) consider({candidates[i], candidates[j]});
  }
  return best;
}

// Few pods whose leaving meets the needs: as few as possible if one or two are enough, else the
// greatest contributions first, without those that turn out not to be needed. Nothing when all
// together are not enough.
std::optional<DumpPods> FewToLeave(const Needs& needs, const DumpPods& candidates) {
  if (needs.empty()) return DumpPods();
  if (!MeetNeeds(needs, candidates)) return std::nullopt;
  DumpPods chosen = OneOrTwoToLeave(needs, candidates);
  if (!chosen.empty()) return chosen;
  Needs left = needs;
  while (!left.empty()) {
    const DumpPod* best = nullptr;
    for (const DumpPod* pod : candidates) {
      if (std::find(chosen.begin(), chosen.end(), pod) != chosen.end()) continue;
      if (best == nullptr || PartOf(*pod, left, true) > PartOf(*best, left, true)) best = pod;
    }
    chosen.push_back(best);
    left = Remaining(left, {best});
  }
  for (size_t i = 0; i < chosen.size();) {
    DumpPods others = chosen;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    if (MeetNeeds(needs, others)) {
      chosen = std::move(others);
    } else {
      ++i;
    }
  }
  return chosen;
}

std::vector<std::string> ConditionsOf(const DumpVerdict& verdict) {
  std::vector<std::string> conditions;
  for (const DumpRejection& rejection : verdict.rejections) {
    if (!rejection.remedy.empty()) conditions.push_back(rejection.remedy);
  }
  return conditions;
}

bool IsHopeless(const DumpVerdict& verdict) {
  return std::any_of(verdict.rejections.begin(), verdict.rejections.end(),
                     [](const DumpRejection& rejection) { return rejection.hopeless; });
}

std::optional<Remedy> RemedyFor(const DumpPod& pod, const DumpVerdict& verdict, bool lower_only) {
  if (IsHopeless(verdict)) return std::nullopt;
  Remedy remedy;
  remedy.node = verdict.node;
  remedy.conditions = ConditionsOf(verdict);
  const auto may_go = [&](const DumpPod& other) {
    return IsMovable(other) && (!lower_only || other.priority() < pod.priority());
  };
  Needs needs;
  KubeAmounts wanted;
  for (const DumpRejection& rejection : verdict.rejections) {
    for (const LackedResource& lacked : rejection.lacked) {
      needs[lacked.resource] = lacked.shortfall();
      wanted[lacked.resource] = lacked.wanted;
      remedy.lacked.push_back(lacked);
    }
    for (const DumpPod* other : rejection.in_the_way) {
      if (other->is_deleting()) continue;
      if (!may_go(*other) || other->spec().node_name().empty()) return std::nullopt;
      const bool known =
          std::find(remedy.leave.begin(), remedy.leave.end(), other) != remedy.leave.end();
      if (!known) remedy.leave.push_back(other);
    }
  }
  std::vector<const DumpPod*> gone;
  std::vector<const DumpPod*> candidates;
  for (const DumpPod* other : verdict.node->pods) {
    const bool forced =
        std::find(remedy.leave.begin(), remedy.leave.end(), other) != remedy.leave.end();
    if (other->is_deleting() || forced) {
      gone.push_back(other);
    } else if (may_go(*other)) {
      candidates.push_back(other);
    }
  }
  for (const DumpRejection& rejection : verdict.rejections) {
    for (const DumpPod* other : rejection.in_the_way) {
      if (other->is_deleting()) remedy.leaving.push_back(other);
    }
  }
  for (const DumpPod* other : gone) {
    if (other->is_deleting() && PartOf(*other, needs, true) > 0) remedy.leaving.push_back(other);
  }
  const std::optional<DumpPods> more = FewToLeave(Remaining(needs, gone), candidates);
  if (!more.has_value()) return std::nullopt;
  remedy.leave.insert(remedy.leave.end(), more->begin(), more->end());
  for (const DumpPod* other : *more) remedy.given_up += PartOf(*other, wanted, false);
  remedy.cost = static_cast<int64_t>(remedy.leave.size()) +
                kConditionCost * static_cast<int64_t>(remedy.conditions.size());
  return remedy;
}

}  // namespace

std::vector<Remedy> FindRemedies(const DumpPod& pod, absl::Span<const DumpVerdict> verdicts,
                                 bool lower_only) {
  using Merit = std::tuple<int64_t, size_t, int64_t, int64_t>;
  std::map<std::vector<std::string>, std::pair<Merit, Remedy>> best;
  for (const DumpVerdict& verdict : verdicts) {
    if (verdict.rejections.empty()) continue;
    std::optional<Remedy> remedy = RemedyFor(pod, verdict, lower_only);
    if (!remedy.has_value() || (lower_only && !remedy->conditions.empty())) continue;
    const Merit merit(remedy->cost, remedy->leaving.size(), remedy->given_up,
                      verdict.rejections.front().distance);
    const auto [known, is_new] = best.emplace(remedy->conditions, std::make_pair(merit, *remedy));
    if (!is_new && merit < known->second.first) known->second = {merit, *std::move(remedy)};
  }
  std::vector<Remedy> remedies;
  for (auto& [conditions, entry] : best) remedies.push_back(std::move(entry.second));
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const Remedy& a, const Remedy& b) { return a.cost < b.cost; });
  return remedies;
}

std::vector<std::string> NodesWithRemedy(absl::Span<const DumpVerdict> verdicts,
                                         const std::vector<std::string>& conditions) {
  std::vector<std::string> names;
  for (const DumpVerdict& verdict : verdicts) {
    const bool nothing_else = std::all_of(
        verdict.rejections.begin(), verdict.rejections.end(), [](const DumpRejection& rejection) {
          return !rejection.hopeless && rejection.lacked.empty() && rejection.in_the_way.empty();
        });
    if (nothing_else && ConditionsOf(verdict) == conditions) names.push_back(verdict.node->name());
  }
  return names;
}

std::string RemedyText(const Remedy& remedy, const std::vector<std::string>& nodes) {
  std::vector<std::string> conditions = remedy.conditions;
  if (!remedy.leave.empty()) {
    std::vector<std::string> names;
    for (const DumpPod* pod : remedy.leave) names.push_back(pod->key);
    conditions.insert(conditions.begin(), absl::StrCat(ShortList(names, 4), " left"));
  }
  const std::string who = nodes.size() > 1
                              ? absl::StrCat(nodes.size(), " nodes (", ShortList(nodes), ")")
                              : remedy.node->name();
  std::vector<std::string> leaving;
  for (const DumpPod* pod : remedy.leaving) leaving.push_back(pod->key);
  std::vector<std::string> lacked;
  for (const LackedResource& lack : remedy.lacked) {
    const std::string amount = ShortAmountText(lack.resource, lack.shortfall(), true);
    const std::string slots = lack.shortfall() == 1 ? "pod slot" : "pod slots";
    lacked.push_back(absl::StrCat(amount, " ", lack.resource == "pods" ? slots : lack.resource));
  }
  return absl::StrCat(
      who, " would take the pod if ", absl::StrJoin(conditions, " and if "),
      leaving.empty()
          ? ""
          : absl::StrCat(", besides ", ShortList(leaving),
                         leaving.size() == 1 ? ", which is" : ", which are", " being deleted"),
      lacked.empty() ? "" : absl::StrCat(" (it lacks ", ShortList(lacked), ")"));
}

}  // namespace drasim
