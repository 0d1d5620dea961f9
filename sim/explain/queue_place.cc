#include "sim/explain/queue_place.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/number_text.h"
#include "model/random.h"
#include "model/state_io.h"
#include "policies/framework/queue_policy.h"
#include "sim/core/kubernetes_queue.h"
#include "sim/core/waiting_line.h"
#include "sim/explain/node_room.h"
#include "sim/run/quota_table.h"

namespace drasim {
namespace {

// The most a tenant may have of one resource; Quotas answers no more than whether an amount is
// allowed.
int64_t QuotaFor(const Quotas& quotas, absl::string_view tenant, SimTime now,
                 int64_t ResourceAmounts::*resource) {
  const auto allows = [&](int64_t amount) {
    ResourceAmounts wanted;
    wanted.*resource = amount;
    return quotas.Allows(tenant, now, {}, wanted);
  };
  int64_t low = 0;
  int64_t high = std::numeric_limits<int64_t>::max();
  if (allows(high)) return Quotas::kUnlimited;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (allows(middle) ? low : high) = middle;
  }
  return low;
}

// Whether the pod is where `leaves`, on a copy of the queue, takes it from.
template <typename Leaves>
bool IsIn(const KubernetesQueue& queue, Leaves leaves) {
  KubernetesQueue copy = queue;
  return leaves(copy);
}

// When the timer takes the pod, which sleeps or backs off, from its place.
template <typename Next, typename Flush, typename Leaves>
std::optional<SimTime> WhenReleased(KubernetesQueue queue, SimTime now, Next next, Flush flush,
                                    Leaves leaves) {
  constexpr int kMostTicks = 100'000;
  for (int i = 0; i < kMostTicks; ++i) {
    const SimTime at = next(queue, now);
    now = at;
    flush(queue, at);
    if (!IsIn(queue, [&](KubernetesQueue& q) { return leaves(q, at); })) return at;
  }
  return std::nullopt;
}

std::optional<SimTime> EndOfSleep(const KubernetesQueue& queue, PodId pod, SimTime now) {
  return WhenReleased(
      queue, now, [](const KubernetesQueue& q, SimTime t) { return q.NextFlushTick(t); },
      [](KubernetesQueue& q, SimTime t) { q.FlushUnschedulable(t); },
      [pod](KubernetesQueue& q, SimTime t) { return q.OnPodEvent(pod, t); });
}

std::optional<SimTime> EndOfBackoff(const KubernetesQueue& queue, PodId pod, SimTime now) {
  return WhenReleased(
      queue, now, [](const KubernetesQueue& q, SimTime t) { return q.NextBackoffTick(t); },
      [](KubernetesQueue& q, SimTime t) { q.FlushBackoff(t); },
      // An active pod cannot be activated.
      [pod](KubernetesQueue& q, SimTime t) { return q.Activate(pod, t); });
}

// The place of an active pod; 1 is popped next.
size_t PlaceAmongActive(KubernetesQueue queue, PodId pod, SimTime now) {
  for (size_t place = 1; queue.active() > 0; ++place) {
    if (queue.Pop(now).pod == pod) return place;
  }
  return 0;
}

// Finds the pod's place in kube-scheduler's own queue; false if it is not there.
bool FindInQueue(const KubernetesQueue& queue, PodId pod, SimTime now, QueuePlace* out) {
  if (IsIn(queue, [&](KubernetesQueue& q) { return q.OnPodEvent(pod, now); })) {
    out->where = QueuePlace::Where::kAsleep;
    out->until = EndOfSleep(queue, pod, now);
  } else if (IsIn(queue, [&](KubernetesQueue& q) { return q.Activate(pod, now); })) {
    out->where = QueuePlace::Where::kBackoff;
    out->until = EndOfBackoff(queue, pod, now);
  } else if (IsIn(queue, [&](KubernetesQueue& q) { return q.Remove(pod); })) {
    out->where = QueuePlace::Where::kActive;
    out->length = queue.active();
    out->place = PlaceAmongActive(queue, pod, now);
  } else {
    return false;
  }
  return true;
}

// The state that KubernetesDispatcher saves after its queue.
struct OutsideQueue {
  struct Gate {
    std::vector<JobId> jobs;
    ResourceAmounts admitted;
  };
  struct Nomination {
    JobId job;
    SimTime not_before;
    std::vector<JobId> victims;
  };
  std::vector<Gate> gates;  // by tenant
  std::vector<Nomination> nominations;
  std::vector<JobId> held;
};

std::vector<JobId> ReadJobs(StateReader& in) {
  std::vector<JobId> jobs;
  const size_t n = in.Count();
  for (size_t i = 0; i < n && in.status().ok(); ++i) {
    jobs.push_back(JobId(static_cast<size_t>(in.U64())));
  }
  return jobs;
}

OutsideQueue ReadOutsideQueue(StateReader& in) {
  OutsideQueue outside;
  const size_t tenants = in.Count();
  for (size_t t = 0; t < tenants && in.status().ok(); ++t) {
    OutsideQueue::Gate gate;
    gate.jobs = ReadJobs(in);
    gate.admitted.cpu_milli = in.I64();
    gate.admitted.memory_bytes = in.I64();
    gate.admitted.gpu_milli = in.I64();
    outside.gates.push_back(std::move(gate));
  }
  const size_t jobs = in.Count();
  for (size_t i = 0; i < jobs && in.status().ok(); ++i) in.Bool();  // whether it is admitted
  const size_t nominations = in.Count();
  for (size_t i = 0; i < nominations && in.status().ok(); ++i) {
    OutsideQueue::Nomination n;
    n.job = JobId(static_cast<size_t>(in.U64()));
    n.not_before = SimTime(in.I64());
    const size_t victims = in.Count();
    for (size_t v = 0; v < victims && in.status().ok(); ++v) {
      n.victims.push_back(JobId(static_cast<size_t>(in.U64())));
      in.U64();  // which run of it
    }
    outside.nominations.push_back(std::move(n));
  }
  in.Bool();
  outside.held = ReadJobs(in);
  return outside;
}

bool HasJob(const std::vector<JobId>& jobs, JobId job) {
  return std::find(jobs.begin(), jobs.end(), job) != jobs.end();
}

}  // namespace

std::string JobName(const ClusterState& cluster, const JobRow& job) {
  absl::string_view name = cluster.pod_name(job.first_pod);
  if (job.pods > 1 && absl::EndsWith(name, "-0")) name.remove_suffix(2);
  return std::string(name);
}

absl::string_view QuotaResourceName(QuotaLimit::Resource resource) {
  static constexpr absl::string_view kNames[] = {"GPU", "cpu", "memory"};
  return kNames[static_cast<size_t>(resource)];
}

std::string QuotaText(const QuotaLimit& quota) {
  using Resource = QuotaLimit::Resource;
  const auto number = [&quota](int64_t amount) {
    if (quota.resource == Resource::kCpu) return LackNumberText(LackKind::kCpu, amount);
    if (quota.resource == Resource::kMemory) return LackNumberText(LackKind::kMemory, amount);
    return DoubleText(static_cast<double>(amount) / kDeviceMilli);
  };
  return absl::StrCat(quota.tenant.empty() ? "jobs without a tenant hold "
                                           : absl::StrCat("tenant ", quota.tenant, " holds "),
                      number(quota.held), " of ", number(quota.limit),
                      quota.resource == Resource::kCpu      ? " CPUs"
                      : quota.resource == Resource::kMemory ? " of memory"
                                                            : " GPUs",
                      ", the job wants ", number(quota.wanted), ", ", number(quota.missing()),
                      " too many");
}

std::optional<QuotaLimit> OverQuota(const Quotas& quotas, absl::string_view tenant, SimTime now,
                                    const ResourceAmounts& held, const ResourceAmounts& wanted) {
  if (quotas.Allows(tenant, now, held, wanted)) return std::nullopt;
  using Resource = QuotaLimit::Resource;
  for (const auto& [id, resource] :
       {std::pair(Resource::kGpu, &ResourceAmounts::gpu_milli),
        std::pair(Resource::kCpu, &ResourceAmounts::cpu_milli),
        std::pair(Resource::kMemory, &ResourceAmounts::memory_bytes)}) {
    QuotaLimit over;
    over.tenant = std::string(tenant);
    over.resource = id;
    over.held = held.*resource;
    over.wanted = wanted.*resource;
    over.limit = QuotaFor(quotas, tenant, now, resource);
    if (over.wanted > 0 && over.limit != Quotas::kUnlimited && over.missing() > 0) return over;
  }
  return std::nullopt;
}

QueueViewer::QueueViewer(const Simulation* sim) : sim_(sim) {
  std::vector<QuotaSpec> known;
  for (const QuotaSpec& quota : sim->spec().quotas) {
    if (quota.path.empty()) {
      known.push_back(quota);
    } else {
      quotas_known_ = false;
    }
  }
  absl::StatusOr<Quotas> quotas = MakeQuotas(known, 0);
  if (quotas.ok()) quotas_ = *std::move(quotas);
}

std::string QueueViewer::NameOf(JobId job) const {
  return JobName(sim_->cluster(), sim_->jobs().row(job));
}

std::optional<QuotaLimit> QueueViewer::QuotaOf(JobId job, const ResourceAmounts& held) const {
  const JobRow& row = sim_->jobs().row(job);
  return OverQuota(quotas_, sim_->jobs().tenant_name(row.tenant), sim_->engine().now(), held,
                   row.request);
}

QueuePlace QueueViewer::Find(JobId job) const {
  const QueueKind queue = sim_->spec().scheduler.queue;
  if (queue == QueueKind::kNone) {
    QueuePlace place;
    place.where = QueuePlace::Where::kUntried;
    return place;
  }
  const JobRow& row = sim_->jobs().row(job);
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod(row.first_pod.value() + i);
    if (sim_->cluster().pod_shape(pod).constraints.hold == PodHold::kNone) continue;
    QueuePlace place;
    place.where = QueuePlace::Where::kPending;
    return place;
  }
  if (queue == QueueKind::kKubernetes) return FindInKubernetes(job);
  return queue == QueueKind::kLoss ? FindInLoss(job) : FindInLine(job);
}

QueuePlace QueueViewer::FindInLoss(JobId job) const {
  StateWriter saved;
  sim_->engine().dispatcher().Save(saved);
  StateReader in(saved.bytes());
  in.Section("loss");
  QueuePlace place;
  if (HasJob(ReadJobs(in), job)) place.where = QueuePlace::Where::kUntried;
  return place;
}

QueuePlace QueueViewer::FindInLine(JobId job) const {
  StateWriter saved;
  sim_->engine().dispatcher().Save(saved);
  StateReader in(saved.bytes());
  in.Section("batch");
  WaitingLine line({});
  QueuePlace out;
  if (!line.Load(in).ok() || !line.Contains(job)) return out;
  const SchedulerSpec& scheduler = sim_->spec().scheduler;
  absl::StatusOr<std::unique_ptr<QueuePolicy>> policy =
      BuiltinRegistry().MakeQueue(scheduler.queue_name, QueueContext());
  DRASIM_CHECK(policy.ok());
  // Tenants with equal shares go by their row, jobs of one tenant by their keys.
  std::vector<std::tuple<int64_t, uint32_t, WaitingLine::Entry>> all;
  for (const WaitingLine::Class& c : line.classes()) {
    const bool by_tenant = (*policy)->per_tenant();
    const int64_t share =
        by_tenant ? (*policy)->TenantKey(sim_->jobs(), sim_->cluster(), c.tenant) : 0;
    for (const WaitingLine::Entry& entry : c.jobs) {
      all.emplace_back(share, by_tenant ? c.tenant.value() : 0, entry);
    }
  }
  std::sort(all.begin(), all.end());
  out.where = QueuePlace::Where::kInLine;
  out.length = all.size();
  out.head = std::get<2>(all.front()).job;
  for (size_t i = 0; i < all.size(); ++i) {
    const JobId other = std::get<2>(all[i]).job;
    if (other == job) {
      out.place = i + 1;
      break;
    }
    if (i < kAheadShown) out.ahead.push_back(NameOf(other));
  }
  const BatchOptions& options = scheduler.batch;
  out.in_order = options.head_of_line && !options.helios;
  if (options.backfill != Backfill::kNone) {
    out.backfill = std::string(BackfillName(options.backfill));
  }
  out.quota = QuotaOf(job, sim_->jobs().tenant_usage(sim_->jobs().row(job).tenant));
  if (out.quota.has_value()) out.where = QueuePlace::Where::kOverQuota;
  return out;
}

QueuePlace QueueViewer::FindInKubernetes(JobId job) const {
  StateWriter saved;
  sim_->engine().dispatcher().Save(saved);
  StateReader in(saved.bytes());
  in.Section("kubernetes");
  KubernetesQueue queue(sim_->profile().queue_sorts().front(), sim_->spec().scheduler.kubernetes);
  QueuePlace out;
  if (!queue.Load(in).ok()) return out;
  const JobRow& row = sim_->jobs().row(job);
  if (FindInQueue(queue, row.first_pod, sim_->engine().now(), &out)) return out;
  Random offsets(0, "");
  if (!offsets.Load(in).ok()) return out;
  const OutsideQueue outside = ReadOutsideQueue(in);
  if (!in.status().ok()) return out;
  if (row.tenant.value() < outside.gates.size() &&
      HasJob(outside.gates[row.tenant.value()].jobs, job)) {
    out.where = QueuePlace::Where::kOverQuota;
    if (quotas_known_) out.quota = QuotaOf(job, outside.gates[row.tenant.value()].admitted);
  }
  if (HasJob(outside.held, job)) out.where = QueuePlace::Where::kHeld;
  for (const OutsideQueue::Nomination& n : outside.nominations) {
    if (n.job != job) continue;
    out.where = QueuePlace::Where::kNominated;
    if (n.not_before > sim_->engine().now()) out.until = n.not_before;
    for (const JobId victim : n.victims) out.victims.push_back(NameOf(victim));
  }
  return out;
}

}  // namespace drasim
