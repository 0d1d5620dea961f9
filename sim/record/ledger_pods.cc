#include "sim/record/ledger_pods.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/check.h"
#include "model/proto/ledger.pb.h"
#include "sim/record/pod_columns.h"
#include "sim/record/pod_owners.h"

namespace drasim {

std::string PackPods(uint64_t records, SimTime time, absl::Span<const EndedPod> pods,
                     const ClusterState& cluster, const JobTable* jobs, WireMessage* scratch) {
  DRASIM_CHECK(!pods.empty());
  using Row = proto::LedgerPods;
  WireMessage& out = *scratch;
  TenantRows tenants;
  int64_t pod_before = 0;
  SimTime arrival_before;
  bool any_evictions = false;
  for (const EndedPod& ended : pods) {
    const PodHistory& history = ended.history;
    const PodId pod = ended.pod;
    out.Column(Row::kPodFieldNumber).I64(int64_t{pod.value()} - pod_before);
    pod_before = pod.value();
    out.AddBytes(Row::kPodNameFieldNumber, cluster.pod_name(pod));
    out.Column(Row::kShapeFieldNumber).U64(cluster.pod_shape_id(pod).value());
    out.Column(Row::kPriorityFieldNumber).I64(cluster.pod_priority(pod));
    const JobId job = jobs == nullptr ? JobId() : jobs->job_of(pod);
    out.Column(Row::kJobFieldNumber).U64(job.valid() ? uint64_t{job.value()} + 1 : 0);
    // Tenant 0 of every run is "", that of jobs without one.
    const TenantId tenant = job.valid() ? jobs->row(job).tenant : TenantId(uint32_t{0});
    const auto [row, added] = tenants.RowOf(tenant);
    if (added) out.AddBytes(Row::kTenantsFieldNumber, job.valid() ? jobs->tenant_name(tenant) : "");
    out.Column(Row::kTenantFieldNumber).U64(row);
    const SimTime arrival = cluster.pod_arrival(pod);
    out.Column(Row::kArrivalNsFieldNumber).I64(arrival.ns() - arrival_before.ns());
    arrival_before = arrival;
    const bool started = history.starts > 0;
    const SimTime first = started ? history.first_bound : arrival;
    const SimTime last = started ? history.running_since : arrival;
    out.Column(Row::kStartsFieldNumber).U64(history.starts);
    out.Column(Row::kFirstStartNsFieldNumber).I64(first.ns() - arrival.ns());
    out.Column(Row::kLastStartNsFieldNumber).I64(last.ns() - first.ns());
    out.Column(Row::kEndNsFieldNumber).I64(ended.end.ns() - last.ns());
    out.Column(Row::kNodeFieldNumber)
        .U64(history.node.valid() ? history.node.value() + uint64_t{1} : 0);
    out.Column(Row::kAttemptsFieldNumber).U64(history.attempts_failed);
    out.Column(Row::kLastFailureFieldNumber)
        .U64(history.last_failure.valid() ? history.last_failure.value() + uint64_t{1} : 0);
    out.Column(Row::kRejectedFieldNumber).U64(static_cast<uint64_t>(history.rejected));
    out.Column(Row::kEndKindFieldNumber).U64(static_cast<uint64_t>(ended.kind));
    PackCourse<Row>(history, arrival, &out);
    any_evictions |= history.times_evicted != 0;
  }
  if (!any_evictions) out.Column(Row::kEvictionsFieldNumber).Clear();
  proto::LedgerPods head;
  head.set_records(records);
  head.set_time_ns(time.ns());
  return head.SerializeAsString() + out.Take();
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
  CourseReader<proto::LedgerPods> courses(p);
  const auto pods = static_cast<size_t>(n);
  if (p.end_kind().size() != pods || !courses.HasPods(pods)) return false;
  constexpr SimTime kNever(std::numeric_limits<int64_t>::max());
  int64_t number = 0;
  int64_t arrival_ns = 0;
  for (int i = 0; i < n; ++i) {
    if (__builtin_add_overflow(number, p.pod(i), &number) || number < 0 ||
        __builtin_add_overflow(arrival_ns, p.arrival_ns(i), &arrival_ns) || arrival_ns < 0) {
      return false;
    }
    const auto kind = static_cast<unsigned char>(p.end_kind()[static_cast<size_t>(i)]);
    if (p.tenant(i) >= static_cast<uint32_t>(p.tenants_size()) || p.node(i) > nodes ||
        (p.starts(i) > 0 && p.node(i) == 0) || p.rejected(i) > kLastAdmissionFailure ||
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
    row.arrival = SimTime(arrival_ns);
    row.starts = p.starts(i);
    // Negative differences are huge ones here.
    const auto gap = [](int64_t ns) { return static_cast<uint64_t>(ns); };
    SimTime last = row.arrival;
    if (row.starts > 0) {
      if (!LaterBy(last, gap(p.first_start_ns(i)), kNever, &row.first_bound) ||
          !LaterBy(row.first_bound, gap(p.last_start_ns(i)), kNever, &row.running_since)) {
        return false;
      }
      last = row.running_since;
    }
    if (!LaterBy(last, gap(p.end_ns(i)), kNever, &row.end)) return false;
    if (p.node(i) > 0) row.node = NodeId(p.node(i) - 1);
    row.end_kind = static_cast<RecordKind>(kind);
    row.attempts_failed = p.attempts(i);
    if (p.last_failure(i) > 0) row.last_failure = SummaryId(p.last_failure(i) - 1);
    row.rejected = static_cast<AdmissionFailure>(p.rejected(i));
    if (!courses.Next(nodes, row.arrival, row.end, &row.end, false, &row)) return false;
    rows->push_back(std::move(row));
  }
  return true;
}

}  // namespace drasim
