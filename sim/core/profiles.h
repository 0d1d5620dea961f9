// Profiles: the scheduler profiles of a run, and which of them a pod runs under.
//
// As in kube-scheduler, pods choose by spec.schedulerName, and all profiles share one queue. A pod
// of a trace names none: it runs under the profile "default-scheduler", or the first if no profile
// has that name. With one profile that has no name of its own (every policy but kube-scheduler),
// all pods run under it.
//
// Reasons are numbers of a profile. Summaries of failed attempts are shared by all, so each reason
// has a common number, too: that of the first profile for its own reasons, and for equal ones.
#ifndef DRASIM_SIM_CORE_PROFILES_H_
#define DRASIM_SIM_CORE_PROFILES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/shape_table.h"
#include "policies/framework/profile.h"

namespace drasim {

// The place in `names` of the profile that a pod with this spec.schedulerName runs under; nothing
// if there is none. REQUIRES: names.
std::optional<size_t> FindProfile(absl::Span<const std::string> names,
                                  absl::string_view scheduler_name);

// Copies share the profiles. Not thread-safe.
class Profiles {
 public:
  // For all pods. The profile must outlive this.
  explicit Profiles(Profile* only);
  // Pods choose. All must outlive this. InvalidArgument if they have more reasons than there are
  // numbers.
  static absl::StatusOr<Profiles> Make(std::vector<Profile*> profiles, const ShapeTable* shapes);

  size_t size() const { return profiles_.size(); }
  Profile& at(size_t i) const { return *profiles_[i]; }
  Profile& first() const { return *profiles_.front(); }
  // The place of the profile that pods of the shape run under; nothing if they name one that is
  // not there. O(profiles) for a new shape, then O(1).
  std::optional<size_t> IndexOf(ShapeId shape);
  // The profile itself; null.
  Profile* Of(ShapeId shape);

  // The common number of a reason of profile `i`; kFits for kFits.
  ReasonIndex CommonReason(size_t i, ReasonIndex reason) const {
    return reason == kFits || common_.empty() ? reason : common_[i][reason - size_t{1}];
  }
  // Profile::RejectorsOf of profile `i`, for a row of common numbers.
  uint64_t RejectorsOf(size_t i, const VerdictSummaryTable::Row& row) const;
  // Texts and kinds of common numbers 1, 2, ...
  const std::vector<std::string>& reasons() const {
    return common_.empty() ? first().reasons() : reasons_;
  }
  const std::vector<ReasonKind>& reason_kinds() const {
    return common_.empty() ? first().reason_kinds() : kinds_;
  }

 private:
  static constexpr int16_t kUnknown = -2;
  static constexpr int16_t kNone = -1;

  std::vector<Profile*> profiles_;
  std::vector<std::string> names_;                // beside profiles_
  const ShapeTable* shapes_ = nullptr;            // null: nobody chooses
  std::vector<int16_t> of_shape_;                 // index, kNone or kUnknown
  std::vector<std::string> reasons_;              // common
  std::vector<ReasonKind> kinds_;                 // beside reasons_
  std::vector<std::vector<ReasonIndex>> common_;  // by profile and reason; empty: one profile
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_PROFILES_H_
