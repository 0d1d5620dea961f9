#include "policies/framework/requeue_hints.h"

namespace drasim {
namespace {

constexpr uint32_t kTaintEvents = kNodeTaints | kNodeSchedulable;

bool WokenByEveryTaint(uint32_t events) {
  return (events & kNodeAdded) != 0 && (events & kNodeTaints) == 0;
}

}  // namespace

uint32_t RegisteredEvents(const RequeuePlugin& plugin) {
  const uint32_t events = plugin.requeue_events();
  return WokenByEveryTaint(events) ? events | kTaintEvents : events;
}

bool Requeues(const RequeuePlugin& plugin, const ClusterChange& change, const PodContext& pod,
              const ClusterState& cluster) {
  const uint32_t events = plugin.requeue_events();
  if (change.detailed && (change.event & kTaintEvents) != 0 && WokenByEveryTaint(events)) {
    return true;
  }
  return (change.event & events) != 0 && plugin.MayHelp(change, pod, cluster);
}

}  // namespace drasim
