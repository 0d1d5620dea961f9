#include "sim/core/line_walk.h"

#include <limits>

namespace drasim {

LineWalk::LineWalk(WaitingLine* line, const QueuePolicy* policy, JobTable* jobs,
                   const ClusterState* cluster)
    : line_(line),
      policy_(policy),
      jobs_(jobs),
      cluster_(cluster),
      per_tenant_(policy->per_tenant()) {}

void LineWalk::List(uint32_t line) {
  Position& position = positions_[line];
  position.key = policy_->TenantKey(*jobs_, *cluster_, TenantId(line));
  position.listed = true;
  order_.insert({position.key, line});
}

void LineWalk::Unlist(uint32_t line) {
  if (!positions_[line].listed) return;
  order_.erase({positions_[line].key, line});
  positions_[line].listed = false;
}

void LineWalk::Refresh() {
  for (const uint32_t line : line_->TakeTouched()) {
    if (positions_.size() <= line) positions_.resize(line + size_t{1});
    // A job that was added may stand before the position of the walk.
    positions_[line].moved = false;
    if (!per_tenant_) continue;
    Unlist(line);
    if (!line_->heads(line).empty()) List(line);
  }
  if (!per_tenant_) return;
  jobs_->TakeUsageChanges(&changed_);
  for (const TenantId tenant : changed_) {
    if (tenant.value() >= positions_.size() || !positions_[tenant.value()].listed) continue;
    Unlist(tenant.value());
    List(tenant.value());
  }
}

void LineWalk::Begin() {
  for (const uint32_t c : closed_classes_) closed_[c] = false;
  closed_classes_.clear();
  for (const uint32_t line : moved_) positions_[line].moved = false;
  moved_.clear();
  for (const uint32_t line : exhausted_) {
    Unlist(line);
    if (!line_->heads(line).empty()) List(line);
  }
  exhausted_.clear();
  if (!per_tenant_) return;
  const ClusterTotals& totals = cluster_->totals();
  const ResourceAmounts capacity = {totals.cpu_milli_capacity, totals.memory_bytes_capacity,
                                    totals.gpu_milli_capacity};
  if (capacity == capacity_) return;
  capacity_ = capacity;
  for (uint32_t line = 0; line < positions_.size(); ++line) {
    if (!positions_[line].listed) continue;
    Unlist(line);
    List(line);
  }
}

JobId LineWalk::FirstIn(uint32_t line, uint32_t* class_index) {
  const WaitingLine::Heads& heads = line_->heads(line);
  Position& position = positions_[line];
  auto it = position.moved
                ? heads.upper_bound({position.behind, std::numeric_limits<uint32_t>::max()})
                : heads.begin();
  for (; it != heads.end(); ++it) {
    if (it->class_index >= closed_.size() || !closed_[it->class_index]) {
      *class_index = it->class_index;
      return it->entry.job;
    }
    if (!position.moved) moved_.push_back(line);
    position.moved = true;
    position.behind = it->entry;
  }
  return JobId();
}

JobId LineWalk::First(uint32_t* class_index) {
  Refresh();
  if (!per_tenant_) return line_->lines() == 0 ? JobId() : FirstIn(0, class_index);
  while (!order_.empty()) {
    const uint32_t line = order_.begin()->second;
    const JobId job = FirstIn(line, class_index);
    if (job.valid()) return job;
    Unlist(line);
    exhausted_.push_back(line);
  }
  return JobId();
}

void LineWalk::Close(uint32_t class_index) {
  if (closed_.size() <= class_index) closed_.resize(class_index + size_t{1});
  closed_[class_index] = true;
  closed_classes_.push_back(class_index);
}

void LineWalk::Save(StateWriter& out) const { out.Ints(closed_classes_); }

void LineWalk::Load(StateReader& in) {
  std::vector<uint32_t> closed;
  in.Ints(&closed);
  for (const uint32_t c : closed) {
    if (c >= line_->classes().size()) return in.Fail("a closed class does not exist");
    Close(c);
  }
}

}  // namespace drasim
