#include "sim/record/ledger_keyframe.h"

#include <algorithm>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/proto/ledger.pb.h"
#include "model/state_io.h"
#include "model/status_macros.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/pod_columns.h"

namespace drasim {
namespace {

constexpr unsigned kSchedulableFlag = 1;
constexpr unsigned kAvailableFlag = 2;
constexpr unsigned kPluginGoneFlag = 4;
constexpr unsigned kLayoutChangesFlag = 8;

// Bounds that no sound ledger reaches, so that sums stay within 64 bits.
constexpr int64_t kMaxAllocatable = int64_t{1} << 60;

absl::Status Impossible(absl::string_view what) { return absl::DataLossError(what); }

using Live = proto::LedgerLive;
// The rows of live pods lie anywhere in memory: this number of pods ahead is prefetched.
constexpr size_t kPrefetched = 8;

void PackLiveNodes(const LiveState& live, WireMessage* out) {
  bool any_unhealthy = false;
  for (size_t n = 0; n < live.node_count(); ++n) {
    const LiveNode& node = live.node(NodeId(n));
    const unsigned flags =
        (node.schedulable ? kSchedulableFlag : 0U) | (node.available ? kAvailableFlag : 0U) |
        (node.plugin_gone ? kPluginGoneFlag : 0U) | (node.layout_changes ? kLayoutChangesFlag : 0U);
    out->Column(Live::kNodeFlagsFieldNumber).U64(flags);
    out->Column(Live::kUnhealthyFieldNumber).U64(node.unhealthy.bits());
    any_unhealthy |= !node.unhealthy.empty();
    for (const int64_t amount : node.allocatable) {
      out->Column(Live::kAllocatableFieldNumber).I64(amount);
    }
  }
  if (!any_unhealthy) out->Column(Live::kUnhealthyFieldNumber).Clear();
}

void PackLivePod(const LivePod& row, const ClusterState& cluster, WireMessage* out) {
  const PodHistory& history = row.history;
  out->Column(Live::kPhaseFieldNumber).U64(static_cast<uint64_t>(row.phase));
  out->Column(Live::kAttemptsFieldNumber).U64(history.attempts_failed);
  out->Column(Live::kLastFailureFieldNumber)
      .U64(history.last_failure.valid() ? history.last_failure.value() + uint64_t{1} : 0);
  out->Column(Live::kRejectedFieldNumber).U64(static_cast<uint64_t>(history.rejected));
  out->Column(Live::kStartsFieldNumber).U64(history.starts);
  out->Column(Live::kNodeFieldNumber)
      .U64(history.node.valid() ? history.node.value() + uint64_t{1} : 0);
  const SimTime arrival = cluster.pod_arrival(row.pod);
  PackCourse<Live>(history, arrival, out);
  if (history.starts == 0) return;
  out->Column(Live::kFirstStartNsFieldNumber).I64(history.first_bound.ns() - arrival.ns());
  out->Column(Live::kLastStartNsFieldNumber)
      .I64(history.running_since.ns() - history.first_bound.ns());
}

// The cluster's columns of the pods lie far apart, too: in a short loop per column the processor
// fetches several at once.
void PackLivePods(const std::vector<uint32_t>& rows, const LiveState& live,
                  const ClusterState& cluster, WireMessage* out) {
  std::vector<PodId> pods;
  pods.reserve(rows.size());
  for (const uint32_t row : rows) pods.push_back(live.pods()[row].pod);
  uint32_t number_before = 0;
  for (const PodId pod : pods) {
    out->Column(Live::kPodFieldNumber).U64(pod.value() - number_before);
    number_before = pod.value();
  }
  SimTime arrival_before;
  for (const PodId pod : pods) {
    const SimTime arrival = cluster.pod_arrival(pod);
    out->Column(Live::kArrivalNsFieldNumber).I64(arrival.ns() - arrival_before.ns());
    arrival_before = arrival;
  }
  for (const PodId pod : pods) out->AddBytes(Live::kPodNameFieldNumber, cluster.pod_name(pod));
  for (const PodId pod : pods) {
    out->Column(Live::kShapeFieldNumber).U64(cluster.pod_shape_id(pod).value());
  }
  for (const PodId pod : pods) {
    out->Column(Live::kPriorityFieldNumber).I64(cluster.pod_priority(pod));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + kPrefetched < rows.size()) live.PrefetchRow(rows[i + kPrefetched]);
    PackLivePod(live.pods()[rows[i]], cluster, out);
  }
}

void PackLiveOwners(const std::vector<uint32_t>& rows, const LiveState& live, const JobTable& jobs,
                    WireMessage* out) {
  TenantRows tenants;
  for (const uint32_t row : rows) {
    const JobId job = jobs.job_of(live.pods()[row].pod);
    const TenantId tenant = jobs.row(job).tenant;
    const auto [tenant_row, added] = tenants.RowOf(tenant);
    if (added) out->AddBytes(Live::kTenantsFieldNumber, jobs.tenant_name(tenant));
    out->Column(Live::kJobFieldNumber).U64(uint64_t{job.value()} + 1);
    out->Column(Live::kTenantFieldNumber).U64(tenant_row);
  }
}

void PackLiveResidents(const std::vector<uint32_t>& rows, const LiveState& live, WireMessage* out) {
  std::vector<uint32_t> place(rows.size());  // by row, in the order of the columns
  for (size_t i = 0; i < rows.size(); ++i) place[rows[i]] = static_cast<uint32_t>(i);
  std::vector<uint32_t> resident;  // rows, node by node
  for (size_t n = 0; n < live.node_count(); ++n) {
    const std::vector<PodId>& residents = live.node(NodeId(n)).pods;
    out->Column(Live::kResidentsFieldNumber).U64(residents.size());
    for (const PodId pod : residents) {
      resident.push_back(static_cast<uint32_t>(live.Find(pod) - live.pods().data()));
    }
  }
  for (const uint32_t row : resident) out->Column(Live::kResidentFieldNumber).U64(place[row]);
  std::string grants;
  for (size_t i = 0; i < resident.size(); ++i) {
    if (i + kPrefetched < resident.size()) live.PrefetchRow(resident[i + kPrefetched]);
    const LivePod& row = live.pods()[resident[i]];
    out->Column(Live::kDevicesFieldNumber).U64(row.devices.bits());
    out->Column(Live::kGrantsFieldNumber).U64(row.grants.size());
    for (const DeviceGrant& grant : row.grants) AppendLittleEndian(GrantWord(grant), 4, &grants);
  }
  if (!grants.empty()) out->AddBytes(Live::kGrantFieldNumber, grants);  // fixed32, packed
}

void PackLayouts(const ClusterState& cluster, const LayoutLookup& layouts, WireMessage* out) {
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    for (size_t g = 0; g < cluster.node(NodeId(n)).gpu_count; ++g) {
      out->Column(Live::kLayoutsFieldNumber).U64(InstancesOf(cluster, layouts, NodeId(n), g));
    }
  }
}

// The holdings of a resident pod, collected from the columns.
struct LivePlacement {
  uint32_t node = 0;  // 1 + node; 0: none
  uint64_t devices = 0;
  int first_grant = 0;
  int grants = 0;
};

absl::Status CheckLengths(const proto::LedgerLive& p, const ClusterState& cluster) {
  const size_t nodes = cluster.node_count();
  const auto size = [](int n) { return static_cast<size_t>(n); };
  const size_t pods = size(p.pod_size());
  for (const size_t found :
       {size(p.pod_name_size()), size(p.shape_size()), p.phase().size(), size(p.priority_size()),
        size(p.arrival_ns_size()), size(p.attempts_size()), size(p.last_failure_size()),
        size(p.rejected_size()), size(p.starts_size()), size(p.node_size())}) {
    if (found != pods) return Impossible("a keyframe's columns of pods differ in length");
  }
  if (!CourseReader<proto::LedgerLive>(p).HasPods(pods) || p.job_size() != p.tenant_size() ||
      (p.job_size() != 0 && size(p.job_size()) != pods)) {
    return Impossible("a keyframe's columns of pods differ in length");
  }
  const auto started =
      std::count_if(p.starts().begin(), p.starts().end(), [](uint32_t n) { return n > 0; });
  if (p.first_start_ns_size() != started || p.last_start_ns_size() != started) {
    return Impossible("a keyframe's columns of starts differ in length");
  }
  if (p.node_flags().size() != nodes || size(p.residents_size()) != nodes ||
      (p.unhealthy_size() != 0 && size(p.unhealthy_size()) != nodes) ||
      size(p.allocatable_size()) != nodes * cluster.extended_names().size()) {
    return Impossible("a keyframe has other nodes than the header");
  }
  if (p.devices_size() != p.resident_size() || p.grants_size() != p.resident_size()) {
    return Impossible("a keyframe's columns of residents differ in length");
  }
  if (size(p.counters_size()) != kRunCounters) {
    return Impossible("a keyframe has other counters than this format");
  }
  return absl::OkStatus();
}

// The placements by live pod.
absl::Status CollectPlacements(const proto::LedgerLive& p, std::vector<LivePlacement>* placements) {
  placements->assign(static_cast<size_t>(p.pod_size()), {});
  int next = 0;
  int next_grant = 0;
  for (int n = 0; n < p.residents_size(); ++n) {
    if (p.residents(n) > static_cast<uint32_t>(p.resident_size() - next)) {
      return Impossible("a keyframe lacks a resident");
    }
    const int end = next + static_cast<int>(p.residents(n));
    for (; next < end; ++next) {
      if (p.resident(next) >= placements->size()) {
        return Impossible("a keyframe has a resident that is not live");
      }
      LivePlacement& placement = (*placements)[p.resident(next)];
      if (placement.node != 0) return Impossible("a keyframe has a pod on two nodes");
      if (p.grants(next) > static_cast<uint32_t>(p.grant_size() - next_grant)) {
        return Impossible("a keyframe lacks a grant");
      }
      placement.node = static_cast<uint32_t>(n) + 1;
      placement.devices = p.devices(next);
      placement.first_grant = next_grant;
      placement.grants = static_cast<int>(p.grants(next));
      next_grant += placement.grants;
    }
  }
  if (next != p.resident_size()) return Impossible("a keyframe has a resident without a node");
  return absl::OkStatus();
}

// The cluster as ClusterState::Save would write it, which checks all that it loads. Only the sums
// of extended resources are unchecked there, since a node may report less than its pods hold.
absl::Status LoadCluster(const proto::LedgerLive& p, const std::vector<LivePlacement>& placements,
                         ClusterState* cluster) {
  StateWriter out;
  out.Section("cluster");
  out.U64(cluster->node_count());
  for (const char byte : p.node_flags()) {
    const auto flags = static_cast<unsigned char>(byte);
    out.Bool((flags & kSchedulableFlag) != 0);
    out.Bool((flags & kAvailableFlag) != 0);
  }
  for (const int64_t amount : p.allocatable()) {
    if (amount < 0 || amount > kMaxAllocatable) return Impossible("an impossible amount");
    out.I64(amount);
  }
  out.U64(placements.size());
  int64_t arrival_ns = 0;
  int64_t extended = 0;
  for (int i = 0; i < p.pod_size(); ++i) {
    const LivePlacement& placement = placements[static_cast<size_t>(i)];
    const auto phase = static_cast<unsigned char>(p.phase()[static_cast<size_t>(i)]);
    if (phase > static_cast<unsigned char>(PodPhase::kBound)) {
      return Impossible("a keyframe has a pod that is not live");
    }
    if (p.shape(i) >= cluster->shapes().size()) return Impossible("a pod of an unknown shape");
    if (__builtin_add_overflow(arrival_ns, p.arrival_ns(i), &arrival_ns)) {
      return Impossible("a time beyond the clock's range");
    }
    if (placement.node != 0) {
      const PodShape& shape = cluster->shapes().row(ShapeId(p.shape(i)));
      for (const auto& [name, amount] : shape.request.extended) {
        if (__builtin_add_overflow(extended, amount, &extended) || extended > kMaxAllocatable) {
          return Impossible("an impossible amount");
        }
      }
    }
    out.Str(p.pod_name(i));
    out.U64(p.shape(i));
    out.U64(phase);
    out.U64(placement.node);
    out.U64(placement.devices);
    out.I64(p.priority(i));
    out.I64(arrival_ns);
    out.U64(static_cast<uint64_t>(placement.grants));
    for (int g = 0; g < placement.grants; ++g) {
      const DeviceGrant grant = GrantOfWord(p.grant(placement.first_grant + g));
      out.U64(uint64_t{grant.device} << 32 | uint64_t{grant.placement} << 16 |
              static_cast<uint16_t>(grant.milli));
    }
  }
  // Versions count changes of this object; they say nothing about the run.
  out.U64(1);
  out.U64(1);
  for (const uint32_t resident : p.resident()) out.U64(resident);
  out.Bool(false);  // no record is about the devices of claims
  StateReader in(out.bytes());
  return cluster->Load(in);
}

// The history of live pod `i`, of which `start` counts those before it with starts. `latest` is the
// time of the keyframe.
absl::Status LoadHistory(const proto::LedgerLive& p, int i, const KeyframeBounds& bounds,
                         const ClusterState& cluster, SimTime latest, int* start,
                         CourseReader<proto::LedgerLive>* courses, PodHistory* history) {
  const absl::Status impossible_time = Impossible("a time before a pod's arrival, or too late");
  const PodId pod(static_cast<size_t>(i));
  history->attempts_failed = p.attempts(i);
  if (p.last_failure(i) > bounds.summaries) return Impossible("an unknown summary");
  if (p.last_failure(i) > 0) history->last_failure = SummaryId(p.last_failure(i) - 1);
  if (p.rejected(i) > kLastAdmissionFailure) {
    return Impossible("an unknown failure of admission");
  }
  history->rejected = static_cast<AdmissionFailure>(p.rejected(i));
  if (p.node(i) > cluster.node_count()) return Impossible("a node that does not exist");
  if (p.node(i) > 0) history->node = NodeId(p.node(i) - 1);
  history->starts = p.starts(i);
  const SimTime arrival = cluster.pod_arrival(pod);
  if (arrival < SimTime() || arrival > latest) return impossible_time;
  if (history->starts > 0) {
    // Negative differences are huge ones here.
    const auto first_ns = static_cast<uint64_t>(p.first_start_ns(*start));
    const auto last_ns = static_cast<uint64_t>(p.last_start_ns(*start));
    ++*start;
    if (!LaterBy(arrival, first_ns, latest, &history->first_bound) ||
        !LaterBy(history->first_bound, last_ns, latest, &history->running_since)) {
      return impossible_time;
    }
  }
  const bool bound = cluster.pod_phase(pod) == PodPhase::kBound;
  if (bound && history->starts == 0) return Impossible("a pod runs that was never bound");
  if (!courses->Next(cluster.node_count(), arrival, latest, nullptr, bound, history)) {
    return Impossible("an impossible history of a pod");
  }
  return absl::OkStatus();
}

absl::Status LoadOwners(const proto::LedgerLive& p, PodOwners* owners) {
  for (int i = 0; i < p.pod_size(); ++i) {
    if (p.job_size() == 0) {
      owners->Add(JobId(), "");
      continue;
    }
    if (p.job(i) == 0 || p.job(i) > JobId::kInvalid ||
        p.tenant(i) >= static_cast<uint32_t>(p.tenants_size())) {
      return Impossible("a pod of an unknown owner");
    }
    owners->Add(JobId(static_cast<size_t>(p.job(i) - 1)), p.tenants(static_cast<int>(p.tenant(i))));
  }
  return absl::OkStatus();
}

absl::Status LoadLayouts(const proto::LedgerLive& p, const ClusterState& cluster,
                         GpuLayouts* layouts) {
  int next = 0;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    for (size_t g = 0; layouts->known() && g < cluster.node(NodeId(n)).gpu_count; ++g) {
      if (next >= p.layouts_size()) return Impossible("a keyframe lacks a layout");
      if (!layouts->Set(cluster, NodeId(n), g, p.layouts(next++))) {
        return Impossible("an impossible layout");
      }
    }
  }
  if (next != p.layouts_size()) return Impossible("a keyframe has a layout without a GPU");
  return absl::OkStatus();
}

absl::Status LoadLive(const proto::LedgerLive& p, const KeyframeBounds& bounds, SimTime latest,
                      const ClusterState& cluster, LiveState* live) {
  live->set_latest(latest);
  const size_t names = cluster.extended_names().size();
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const auto flags = static_cast<unsigned char>(p.node_flags()[n]);
    live->SetNode(NodeId(n), (flags & kSchedulableFlag) != 0, (flags & kAvailableFlag) != 0);
    LiveNode* const node = live->mutable_node(NodeId(n));
    node->plugin_gone = (flags & kPluginGoneFlag) != 0;
    node->layout_changes = (flags & kLayoutChangesFlag) != 0;
    if (p.unhealthy_size() > 0) {
      node->unhealthy = DeviceSet::FromBits(p.unhealthy(static_cast<int>(n)));
    }
    for (size_t e = 0; e < names; ++e) {
      node->allocatable[e] = p.allocatable(static_cast<int>(n * names + e));
    }
  }
  int start = 0;
  CourseReader<proto::LedgerLive> courses(p);
  for (int i = 0; i < p.pod_size(); ++i) {
    PodHistory history;
    RETURN_IF_ERROR(LoadHistory(p, i, bounds, cluster, latest, &start, &courses, &history));
    live->AddPod(PodId(static_cast<size_t>(i)), history);
  }
  live->AddResidents(cluster);
  for (size_t c = 0; c < kRunCounters; ++c) {
    live->set_counter(static_cast<RunCounter>(c),
                      static_cast<int64_t>(p.counters(static_cast<int>(c))));
  }
  return absl::OkStatus();
}

}  // namespace

std::string PackKeyframe(const KeyframeHead& head, const ClusterState& cluster,
                         const LiveState& live, const JobTable* jobs, const LayoutLookup& layouts,
                         WireMessage* scratch) {
  const std::vector<uint32_t> rows = live.RowsByPod();
  WireMessage& columns = *scratch;
  PackLiveNodes(live, &columns);
  PackLivePods(rows, live, cluster, &columns);
  if (jobs != nullptr) PackLiveOwners(rows, live, *jobs, &columns);
  if (layouts != nullptr) PackLayouts(cluster, layouts, &columns);
  PackLiveResidents(rows, live, &columns);
  for (size_t c = 0; c < kRunCounters; ++c) {
    columns.Column(Live::kCountersFieldNumber)
        .U64(static_cast<uint64_t>(live.counter(static_cast<RunCounter>(c))));
  }
  const std::string bytes = columns.Take();
  proto::LedgerKeyframe keyframe;
  keyframe.set_records(head.records);
  keyframe.set_time_ns(head.time.ns());
  keyframe.set_pods(head.pods);
  keyframe.set_last_pod(head.last_pod);
  keyframe.set_shapes(head.shapes);
  keyframe.set_summaries(head.summaries);
  keyframe.set_live_bytes(bytes.size());
  keyframe.set_live(Pack(bytes));
  return keyframe.SerializeAsString();
}

absl::Status UnpackKeyframe(const std::string& payload, const KeyframeBounds& bounds,
                            KeyframeHead* head, ClusterState* cluster, LiveState* live,
                            PodOwners* owners, GpuLayouts* layouts,
                            std::vector<uint32_t>* numbers) {
  proto::LedgerKeyframe keyframe;
  if (!keyframe.ParseFromString(payload)) return Impossible("a keyframe is unreadable");
  head->records = keyframe.records();
  head->time = SimTime(keyframe.time_ns());
  head->pods = keyframe.pods();
  head->last_pod = keyframe.last_pod();
  head->shapes = keyframe.shapes();
  head->summaries = keyframe.summaries();
  if (head->pods > bounds.pods || head->pods > PodId::kInvalid) {
    return Impossible("a keyframe counts impossibly many pods");
  }
  if (head->shapes > cluster->shapes().size() || head->summaries > bounds.summaries) {
    return Impossible("a keyframe needs definitions that are not there");
  }
  std::string bytes;
  proto::LedgerLive columns;
  if (!CanUnpackTo(keyframe.live(), keyframe.live_bytes()) ||
      !Unpack(keyframe.live(), keyframe.live_bytes(), &bytes) || !columns.ParseFromString(bytes)) {
    return Impossible("a keyframe does not unpack");
  }
  RETURN_IF_ERROR(CheckLengths(columns, *cluster));
  numbers->clear();
  uint64_t number = 0;
  for (int i = 0; i < columns.pod_size(); ++i) {
    const uint64_t step = columns.pod(i);
    // Numbers ascend from 0, so only the first step may be 0.
    if ((i > 0 && step == 0) || number >= head->pods || step >= head->pods - number) {
      return Impossible("a keyframe names a pod that has not arrived");
    }
    number += step;
    numbers->push_back(static_cast<uint32_t>(number));
  }
  std::vector<LivePlacement> placements;
  RETURN_IF_ERROR(CollectPlacements(columns, &placements));
  RETURN_IF_ERROR(LoadCluster(columns, placements, cluster));
  RETURN_IF_ERROR(LoadOwners(columns, owners));
  RETURN_IF_ERROR(LoadLayouts(columns, *cluster, layouts));
  return LoadLive(columns, bounds, head->time, *cluster, live);
}

}  // namespace drasim
