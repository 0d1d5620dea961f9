// MIG placement rules by name. mig_rules.h applies them.
#ifndef DRASIM_POLICIES_DEVICES_MIG_RULE_LIST_H_
#define DRASIM_POLICIES_DEVICES_MIG_RULE_LIST_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace drasim {

enum class MigRule : uint8_t {
  kDriver,      // the driver's own order of starts, lowest GPU
  kFirstFit,    // the catalogue's first start, lowest GPU
  kDraDriver,   // NVIDIA's DRA driver: the first device by name (gpu-10 is before gpu-2)
  kHami,        // HAMi: starts from high to low for 1g and 3g, otherwise from low to high
  kInstaSlice,  // InstaSlice: the first free start; nodes by their share of free units
  kNos,         // nos: only layouts that are part of one of its fixed geometries
  kMigParted,   // mig-parted: empty GPUs only, by permutations of the wanted instances
  kBestFit,     // the GPU with the fewest free units; starts by index, high to low
  kWorstFit,    // the GPU with the most free units; starts as with kBestFit
  kRoundRobin,  // the next GPU after the last one used; the catalogue's first start
  kParvaGpu,    // ParvaGPU: fewest free compute slices; its table of starts and exclusions
  kMfiAny,      // smallest growth of MfiScore, reading any
  kMfiPart,     // the same, reading part
};

struct MigRuleInfo {
  MigRule rule;
  const char* name;         // of the policy: "mig-first-fit"
  const char* description;  // one line for --help
  bool weighted;            // terms weighted by the mix of the workload
};
// Every rule, in the order of --help; MFI-like ones twice, with and without weights.
absl::Span<const MigRuleInfo> MigRuleInfos();
// The rule by name without "mig-", as in ClaimDriverOptions::placement; null for an unknown name.
const MigRuleInfo* FindMigPlacement(absl::string_view name);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_MIG_RULE_LIST_H_
