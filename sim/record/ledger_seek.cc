#include "sim/record/ledger_seek.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

absl::Status DamagedFrame(const LedgerReader& reader, const LedgerPlace& place,
                          absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat(reader.path(), ": damaged at byte ", place.offset, ": ", what));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LedgerSeek>> LedgerSeek::Start(
    absl::StatusOr<std::unique_ptr<LedgerReader>> reader) {
  if (!reader.ok()) return reader.status();
  std::unique_ptr<LedgerSeek> seek(new LedgerSeek(*std::move(reader)));
  ASSIGN_OR_RETURN(seek->index_, seek->reader_->ReadIndex());
  return seek;
}

absl::StatusOr<std::unique_ptr<LedgerSeek>> LedgerSeek::Open(const std::string& path) {
  return Start(LedgerReader::Open(path));
}

absl::StatusOr<std::unique_ptr<LedgerSeek>> LedgerSeek::FromMemory(absl::string_view bytes) {
  return Start(LedgerReader::FromMemory(bytes));
}

absl::Status LedgerSeek::Approach(size_t keyframes, bool reachable) {
  const uint64_t start = keyframes == 0 ? 0 : index_.keyframes[keyframes - 1].records;
  if (sound_ && reachable && record() >= start) return absl::OkStatus();
  sound_ = false;
  touched_.all = true;
  if (keyframes == 0) {
    RETURN_IF_ERROR(reader_->Rewind());
    live_ = LiveState(cluster(), &summaries());
    time_ = SimTime();
    RETURN_IF_ERROR(ResetClaims(0));
  } else {
    const LedgerPlace& keyframe = index_.keyframes[keyframes - 1];
    for (; definitions_read_ < index_.definitions.size() &&
           index_.definitions[definitions_read_].offset < keyframe.offset;
         ++definitions_read_) {
      RETURN_IF_ERROR(reader_->ReadDefinitions(index_.definitions[definitions_read_].offset));
    }
    RETURN_IF_ERROR(reader_->Jump(keyframe, &live_));
    time_ = keyframe.time;
    RETURN_IF_ERROR(ResetClaims(keyframe.records));
  }
  sound_ = true;
  return absl::OkStatus();
}

absl::Status LedgerSeek::ResetClaims(uint64_t records) {
  claims_ = LiveClaims();
  changes_.clear();
  next_change_ = 0;
  claims_from_ = records;
  claims_end_ = 0;
  const auto is_before = [](const LedgerPlace& place, uint64_t wanted) {
    return place.records < wanted;
  };
  const auto frame =
      std::lower_bound(index_.claims.begin(), index_.claims.end(), records, is_before);
  claim_frame_ = static_cast<size_t>(frame - index_.claims.begin());
  const auto live =
      std::lower_bound(index_.live_claims.begin(), index_.live_claims.end(), records, is_before);
  if (records == 0 || live == index_.live_claims.end() || live->records != records) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string payload,
                   reader_->ReadPayload(FrameType::kLiveClaims, live->offset));
  if (!UnpackLiveClaims(payload, cluster().node_count(), &claims_)) {
    return DamagedFrame(*reader_, *live, "live claims are unreadable");
  }
  return absl::OkStatus();
}

absl::Status LedgerSeek::AdvanceClaims(std::optional<SimTime> until) {
  while (true) {
    if (next_change_ == changes_.size()) {
      // The changes of a frame lie behind the place of the frame before.
      if (claim_frame_ == index_.claims.size() ||
          (claim_frame_ > 0 && index_.claims[claim_frame_ - 1].records > record())) {
        return absl::OkStatus();
      }
      ASSIGN_OR_RETURN(changes_, ReadClaimChanges(claim_frame_));
      ++claim_frame_;
      next_change_ = 0;
      continue;
    }
    const auto& [records, change] = changes_[next_change_];
    const bool is_behind = records >= record();
    if (is_behind && (records > record() || !until.has_value() || change.time > *until)) {
      return absl::OkStatus();
    }
    ++next_change_;
    if (records < claims_from_) continue;
    claims_.Apply(change);
    claims_end_ = records + 1;
    claims_time_ = change.time;
  }
}

absl::StatusOr<bool> LedgerSeek::Next(Record* record) {
  if (!sound_) return DamagedFrame(*reader_, LedgerPlace(), "the last move failed");
  absl::StatusOr<bool> more = reader_->Next(record);
  sound_ = more.ok();
  if (!more.ok() || !*more) return more;
  live_.OnRecord(*record, cluster());
  Touch(record->node);
  time_ = record->time;
  const absl::Status claims = AdvanceClaims(std::nullopt);
  sound_ = claims.ok();
  if (!sound_) return claims;
  return true;
}

void LedgerSeek::Touch(NodeId node) {
  if (touched_.all || node.value() >= is_touched_.size() || is_touched_[node.value()]) return;
  is_touched_[node.value()] = true;
  touched_.nodes.push_back(node);
}

TouchedNodes LedgerSeek::TakeTouched() {
  TouchedNodes touched = std::exchange(touched_, {.all = false, .nodes = {}});
  is_touched_.assign(cluster().node_count(), false);
  if (touched.all) touched.nodes.clear();
  return touched;
}

bool LedgerSeek::IsNear(uint64_t records, uint64_t keyframe) const {
  // A keyframe costs about a record for each of its live objects.
  const uint64_t live = live_.pods().size() + cluster().node_count();
  if (!sound_ || record() >= records || records - record() > records - keyframe + live) {
    return false;
  }
  // Reading on for good would keep every pod of the run.
  constexpr uint64_t kMostKept = uint64_t{1} << 16;
  return cluster().pod_count() <= kMostKept + 2 * live;
}

absl::Status LedgerSeek::ToRecord(uint64_t records) {
  const auto later =
      std::upper_bound(index_.keyframes.begin(), index_.keyframes.end(), records,
                       [](uint64_t wanted, const LedgerPlace& k) { return wanted < k.records; });
  const bool reachable = record() < records || (record() == records && !AreClaimsAhead());
  const bool near =
      later != index_.keyframes.begin() && IsNear(records, (later - 1)->records) && reachable;
  // The keyframe may lead around damage.
  if (near && ReadTo(records).ok()) return absl::OkStatus();
  RETURN_IF_ERROR(Approach(static_cast<size_t>(later - index_.keyframes.begin()), reachable));
  return ReadTo(records);
}

absl::Status LedgerSeek::ReadTo(uint64_t records) {
  Record passed;
  while (record() < records) {
    ASSIGN_OR_RETURN(const bool more, Next(&passed));
    if (!more) break;
  }
  return absl::OkStatus();
}

absl::Status LedgerSeek::ToTime(SimTime time) {
  const auto later =
      std::upper_bound(index_.keyframes.begin(), index_.keyframes.end(), time,
                       [](SimTime wanted, const LedgerPlace& k) { return wanted < k.time; });
  RETURN_IF_ERROR(Approach(static_cast<size_t>(later - index_.keyframes.begin()),
                           time_ <= time && (!AreClaimsAhead() || claims_time_ <= time)));
  Record passed;
  while (true) {
    SimTime next;
    absl::StatusOr<bool> more = reader_->NextTime(&next);
    sound_ = more.ok();
    if (!more.ok()) return more.status();
    if (!*more || next > time) break;
    RETURN_IF_ERROR(Next(&passed).status());
  }
  const absl::Status claims = AdvanceClaims(time);
  sound_ = claims.ok();
  return claims;
}

absl::StatusOr<LedgerSeries> LedgerSeek::ReadSeries() {
  LedgerSeries series;
  for (const LedgerPlace& place : index_.series) {
    ASSIGN_OR_RETURN(const std::string payload,
                     reader_->ReadPayload(FrameType::kSeries, place.offset));
    if (!UnpackSeries(payload, cluster().node_count(), &series)) {
      return DamagedFrame(*reader_, place, "series do not follow those before");
    }
  }
  return series;
}

absl::StatusOr<std::vector<EndedPodRow>> LedgerSeek::ReadPods(size_t frame) {
  DRASIM_CHECK_LT(frame, index_.pods.size());
  const LedgerPlace& place = index_.pods[frame];
  ASSIGN_OR_RETURN(const std::string payload, reader_->ReadPayload(FrameType::kPods, place.offset));
  std::vector<EndedPodRow> rows;
  if (!UnpackPods(payload, cluster().node_count(), &rows)) {
    return DamagedFrame(*reader_, place, "rows of pods are unreadable");
  }
  return rows;
}

absl::StatusOr<std::vector<LoggedClaimChange>> LedgerSeek::ReadClaimChanges(size_t frame) {
  DRASIM_CHECK_LT(frame, index_.claims.size());
  const LedgerPlace& place = index_.claims[frame];
  ASSIGN_OR_RETURN(const std::string payload,
                   reader_->ReadPayload(FrameType::kClaims, place.offset));
  std::vector<LoggedClaimChange> changes;
  if (!UnpackClaims(payload, cluster().node_count(), &changes)) {
    return DamagedFrame(*reader_, place, "changes of claims are unreadable");
  }
  return changes;
}

absl::StatusOr<std::vector<CallsSample>> LedgerSeek::ReadCalls() {
  std::vector<CallsSample> samples;
  for (const LedgerPlace& place : index_.claims) {
    ASSIGN_OR_RETURN(const std::string payload,
                     reader_->ReadPayload(FrameType::kClaims, place.offset));
    if (!UnpackCalls(payload, &samples.emplace_back())) {
      return DamagedFrame(*reader_, place, "calls of clients are unreadable");
    }
  }
  return samples;
}

}  // namespace drasim
