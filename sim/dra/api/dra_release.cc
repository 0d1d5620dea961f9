#include "sim/dra/api/dra_release.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace drasim {

absl::StatusOr<DraRelease> ParseDraRelease(absl::string_view text) {
  constexpr DraRelease kReleases[] = {DraRelease::k26, DraRelease::k27, DraRelease::k28,
                                      DraRelease::k29, DraRelease::k30, DraRelease::k31};
  std::vector<std::string> known;
  for (const DraRelease release : kReleases) {
    known.push_back(DraReleaseText(release));
    if (known.back() == text) return release;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown Kubernetes release '", text, "'; known: ", absl::StrJoin(known, ", ")));
}

std::string DraReleaseText(DraRelease release) {
  return absl::StrCat("1.", static_cast<int>(release));
}

std::optional<Name> NameOfClaim(const Pod& pod, const PodClaim& entry,
                                const DraBehaviour& behaviour, NamePool& names) {
  if (!entry.claim.empty()) return entry.claim;
  if (!behaviour.generated_names()) {
    return names.Intern(absl::StrCat(pod.meta.name.text(), "-", entry.entry.text()));
  }
  for (const Pod::ClaimName& known : pod.claim_names) {
    if (known.entry == entry.entry) return known.claim;
  }
  return std::nullopt;
}

}  // namespace drasim
