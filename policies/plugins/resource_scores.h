// Scores by the utilisation of a node with the pod on it: LeastAllocated, MostAllocated and
// RequestedToCapacityRatio (the scoring strategies of kube-scheduler's NodeResourcesFit, also a
// plugin each), and PackingExtender (the common score of scheduler extenders for GPUs).
//
// Devices stand for an extended resource where claims serve it (KEP 5004).
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/noderesources, release 1.34, with
// its integer arithmetic. A pod of a trace has no containers: one without CPU (or memory) counts as
// one container without a request.
//
// Score costs O(nodes x resources). Scores lie in [0, 100], are final and may be cached.
#ifndef DRASIM_POLICIES_PLUGINS_RESOURCE_SCORES_H_
#define DRASIM_POLICIES_PLUGINS_RESOURCE_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/pod_shape.h"
#include "policies/framework/plugin.h"
#include "policies/framework/resource_score_options.h"

namespace drasim {

// InvalidArgument for options outside of the limits of ResourceScoreOptions. The plugins below
// CHECK their options.
absl::Status CheckResourceScoreOptions(const ResourceScoreOptions& options);

// One resource of a node with the pod on it, in the resource's own unit: milli, bytes, pieces.
struct ResourceUse {
  // Amount in use by residents and the pod. May exceed the capacity, which a node may lower below
  // the requests of its pods.
  int64_t requested = 0;
  int64_t capacity = 0;  // above 0
  int64_t weight = 1;
  bool device_milli = false;  // amounts are thousandths of a device: the resource "gpu"
  int64_t added = 0;          // the pod's part of `requested`
};

// The resources that a plugin scores by. All calls must be about the same cluster.
class ScoredResources {
 public:
  using List = std::vector<std::pair<std::string, int64_t>>;  // name, weight
  enum class Requests : uint8_t {
    kNonZero,  // as ScoredRequest counts them, for CPU and memory of residents, too
    kReal,
  };

  // A name may occur twice. CHECKs the limits of weights.
  ScoredResources(const List& resources, Requests requests);

  // Selects the resources for pods of a shape: CPU, memory and ephemeral storage always, others
  // only if the shape requests them. Returns false if there is nothing to score: requests count as
  // written, and the shape has none of the resources.
  bool Select(const PodShape& pod, const ClusterState& cluster);
  // Returns what Select would return, without selecting.
  bool Asks(const PodShape& pod) const;
  // The selected resources that the node has, in the order of the list. Valid until the next call.
  absl::Span<const ResourceUse> UsesAfter(const ClusterState& cluster, NodeId node);

 private:
  enum class Kind : uint8_t { kCpu, kMemory, kGpu, kCounted };
  struct Entry {
    std::string name;
    int64_t weight = 1;
    Kind kind = Kind::kCounted;
    bool only_if_asked = true;
    bool known = true;  // some node has it
    size_t column = 0;  // of ClusterState::extended_names()
  };
  struct Selected {
    size_t entry;
    int64_t request;
  };

  void Resolve(const ClusterState& cluster);
  int64_t RequestOf(const Entry& entry, const PodShape& pod) const;
  ResourceUse UseAfter(const Selected& selected, const ClusterState& cluster, NodeId node) const;

  Requests requests_;
  size_t resolved_names_ = SIZE_MAX;  // of the cluster, when entries were resolved
  std::vector<Entry> entries_;
  std::vector<Selected> selected_;
  std::vector<ResourceUse> uses_;
};

// "cpu" and "memory", weight 1 each: kube-scheduler's default list.
ScoredResources::List CpuAndMemory();

// Base of scores that depend only on a node's ResourceUses. 0 for pods with nothing to score.
class ResourceScore : public ScorePlugin {
 public:
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;

 protected:
  ResourceScore(const ScoredResources::List& resources, ScoredResources::Requests requests)
      : resources_(resources, requests) {}
  const ScoredResources& resources() const { return resources_; }

 private:
  virtual int64_t ScoreOf(absl::Span<const ResourceUse> uses) const = 0;

  ScoredResources resources_;
};

// Weighted mean of the percentages that stay free; 0 for a resource that is overcommitted.
class LeastAllocated : public ResourceScore {
 public:
  explicit LeastAllocated(const ScoredResources::List& resources)
      : ResourceScore(resources, ScoredResources::Requests::kNonZero) {}
  absl::string_view name() const override { return "LeastAllocated"; }

 private:
  int64_t ScoreOf(absl::Span<const ResourceUse> uses) const override;
};

// Weighted mean of the percentages in use, at most 100 each.
class MostAllocated : public ResourceScore {
 public:
  explicit MostAllocated(const ScoredResources::List& resources)
      : ResourceScore(resources, ScoredResources::Requests::kNonZero) {}
  absl::string_view name() const override { return "MostAllocated"; }

 private:
  int64_t ScoreOf(absl::Span<const ResourceUse> uses) const override;
};

// Weighted mean, rounded half up, of the percentages in use as a curve maps them. A resource whose
// curve value is 0 does not count, weight included.
class RequestedToCapacityRatio : public ResourceScore {
 public:
  using Shape = std::vector<std::pair<int32_t, int32_t>>;  // utilisation 0..100, score 0..10
  // An empty shape: (0, 0), (100, 10). CHECKs the limits of ResourceScoreOptions::shape.
  RequestedToCapacityRatio(const ScoredResources::List& resources, const Shape& shape);
  absl::string_view name() const override { return "RequestedToCapacityRatio"; }

 private:
  int64_t ScoreOf(absl::Span<const ResourceUse> uses) const override;
  int64_t CurveAt(int64_t percent) const;

  std::vector<std::pair<int64_t, int64_t>> points_;  // utilisation, score 0..100
};

// The joint utilisation, in percent, of all extended resources and devices that the pod requests:
// sum of weight x amount in use over sum of weight x capacity, so that larger capacities count
// more. A whole device of the direct front end is one piece. "cpu", "memory" and
// "ephemeral-storage" are ignored. At most 100; 0 for pods without such requests.
class PackingExtender : public ResourceScore {
 public:
  explicit PackingExtender(const ScoredResources::List& resources);
  absl::string_view name() const override { return "PackingExtender"; }

 private:
  int64_t ScoreOf(absl::Span<const ResourceUse> uses) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_RESOURCE_SCORES_H_
