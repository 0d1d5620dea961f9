#include "policies/devices/mig_rule_list.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace drasim {
namespace {

constexpr MigRuleInfo kRules[] = {
    {MigRule::kDriver, "mig-driver", "lowest GPU, the start to which the driver would go", false},
    {MigRule::kFirstFit, "mig-first-fit", "lowest GPU, first listed start that is free", false},
    {MigRule::kDraDriver, "mig-dra-driver", "NVIDIA's DRA driver: first device by name", false},
    {MigRule::kHami, "mig-hami", "HAMi: 1g and 3g from the high end, the rest from the low", false},
    {MigRule::kInstaSlice, "mig-instaslice", "InstaSlice: first free start, emptiest node", false},
    {MigRule::kNos, "mig-nos", "nos: only layouts from its list of geometries", false},
    {MigRule::kMigParted, "mig-parted", "mig-parted: lays out empty GPUs, nothing else", false},
    {MigRule::kBestFit, "mig-best-fit", "GPU with the fewest free units, highest start", false},
    {MigRule::kWorstFit, "mig-worst-fit", "GPU with the most free units, highest start", false},
    {MigRule::kRoundRobin, "mig-round-robin", "GPU after the last one used, first start", false},
    {MigRule::kParvaGpu, "mig-parvagpu", "ParvaGPU: fewest free slices, its own starts", false},
    {MigRule::kMfiAny, "mig-mfi-any", "least growth of MFI-like fragmentation, reading any", false},
    {MigRule::kMfiPart, "mig-mfi-part", "the same, reading part", false},
    {MigRule::kMfiAny, "mig-mfi-any-weighted", "mig-mfi-any, weighted by the workload's mix", true},
    {MigRule::kMfiPart, "mig-mfi-part-weighted", "mig-mfi-part, weighted in the same way", true},
};

}  // namespace

absl::Span<const MigRuleInfo> MigRuleInfos() { return kRules; }

const MigRuleInfo* FindMigPlacement(absl::string_view name) {
  for (const MigRuleInfo& info : MigRuleInfos()) {
    if (absl::string_view(info.name) == absl::StrCat("mig-", name)) return &info;
  }
  return nullptr;
}

}  // namespace drasim
