// From what a job needs (demand) to what it asks for (request), by a named rule and for one front
// end.
//
// A demand is a PodShape as a trace gives it: so many GPUs, so much of each. Rules:
//   none          the request is the demand;
//   whole-gpu     a share of a GPU becomes the whole GPU;
//   mig-smallest  a share becomes the smallest MIG instance (by compute slices, then units) of the
//                 allowed profiles that has at least its part of the compute slices
//                 (slices / all slices >= milli / 1000) and its memory, where that is known; a
//                 whole GPU stays one;
//   time-sliced   a share becomes one replica, a whole GPU all replicas of one (which nothing makes
//                 come from one GPU).
// The device plugin's front end then asks for extended resources instead of devices.
#ifndef DRASIM_MODEL_LOWERING_H_
#define DRASIM_MODEL_LOWERING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"

namespace drasim {

// The extended resource of NVIDIA's device plugin: a whole GPU, or a replica of a shared one.
inline constexpr absl::string_view kGpuResource = "nvidia.com/gpu";

enum class LoweringRule : uint8_t { kNone, kWholeGpu, kMigSmallest, kTimeSliced };
// NotFound-free: InvalidArgument with the names for an unknown one. "" is none.
absl::StatusOr<LoweringRule> ParseLoweringRule(absl::string_view name);

struct LoweringOptions {
  LoweringRule rule = LoweringRule::kNone;
  bool device_plugin = false;       // requests are extended resources
  bool ignore_gpu_model = false;    // drops what the demand says about GPU models
  const MigTable* table = nullptr;  // of mig-smallest
  // Of mig-smallest, by name; empty: the plain ones but those that are like another with more
  // memory (1g.20gb beside 1g.10gb).
  std::vector<std::string> profiles;
  // How often the plugin advertises a resource, by its name, and whether it renames what it shares.
  std::vector<std::pair<std::string, int64_t>> replicas;
  bool renamed = false;
};

class Lowering {
 public:
  // NotFound: the table lacks one of `profiles`. InvalidArgument: mig-smallest without a table,
  // time-sliced without the device plugin.
  static absl::StatusOr<Lowering> Make(LoweringOptions options);

  // The request of that demand. InvalidArgument when no allowed profile is large enough.
  absl::StatusOr<PodShape> Lower(const PodShape& demand) const;

 private:
  explicit Lowering(LoweringOptions options) : options_(std::move(options)) {}
  absl::StatusOr<size_t> SmallestProfile(const PodShape& demand) const;
  int64_t ReplicasOf(absl::string_view resource) const;
  // Asks for that many whole devices of the resource, all replicas of each.
  void Ask(const std::string& resource, int64_t devices, PodShape* request) const;
  absl::Status LowerShare(const PodShape& demand, PodShape* request) const;
  void ToPlugin(PodShape* request) const;

  LoweringOptions options_;
  std::vector<size_t> profiles_;  // of the table, smallest first
};

}  // namespace drasim

#endif  // DRASIM_MODEL_LOWERING_H_
