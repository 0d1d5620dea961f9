#include "sim/kube/object_changes.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <string>
#include <utility>

#include "model/kube/requests.h"
#include "model/kube/rules.h"
#include "model/quantity.h"

namespace drasim {
namespace {

using google::protobuf::util::MessageDifferencer;

// Whether some amount of `before` shrank or is gone.
bool Shrank(const ResourceRequest& before, const ResourceRequest& after) {
  if (after.cpu_milli < before.cpu_milli || after.memory_bytes < before.memory_bytes) return true;
  return std::any_of(before.extended.begin(), before.extended.end(), [&](const auto& old) {
    const auto now = std::lower_bound(
        after.extended.begin(), after.extended.end(), old.first,
        [](const auto& entry, const std::string& name) { return entry.first < name; });
    return now == after.extended.end() || now->first != old.first || now->second < old.second;
  });
}

// Map fields of protobuf have no order, and MessageDifferencer compares them as sets.
template <typename Map>
bool SameMap(const Map& a, const Map& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&b](const auto& entry) {
           const auto found = b.find(entry.first);
           return found != b.end() && found->second == entry.second;
         });
}

// "1000m" and "1" are the same amount.
bool SameAmounts(const KubeTexts& a, const KubeTexts& b) {
  if (a.size() != b.size()) return false;
  const KubeQuantities ours = ReadQuantities(a);
  const KubeQuantities others = ReadQuantities(b);
  return ours.size() == others.size() &&
         std::all_of(ours.begin(), ours.end(), [&others](const auto& entry) {
           const auto found = others.find(entry.first);
           return found != others.end() && found->second.Compare(entry.second) == 0;
         });
}

template <typename Repeated>
bool SameList(const Repeated& a, const Repeated& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return MessageDifferencer::Equals(x, y); });
}

// By type and status, as the scheduler compares conditions: heartbeats are no changes.
bool SameConditions(const proto::kube::NodeStatus& a, const proto::kube::NodeStatus& b) {
  const auto statuses = [](const proto::kube::NodeStatus& status) {
    std::vector<std::pair<std::string, std::string>> list;
    for (const auto& condition : status.conditions()) {
      list.emplace_back(condition.type(), condition.status());
    }
    std::sort(list.begin(), list.end());
    return list;
  };
  return statuses(a) == statuses(b);
}

}  // namespace

std::vector<ClusterEvent> ChangesOfPod(const PodShape& before, const PodShape& after) {
  std::vector<ClusterEvent> events;
  if (before.identity.labels != after.identity.labels) events.push_back(kPodLabels);
  if (Shrank(before.request, after.request)) events.push_back(kPodScaledDown);
  if (!before.constraints.gates.empty() && after.constraints.gates.empty()) {
    events.push_back(kPodGates);
  }
  // Tolerations can only be added to a pod.
  if (before.constraints.tolerations.size() != after.constraints.tolerations.size()) {
    events.push_back(kPodTolerations);
  }
  if (events.empty()) events.push_back(kPodOther);
  return events;
}

std::vector<ClusterEvent> ChangesOfNode(const proto::kube::Node& before,
                                        const proto::kube::Node& after) {
  std::vector<ClusterEvent> events;
  if (before.spec().unschedulable() && !after.spec().unschedulable()) {
    events.push_back(kNodeSchedulable);
  }
  if (!SameAmounts(before.status().allocatable(), after.status().allocatable())) {
    events.push_back(kNodeAllocatable);
  }
  if (!SameMap(before.metadata().labels(), after.metadata().labels())) {
    events.push_back(kNodeLabels);
  }
  if (!SameList(before.spec().taints(), after.spec().taints())) events.push_back(kNodeTaints);
  if (!SameConditions(before.status(), after.status()) ||
      !SameMap(before.metadata().annotations(), after.metadata().annotations())) {
    events.push_back(kNodeOther);
  }
  return events;
}

}  // namespace drasim
