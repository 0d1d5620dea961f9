#include "sim/core/profiles.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

constexpr absl::string_view kDefaultScheduler = "default-scheduler";
constexpr size_t kMostCommonReasons = 255;

}  // namespace

std::optional<size_t> FindProfile(absl::Span<const std::string> names,
                                  absl::string_view scheduler_name) {
  const absl::string_view wanted = scheduler_name.empty() ? kDefaultScheduler : scheduler_name;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return i;
  }
  if (scheduler_name.empty()) return 0;
  return std::nullopt;
}

Profiles::Profiles(Profile* only) : profiles_{only}, names_{only->scheduler_name()} {}

absl::StatusOr<Profiles> Profiles::Make(std::vector<Profile*> profiles, const ShapeTable* shapes) {
  Profiles made(profiles.front());
  made.shapes_ = shapes;
  if (profiles.size() == 1) return made;
  made.names_.clear();
  made.reasons_ = profiles.front()->reasons();
  made.kinds_ = profiles.front()->reason_kinds();
  for (const Profile* profile : profiles) {
    made.names_.push_back(profile->scheduler_name());
    std::vector<ReasonIndex>& common = made.common_.emplace_back();
    const std::vector<std::string>& own = profile->reasons();
    for (size_t r = 0; r < own.size(); ++r) {
      // The first profile may have a text twice, and keeps its numbers.
      size_t number = profile == profiles.front() ? r : 0;
      while (number < made.reasons_.size() && (made.reasons_[number] != own[r] ||
                                               made.kinds_[number] != profile->reason_kinds()[r])) {
        ++number;
      }
      if (number == made.reasons_.size()) {
        made.reasons_.push_back(own[r]);
        made.kinds_.push_back(profile->reason_kinds()[r]);
      }
      common.push_back(static_cast<ReasonIndex>(number + 1));
    }
  }
  if (made.reasons_.size() >= kMostCommonReasons) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found profiles with ", made.reasons_.size(),
        " different reasons to reject a pod, expected fewer than ", kMostCommonReasons));
  }
  made.profiles_ = std::move(profiles);
  return made;
}

std::optional<size_t> Profiles::IndexOf(ShapeId shape) {
  if (shapes_ == nullptr) return 0;
  if (of_shape_.size() <= shape.value()) of_shape_.resize(shapes_->size(), kUnknown);
  int16_t& index = of_shape_[shape.value()];
  if (index == kUnknown) {
    const auto found = FindProfile(names_, shapes_->row(shape).identity.scheduler_name);
    index = found.has_value() ? static_cast<int16_t>(*found) : kNone;
  }
  if (index == kNone) return std::nullopt;
  return static_cast<size_t>(index);
}

Profile* Profiles::Of(ShapeId shape) {
  const std::optional<size_t> index = IndexOf(shape);
  return index.has_value() ? profiles_[*index] : nullptr;
}

uint64_t Profiles::RejectorsOf(size_t i, const VerdictSummaryTable::Row& row) const {
  if (common_.empty()) return profiles_[i]->RejectorsOf(row);
  VerdictSummaryTable::Row own;
  for (size_t r = 0; r < common_[i].size(); ++r) {
    for (const auto& [reason, nodes] : row.rejected) {
      if (common_[i][r] == reason)
        own.rejected.emplace_back(static_cast<ReasonIndex>(r + 1), nodes);
    }
  }
  return profiles_[i]->RejectorsOf(own);
}

}  // namespace drasim
