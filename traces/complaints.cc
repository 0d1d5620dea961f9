#include "traces/complaints.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

void AddTallies(const RowTallies& more, RowTallies* tallies) {
  for (const auto& [kind, tally] : more) {
    RowTally& sum = (*tallies)[kind];
    if (sum.count == 0) sum.first = tally.first;
    sum.count += tally.count;
  }
}

}  // namespace

void Complaints::Reject(absl::string_view kind, absl::string_view column,
                        absl::string_view message) {
  if (lenient_) {
    RowTally& tally = skipped_[std::string(kind)];
    if (tally.count++ == 0) tally.first = std::string(message);
    return;
  }
  ++bad_rows_;
  // Kinds and columns are few, so a linear search is enough.
  const std::string key = absl::StrCat(kind, "|", column);
  const auto known = std::find_if(collected_.begin(), collected_.end(),
                                  [&key](const Collected& each) { return each.key == key; });
  if (known == collected_.end()) {
    collected_.push_back({key, {1, std::string(message)}});
  } else {
    ++known->tally.count;
  }
}

void Complaints::Warn(absl::string_view kind, absl::string_view message) {
  Warn(kind, [message] { return std::string(message); });
}

void Complaints::Warn(absl::string_view kind, absl::FunctionRef<std::string()> message) {
  RowTally& tally = warnings_[std::string(kind)];
  if (tally.count++ == 0) tally.first = message();
}

void Complaints::Merge(const Complaints& more) {
  AddTallies(more.skipped_, &skipped_);
  AddTallies(more.warnings_, &warnings_);
}

absl::Status Complaints::Error(const absl::Status& damage) const {
  if (bad_rows_ == 0) return damage;
  std::string text;
  if (bad_rows_ == 1) {
    text = collected_[0].tally.first;
  } else {
    for (const Collected& each : collected_) {
      absl::StrAppend(&text, each.tally.first);
      if (each.tally.count > 1) absl::StrAppend(&text, " (", each.tally.count, " rows like this)");
      absl::StrAppend(&text, "\n");
    }
    absl::StrAppend(&text, bad_rows_, " of ", rows_, " rows are bad", advice_);
  }
  if (damage.ok()) return absl::InvalidArgumentError(text);
  return absl::Status(damage.code(), absl::StrCat(text, "\n", damage.message()));
}

int64_t Complaints::skipped_rows() const {
  int64_t rows = 0;
  for (const auto& [kind, tally] : skipped_) rows += tally.count;
  return rows;
}

std::vector<std::string> Complaints::Lines() const {
  std::vector<std::string> lines;
  for (const auto& [kind, tally] : skipped_) {
    lines.push_back(
        absl::StrCat(tally.count, " row(s) skipped: ", kind, "; the first: ", tally.first));
  }
  for (const auto& [kind, tally] : warnings_) {
    lines.push_back(absl::StrCat(tally.count, " time(s): ", kind, "; the first: ", tally.first));
  }
  return lines;
}

}  // namespace drasim
