// PrioritySort (QueueSort): higher priority first, then the pod that was queued earlier, as in
// kube-scheduler's default profile.
#ifndef DRASIM_POLICIES_PLUGINS_PRIORITY_SORT_H_
#define DRASIM_POLICIES_PLUGINS_PRIORITY_SORT_H_

#include "policies/framework/plugin.h"

namespace drasim {

class PrioritySort : public QueueSortPlugin {
 public:
  absl::string_view name() const override { return "PrioritySort"; }
  bool Less(const QueuedPod& a, const QueuedPod& b) const override {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.queued_at != b.queued_at) return a.queued_at < b.queued_at;
    return a.sequence < b.sequence;
  }
  QueueOrder queue_order() const override { return QueueOrder::kByPriority; }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_PRIORITY_SORT_H_
