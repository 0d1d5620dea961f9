// Jobs that a scenario writes out: the key workload.jobs.
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

namespace drasim {

// Pods of all jobs together; for more there are traces.
inline constexpr int64_t kMaxInlinePods = 1'000'000;

// The jobs, sorted by arrival; those that arrive together stay in the order in which they are
// written, replicas in the order of their numbers. Interns their shapes, in the order of the list,
// into `shapes`.
//
// The keys of proto::InlineJob become:
//   * gpus, gpu_milli, gpu_model: PodShape::gpu_count, gpu_milli and gpu_spec;
//   * gpu_memory: demand_memory_mib, rounded up to MiB and then times gpus;
//   * mig: PodShape::mig by the names as written. Each instance stands for its share of the units
//     of the first product that knows the profile (nominal_milli);
//   * containers: PodShape::containers, and as PodShape::extended what the scheduler counts, by
//     kube-scheduler's rule: per resource the greater of what runs for good (containers and
//     sidecars) and the peak while init containers run, each beside the sidecars started before it.
//     Quantities are rounded up to whole units first;
//   * claims: PodShape::claims;
//   * run_time: empty means a service.
//
// `products_in_cluster`: the MIG products of the cluster, each once. One of them at least must know
// each profile that a job asks for. An empty span: profiles are not looked up, and instances stand
// for nothing; for a check before the cluster is known.
//
// InvalidArgument "workload.jobs.2.cpu: what is wrong": amounts that are no quantity, negative or
// too large; numbers out of range; keys that exclude or need each other; an unknown profile (with
// the nearest name); a resource or profile named twice; a job whose name, or the name of one of
// whose pods, is that of another (both are named); too many pods.
// O(pods log pods).
absl::StatusOr<std::vector<JobArrival>> MakeInlineJobs(
    const google::protobuf::RepeatedPtrField<proto::InlineJob>& jobs,
    absl::Span<const MigProduct> products_in_cluster, ShapeTable* shapes);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_INLINE_JOBS_H_
