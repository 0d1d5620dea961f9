// libFuzzer: any bytes as a ledger that the GUI opens, without its threads: the overview, snapshots
// by record and by time, node changes, times of records, and an inspection of each kind. It ends in
// pictures or in an error with the file's name.
//
// As in ledger_fuzz, a first byte of 1 means frames without checksums.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/session/block_columns.h"
#include "gui/session/inspection.h"
#include "gui/session/inspector.h"
#include "gui/session/overview_builder.h"
#include "gui/session/record_times.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/session/snapshot_builder.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "sim/record/ledger_seek.h"
#include "tests/fuzz/reframe.h"

namespace drasim::gui {
namespace {

bool GoAlways(double) { return true; }

// A file in memory, since the session opens its ledger by name and several times.
class MemoryFile {
 public:
  explicit MemoryFile(absl::string_view bytes) : descriptor_(memfd_create("ledger", 0)) {
    DRASIM_CHECK(descriptor_ >= 0);
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      DRASIM_CHECK(written > 0);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return absl::StrCat("/proc/self/fd/", descriptor_); }

 private:
  int descriptor_;
};

// As RunSession's follower does it.
absl::Status Follow(const std::string& path, uint64_t exact_records,
                    std::shared_ptr<const RunBasis>* basis, std::vector<InspectRequest>* objects) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<BlockFile> blocks, BlockFile::Open(path));
  ASSIGN_OR_RETURN(std::unique_ptr<BlockFile> clock_blocks, BlockFile::Open(path));
  RunOverview overview;
  ASSIGN_OR_RETURN(*basis, ReadBasis(seek.get(), GoAlways, &overview, exact_records));
  const RecordTimes clock(seek->index(), (*basis)->by_record ? nullptr : std::move(clock_blocks));
  std::vector<NodeChange> changes;
  for (const size_t place : (*basis)->event_blocks) {
    RETURN_IF_ERROR(blocks->ReadNodeChanges(seek->index().blocks[place],
                                            seek->cluster().node_count(), &changes));
  }
  for (const uint64_t percent : {uint64_t{100}, uint64_t{0}, uint64_t{60}, uint64_t{30}}) {
    SnapshotRequest request;
    request.tenants = true;
    request.at.record = clock.records() * percent / 100;
    request.at.time = clock.TimeOf(*request.at.record);
    DRASIM_CHECK_LE(clock.LastRecordAt(request.at.time), clock.records());
    if (percent == 60) request.at.record.reset();
    RETURN_IF_ERROR(MoveTo(seek.get(), request.at, (*basis)->by_record));
    SnapshotExtras extras;
    extras.fragmentation = (*basis)->fragmentation.get();
    extras.node_changes = changes;
    const RunSnapshot snapshot = SnapshotAt(request, *seek, **basis, std::move(extras));
    DRASIM_CHECK_EQ(snapshot.nodes.rows(), seek->cluster().node_count());
    const auto add = [&](ObjectKind kind, absl::string_view name) {
      InspectRequest& inspect = objects->emplace_back();
      inspect.object = {kind, std::string(name)};
      inspect.at = request.at;
      inspect.end = overview.end;
    };
    if (snapshot.pods.rows() > 0) add(ObjectKind::kPod, snapshot.pods.name(0));
    if (snapshot.nodes.rows() > 0) add(ObjectKind::kNode, snapshot.nodes.row(0).name);
    if (snapshot.claims.rows() > 0) add(ObjectKind::kClaim, snapshot.claims.row(0).name);
    if (!snapshot.pods.tenants().empty()) add(ObjectKind::kTenant, snapshot.pods.tenants().back());
  }
  return absl::OkStatus();
}

// As RunSession's inspector does it.
absl::Status InspectAll(const std::string& path, const std::shared_ptr<const RunBasis>& basis,
                        const std::vector<InspectRequest>& objects) {
  ASSIGN_OR_RETURN(std::unique_ptr<LedgerSeek> seek, LedgerSeek::Open(path));
  Inspector inspector(std::move(seek), basis);
  for (const InspectRequest& request : objects) {
    const absl::Status status = inspector.Inspect(request, GoAlways, [](Inspection) {}).status();
    if (!absl::IsNotFound(status)) RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

void OpenRun(absl::string_view bytes) {
  const MemoryFile file(bytes);
  // With a sample per change, and by the frames of series.
  for (const uint64_t exact_records : {kExactRecords, uint64_t{0}}) {
    std::shared_ptr<const RunBasis> basis;
    std::vector<InspectRequest> objects;
    absl::Status status = Follow(file.path(), exact_records, &basis, &objects);
    if (status.ok()) status = InspectAll(file.path(), basis, objects);
    DRASIM_CHECK(status.ok() || absl::IsDataLoss(status) || absl::IsInvalidArgument(status));
    DRASIM_CHECK(status.ok() || absl::StartsWith(status.message(), file.path()));
  }
}

}  // namespace
}  // namespace drasim::gui

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  drasim::gui::OpenRun(size > 0 && data[0] == 1 ? drasim::Reframe(bytes.substr(1))
                                                : std::string(bytes));
  return 0;
}
