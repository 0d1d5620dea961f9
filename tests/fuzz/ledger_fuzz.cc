// libFuzzer target: any bytes as a ledger. Reading ends with records or an error, and the state it
// rebuilt is sound.
//
// A first byte of 1 means that the rest is a list of frames without checksums, as in reframe.h.

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/check.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"
#include "tests/fuzz/reframe.h"

namespace drasim {
namespace {

void ReadAll(absl::string_view bytes) {
  auto ledger = LedgerReader::FromMemory(bytes);
  if (!ledger.ok()) return;
  Record record;
  while (true) {
    absl::StatusOr<bool> more = (*ledger)->Next(&record);
    if (!more.ok() || !*more) break;
  }
  DRASIM_CHECK((*ledger)->cluster().CheckInvariants().ok());
  auto checkpoints = (*ledger)->ListCheckpoints();
  if (!checkpoints.ok()) return;
  for (const LedgerReader::Checkpoint& c : *checkpoints) (void)(*ledger)->ReadCheckpoint(c);
}

void SeekEverywhere(absl::string_view bytes) {
  auto seek = LedgerSeek::FromMemory(bytes);
  if (!seek.ok()) return;
  const LedgerIndex index = (*seek)->index();
  (void)(*seek)->ToRecord(~uint64_t{0});
  for (const LedgerPlace& keyframe : index.keyframes) {
    if (!(*seek)->ToRecord(keyframe.records).ok()) continue;
    const ClusterState& cluster = (*seek)->cluster();
    DRASIM_CHECK(cluster.CheckInvariants().ok());
    for (size_t p = 0; p < cluster.pod_count(); ++p) {
      (void)(*seek)->JobOf(PodId(p));
      DRASIM_CHECK_LE((*seek)->TenantOf(PodId(p)).size(), bytes.size());
    }
    for (size_t n = 0; n < cluster.node_count(); ++n) {
      if (cluster.node(NodeId(n)).gpu_count > 0) (void)(*seek)->LayoutOf(NodeId(n), 0);
    }
  }
  (void)(*seek)->ToTime(SimTime());
  (void)(*seek)->ReadSeries();
  for (size_t i = 0; i < index.pods.size(); ++i) (void)(*seek)->ReadPods(i);
  for (size_t i = 0; i < index.claims.size(); ++i) (void)(*seek)->ReadClaimChanges(i);
}

}  // namespace
}  // namespace drasim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] == 1) {
    const std::string ledger = drasim::Reframe(bytes.substr(1));
    drasim::ReadAll(ledger);
    drasim::SeekEverywhere(ledger);
  } else {
    drasim::ReadAll(bytes);
    drasim::SeekEverywhere(bytes);
  }
  return 0;
}
