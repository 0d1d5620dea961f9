#include "sim/record/ledger_seek.h"

#include <algorithm>

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
  if (keyframes == 0) {
    RETURN_IF_ERROR(reader_->Rewind());
    live_ = LiveState(cluster(), &summaries());
    time_ = SimTime();
  } else {
    const LedgerPlace& keyframe = index_.keyframes[keyframes - 1];
    for (; definitions_read_ < index_.definitions.size() &&
           index_.definitions[definitions_read_].offset < keyframe.offset;
         ++definitions_read_) {
      RETURN_IF_ERROR(reader_->ReadDefinitions(index_.definitions[definitions_read_].offset));
    }
    RETURN_IF_ERROR(reader_->Jump(keyframe, &live_));
    time_ = keyframe.time;
  }
  sound_ = true;
  return absl::OkStatus();
}

absl::StatusOr<bool> LedgerSeek::Next(Record* record) {
  if (!sound_) return DamagedFrame(*reader_, LedgerPlace(), "the last move failed");
  absl::StatusOr<bool> more = reader_->Next(record);
  sound_ = more.ok();
  if (!more.ok() || !*more) return more;
  live_.OnRecord(*record, cluster());
  time_ = record->time;
  return true;
}

absl::Status LedgerSeek::ToRecord(uint64_t records) {
  const auto later =
      std::upper_bound(index_.keyframes.begin(), index_.keyframes.end(), records,
                       [](uint64_t wanted, const LedgerPlace& k) { return wanted < k.records; });
  RETURN_IF_ERROR(
      Approach(static_cast<size_t>(later - index_.keyframes.begin()), record() <= records));
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
  RETURN_IF_ERROR(Approach(static_cast<size_t>(later - index_.keyframes.begin()), time_ <= time));
  Record passed;
  while (true) {
    SimTime next;
    absl::StatusOr<bool> more = reader_->NextTime(&next);
    sound_ = more.ok();
    if (!more.ok()) return more.status();
    if (!*more || next > time) return absl::OkStatus();
    RETURN_IF_ERROR(Next(&passed).status());
  }
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

}  // namespace drasim
