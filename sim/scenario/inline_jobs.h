// `workload.jobs`: jobs listed in the scenario itself.
//
//   ASSIGN_OR_RETURN(std::vector<InlineJob> jobs, ReadInlineJobs(scenario.workload()));
//   ...  // once the cluster is known
//   ASSIGN_OR_RETURN(std::vector<JobArrival> arrivals, MakeInlineJobs(jobs, products, &shapes));
#ifndef DRASIM_SIM_SCENARIO_INLINE_JOBS_H_
#define DRASIM_SIM_SCENARIO_INLINE_JOBS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/event_source.h"
#include "model/mig_product.h"
#include "model/pod_shape.h"
#include "model/shape_table.h"

namespace drasim {

namespace proto {
class InlineJob;
class Workload;
}  // namespace proto

// The limit on pods of all jobs together; larger workloads are traces.
inline constexpr int64_t kMaxInlinePods = 1'000'000;

// An entry of workload.jobs.
//
// Translation of the keys of proto::InlineJob:
//   * gpus, gpu_milli, gpu_model: ResourceRequest::gpu_count, gpu_milli and gpu_spec;
//   * gpu_memory: GpuDemand::memory_mib, rounded up to MiB and then times gpus;
//   * mig: ResourceRequest::mig, by profile name as written. In nominal_milli, each instance counts
//     as its share of the units of the first product with that profile;
//   * containers: DevicePluginRequest::containers. The effective request in
//     ResourceRequest::extended follows kube-scheduler's rule: per resource, the larger of the
//     steady state (containers and sidecars) and the peak during initialisation (each init
//     container with the sidecars started before it). Quantities are first rounded up to whole
//     units;
//   * claims: PodShape::claims;
//   * scheduler_name: PodIdentity::scheduler_name;
//   * run_time: the job's run time; an empty text makes a service.
struct InlineJob {
  std::string name;
  int32_t replicas = 0;  // jobs NAME-0, NAME-1, ...; 0: one job NAME
  JobArrival arrival;    // of each replica, without name and shape
  PodShape shape;        // of its pods; MIG instances do not count in nominal_milli yet
  // MIG instances in the order of the entry, for messages: profile and count.
  std::vector<std::pair<std::string, int32_t>> mig;
};

// The name of a replica's job. REQUIRES: `replica` is 0 or below job.replicas.
std::string NameOfReplica(const InlineJob& job, int32_t replica);

// The entry of the scenario key `key`, such as "workload.jobs.2". Errors as for ReadInlineJobs.
absl::StatusOr<InlineJob> ReadInlineJob(const std::string& key, const proto::InlineJob& job);

// All entries, in order. InvalidArgument, such as "workload.jobs.2.cpu: found ..., expected ...":
// malformed, negative or excessive quantities; numbers out of range; keys that exclude or need each
// other; a repeated resource or profile; a name of a job or of one of its pods that another has
// (with both); too many pods. O(pods).
absl::StatusOr<std::vector<InlineJob>> ReadInlineJobs(const proto::Workload& workload);

// The jobs in order of arrival; ties keep the order of the list, replicas that of their numbers.
// Interns their shapes into `shapes`, in the order of the list.
//
// `products_in_cluster`: the distinct MIG products of the cluster. Every requested profile must
// belong to at least one of them; InvalidArgument, with the nearest name, if not. With an empty
// span, profiles are not looked up and instances count as nothing.
// O(pods log pods).
absl::StatusOr<std::vector<JobArrival>> MakeInlineJobs(
    absl::Span<const InlineJob> jobs, absl::Span<const MigProduct> products_in_cluster,
    ShapeTable* shapes);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_INLINE_JOBS_H_
