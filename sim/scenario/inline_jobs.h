// `workload.jobs`: jobs listed in the scenario itself.
#ifndef DRASIM_SIM_SCENARIO_INLINE_JOBS_H_
#define DRASIM_SIM_SCENARIO_INLINE_JOBS_H_

#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/event_source.h"
#include "model/mig_product.h"
#include "model/pod_shape.h"
#include "model/proto/scenario.pb.h"
#include "model/shape_table.h"

namespace drasim {

// The limit on pods of all jobs together; larger workloads are traces.
inline constexpr int64_t kMaxInlinePods = 1'000'000;

// The jobs in order of arrival; ties keep the order of the list, replicas that of their numbers.
// Interns their shapes into `shapes`, in the order of the list.
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
//   * run_time: the job's run time; an empty text makes a service.
//
// `products_in_cluster`: the distinct MIG products of the cluster. Every requested profile must
// belong to at least one of them. With an empty span, which serves checks before the cluster is
// known, profiles are not looked up and instances count as nothing.
//
// InvalidArgument, such as "workload.jobs.2.cpu: found ..., expected ...": malformed, negative or
// excessive quantities; numbers out of range; keys that exclude or need each other; an unknown
// profile (with the nearest name); a repeated resource or profile; a name of a job or of one of its
// pods that another has (with both); too many pods.
// O(pods log pods).
absl::StatusOr<std::vector<JobArrival>> MakeInlineJobs(
    const google::protobuf::RepeatedPtrField<proto::InlineJob>& jobs,
    absl::Span<const MigProduct> products_in_cluster, ShapeTable* shapes);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_INLINE_JOBS_H_
