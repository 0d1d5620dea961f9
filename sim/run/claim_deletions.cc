#include "sim/run/claim_deletions.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/key_error.h"

namespace drasim {

absl::Status CheckClaimNames(absl::Span<const UserDeletion> deletions,
                             absl::Span<const JobArrival> jobs, const ShapeTable& shapes,
                             ControlPlane* plane) {
  const auto uses_template = [&shapes](ShapeId shape) {
    const auto& claims = shapes.row(shape).claims;
    return std::any_of(claims.begin(), claims.end(),
                       [](const ClaimEntry& entry) { return !entry.from_template.empty(); });
  };
  for (size_t i = 0; i < deletions.size(); ++i) {
    if (deletions[i].kind != UserDeletion::Kind::kClaim) continue;
    const std::string& text = deletions[i].name;
    std::string ns;
    std::string name;
    SplitObjectName(text, &ns, &name);
    NamePool& pool = plane->names();
    const ObjectCache& objects = plane->network().server().objects();
    if (objects.claim(pool.Intern(ns), pool.Intern(name)) != nullptr) continue;
    // The name of a claim made for a pod begins with the pod's name.
    const std::string plain = PlainObjectName(text);
    const bool may_be_made = std::any_of(jobs.begin(), jobs.end(), [&](const JobArrival& job) {
      return absl::StartsWith(plain, absl::StrCat(job.name, "-")) && uses_template(job.shape);
    });
    if (may_be_made) continue;
    return KeyError(absl::StrCat(DeletionKey(i), ".claim"),
                    absl::StrCat("found '", text,
                                 "', expected the name of a ResourceClaim, or one that is made "
                                 "from a template for a pod"));
  }
  return absl::OkStatus();
}

}  // namespace drasim
