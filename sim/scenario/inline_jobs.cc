#include "sim/scenario/inline_jobs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/key_error.h"
#include "model/kube/selectors_of.h"
#include "model/lowering.h"
#include "model/proto/scenario.pb.h"
#include "model/quantity.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/field_errors.h"
#include "traces/job_split.h"
#include "traces/mig_generator.h"

namespace drasim {
namespace {

constexpr int64_t kMaxCpuMilli = 1'000'000'000'000;
constexpr int64_t kMaxBytes = int64_t{1} << 60;
// Sums over a pod's containers fit 64 bits.
constexpr int64_t kMaxUnits = 1'000'000'000;  // of an extended resource
constexpr int kMaxContainers = 1000;
constexpr int64_t kBytesPerMib = int64_t{1} << 20;
constexpr int32_t kMaxInstances = 1000;  // of one profile, per pod
// An arrival and a run time together fit 64 bits.

// By resource, whole units.
using Amounts = std::map<std::string, int64_t>;

absl::Status Refused(absl::string_view key, absl::string_view found, absl::string_view expected) {
  return KeyError(key, absl::StrCat("found ", found, ", expected ", expected));
}

enum class Unit { kThousandths, kWhole };

absl::StatusOr<int64_t> ReadAmount(absl::string_view key, const std::string& text, Unit unit,
                                   int64_t most) {
  const absl::StatusOr<int64_t> amount =
      unit == Unit::kThousandths ? ParseMilli(text) : ParseUnits(text);
  if (!amount.ok()) return UnderKey(key, amount.status());
  if (*amount > most) {
    const int64_t shown = unit == Unit::kThousandths ? most / 1000 : most;
    return Refused(key, absl::StrCat("'", text, "'"), absl::StrCat("at most ", shown));
  }
  return amount;
}

// An optional amount; 0 by default.
absl::Status ReadOptional(absl::string_view key, const std::string& text, Unit unit, int64_t most,
                          int64_t* out) {
  *out = 0;
  if (text.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(*out, ReadAmount(key, text, unit, most));
  return absl::OkStatus();
}

absl::Status ReadLength(absl::string_view key, const std::string& text, int64_t* ns) {
  const absl::StatusOr<SimDuration> length = ParseDuration(text);
  if (!length.ok()) return UnderKey(key, length.status());
  if (length->ns() > kLongestNs) {
    return Refused(key, absl::StrCat("'", text, "'"), "at most 100 years");
  }
  *ns = length->ns();
  return absl::OkStatus();
}

absl::Status ReadExtended(absl::string_view key,
                          const google::protobuf::RepeatedPtrField<proto::ExtendedAmount>& list,
                          Amounts* out) {
  for (int i = 0; i < list.size(); ++i) {
    const std::string item = absl::StrCat(key, ".", i);
    if (list[i].resource().empty()) {
      return Refused(absl::StrCat(item, ".resource"), "none", "the name of a resource");
    }
    ASSIGN_OR_RETURN(const int64_t amount, ReadAmount(absl::StrCat(item, ".amount"),
                                                      list[i].amount(), Unit::kWhole, kMaxUnits));
    if (!out->emplace(list[i].resource(), amount).second) {
      return Refused(absl::StrCat(item, ".resource"),
                     absl::StrCat("'", list[i].resource(), "' a second time"),
                     "each resource once");
    }
  }
  return absl::OkStatus();
}

// The form of shapes: without amounts of 0.
std::vector<std::pair<std::string, int64_t>> WithoutZeros(const Amounts& amounts) {
  std::vector<std::pair<std::string, int64_t>> list;
  for (const auto& [resource, amount] : amounts) {
    if (amount > 0) list.emplace_back(resource, amount);
  }
  return list;
}

// The pod's request as counted by the scheduler. Source: PodRequests of k8s.io/component-helpers,
// Kubernetes 1.34. A container changes only the sums of the resources that it names.
Amounts RequestOf(const std::vector<ContainerRequest>& containers) {
  struct Sums {
    int64_t lasting = 0;   // containers, and sidecars
    int64_t sidecars = 0;  // started so far
    int64_t peak = 0;      // while init containers run
  };
  std::map<std::string, Sums> sums;
  for (const ContainerRequest& container : containers) {
    for (const auto& [resource, amount] : container.extended) {
      Sums& sum = sums[resource];
      const bool sidecar = container.init && container.restartable;
      if (!container.init || sidecar) sum.lasting += amount;
      if (sidecar) sum.sidecars += amount;
      if (container.init) {
        sum.peak = std::max(sum.peak, sidecar ? sum.sidecars : sum.sidecars + amount);
      }
    }
  }
  Amounts request;
  for (const auto& [resource, sum] : sums) {
    request.emplace(resource, std::max(sum.lasting, sum.peak));
  }
  return request;
}

absl::StatusOr<ContainerRequest> ReadContainer(const std::string& key,
                                               const proto::Container& container) {
  if (container.restartable() && !container.init()) {
    return Refused(key + ".restartable", "a container that is not an init container",
                   "init: true beside it");
  }
  if (container.gpus() < 0) {
    return Refused(key + ".gpus", absl::StrCat(container.gpus()), "0 or more");
  }
  Amounts amounts;
  RETURN_IF_ERROR(ReadExtended(key + ".extended", container.extended(), &amounts));
  if (container.gpus() > 0 &&
      !amounts.emplace(std::string(kGpuResource), container.gpus()).second) {
    return Refused(key + ".gpus", absl::StrCat(kGpuResource, " in extended, too"), "one of them");
  }
  ContainerRequest request;
  request.init = container.init();
  request.restartable = container.restartable();
  request.extended = WithoutZeros(amounts);
  return request;
}

absl::Status ReadContainers(const std::string& key, const proto::InlineJob& job, PodShape* shape) {
  if (job.extended_size() > 0 && job.containers_size() > 0) {
    return Refused(key + ".containers", "extended, too", "one of them");
  }
  if (job.gpus() > 0 && job.containers_size() > 0) {
    return Refused(key + ".containers", "gpus, too", "the gpus of each container in it");
  }
  Amounts amounts;
  RETURN_IF_ERROR(ReadExtended(key + ".extended", job.extended(), &amounts));
  shape->request.extended = WithoutZeros(amounts);
  if (job.containers_size() == 0) return absl::OkStatus();
  if (job.containers_size() > kMaxContainers) {
    return Refused(key + ".containers", absl::StrCat(job.containers_size()),
                   absl::StrCat("at most ", kMaxContainers));
  }
  bool only_init = true;
  for (int i = 0; i < job.containers_size(); ++i) {
    ASSIGN_OR_RETURN(ContainerRequest container,
                     ReadContainer(absl::StrCat(key, ".containers.", i), job.containers(i)));
    only_init = only_init && container.init;
    shape->device_plugin.containers.push_back(std::move(container));
  }
  if (only_init) {
    return Refused(key + ".containers", "init containers only", "one that is not");
  }
  shape->request.extended = WithoutZeros(RequestOf(shape->device_plugin.containers));
  return absl::OkStatus();
}

absl::Status ReadGpus(const std::string& key, const proto::InlineJob& job, PodShape* shape) {
  if (job.gpus() < 0 || job.gpus() > kMaxDevicesPerNode) {
    return Refused(key + ".gpus", absl::StrCat(job.gpus()),
                   absl::StrCat("0 to ", kMaxDevicesPerNode));
  }
  if (job.gpu_milli() < 0 || job.gpu_milli() > kDeviceMilli) {
    return Refused(key + ".gpu_milli", absl::StrCat(job.gpu_milli()),
                   absl::StrCat("0, which is a whole GPU, to ", kDeviceMilli));
  }
  if (job.gpus() == 0 && job.gpu_milli() > 0) {
    return Refused(key + ".gpu_milli", "no gpus", "some beside it");
  }
  if (job.gpus() == 0 && !job.gpu_memory().empty()) {
    return Refused(key + ".gpu_memory", "no gpus", "some beside it");
  }
  if (job.gpus() == 0 && job.mig_size() == 0 && !job.gpu_model().empty()) {
    return Refused(key + ".gpu_model", "neither gpus nor mig", "one of them beside it");
  }
  if (job.gpus() > 0 && job.mig_size() > 0) {
    return Refused(key + ".mig", "gpus, too", "one of them");
  }
  shape->request.gpu_count = job.gpus();
  if (job.gpus() > 0)
    shape->request.gpu_milli = job.gpu_milli() > 0 ? job.gpu_milli() : kDeviceMilli;
  shape->request.gpu_spec = job.gpu_model();
  int64_t bytes = 0;
  RETURN_IF_ERROR(
      ReadOptional(key + ".gpu_memory", job.gpu_memory(), Unit::kWhole, kMaxBytes, &bytes));
  shape->demand.memory_mib = (bytes + kBytesPerMib - 1) / kBytesPerMib * job.gpus();
  return absl::OkStatus();
}

absl::Status ReadMig(const std::string& key, const proto::InlineJob& job,
                     ResourceRequest* request) {
  std::map<std::string, int32_t> counts;
  for (int i = 0; i < job.mig_size(); ++i) {
    const proto::MigAmount& mig = job.mig(i);
    const std::string item = absl::StrCat(key, ".mig.", i);
    if (mig.profile().empty()) return Refused(item + ".profile", "none", "a MIG profile");
    if (mig.count() < 0 || mig.count() > kMaxInstances) {
      return Refused(item + ".count", absl::StrCat(mig.count()),
                     absl::StrCat("0, which is 1, to ", kMaxInstances));
    }
    if (!counts.emplace(mig.profile(), std::max(1, mig.count())).second) {
      return Refused(item + ".profile", absl::StrCat("'", mig.profile(), "' a second time"),
                     "each profile once, with its count");
    }
  }
  request->mig.assign(counts.begin(), counts.end());
  return absl::OkStatus();
}

absl::Status ReadClaims(const std::string& key, const proto::InlineJob& job,
                        std::vector<ClaimEntry>* claims) {
  if (job.claims_size() > 0 && (job.gpus() > 0 || job.mig_size() > 0)) {
    return Refused(key + ".claims", absl::StrCat(job.gpus() > 0 ? "gpus" : "mig", ", too"),
                   "one of them");
  }
  for (int i = 0; i < job.claims_size(); ++i) {
    const proto::InlineClaim& claim = job.claims(i);
    const std::string item = absl::StrCat(key, ".claims.", i);
    if (claim.name().empty()) return Refused(item + ".name", "none", "the entry's name");
    if (claim.claim().empty() == claim.template_().empty()) {
      return Refused(item, claim.claim().empty() ? "neither claim nor template" : "both",
                     "either claim or template");
    }
    for (const ClaimEntry& other : *claims) {
      if (other.name != claim.name()) continue;
      return Refused(item + ".name", absl::StrCat("'", claim.name(), "' a second time"),
                     "a name of its own");
    }
    ClaimEntry entry;
    entry.name = claim.name();
    entry.claim = claim.claim();
    entry.from_template = claim.template_();
    claims->push_back(std::move(entry));
  }
  return absl::OkStatus();
}

// Constraints on nodes other than labels.
absl::Status ReadConstraints(const std::string& key, const proto::InlineJob& job,
                             PodConstraints* constraints) {
  absl::StatusOr<std::vector<NodeTerm>> terms = NodeTermsOf(job.node_affinity());
  if (!terms.ok()) return UnderKey(key + ".node_affinity", terms.status());
  if (job.has_node_affinity() && terms->empty()) {
    return Refused(key + ".node_affinity", "no node_selector_terms", "at least one");
  }
  constraints->node_terms = *std::move(terms);
  for (int i = 0; i < job.tolerations_size(); ++i) {
    const proto::kube::Toleration& t = job.tolerations(i);
    if (!t.operator_().empty() && t.operator_() != "Equal" && t.operator_() != "Exists") {
      return Refused(absl::StrCat(key, ".tolerations.", i, ".operator"),
                     absl::StrCat("'", t.operator_(), "'"), "Equal or Exists");
    }
    constraints->tolerations.push_back({t.key(), t.value(), t.effect(), t.operator_() == "Exists"});
  }
  const std::optional<PodHold> hold = ParsePodHold(job.pending());
  if (!hold.has_value()) {
    std::vector<std::string> known;
    for (size_t h = 1; h < kPodHolds; ++h) {
      known.emplace_back(PodHoldName(static_cast<PodHold>(h)));
    }
    return Refused(key + ".pending", absl::StrCat("'", job.pending(), "'"),
                   absl::StrCat("one of ", absl::StrJoin(known, ", ")));
  }
  constraints->hold = *hold;
  constraints->never_preempts = job.never_preempts();
  return absl::OkStatus();
}

absl::StatusOr<PodShape> ReadShape(const std::string& key, const proto::InlineJob& job) {
  PodShape shape;
  RETURN_IF_ERROR(ReadOptional(key + ".cpu", job.cpu(), Unit::kThousandths, kMaxCpuMilli,
                               &shape.request.cpu_milli));
  RETURN_IF_ERROR(ReadOptional(key + ".memory", job.memory(), Unit::kWhole, kMaxBytes,
                               &shape.request.memory_bytes));
  RETURN_IF_ERROR(ReadGpus(key, job, &shape));
  RETURN_IF_ERROR(ReadMig(key, job, &shape.request));
  RETURN_IF_ERROR(ReadContainers(key, job, &shape));
  RETURN_IF_ERROR(ReadClaims(key, job, &shape.claims));
  // Maps of protobuf are unordered.
  for (const auto& label : job.node_selector()) {
    shape.constraints.node_selector.emplace_back(label.first, label.second);
  }
  std::sort(shape.constraints.node_selector.begin(), shape.constraints.node_selector.end());
  RETURN_IF_ERROR(ReadConstraints(key, job, &shape.constraints));
  shape.device_plugin.function = job.function();
  shape.identity.scheduler_name = job.scheduler_name();
  return shape;
}

// The arrival of each replica, without name and shape.
absl::StatusOr<JobArrival> ReadJob(const std::string& key, const proto::InlineJob& job) {
  if (job.name().empty()) return Refused(key + ".name", "none", "the job's name");
  if (job.pods() < 0 || job.pods() > kMaxPodsPerJob) {
    return Refused(key + ".pods", absl::StrCat(job.pods()),
                   absl::StrCat("0, which is 1, to ", kMaxPodsPerJob));
  }
  if (job.replicas() < 0 || job.replicas() > kMaxInlinePods) {
    return Refused(key + ".replicas", absl::StrCat(job.replicas()),
                   absl::StrCat("0, which is one job, to ", kMaxInlinePods));
  }
  JobArrival out;
  int64_t arrival_ns = 0;
  int64_t run_time_ns = 0;
  RETURN_IF_ERROR(ReadLength(key + ".arrival", job.arrival(), &arrival_ns));
  RETURN_IF_ERROR(ReadLength(key + ".run_time", job.run_time(), &run_time_ns));
  out.time = SimTime(arrival_ns);
  out.has_run_time = !job.run_time().empty();
  out.run_time = SimDuration(run_time_ns);
  out.pods = std::max(1, job.pods());
  out.tenant = job.tenant();
  out.priority = job.priority();
  return out;
}

// Names in use: of jobs and of their pods, which share one name space.
class NameBook {
 public:
  // Reserves the names of the jobs of entry number `index`. Errors give both owners of a name.
  absl::Status Take(int index, const InlineJob& job) {
    for (int32_t replica = 0; replica < std::max(1, job.replicas); ++replica) {
      const std::string name = NameOfReplica(job, replica);
      RETURN_IF_ERROR(TakeOne(index, name));
      for (int32_t pod = 0; job.arrival.pods > 1 && pod < job.arrival.pods; ++pod) {
        RETURN_IF_ERROR(TakeOne(index, absl::StrCat(name, "-", pod)));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status TakeOne(int index, const std::string& name) {
    const auto [place, is_new] = owners_.emplace(name, index);
    if (is_new) return absl::OkStatus();
    return Refused(
        absl::StrCat("workload.jobs.", index, ".name"),
        absl::StrCat("the name '", name, "', which workload.jobs.", place->second, " has, too"),
        "names of their own for jobs and pods");
  }

  absl::flat_hash_map<std::string, int> owners_;  // name -> number of the job in the list
};

// `pods`: of the entries before; counts those of this entry, too.
absl::StatusOr<InlineJob> ReadEntry(const std::string& key, const proto::InlineJob& job,
                                    int64_t* pods) {
  InlineJob out;
  ASSIGN_OR_RETURN(out.arrival, ReadJob(key, job));
  *pods += std::max<int64_t>(1, job.replicas()) * out.arrival.pods;
  if (*pods > kMaxInlinePods) {
    return Refused(key + ".pods", absl::StrCat(*pods, " pods with those of the jobs before"),
                   absl::StrCat("at most ", kMaxInlinePods, "; a trace may have more"));
  }
  out.name = job.name();
  out.replicas = job.replicas();
  ASSIGN_OR_RETURN(out.shape, ReadShape(key, job));
  for (const proto::MigAmount& mig : job.mig()) {
    out.mig.emplace_back(mig.profile(), std::max(1, mig.count()));
  }
  return out;
}

// The smallest share of a GPU, in milli, of an instance among the products; 0 without products.
// InvalidArgument when none of the products has the profile.
absl::StatusOr<int64_t> InstanceMilli(const std::string& key, const std::string& profile,
                                      absl::Span<const MigProduct> products) {
  if (products.empty()) return int64_t{0};
  int64_t least = 0;
  for (const MigProduct& product : products) {
    const MigProfile* const found = MigProfileNamed(product, profile);
    if (found == nullptr) continue;
    const int64_t milli = MilliOfUnits(found->size, product.units);
    least = least == 0 ? milli : std::min(least, milli);
  }
  if (least > 0) return least;
  return Refused(key, absl::StrCat("'", profile, "'"),
                 absl::StrCat("a MIG profile that a GPU of the cluster has",
                              SuggestMigProfile(profile, products)));
}

}  // namespace

std::string NameOfReplica(const InlineJob& job, int32_t replica) {
  return job.replicas == 0 ? job.name : absl::StrCat(job.name, "-", replica);
}

absl::StatusOr<InlineJob> ReadInlineJob(const std::string& key, const proto::InlineJob& job) {
  int64_t pods = 0;
  return ReadEntry(key, job, &pods);
}

absl::StatusOr<std::vector<InlineJob>> ReadInlineJobs(const proto::Workload& workload) {
  std::vector<InlineJob> jobs;
  NameBook names;
  int64_t pods = 0;
  for (int i = 0; i < workload.jobs_size(); ++i) {
    ASSIGN_OR_RETURN(InlineJob job,
                     ReadEntry(absl::StrCat("workload.jobs.", i), workload.jobs(i), &pods));
    RETURN_IF_ERROR(names.Take(i, job));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

absl::StatusOr<std::vector<JobArrival>> MakeInlineJobs(
    absl::Span<const InlineJob> jobs, absl::Span<const MigProduct> products_in_cluster,
    ShapeTable* shapes) {
  std::vector<JobArrival> arrivals;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const InlineJob& job = jobs[i];
    PodShape shape = job.shape;
    for (size_t m = 0; m < job.mig.size(); ++m) {
      const std::string key = absl::StrCat("workload.jobs.", i, ".mig.", m, ".profile");
      ASSIGN_OR_RETURN(const int64_t milli,
                       InstanceMilli(key, job.mig[m].first, products_in_cluster));
      shape.request.nominal_milli += milli * job.mig[m].second;
    }
    JobArrival arrival = job.arrival;
    arrival.shape = shapes->Intern(shape);
    for (int32_t replica = 0; replica < std::max(1, job.replicas); ++replica) {
      arrival.name = NameOfReplica(job, replica);
      arrivals.push_back(arrival);
    }
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const JobArrival& a, const JobArrival& b) { return a.time < b.time; });
  return arrivals;
}

}  // namespace drasim
