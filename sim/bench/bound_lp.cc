#include "sim/bench/bound_lp.h"

#include <algorithm>
#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <limits>

#include "absl/numeric/int128.h"
#include "model/check.h"

namespace drasim::bench {
namespace {

constexpr int64_t kMostAmount = int64_t{1} << 40;
// Beyond any dual value of use; keeps the sums below 2^127.
constexpr double kMostDual = 1048576.0 * 1048576.0 * 16;
constexpr int kMostIterations = 200'000;

void CheckAmount(int64_t amount) { DRASIM_CHECK(amount > -kMostAmount && amount < kMostAmount); }

}  // namespace

size_t BoundLp::AddColumn(int64_t value, int64_t most) {
  CheckAmount(value);
  CheckAmount(most);
  DRASIM_CHECK(most >= 0);
  columns_.push_back({value, most, {}});
  return columns_.size() - 1;
}

size_t BoundLp::AddRow(int64_t limit) {
  CheckAmount(limit);
  DRASIM_CHECK(limit >= 0);
  limits_.push_back(limit);
  return limits_.size() - 1;
}

void BoundLp::AddEntry(size_t row, size_t column, int64_t amount) {
  CheckAmount(amount);
  DRASIM_CHECK(row < limits_.size());
  if (amount != 0) columns_[column].entries.push_back({static_cast<uint32_t>(row), amount});
}

int64_t BoundLp::UpperBound() const {
  int64_t bound = BoundFor(std::vector<int64_t>(limits_.size()));
  if (columns_.empty() || limits_.empty()) return bound;
  return std::min(bound, BoundFor(SolveDual()));
}

std::vector<int64_t> BoundLp::SolveDual() const {
  // A minimum of -c x: the row prices of "<=" rows are then 0 or negative.
  std::vector<CoinBigIndex> starts = {0};
  std::vector<int> rows;
  std::vector<double> amounts;
  std::vector<double> most;
  std::vector<double> cost;
  for (const Column& column : columns_) {
    for (const Entry& entry : column.entries) {
      rows.push_back(static_cast<int>(entry.row));
      amounts.push_back(static_cast<double>(entry.amount));
    }
    starts.push_back(static_cast<CoinBigIndex>(rows.size()));
    most.push_back(static_cast<double>(column.most));
    cost.push_back(-static_cast<double>(column.value));
  }
  const std::vector<double> least(columns_.size(), 0.0);
  const std::vector<double> lower(limits_.size(), -COIN_DBL_MAX);
  const std::vector<double> upper(limits_.begin(), limits_.end());
  ClpSimplex model;
  model.setLogLevel(0);
  model.setMaximumIterations(kMostIterations);
  model.loadProblem(static_cast<int>(columns_.size()), static_cast<int>(limits_.size()),
                    starts.data(), rows.data(), amounts.data(), least.data(), most.data(),
                    cost.data(), lower.data(), upper.data());
  model.dual();
  const double* const prices = model.getRowPrice();
  std::vector<int64_t> scaled;
  for (size_t i = 0; i < limits_.size(); ++i) {
    const double price = std::isfinite(prices[i]) ? std::clamp(-prices[i], 0.0, kMostDual) : 0;
    scaled.push_back(std::llround(std::ldexp(price, kDualBits)));
  }
  return scaled;
}

int64_t BoundLp::BoundFor(const std::vector<int64_t>& scaled_dual) const {
  DRASIM_CHECK(scaled_dual.size() == limits_.size());
  absl::int128 sum = 0;
  for (size_t i = 0; i < limits_.size(); ++i)
    sum += absl::int128(std::max<int64_t>(0, scaled_dual[i])) * limits_[i];
  for (const Column& column : columns_) {
    absl::int128 reduced = absl::int128(column.value) << kDualBits;
    for (const Entry& entry : column.entries)
      reduced -= absl::int128(std::max<int64_t>(0, scaled_dual[entry.row])) * entry.amount;
    if (reduced > 0) sum += reduced * column.most;
  }
  // Values of integer columns are integers.
  const absl::int128 whole = sum >> kDualBits;
  DRASIM_CHECK(whole < std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(whole);
}

}  // namespace drasim::bench
