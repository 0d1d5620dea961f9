#include "sim/core/run_context.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "model/device_set.h"

namespace drasim {

RunContext::RunContext(EngineParts parts, EngineOptions options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      next_checkpoint_(options_.checkpoint_every),
      wants_claim_changes_(absl::c_any_of(
          parts_.sinks, [](const RecordSink* sink) { return sink->wants_claim_changes(); })) {}

void RunContext::BeginInstant(SimTime time) {
  if (parts_.on_interval) parts_.on_interval(now_, time);
  now_ = time;
  progress_.BeginInstant();
  records_before_instant_ = records_;
}

SimTime RunContext::After(SimDuration d) {
  int64_t ns = 0;
  if (!__builtin_add_overflow(now_.ns(), d.ns(), &ns)) return SimTime(ns);
  Fail(absl::InvalidArgumentError("the run lasts longer than the clock can count"));
  return SimTime(std::numeric_limits<int64_t>::max());
}

void RunContext::Emit(RecordKind kind, PodId pod, NodeId node, DeviceSet devices, uint32_t detail,
                      PodId preemptor) {
  Record record;
  record.time = now_;
  record.kind = kind;
  record.pod = pod;
  record.node = node;
  record.devices = devices;
  record.detail = detail;
  record.preemptor = preemptor;
  ++records_;
  // A failed attempt is no progress, even if it held a reservation for a while.
  if (kind != RecordKind::kAttemptFailed && kind != RecordKind::kPodReserved &&
      kind != RecordKind::kPodUnreserved) {
    progress_.Note(now_);
  }
  for (RecordSink* sink : parts_.sinks) sink->OnRecord(record, *parts_.cluster);
}

void RunContext::EmitClaim(const ClaimChange& change) {
  for (RecordSink* sink : parts_.sinks) {
    if (sink->wants_claim_changes()) sink->OnClaimChange(change);
  }
}

void RunContext::PassCheckpoint() {
  // The distance grows with the run. A few checkpoints stand closer, so that there are twenty soon.
  constexpr uint64_t kCloseCheckpoints = 20;
  ++checkpoints_;
  while (next_checkpoint_ <= records_) {
    next_checkpoint_ +=
        std::max(options_.checkpoint_every, records_ / (checkpoints_ < kCloseCheckpoints ? 8 : 3));
  }
}

std::vector<NodeId> RunContext::NodesOf(const JobRow& row) const {
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < row.pods; ++i) nodes.push_back(cluster().pod_node(PodOf(row, i)));
  return nodes;
}

}  // namespace drasim
