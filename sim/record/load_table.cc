#include "sim/record/load_table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"

namespace drasim {
namespace {

// A load of a thousand clusters is an error in the trace, and does not justify a table of that
// length.
constexpr double kMaxPercent = 100'000;

}  // namespace

void LoadTable::Add(const Sample& sample) {
  gpus_ = sample.totals.gpu_count;
  if (gpus_ == 0) return;
  const auto gpus = static_cast<double>(gpus_);
  // nearbyint rounds half to even, as the published tables do.
  const double load = std::nearbyint(static_cast<double>(sample.gpu_arrived_milli) / gpus / 10);
  if (load > kMaxPercent) return;
  const auto bin = static_cast<size_t>(load);
  if (bins_.size() <= bin) bins_.resize(bin + 1);
  Bin& b = bins_[bin];
  ++b.events;
  b.allocation +=
      RoundDecimals(static_cast<double>(sample.totals.gpu_milli_allocated) / gpus / 10, 2);
  b.amount += RoundDecimals(sample.fragmentation.amount_milli(), 2);
  b.ratio += RoundDecimals(sample.fragmentation.ratio_percent(), 2);
}

std::vector<LoadRow> LoadTable::Rows() const {
  std::vector<LoadRow> rows;
  for (size_t a = 0; a < bins_.size(); ++a) {
    Bin sum = bins_[a];
    if (sum.events == 0) {
      for (size_t near = a == 0 ? 0 : a - 1; near <= a + 1 && near < bins_.size(); ++near) {
        sum.events += bins_[near].events;
        sum.allocation += bins_[near].allocation;
        sum.amount += bins_[near].amount;
        sum.ratio += bins_[near].ratio;
      }
      if (sum.events == 0) continue;
    }
    const auto n = static_cast<double>(sum.events);
    LoadRow row;
    row.arrived_percent = static_cast<int64_t>(a);
    row.gpu_allocation_percent = RoundDecimals(sum.allocation / n, 2);
    row.fragmentation_percent_of_total =
        RoundDecimals(100 * (sum.amount / n) / 1000 / static_cast<double>(gpus_), 2);
    row.fragmentation_percent_of_idle = RoundDecimals(sum.ratio / n, 6);
    rows.push_back(row);
  }
  return rows;
}

std::string LoadTable::ToCsv() const {
  std::string csv =
      "arrived_percent,gpu_allocation_percent,fragmentation_percent_of_total,fragmentation_percent_"
      "of_idle\n";
  for (const LoadRow& row : Rows()) {
    absl::StrAppend(&csv, row.arrived_percent, ",");
    AppendDouble(&csv, row.gpu_allocation_percent);
    csv.push_back(',');
    AppendDouble(&csv, row.fragmentation_percent_of_total);
    csv.push_back(',');
    AppendDouble(&csv, row.fragmentation_percent_of_idle);
    csv.push_back('\n');
  }
  return csv;
}

void LoadTable::Save(StateWriter& out) const {
  out.Section("load_table");
  out.I64(gpus_);
  out.U64(bins_.size());
  for (const Bin& b : bins_) {
    out.I64(b.events);
    out.F64(b.allocation);
    out.F64(b.amount);
    out.F64(b.ratio);
  }
}

absl::Status LoadTable::Load(StateReader& in) {
  in.Section("load_table");
  gpus_ = in.I64();
  bins_.clear();
  const size_t n = in.Count();
  for (size_t i = 0; i < n && in.status().ok(); ++i) {
    Bin b;
    b.events = in.I64();
    b.allocation = in.F64();
    b.amount = in.F64();
    b.ratio = in.F64();
    bins_.push_back(b);
  }
  return in.status();
}

}  // namespace drasim
