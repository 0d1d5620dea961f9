// GpuSelector: the GPUs that a claim of NVIDIA's classic DRA driver accepts, by one property or a
// tree of "and" and "or" over properties (GpuClaimParameters.spec.selector).
//
// As in the driver: one property or expression per level, at most three levels of expressions;
// patterns ignore letter case, '*' stands for any characters, and a pattern may match anywhere in
// the text ("a100" matches "A100-SXM4-80GB"); versions compare number by number, missing numbers
// being 0. In drasim, an unknown property of a GPU matches nothing. "uuid" is the device's name
// ("gpu-3"). Claims switch the MIG mode of GPUs as needed: `migEnabled: true` matches GPUs that can
// be partitioned, `migEnabled: false` every GPU. Without either the driver leaves out GPUs in MIG
// mode, which makes no difference here.
#ifndef DRASIM_POLICIES_DEVICES_GPU_SELECTOR_H_
#define DRASIM_POLICIES_DEVICES_GPU_SELECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/device_set.h"
#include "policies/devices/claim_parameters.h"
#include "policies/devices/gpu_kinds.h"

namespace drasim {

class GpuSelector {
 public:
  // Reads "selector...". InvalidArgument for unknown properties, several properties in one place,
  // unreadable values, and expressions nested too deep.
  static absl::StatusOr<GpuSelector> Read(const ParameterFields& fields);

  // True when no selector was given: every GPU matches.
  bool empty() const { return op_ == Op::kAll; }
  bool Matches(const GpuKind& kind, int index) const;
  // The matching indices, out of all that a node may have.
  DeviceSet DevicesOf(const GpuKind& kind) const;

 private:
  enum class Op : uint8_t { kAll, kAnd, kOr, kProperty };
  enum class Property : uint8_t {
    kIndex,
    kUuid,
    kMigEnabled,
    kMemory,
    kProductName,
    kBrand,
    kArchitecture,
    kComputeCapability,
    kDriverVersion,
    kCudaVersion,
  };
  struct Known;  // a property, by its name
  static const Known kProperties[];

  static absl::StatusOr<GpuSelector> ReadAt(const ParameterFields& fields,
                                            const std::string& prefix, int depth);
  absl::Status ReadProperty(const ParameterFields& fields, const std::string& path,
                            const Known& known);
  bool MatchesVersion(absl::string_view version) const;
  bool Compared(int order) const;

  Op op_ = Op::kAll;
  Property property_ = Property::kIndex;
  std::string text_;      // patterns in lower case
  std::string operator_;  // for comparisons
  int64_t number_ = 0;    // index; bytes; 1: true
  std::vector<GpuSelector> parts_;
};

// True when the pattern ('*': any characters) matches a part of the text. Case-sensitive.
bool GlobMatches(absl::string_view pattern, absl::string_view text);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_GPU_SELECTOR_H_
