#include "sim/core/extender.h"

namespace drasim {

absl::StatusOr<bool> BindByExtenders(absl::Span<Extender* const> extenders, PodId pod, NodeId node,
                                     int64_t* waits) {
  for (Extender* extender : extenders) {
    if (!extender->binds() || !extender->IsInterested(pod)) continue;
    ++*waits;
    const absl::Status status = extender->Bind(pod, node);
    if (status.ok()) return true;
    if (!extender->ignorable()) return status;
  }
  return false;
}

}  // namespace drasim
