#include "model/mig_layout.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/mig_table.h"

namespace drasim {
namespace {

// As observed when 1g instances were requested one after another on an A100 and an H100.
constexpr int32_t kStartsOfOneSlice[] = {6, 4, 5, 0, 1, 2, 3};
constexpr int32_t kSlicesOfThatGpu = 7;

// The multisets of all states, ascending and distinct.
std::vector<MigMultiset> DistinctMultisets(const MigTable& table) {
  std::vector<MigMultiset> multisets;
  for (size_t s = 0; s < table.states(); ++s) {
    multisets.push_back(MultisetOf(table, static_cast<MigState>(s)));
  }
  std::sort(multisets.begin(), multisets.end());
  multisets.erase(std::unique(multisets.begin(), multisets.end()), multisets.end());
  return multisets;
}

// True when `set` has the given number of placements of each profile.
bool HasCounts(const MigTable& table, uint64_t set, const MigMultiset& counts) {
  for (size_t p = 0; p < counts.size(); ++p) {
    if (std::popcount(set & table.placements_of(p)) != counts[p]) return false;
  }
  return true;
}

// The first state with the placements of `fixed` and the given further instances.
MigState FindAround(const MigTable& table, uint64_t fixed, const MigMultiset& counts) {
  DRASIM_CHECK_EQ(counts.size(), table.profiles().size());
  for (size_t s = 0; s < table.states(); ++s) {
    const auto state = static_cast<MigState>(s);
    const uint64_t set = table.set(state);
    if ((set & fixed) == fixed && HasCounts(table, set & ~fixed, counts)) return state;
  }
  return kNoMigState;
}

// The driver's result for a request without a start; kNoMigState when it refuses.
MigState PlaceFirst(const MigTable& table, MigState state, absl::Span<const uint8_t> order) {
  for (const uint8_t placement : order) {
    if ((table.legal(state) & PlacementBit(placement)) != 0) return table.Place(state, placement);
  }
  return kNoMigState;
}

// "1g.10gb x2, 3g.40gb", profiles in the given order; "" for none.
std::string CountsText(const MigTable& table, const MigMultiset& counts,
                       absl::Span<const size_t> order) {
  std::string text;
  for (const size_t p : order) {
    if (counts[p] == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", table.profiles()[p].name);
    if (counts[p] > 1) absl::StrAppend(&text, " x", counts[p]);
  }
  return text;
}

std::vector<size_t> TableOrder(const MigTable& table) {
  std::vector<size_t> order(table.profiles().size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

std::vector<size_t> DescendingSize(const MigTable& table) {
  std::vector<size_t> order = TableOrder(table);
  std::stable_sort(order.begin(), order.end(), [&table](size_t a, size_t b) {
    const MigProfile& one = table.profiles()[a];
    const MigProfile& other = table.profiles()[b];
    if (one.size != other.size) return one.size > other.size;
    return one.compute_slices > other.compute_slices;
  });
  return order;
}

// "a 1g.10gb, 1g.20gb or 2g.20gb would fit"
std::string FittingText(const MigTable& table, const MigMultiset& counts) {
  std::vector<absl::string_view> fitting;
  MigMultiset larger = counts;
  for (size_t p = 0; p < larger.size(); ++p) {
    ++larger[p];
    if (FindLayout(table, larger) != kNoMigState) fitting.push_back(table.profiles()[p].name);
    --larger[p];
  }
  if (fitting.empty()) return "nothing else would fit";
  const std::string last(fitting.back());
  fitting.pop_back();
  return absl::StrCat("a ", absl::StrJoin(fitting, ", "), fitting.empty() ? "" : " or ", last,
                      " would fit");
}

}  // namespace

MigCounts CountLayouts(const MigTable& table) {
  MigCounts counts;
  counts.sets = static_cast<int64_t>(table.states());
  for (size_t s = 0; s < table.states(); ++s) {
    if (table.legal(static_cast<MigState>(s)) == 0) ++counts.maximal_sets;
  }
  counts.multisets = static_cast<int64_t>(DistinctMultisets(table).size()) - 1;
  return counts;
}

MigMultiset MultisetOf(const MigTable& table, MigState state) {
  MigMultiset counts;
  for (size_t p = 0; p < table.profiles().size(); ++p) {
    counts.push_back(std::popcount(table.set(state) & table.placements_of(p)));
  }
  return counts;
}

std::string MultisetText(const MigTable& table, const MigMultiset& counts) {
  DRASIM_CHECK_EQ(counts.size(), table.profiles().size());
  const std::string text = CountsText(table, counts, TableOrder(table));
  return text.empty() ? "empty" : text;
}

std::vector<MigMultiset> MaximalMultisets(const MigTable& table) {
  const std::vector<MigMultiset> legal = DistinctMultisets(table);
  std::vector<MigMultiset> maximal;
  for (const MigMultiset& counts : legal) {
    // Every part of a legal multiset is legal, so looking one instance ahead suffices.
    bool grows = false;
    MigMultiset larger = counts;
    for (size_t p = 0; p < larger.size() && !grows; ++p) {
      ++larger[p];
      grows = std::binary_search(legal.begin(), legal.end(), larger);
      --larger[p];
    }
    if (!grows) maximal.push_back(counts);
  }
  const std::vector<size_t> by_size = DescendingSize(table);
  std::sort(maximal.begin(), maximal.end(), [&by_size](const MigMultiset& a, const MigMultiset& b) {
    for (const size_t p : by_size) {
      if (a[p] != b[p]) return a[p] > b[p];
    }
    return false;
  });
  return maximal;
}

std::vector<uint8_t> DriverOrder(const MigTable& table, size_t profile) {
  std::vector<uint8_t> order;
  const MigProfile& asked = table.profiles()[profile];
  if (table.product().compute_slices == kSlicesOfThatGpu && asked.compute_slices == 1 &&
      asked.size == 1 && asked.is_plain()) {
    for (const int32_t start : kStartsOfOneSlice) {
      const int placement = table.FindPlacement(profile, start);
      if (placement >= 0) order.push_back(static_cast<uint8_t>(placement));
    }
  }
  for (uint64_t rest = table.placements_of(profile); rest != 0; rest &= rest - 1) {
    const auto placement = static_cast<uint8_t>(std::countr_zero(rest));
    if (std::count(order.begin(), order.end(), placement) == 0) order.push_back(placement);
  }
  return order;
}

// The first permutation has the instances in the table's order of profiles; the others follow in
// lexicographic order. A request for more units than the GPU has is rejected at once, because the
// number of its permutations is unbounded. Any other takes a few hundred attempts at most on every
// GPU of the catalogue.
PermutationSearch ApplyByPermutations(const MigTable& table, const MigMultiset& counts) {
  DRASIM_CHECK_EQ(counts.size(), table.profiles().size());
  PermutationSearch search;
  int64_t units = 0;
  for (size_t p = 0; p < counts.size(); ++p) {
    units += int64_t{counts[p]} * table.profiles()[p].size;
  }
  if (units > table.product().units) return search;
  std::vector<std::vector<uint8_t>> orders;
  std::vector<size_t> wanted;
  for (size_t p = 0; p < counts.size(); ++p) {
    orders.push_back(DriverOrder(table, p));
    std::fill_n(std::back_inserter(wanted), counts[p], p);
  }
  do {
    ++search.attempts;
    MigState state = 0;
    size_t created = 0;
    while (created < wanted.size()) {
      const MigState next = PlaceFirst(table, state, orders[wanted[created]]);
      if (next == kNoMigState) break;
      state = next;
      ++created;
    }
    search.created += static_cast<int32_t>(created);
    if (created == wanted.size()) {
      search.state = state;
      return search;
    }
    search.destroyed += static_cast<int32_t>(created);
  } while (std::next_permutation(wanted.begin(), wanted.end()));
  return search;
}

MigState FindLayout(const MigTable& table, const MigMultiset& counts) {
  return FindAround(table, 0, counts);
}

MigState FindLayout(const MigTable& table, const MigRequest& request) {
  uint64_t fixed = 0;
  for (const uint8_t placement : request.placements) {
    DRASIM_CHECK_LT(placement, table.placements().size());
    // The placement is listed twice.
    if ((fixed & PlacementBit(placement)) != 0) return kNoMigState;
    fixed |= PlacementBit(placement);
  }
  return FindAround(table, fixed, request.counts);
}

std::string ExplainMisfit(const MigTable& table, const MigMultiset& counts) {
  DRASIM_CHECK_EQ(counts.size(), table.profiles().size());
  const std::vector<size_t> order = DescendingSize(table);
  MigMultiset fitting(counts.size(), 0);
  for (const size_t p : order) {
    while (fitting[p] < counts[p]) {
      ++fitting[p];
      if (FindLayout(table, fitting) != kNoMigState) continue;
      --fitting[p];
      const std::string beside = CountsText(table, fitting, order);
      return absl::StrCat("no room for ", table.profiles()[p].name,
                          beside.empty() ? " on an empty GPU" : " beside ", beside, "; ",
                          FittingText(table, fitting));
    }
  }
  return "";
}

}  // namespace drasim
