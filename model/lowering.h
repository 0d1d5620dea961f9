// Lowering: the translation of a job's demand into a request, by a named rule and for one front
// end.
//
// A demand is a number of GPUs, and an amount of each: the ResourceRequest in a trace's PodShape.
// Lowering replaces the request and keeps the demand's GPUs as PodShape::demand. Rules:
//   none          the request equals the demand;
//   whole-gpu     a share of a GPU becomes a whole GPU;
//   mig-smallest  a share becomes the smallest MIG instance (by compute slices, then units) of the
//                 allowed profiles with enough compute (slices / all slices >= milli / 1000) and,
//                 where the memory is known, enough memory; a whole GPU stays whole;
//   time-sliced   a share becomes one replica, a whole GPU as many replicas as a GPU has (nothing
//                 forces these onto the same GPU).
// The device plugin's front end then requests extended resources instead of devices.
#ifndef DRASIM_MODEL_LOWERING_H_
#define DRASIM_MODEL_LOWERING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/gpu_demand.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"
#include "model/resource_request.h"

namespace drasim {

// The extended resource of NVIDIA's device plugin: a whole GPU, or a replica of a shared one.
inline constexpr absl::string_view kGpuResource = "nvidia.com/gpu";

enum class LoweringRule : uint8_t { kNone, kWholeGpu, kMigSmallest, kTimeSliced };
// "" is kNone. InvalidArgument for an unknown name lists the known ones.
absl::StatusOr<LoweringRule> ParseLoweringRule(absl::string_view name);

struct LoweringOptions {
  LoweringRule rule = LoweringRule::kNone;
  bool device_plugin = false;       // requests are extended resources
  bool ignore_gpu_model = false;    // drops the demand's GPU models
  const MigTable* table = nullptr;  // for mig-smallest
  // Profiles for mig-smallest, by name. Empty: all plain profiles except variants of another
  // profile with more memory (1g.20gb beside 1g.10gb).
  std::vector<std::string> profiles;
  // Replicas of each resource that the plugin advertises, and whether it renames shared ones.
  std::vector<std::pair<std::string, int64_t>> replicas;
  bool renamed = false;
};

class Lowering {
 public:
  // NotFound when the table lacks one of `profiles`. InvalidArgument for mig-smallest without a
  // table, and for time-sliced without the device plugin.
  static absl::StatusOr<Lowering> Make(LoweringOptions options);

  // The shape with its demand lowered to a request. InvalidArgument when no allowed profile is
  // large enough.
  absl::StatusOr<PodShape> Lower(const PodShape& pod) const;

 private:
  explicit Lowering(LoweringOptions options) : options_(std::move(options)) {}
  absl::StatusOr<size_t> SmallestProfile(const GpuDemand& demand) const;
  int64_t ReplicasOf(absl::string_view resource) const;
  // Requests `count` whole devices of the resource, with all replicas of each.
  void Ask(const std::string& resource, int64_t devices, ResourceRequest* request) const;
  absl::Status LowerShare(const GpuDemand& demand, ResourceRequest* request) const;
  void ToPlugin(ResourceRequest* request) const;

  LoweringOptions options_;
  std::vector<size_t> profiles_;  // indices into the table, smallest first
};

}  // namespace drasim

#endif  // DRASIM_MODEL_LOWERING_H_
