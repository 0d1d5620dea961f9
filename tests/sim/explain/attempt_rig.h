// Clusters with jobs on them and a profile, for tests of explanations; and explanations as text.
#ifndef DRASIM_TESTS_SIM_EXPLAIN_ATTEMPT_RIG_H_
#define DRASIM_TESTS_SIM_EXPLAIN_ATTEMPT_RIG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/gpu_model_table.h"
#include "model/job_table.h"
#include "model/pod_shape.h"
#include "model/record.h"
#include "model/shape_table.h"
#include "policies/framework/profile.h"
#include "sim/core/profiles.h"
#include "sim/explain/attempt.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {

// A cluster with jobs that run on it or wait. Nodes come first, then shapes.
class ExplainRig {
 public:
  ExplainRig() : shapes_(&models_), cluster_(&models_, &shapes_) {}

  NodeId AddNode(const NodeSpec& spec) { return *cluster_.AddNode(spec); }
  ShapeId AddShape(const PodShape& shape) { return shapes_.Intern(shape); }
  GpuModelTable& models() { return models_; }
  ClusterState& cluster() { return cluster_; }
  JobTable& jobs() { return jobs_; }

  // A job of `pods` pods that waits; its first pod.
  PodId Wait(const std::string& name, ShapeId shape, int32_t pods = 1) {
    JobArrival arrival;
    arrival.name = name;
    arrival.shape = shape;
    arrival.pods = pods;
    const PodId first(cluster_.pod_count());
    jobs_.Add(arrival, first, shapes_);
    for (int32_t i = 0; i < pods; ++i) {
      cluster_.AddPod(pods == 1 ? name : absl::StrCat(name, "-", i), shape, 0, SimTime());
    }
    return first;
  }
  // One of one pod that runs until `end_s`; 0: without an end.
  PodId Run(const std::string& name, ShapeId shape, NodeId node, DeviceSet devices, int64_t end_s,
            absl::Span<const DeviceGrant> grants = {}) {
    JobArrival arrival;
    arrival.name = name;
    arrival.shape = shape;
    arrival.has_run_time = end_s > 0;
    arrival.run_time = SimDuration::Seconds(end_s);
    const PodId pod(cluster_.pod_count());
    const JobId job = jobs_.Add(arrival, pod, shapes_);
    cluster_.AddPod(name, shape, 0, SimTime());
    cluster_.Assume(pod, node, devices, grants);
    cluster_.Bind(pod);
    jobs_.Start(job);
    jobs_.Run(job, SimTime());
    return pod;
  }

  // After the nodes.
  const Profile& profile() {
    if (profile_ == nullptr) {
      PolicyContext context;
      context.extended_resources = cluster_.extended_names();
      context.mig = models_.any_mig();
      ProfileOptions options;
      options.policy = "least-allocated";
      profile_ = std::make_unique<Profile>(*Profile::Make(TestRegistry(), options, context));
      std::vector<std::string> reasons = profile_->reasons();
      reasons.push_back("refused by a step");
      summaries_.SetReasons(reasons);
    }
    return *profile_;
  }
  AttemptExplainer MakeExplainer(ClaimHooks hooks = {}) {
    profile();
    return AttemptExplainer(&cluster_, &jobs_, &summaries_, Profiles(profile_.get()),
                            std::move(hooks));
  }

  // The profile's reason why the node rejects the pod; 0 when it fits.
  ReasonIndex Verdict(PodId pod, NodeId node) {
    const PodContext context = {cluster_.pod_shape_id(pod), &cluster_.pod_shape(pod), pod,
                                SimTime()};
    for (const Profile::FilterEntry& filter : profile().filters()) {
      ReasonIndex verdict = kFits;
      filter.plugin->Filter(context, cluster_, absl::MakeConstSpan(&node, 1),
                            absl::MakeSpan(&verdict, 1));
      if (verdict != kFits) return static_cast<ReasonIndex>(filter.reason_base + verdict);
    }
    return kFits;
  }
  // The summary that an attempt of the pod would record. Nodes that fit count for nothing.
  SummaryId Summarise(PodId pod) {
    std::map<uint8_t, uint32_t> counts;
    VerdictSummaryTable::Row row;
    for (size_t n = 0; n < cluster_.node_count(); ++n) {
      if (!cluster_.node(NodeId(n)).available) continue;
      ++row.nodes;
      const ReasonIndex reason = Verdict(pod, NodeId(n));
      if (reason != kFits) ++counts[reason];
    }
    row.rejected.assign(counts.begin(), counts.end());
    return summaries_.Intern(row);
  }
  AttemptExplanation Explain(PodId pod) {
    profile();
    const SummaryId why = Summarise(pod);
    return MakeExplainer().OfFailure(pod, why, SimTime());
  }
  VerdictSummaryTable& summaries() { return summaries_; }

 private:
  GpuModelTable models_;
  ShapeTable shapes_;
  ClusterState cluster_;
  JobTable jobs_;
  VerdictSummaryTable summaries_;
  std::unique_ptr<Profile> profile_;
};

// One rejection in a line.
inline std::string RejectionLine(const Rejection& r) {
  std::string text = absl::StrCat(r.plugin, "/", r.reason, "/", r.object, ": ", r.nodes, " [",
                                  absl::StrJoin(r.examples, " "), "]");
  if (r.kind == Rejection::Kind::kState) return absl::StrCat(text, " ", r.state);
  absl::StrAppend(&text, " wants ", r.wanted, " lacks ", r.least_missing, "..", r.most_missing);
  if (r.kind == Rejection::Kind::kOwnPods) return absl::StrCat(text, " for the job");
  absl::StrAppend(&text, " idle ", r.idle_all, "/", r.idle_on_one, r.fragmented ? " pieces" : "",
                  " too small ", r.too_small_nodes);
  for (const auto& [name, nodes] : r.also) absl::StrAppend(&text, " also ", name, "=", nodes);
  return text;
}

inline std::vector<std::string> RejectionLines(const AttemptExplanation& why) {
  std::vector<std::string> lines;
  for (const Rejection& r : why.rejections) lines.push_back(RejectionLine(r));
  return lines;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_EXPLAIN_ATTEMPT_RIG_H_
