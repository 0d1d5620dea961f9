// The points of DynamicResources that write: PostFilter, PreBind and Unreserve. The caller carries
// out the calls that a step asks for, in virtual time or at once, and lets the time pass that it
// waits for.
//
//   ClaimProgress step = writes.PreBind(&cycle, "node-1", now_ns);
//   while (step.call.has_value()) {
//     const ClaimReply reply = server.Do(*step.call);
//     step = writes.Resume(&cycle, &reply, now_ns);
//   }
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources, release 1.37.2.
#ifndef DRASIM_POLICIES_DRA_STRUCTURED_WRITES_H_
#define DRASIM_POLICIES_DRA_STRUCTURED_WRITES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "policies/dra/claim_port.h"
#include "policies/dra/claim_tasks.h"
#include "policies/dra/in_flight_claims.h"
#include "policies/dra/structured_cycle.h"

namespace drasim {

class StructuredWrites {
 public:
  // Interval between two looks at binding conditions.
  static constexpr int64_t kPollNs = 5 * kSecondNs;

  // Interval between two looks for a synthetic claim in the cache, and the longest wait for it. It
  // then goes on without.
  static constexpr int64_t kCachePollNs = kSecondNs;
  static constexpr int64_t kCacheTimeoutNs = 120 * kSecondNs;

  // The cache and the claims in flight must outlive the object.
  StructuredWrites(ClaimCache* cache, InFlightClaims* in_flight, const StructuredOptions& options)
      : cache_(cache), in_flight_(in_flight), options_(options) {}

  // After a PreFilter or Filter without success, other than kError: kReject, with a reason if
  // something was freed; kError if its call failed.
  ClaimProgress PostFilter(StructuredCycle* cycle);
  // Times count from 1970.
  ClaimProgress PreBind(StructuredCycle* cycle, const std::string& node, int64_t now_ns);
  // Failures of its calls are passed over.
  ClaimProgress Unreserve(StructuredCycle* cycle);
  // Goes on with the step under way. `reply` is null after a wait.
  ClaimProgress Resume(StructuredCycle* cycle, const ClaimReply* reply, int64_t now_ns);

 private:
  // Adds PreBind's calls for the first claim from `from` on that is not reserved for the pod.
  void AddBindTask(StructuredCycle* cycle, size_t from, int64_t now_ns) const;
  ClaimReservation ReservationOf(const StructuredCycle& cycle, size_t index, int64_t now_ns) const;
  // The unavailable claims in the order in which PostFilter looks at them.
  std::vector<size_t> DrawnOrder(const StructuredCycle& cycle) const;
  ClaimProgress RunTasks(StructuredCycle* cycle, const ClaimReply* reply, int64_t now_ns);
  void EndBindTask(StructuredCycle* cycle, size_t index, const ClaimTask& task);
  // Whether devices in flight must stay so until the cache has the claim: it was created just now.
  bool IsAheadOfCache(const StructuredCycle& cycle, const StructuredCycle::Task& task) const;
  // Looks for the claim of cycle->written in the cache.
  ClaimProgress PollCache(StructuredCycle* cycle, int64_t now_ns);
  ClaimProgress AfterTasks(StructuredCycle* cycle, int64_t now_ns);
  // Looks at the conditions of all claims.
  ClaimProgress Poll(StructuredCycle* cycle, int64_t now_ns);

  // KubeTimeText; many pods are bound in one second.
  const std::string& TimestampOf(int64_t now_ns) const;

  ClaimCache* cache_;
  InFlightClaims* in_flight_;
  StructuredOptions options_;
  // The latest answer of TimestampOf.
  mutable int64_t stamped_second_ = -1;
  mutable std::string stamp_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_STRUCTURED_WRITES_H_
