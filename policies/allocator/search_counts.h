// SearchCounts: the work of allocators' searches, equal in every run of one program on one input.
#ifndef DRASIM_POLICIES_ALLOCATOR_SEARCH_COUNTS_H_
#define DRASIM_POLICIES_ALLOCATOR_SEARCH_COUNTS_H_

#include <cstdint>

namespace drasim {

struct SearchCounts {
  uint64_t searches = 0;         // of a node, answers known from an equal node left out
  uint64_t steps = 0;            // of those searches; upstream's with count_steps
  uint64_t candidates = 0;       // devices that were tried
  uint64_t cel_evaluations = 0;  // of an expression on a device
  friend bool operator==(const SearchCounts&, const SearchCounts&) = default;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_SEARCH_COUNTS_H_
