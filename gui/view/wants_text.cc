#include "gui/view/wants_text.h"

#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/number_text.h"
#include "model/resource_request.h"

namespace drasim::view {
namespace {

std::string Several(int64_t count, absl::string_view what) {
  return count == 1 ? std::string(what) : absl::StrCat(count, " x ", what);
}

std::string WholeGpus(int64_t count) { return absl::StrCat(count, count == 1 ? " GPU" : " GPUs"); }

std::string ExtendedText(absl::string_view name, int64_t amount) {
  absl::string_view profile = name;
  if (absl::ConsumePrefix(&profile, "nvidia.com/mig-")) return Several(amount, profile);
  if (name == "nvidia.com/gpu") return WholeGpus(amount);
  return absl::StrCat(amount, " ", name);
}

std::string ClaimText(const ClaimEntry& claim) {
  if (!claim.mig_profile.empty()) return claim.mig_profile;
  if (claim.gpus > 0) return WholeGpus(claim.gpus);
  if (!claim.claim.empty()) return absl::StrCat("claim ", claim.claim);
  return absl::StrCat("claim of ", claim.from_template.empty() ? claim.name : claim.from_template);
}

}  // namespace

std::string WantsText(const PodShape& shape) {
  const ResourceRequest& request = shape.request;
  std::vector<std::string> parts;
  for (const auto& [profile, count] : request.mig) parts.push_back(Several(count, profile));
  if (request.gpu_count > 0) {
    std::string text =
        request.is_share()
            ? Several(
                  request.gpu_count,
                  absl::StrCat(DoubleText(static_cast<double>(request.gpu_milli) / kDeviceMilli),
                               " GPU"))
            : WholeGpus(request.gpu_count);
    if (!request.gpu_spec.empty()) absl::StrAppend(&text, " of ", request.gpu_spec);
    parts.push_back(std::move(text));
  }
  for (const auto& [name, amount] : request.extended) parts.push_back(ExtendedText(name, amount));
  for (const ClaimEntry& claim : shape.claims) parts.push_back(ClaimText(claim));
  return parts.empty() ? "no GPU" : absl::StrJoin(parts, " + ");
}

}  // namespace drasim::view
