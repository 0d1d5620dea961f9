#include "sim/record/ledger_pods.h"

#include <utility>

#include "absl/container/btree_map.h"
#include "model/check.h"
#include "model/proto/ledger.pb.h"

namespace drasim {
namespace {

// Adds a difference that a hostile ledger may claim to be anything.
SimTime LaterBy(SimTime from, int64_t gap_ns) {
  return SimTime(
      static_cast<int64_t>(static_cast<uint64_t>(from.ns()) + static_cast<uint64_t>(gap_ns)));
}

}  // namespace

std::string PackPods(uint64_t records, SimTime time, absl::Span<const EndedPod> pods,
                     const ClusterState& cluster, const JobTable* jobs) {
  DRASIM_CHECK(!pods.empty());
  proto::LedgerPods p;
  p.set_records(records);
  p.set_time_ns(time.ns());
  absl::btree_map<uint32_t, uint32_t> tenant_rows;  // by TenantId
  int64_t pod_before = 0;
  SimTime arrival_before;
  for (const EndedPod& ended : pods) {
    const PodHistory& history = ended.history;
    const PodId pod = ended.pod;
    const absl::string_view name = cluster.pod_name(pod);
    p.add_pod(int64_t{pod.value()} - pod_before);
    pod_before = pod.value();
    p.add_pod_name(name.data(), name.size());
    p.add_shape(cluster.pod_shape_id(pod).value());
    p.add_priority(cluster.pod_priority(pod));
    const JobId job = jobs == nullptr ? JobId() : jobs->job_of(pod);
    p.add_job(job.valid() ? uint64_t{job.value()} + 1 : 0);
    // Without a job, a tenant of its own that no job has.
    const uint32_t tenant = job.valid() ? jobs->row(job).tenant.value() : TenantId::kInvalid;
    const auto [row, added] =
        tenant_rows.try_emplace(tenant, static_cast<uint32_t>(p.tenants_size()));
    if (added) p.add_tenants(job.valid() ? jobs->tenant_name(TenantId(tenant)) : "");
    p.add_tenant(row->second);
    const SimTime arrival = cluster.pod_arrival(pod);
    p.add_arrival_ns(arrival.ns() - arrival_before.ns());
    arrival_before = arrival;
    const bool started = history.starts > 0;
    p.add_starts(history.starts);
    p.add_first_start_ns(started ? history.first_start.ns() - arrival.ns() : 0);
    p.add_last_start_ns(started ? history.last_start.ns() - history.first_start.ns() : 0);
    p.add_end_ns(ended.end.ns() - (started ? history.last_start : arrival).ns());
    p.add_node(started ? history.last_node.value() + 1 : 0);
    p.add_attempts(history.attempts_failed);
    p.add_last_failure(history.last_failure.valid() ? history.last_failure.value() + 1 : 0);
    p.add_rejected(static_cast<uint32_t>(history.rejected));
    p.mutable_end_kind()->push_back(static_cast<char>(ended.kind));
  }
  return p.SerializeAsString();
}

bool UnpackPods(const std::string& payload, size_t nodes, std::vector<EndedPodRow>* rows) {
  proto::LedgerPods p;
  if (!p.ParseFromString(payload)) return false;
  const int n = p.pod_size();
  for (const int size :
       {p.pod_name_size(), p.shape_size(), p.priority_size(), p.job_size(), p.tenant_size(),
        p.arrival_ns_size(), p.starts_size(), p.first_start_ns_size(), p.last_start_ns_size(),
        p.end_ns_size(), p.node_size(), p.attempts_size(), p.last_failure_size(),
        p.rejected_size()}) {
    if (size != n) return false;
  }
  if (p.end_kind().size() != static_cast<size_t>(n)) return false;
  int64_t number = 0;
  SimTime arrival;
  for (int i = 0; i < n; ++i) {
    if (__builtin_add_overflow(number, p.pod(i), &number) || number < 0) return false;
    const auto kind = static_cast<unsigned char>(p.end_kind()[static_cast<size_t>(i)]);
    if (p.tenant(i) >= static_cast<uint32_t>(p.tenants_size()) || p.node(i) > nodes ||
        (p.starts(i) > 0) != (p.node(i) > 0) || p.rejected(i) > kLastAdmissionFailure ||
        p.job(i) > JobId::kInvalid || kind == 0 || kind >= kRecordKinds) {
      return false;
    }
    EndedPodRow row;
    row.number = static_cast<uint64_t>(number);
    row.name = p.pod_name(i);
    row.shape = p.shape(i);
    row.priority = p.priority(i);
    if (p.job(i) > 0) row.job = JobId(static_cast<size_t>(p.job(i) - 1));
    row.tenant = p.tenants(static_cast<int>(p.tenant(i)));
    arrival = LaterBy(arrival, p.arrival_ns(i));
    row.arrival = arrival;
    row.starts = p.starts(i);
    if (row.starts > 0) {
      row.first_start = LaterBy(arrival, p.first_start_ns(i));
      row.last_start = LaterBy(row.first_start, p.last_start_ns(i));
      row.node = NodeId(p.node(i) - 1);
    }
    row.end = LaterBy(row.starts > 0 ? row.last_start : arrival, p.end_ns(i));
    row.end_kind = static_cast<RecordKind>(kind);
    row.attempts_failed = p.attempts(i);
    if (p.last_failure(i) > 0) row.last_failure = SummaryId(p.last_failure(i) - 1);
    row.rejected = static_cast<AdmissionFailure>(p.rejected(i));
    rows->push_back(std::move(row));
  }
  return true;
}

}  // namespace drasim
