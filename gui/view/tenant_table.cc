#include "gui/view/tenant_table.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "gui/view/wait_text.h"
#include "model/check.h"
#include "model/number_text.h"
#include "model/pod_shape.h"

namespace drasim::view {
namespace {

constexpr double kSecondsOfHour = 3600;

SimDuration NearestRank(const std::vector<SimDuration>& sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

}  // namespace

WaitFigures WaitFiguresOf(std::vector<SimDuration>* waits) {
  WaitFigures figures;
  if (waits->empty()) return figures;
  std::sort(waits->begin(), waits->end());
  absl::uint128 sum = 0;
  for (const SimDuration wait : *waits) {
    sum += static_cast<uint64_t>(std::max<int64_t>(wait.ns(), 0));
  }
  figures.pods = static_cast<int64_t>(waits->size());
  figures.mean = SimDuration(static_cast<int64_t>(absl::Uint128Low64(sum / waits->size())));
  figures.p50 = NearestRank(*waits, 50);
  figures.p95 = NearestRank(*waits, 95);
  figures.longest = waits->back();
  return figures;
}

TenantTable::TenantTable(const PodTable& pods) {
  std::vector<TenantTableRow> rows(pods.tenants().size());
  std::vector<std::vector<SimDuration>> waits(rows.size());
  for (size_t p = 0; p < pods.rows(); ++p) {
    const PodRow& pod = pods.row(p);
    TenantTableRow& row = rows[pod.tenant];
    ++row.pods;
    row.attempts_failed += pod.attempts_failed;
    row.evictions += pod.times_evicted;
    SimDuration held = pod.held;
    if (pod.phase == PodPhase::kBound) {
      ++row.running;
      row.gpu_milli += pods.gpu_milli(p);
      held = held + (pods.now() - pod.running_since);
    } else if (pod.phase >= PodPhase::kSucceeded) {
      ++row.ended;
    } else {
      ++row.waiting;
    }
    row.gpu_hours +=
        static_cast<double>(pods.gpu_milli(p)) / kDeviceMilli * held.seconds() / kSecondsOfHour;
    const std::optional<SimDuration> wait = pods.FirstWaitOf(p);
    if (wait.has_value()) waits[pod.tenant].push_back(*wait);
  }
  for (size_t t = 0; t < rows.size(); ++t) {
    if (rows[t].pods == 0) continue;
    rows[t].name = pods.tenants()[t].empty() ? "(none)" : pods.tenants()[t];
    rows[t].waits = WaitFiguresOf(&waits[t]);
    rows_.push_back(std::move(rows[t]));
    tenants_.push_back(static_cast<uint32_t>(t));
  }
}

absl::Span<const TableColumn> TenantTable::columns() const {
  using Kind = TableColumn::Kind;
  static const auto* const columns =
      new std::array<TableColumn, kColumns>{{{"tenant", Kind::kText},
                                             {"pods", Kind::kNumber},
                                             {"waiting", Kind::kNumber},
                                             {"running", Kind::kNumber},
                                             {"ended", Kind::kNumber},
                                             {"GPUs now", Kind::kNumber},
                                             {"GPU-hours", Kind::kNumber},
                                             {"wait p50", Kind::kNumber},
                                             {"wait p95", Kind::kNumber},
                                             {"longest wait", Kind::kNumber},
                                             {"failed tries", Kind::kNumber},
                                             {"evictions", Kind::kNumber}}};
  return *columns;
}

int64_t TenantTable::Number(size_t row, size_t column) const {
  const TenantTableRow& tenant = rows_[row];
  const bool waits = tenant.waits.pods > 0;
  switch (column) {
    case kPods:
      return tenant.pods;
    case kWaiting:
      return tenant.waiting;
    case kRunning:
      return tenant.running;
    case kEnded:
      return tenant.ended;
    case kGpus:
      return tenant.gpu_milli;
    case kGpuHours:
      // Only an order: thousandths, kept inside the type's range.
      return static_cast<int64_t>(std::min(tenant.gpu_hours * 1000, 9e18));
    case kWaitP50:
      return waits ? tenant.waits.p50.ns() : kNoNumber;
    case kWaitP95:
      return waits ? tenant.waits.p95.ns() : kNoNumber;
    case kLongestWait:
      return waits ? tenant.waits.longest.ns() : kNoNumber;
    case kTries:
      return tenant.attempts_failed;
    case kEvictions:
      return tenant.evictions;
    default:
      DRASIM_UNREACHABLE("a column of texts has no numbers");
  }
}

absl::string_view TenantTable::Text(size_t row, size_t column) const {
  DRASIM_CHECK_EQ(column, size_t{kName});
  return rows_[row].name;
}

std::string TenantTable::Shown(size_t row, size_t column) const {
  if (column == kName) return rows_[row].name;
  if (column == kGpuHours) return FixedText(rows_[row].gpu_hours, 1);
  const int64_t number = Number(row, column);
  if (number == kNoNumber) return "";
  if (column == kWaitP50 || column == kWaitP95 || column == kLongestWait) {
    return WaitText(SimDuration(number));
  }
  return Exact(row, column);
}

std::string TenantTable::Exact(size_t row, size_t column) const {
  if (column == kName) return rows_[row].name;
  if (column == kGpuHours) return DoubleText(RoundDecimals(rows_[row].gpu_hours, 6));
  const int64_t number = Number(row, column);
  if (number == kNoNumber) return "";
  if (column == kGpus) return DoubleText(static_cast<double>(number) / kDeviceMilli);
  if (column == kWaitP50 || column == kWaitP95 || column == kLongestWait) {
    return DoubleText(SimDuration(number).seconds());
  }
  return absl::StrCat(number);
}

}  // namespace drasim::view
