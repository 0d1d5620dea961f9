#include "sim/record/fingerprint.h"

#include "model/hash.h"

namespace drasim {

FingerprintSink::FingerprintSink(const VerdictSummaryTable* summaries)
    : summaries_(summaries), hash_(kFnvOffset) {}

void FingerprintSink::OnRecord(const Record& record, const ClusterState& cluster) {
  hash_ = MixWord(hash_, static_cast<uint64_t>(record.time.ns()));
  hash_ = MixWord(hash_, static_cast<uint64_t>(record.kind) << 32 | record.pod.value());
  // The second word is hashed only if needed, so that fingerprints from the time when nodes had at
  // most 32 devices stay valid.
  const uint64_t devices = record.devices.bits();
  hash_ = MixWord(hash_, uint64_t{record.node.value()} << 32 | (devices & UINT32_MAX));
  if (devices > UINT32_MAX) hash_ = MixWord(hash_, devices >> 32);
  if (record.kind == RecordKind::kPodArrived) {
    hash_ = MixWord(Fnv1a(cluster.pod_name(record.pod), hash_),
                    cluster.shapes().content_hash(cluster.pod_shape_id(record.pod)));
    hash_ = MixWord(hash_, static_cast<uint32_t>(cluster.pod_priority(record.pod)));
  } else if (record.kind == RecordKind::kAttemptFailed) {
    hash_ = MixWord(hash_, summaries_->content_hash(SummaryId(record.detail)));
  } else if (MayGiveDevices(record.kind)) {
    for (const DeviceGrant& g : cluster.pod_grants(record.pod)) {
      hash_ = MixWord(hash_, uint64_t{g.device} << 32 | uint64_t{g.placement} << 16 |
                                 static_cast<uint16_t>(g.milli));
    }
  } else if (record.kind == RecordKind::kPodRejected ||
             record.kind == RecordKind::kDevicesChanged) {
    hash_ = MixWord(hash_, record.detail);
  }
}

void FingerprintSink::Save(StateWriter& out) const {
  out.Section("fingerprint");
  out.U64(hash_);
}

absl::Status FingerprintSink::Load(StateReader& in) {
  in.Section("fingerprint");
  hash_ = in.U64();
  return in.status();
}

}  // namespace drasim
