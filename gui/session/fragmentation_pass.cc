#include "gui/session/fragmentation_pass.h"

#include <algorithm>
#include <utility>

#include "model/record.h"
#include "model/status_macros.h"

namespace drasim::gui {
namespace {

constexpr uint64_t kRecordsPerPiece = 1024;

}  // namespace

FragmentationPass::FragmentationPass(std::unique_ptr<LedgerReader> reader,
                                     std::shared_ptr<const RunBasis> basis,
                                     const RunOverview& overview)
    : reader_(std::move(reader)),
      basis_(std::move(basis)),
      records_(overview.records),
      series_(basis_->fragmentation.get(), reader_->cluster(), overview.end) {}

std::unique_ptr<FragmentationPass> FragmentationPass::Start(const std::string& path,
                                                            std::shared_ptr<const RunBasis> basis,
                                                            const RunOverview& overview) {
  if (basis->fragmentation == nullptr || overview.records > kMostFragmentationRecords) {
    return nullptr;
  }
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(path);
  if (!reader.ok()) return nullptr;  // gone since it was opened
  return std::unique_ptr<FragmentationPass>(
      new FragmentationPass(*std::move(reader), std::move(basis), overview));
}

absl::StatusOr<bool> FragmentationPass::Continue() {
  for (uint64_t i = 0; i < kRecordsPerPiece && reader_->records() < records_; ++i) {
    Record record;
    ASSIGN_OR_RETURN(const bool more, reader_->Next(&record));
    if (!more) return true;
    last_ = basis_->by_record ? SimTime(static_cast<int64_t>(reader_->records()))
                              : std::max(last_, record.time);
    series_.Add(record, last_, reader_->cluster());
  }
  return reader_->records() >= records_;
}

double FragmentationPass::share() const {
  return records_ == 0 ? 1
                       : static_cast<double>(reader_->records()) / static_cast<double>(records_);
}

}  // namespace drasim::gui
