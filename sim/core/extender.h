// Extender: a program beside kube-scheduler that is asked about pods, as KubeCycle calls it.
//
// Source: kubernetes/kubernetes pkg/scheduler/extender.go and k8s.io/kube-scheduler/extender/v1,
// release 1.34.
#ifndef DRASIM_SIM_CORE_EXTENDER_H_
#define DRASIM_SIM_CORE_EXTENDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/time.h"
#include "policies/framework/plugin.h"

namespace drasim {

// The name under which upstream remembers that extenders rejected nodes of a pod. Any event then
// requeues it.
inline constexpr char kExtenderRejector[] = "Extender";

// An extender's scores are in [0, 10], those of plugins in [0, 100].
inline constexpr int64_t kExtenderScoreFactor = 10;

// Latency of one call in virtual time, unless a scenario sets another. The call's real time never
// counts.
inline constexpr SimDuration kDefaultExtenderLatency = SimDuration::Millis(5);

// The answer of an extender's Filter.
struct ExtenderVerdict {
  struct Failure {
    NodeId node;
    bool unresolvable = false;
    std::string message;
  };
  std::vector<NodeId> passed;     // in the extender's order
  std::vector<Failure> failures;  // ascending, at most one per node
};

struct ExtenderScore {
  NodeId node;
  int64_t score = 0;
};

class Extender {
 public:
  virtual ~Extender() = default;

  // For messages.
  virtual const std::string& name() const = 0;
  // Whether its errors are passed over.
  virtual bool ignorable() const = 0;
  // Multiplies its scores.
  virtual int64_t weight() const = 0;
  virtual bool filters() const = 0;
  virtual bool prioritizes() const = 0;
  virtual bool preempts() const = 0;
  virtual bool binds() const = 0;
  virtual bool IsInterested(PodId pod) const = 0;

  // Each of these is called only if the extender supports it, and may wait for an answer. Any error
  // is the extender's.
  virtual absl::StatusOr<ExtenderVerdict> Filter(PodId pod, absl::Span<const NodeId> nodes) = 0;
  // Scores of some of the nodes.
  virtual absl::StatusOr<std::vector<ExtenderScore>> Prioritize(PodId pod,
                                                                absl::Span<const NodeId> nodes) = 0;
  // The candidates that are left, with victims of its choice: first those of `candidates` in their
  // order, then others by node. A candidate may have no victims.
  virtual absl::StatusOr<std::vector<PreemptionReport::Candidate>> Preempt(
      PodId pod, absl::Span<const PreemptionReport::Candidate> candidates) = 0;
  virtual absl::Status Bind(PodId pod, NodeId node) = 0;
};

// Lets the first extender that binds and is interested bind the pod. False: there is none, or it
// failed and is ignorable; the scheduler binds the pod then. Adds the number of calls to `waits`.
absl::StatusOr<bool> BindByExtenders(absl::Span<Extender* const> extenders, PodId pod, NodeId node,
                                     int64_t* waits);

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_EXTENDER_H_
