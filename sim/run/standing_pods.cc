#include "sim/run/standing_pods.h"

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/key_error.h"
#include "model/state_io.h"
#include "model/text/shown_text.h"

namespace drasim {
namespace {

class StandingSource final : public EventSource {
 public:
  StandingSource(const std::vector<JobArrival>* jobs, EventSource* rest)
      : jobs_(jobs), rest_(rest) {}

  absl::StatusOr<bool> Next(JobArrival* out) override {
    if (next_ == jobs_->size()) return rest_->Next(out);
    *out = (*jobs_)[next_++];
    return true;
  }
  void Save(StateWriter& out) const override {
    out.Section("standing_pods");
    out.U64(next_);
    rest_->Save(out);
  }
  absl::Status Load(StateReader& in) override {
    in.Section("standing_pods");
    const uint64_t next = in.U64();
    if (next > jobs_->size()) in.Fail(absl::StrCat("there is no standing pod ", next));
    if (!in.status().ok()) return in.status();
    next_ = static_cast<size_t>(next);
    return rest_->Load(in);
  }

 private:
  const std::vector<JobArrival>* const jobs_;
  EventSource* const rest_;
  size_t next_ = 0;
};

}  // namespace

absl::StatusOr<StandingPods> StandingPods::Make(const ClusterSnapshot& snapshot,
                                                const std::vector<JobArrival>& workload,
                                                ShapeTable* shapes) {
  StandingPods standing;
  absl::flat_hash_set<absl::string_view> names;
  for (const SnapshotPod& pod : snapshot.pods) {
    JobArrival& job = standing.jobs_.emplace_back(pod.job);
    job.shape = shapes->Intern(pod.shape);
    standing.names_.push_back(pod.node);
    standing.devices_.push_back(pod.devices);
    names.insert(pod.job.name);
  }
  for (const JobArrival& job : workload) {
    if (!names.contains(job.name)) continue;
    return KeyError("cluster.manifests",
                    absl::StrCat("found a pod called '", ShownText(job.name),
                                 "', as a job of the workload, expected names of their own"));
  }
  return standing;
}

void StandingPods::AppendTo(std::vector<JobArrival>* jobs) const {
  jobs->insert(jobs->end(), jobs_.begin(), jobs_.end());
}

void StandingPods::TakeFrom(std::vector<JobArrival>* jobs) {
  DRASIM_CHECK(jobs->size() >= jobs_.size());
  const size_t begin = jobs->size() - jobs_.size();
  for (size_t i = 0; i < jobs_.size(); ++i) jobs_[i] = std::move((*jobs)[begin + i]);
  jobs->resize(begin);
}

void StandingPods::PinToNodes(ShapeTable* shapes) {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    if (names_[i].empty()) continue;
    PodShape shape = shapes->row(jobs_[i].shape);
    PodConstraints& constraints = shape.constraints;
    if (constraints.node_terms.empty()) constraints.node_terms.emplace_back();
    for (NodeTerm& term : constraints.node_terms) {
      term.requirements.push_back(
          {/*of_name=*/true, "metadata.name", NodeOperator::kIn, {names_[i]}});
    }
    constraints.requires_node_terms = true;
    constraints.tolerations.emplace_back().exists = true;
    jobs_[i].shape = shapes->Intern(shape);
    names_[i].clear();
    devices_[i] = DeviceSet();
  }
}

void StandingPods::FindNodes(const ClusterState& cluster) {
  nodes_.clear();
  for (const std::string& name : names_) {
    nodes_.push_back(name.empty() ? NodeId() : cluster.FindNode(name));
  }
}

std::unique_ptr<EventSource> StandingPods::InFrontOf(EventSource* rest) const {
  return std::make_unique<StandingSource>(&jobs_, rest);
}

}  // namespace drasim
