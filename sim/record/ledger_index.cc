#include "sim/record/ledger_index.h"

#include <utility>

#include "model/proto/ledger.pb.h"
#include "model/state_io.h"

namespace drasim {
namespace {

void PackPlaces(const std::vector<LedgerPlace>& places, bool with_time, proto::LedgerPlaces* out) {
  LedgerPlace before;
  for (const LedgerPlace& place : places) {
    out->add_records(place.records - before.records);
    if (with_time) out->add_time_ns(place.time.ns() - before.time.ns());
    out->add_offset(place.offset - before.offset);
    before = place;
  }
}

bool UnpackPlaces(const proto::LedgerPlaces& p, bool with_time, uint64_t records,
                  uint64_t file_bytes, std::vector<LedgerPlace>* out) {
  const int n = p.offset_size();
  if (p.records_size() != n || p.time_ns_size() != (with_time ? n : 0)) return false;
  LedgerPlace place;
  int64_t time_ns = 0;
  for (int i = 0; i < n; ++i) {
    // Frames do not overlap, and stand in the order of their records.
    if (p.records(i) > records - place.records || p.offset(i) == 0 ||
        p.offset(i) >= file_bytes - place.offset) {
      return false;
    }
    if (with_time && __builtin_add_overflow(time_ns, p.time_ns(i), &time_ns)) return false;
    place.records += p.records(i);
    place.time = SimTime(time_ns);
    place.offset += p.offset(i);
    out->push_back(place);
  }
  return true;
}

}  // namespace

std::vector<LedgerPlace>* LedgerIndex::ListOf(FrameType type) {
  switch (type) {
    case FrameType::kBlock:
      return &blocks;
    case FrameType::kCheckpoint:
      return &checkpoints;
    case FrameType::kDefinitions:
      return &definitions;
    case FrameType::kKeyframe:
      return &keyframes;
    case FrameType::kSeries:
      return &series;
    case FrameType::kPods:
      return &pods;
    case FrameType::kClaims:
      return &claims;
    case FrameType::kLiveClaims:
      return &live_claims;
    case FrameType::kExtenderCalls:
      return &extender_calls;
    case FrameType::kHeader:
    case FrameType::kEnd:
      return nullptr;
  }
  return nullptr;
}

void LedgerIndex::CutAt(uint64_t offset) {
  for (std::vector<LedgerPlace>* list : {&checkpoints, &blocks, &definitions, &keyframes, &series,
                                         &pods, &claims, &live_claims, &extender_calls}) {
    while (!list->empty() && list->back().offset >= offset) list->pop_back();
  }
  complete = false;
}

std::string PackEnd(const LedgerIndex& index, uint64_t fingerprint) {
  proto::LedgerEnd end;
  end.set_records(index.records);
  end.set_fingerprint(fingerprint);
  end.set_time_ns(index.end.ns());
  PackPlaces(index.checkpoints, false, end.mutable_checkpoints());
  PackPlaces(index.blocks, true, end.mutable_blocks());
  PackPlaces(index.definitions, true, end.mutable_definitions());
  PackPlaces(index.keyframes, true, end.mutable_keyframes());
  PackPlaces(index.series, true, end.mutable_series());
  PackPlaces(index.pods, true, end.mutable_pods());
  if (!index.claims.empty()) PackPlaces(index.claims, true, end.mutable_claims());
  if (!index.live_claims.empty()) {
    PackPlaces(index.live_claims, true, end.mutable_live_claims());
  }
  if (!index.extender_calls.empty()) {
    PackPlaces(index.extender_calls, true, end.mutable_extender_calls());
  }
  return end.SerializeAsString();
}

bool UnpackEnd(const std::string& payload, uint64_t file_bytes, LedgerIndex* index) {
  proto::LedgerEnd end;
  if (!end.ParseFromString(payload)) return false;
  LedgerIndex found;
  found.records = end.records();
  found.end = SimTime(end.time_ns());
  found.complete = true;
  const uint64_t records = end.records();
  const bool sound =
      UnpackPlaces(end.checkpoints(), false, records, file_bytes, &found.checkpoints) &&
      UnpackPlaces(end.blocks(), true, records, file_bytes, &found.blocks) &&
      UnpackPlaces(end.definitions(), true, records, file_bytes, &found.definitions) &&
      UnpackPlaces(end.keyframes(), true, records, file_bytes, &found.keyframes) &&
      UnpackPlaces(end.series(), true, records, file_bytes, &found.series) &&
      UnpackPlaces(end.pods(), true, records, file_bytes, &found.pods) &&
      UnpackPlaces(end.claims(), true, records, file_bytes, &found.claims) &&
      UnpackPlaces(end.live_claims(), true, records, file_bytes, &found.live_claims) &&
      UnpackPlaces(end.extender_calls(), true, records, file_bytes, &found.extender_calls);
  if (sound) *index = std::move(found);
  return sound;
}

void ReadMoment(absl::string_view payload, LedgerPlace* place) {
  // Two optional fields: tag 8, records as a varint; tag 16, time as a zig-zag varint. In
  // checkpoints the second one is a size.
  place->records = 0;
  place->time = SimTime();
  StateReader in(payload);
  uint64_t tag = in.U64();
  if (tag == 8) {
    place->records = in.U64();
    tag = in.U64();
  }
  if (tag == 16) place->time = SimTime(in.I64());
}

}  // namespace drasim
