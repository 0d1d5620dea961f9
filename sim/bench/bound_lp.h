// Upper bounds of linear programs in exact integers.
//
// A solver works in floating point, so its optimum may lie below the true one. Its dual solution,
// whatever its errors, proves a bound: for every y >= 0 and every x with A x <= b, 0 <= x <= u,
//
//   c x <= sum_i y_i b_i + sum_j u_j max(0, c_j - sum_i y_i a_ij)
//
// (weak duality; Neumaier and Shcherbina, "Safe bounds in linear and mixed-integer linear
// programming", 2004). The right side is computed from the solver's y in integers, so the bound is
// never too low.
//
//   BoundLp lp;
//   const size_t pods = lp.AddColumn(/*value=*/500, /*most=*/7);
//   const size_t cpu = lp.AddRow(/*limit=*/64'000);
//   lp.AddEntry(cpu, pods, 4'000);
//   const int64_t best = lp.UpperBound();
#ifndef DRASIM_SIM_BENCH_BOUND_LP_H_
#define DRASIM_SIM_BENCH_BOUND_LP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace drasim::bench {

// Maximises a sum over columns, each from 0 to its limit, under rows "sum of entries <= limit". All
// numbers are integers with an absolute value below 2^40, and limits are not negative (CHECKed).
class BoundLp {
 public:
  // Returns the column, or row, by number.
  size_t AddColumn(int64_t value, int64_t most);
  size_t AddRow(int64_t limit);
  // Adds to the entry, at most once for each pair: pairs are not merged.
  void AddEntry(size_t row, size_t column, int64_t amount);

  size_t columns() const { return columns_.size(); }
  size_t rows() const { return limits_.size(); }

  // At least the value of every x that meets the rows, and with a sound solution of the solver less
  // than 1 above the largest such value. The same on every machine with the same solver, because
  // the dual solution is rounded before it is used.
  int64_t UpperBound() const;
  // The right side above for these y, times 2^-kDualBits each; negative ones count as 0.
  int64_t BoundFor(const std::vector<int64_t>& scaled_dual) const;
  static constexpr int kDualBits = 36;

 private:
  struct Entry {
    uint32_t row;
    int64_t amount;
  };
  struct Column {
    int64_t value = 0;
    int64_t most = 0;
    std::vector<Entry> entries;
  };

  std::vector<int64_t> SolveDual() const;

  std::vector<Column> columns_;
  std::vector<int64_t> limits_;
};

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BOUND_LP_H_
