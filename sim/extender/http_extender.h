// HttpExtender: an extender of a KubeSchedulerConfiguration, asked in JSON over a channel.
//
// Source: kubernetes/kubernetes pkg/scheduler/extender.go, release 1.34. Differences: a filter that
// answers with node objects passes the nodes of these names, as they stand in the cluster, with
// their pods; upstream goes on with the objects themselves, and counts no pods on them when it
// scores. Names of nodes that are not in the cluster are passed over among failures and scores.
#ifndef DRASIM_SIM_EXTENDER_HTTP_EXTENDER_H_
#define DRASIM_SIM_EXTENDER_HTTP_EXTENDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/proto/kube.pb.h"
#include "sim/core/extender.h"
#include "sim/extender/extender_channel.h"
#include "sim/scenario/kube_config.h"

namespace drasim {

// The Kubernetes objects behind a cluster. References hold until the next call of the function, or
// until the object changes.
class ExtenderObjects {
 public:
  virtual ~ExtenderObjects() = default;
  virtual const proto::kube::Pod& PodObject(PodId pod) const = 0;
  virtual const proto::kube::Node& NodeObject(NodeId node) const = 0;
};

class HttpExtender : public Extender {
 public:
  // All must outlive it.
  HttpExtender(ExtenderSpec spec, const ClusterState* cluster, const ExtenderObjects* objects,
               ExtenderChannel* channel)
      : spec_(std::move(spec)), cluster_(cluster), objects_(objects), channel_(channel) {}

  const std::string& name() const override { return spec_.url_prefix; }
  bool ignorable() const override { return spec_.ignorable; }
  int64_t weight() const override { return spec_.weight; }
  bool filters() const override { return !spec_.filter_verb.empty(); }
  bool prioritizes() const override { return !spec_.prioritize_verb.empty(); }
  bool preempts() const override { return !spec_.preempt_verb.empty(); }
  bool binds() const override { return !spec_.bind_verb.empty(); }
  // Whether a container or init container names a managed resource; always without any.
  bool IsInterested(PodId pod) const override;

  absl::StatusOr<ExtenderVerdict> Filter(PodId pod, absl::Span<const NodeId> nodes) override;
  absl::StatusOr<std::vector<ExtenderScore>> Prioritize(PodId pod,
                                                        absl::Span<const NodeId> nodes) override;
  absl::StatusOr<std::vector<PreemptionReport::Candidate>> Preempt(
      PodId pod, absl::Span<const PreemptionReport::Candidate> candidates) override;
  absl::Status Bind(PodId pod, NodeId node) override;

 private:
  const std::string& NameOf(NodeId node) const { return cluster_->node_spec(node).name; }
  const std::string& UidOf(PodId pod) const { return objects_->PodObject(pod).metadata().uid(); }
  std::string ArgsOf(PodId pod, absl::Span<const NodeId> nodes) const;
  absl::StatusOr<PodId> FindVictim(const std::string& uid, NodeId node,
                                   absl::Span<const PodId> proposed) const;

  const ExtenderSpec spec_;
  const ClusterState* cluster_;
  const ExtenderObjects* objects_;
  ExtenderChannel* channel_;
};

// The extenders of a configuration, in its order. InvalidArgument for settings that are not
// supported (CheckTls).
absl::StatusOr<std::vector<std::unique_ptr<HttpExtender>>> MakeExtenders(
    absl::Span<const ExtenderSpec> specs, const ClusterState* cluster,
    const ExtenderObjects* objects, ExtenderChannel* channel);

}  // namespace drasim

#endif  // DRASIM_SIM_EXTENDER_HTTP_EXTENDER_H_
