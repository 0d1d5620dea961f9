// The allocator's search written down once more, without state that must be undone; and brute
// force, which knows no order of decisions at all.
#ifndef DRASIM_TESTS_POLICIES_ALLOCATOR_NAIVE_SEARCH_H_
#define DRASIM_TESTS_POLICIES_ALLOCATOR_NAIVE_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/proto/resource.pb.h"
#include "tests/policies/allocator/naive_rules.h"

namespace drasim {

struct NaiveAnswer {
  enum class Kind : uint8_t { kFits, kDoesNotFit, kError, kTooLong };
  Kind kind = Kind::kDoesNotFit;
  std::vector<NaiveTaken> taken;
  int64_t steps = 0;
};

// Depth first, as described for upstream. kTooLong after `most` steps.
class NaiveSearch {
 public:
  NaiveSearch(const RandomWorld& world, const NaiveRules& rules, int64_t most)
      : world_(world), rules_(rules), most_(most) {}
  NaiveAnswer Run();

 private:
  enum class Outcome : uint8_t { kYes, kNo, kError, kTooMany, kTooLong };
  // `option`: -1 while no alternative of the request is chosen.
  Outcome Step(size_t claim, size_t group, int option, int64_t count, size_t start);
  Outcome TryOptions(size_t claim, size_t group);
  Outcome TryDevices(size_t claim, size_t group, int option, int64_t count, size_t start);
  // kYes: the device is now the last one taken.
  Outcome Take(const NaiveRequest& request, const NaiveDevice& device, bool must);
  bool IsInUse(const NaiveRequest& request, const NaiveDevice& device) const;
  int64_t TakenOf(size_t claim) const;

  const RandomWorld& world_;
  const NaiveRules& rules_;
  int64_t most_;
  int64_t steps_ = 0;
  std::vector<NaiveTaken> taken_;
};

// Whether the devices, in the order of claims and requests, are a solution: the counts, each
// device, and all devices together. Empty, or what is wrong.
std::string WrongWith(const RandomWorld& world, const NaiveRules& rules,
                      absl::Span<const NaiveTaken> taken);

// The first of all combinations of devices, in order of preference, that WrongWith approves.
// kTooLong after `most` combinations, and where the order of decisions is part of the rule.
NaiveAnswer BruteForce(const RandomWorld& world, const NaiveRules& rules, int64_t most);

// The same among all solutions: the least sum of places of chosen alternatives, then the least
// cost, then the first.
using NaiveCost = std::function<int64_t(absl::Span<const NaiveTaken>)>;
NaiveAnswer BestByBruteForce(const RandomWorld& world, const NaiveRules& rules, int64_t most,
                             const NaiveCost& cost);

// The devices of results. Empty: a result names what does not exist.
std::optional<std::vector<NaiveTaken>> TakenByResults(
    const NaiveRules& rules, absl::Span<const proto::kube::AllocationResultV1> results);

}  // namespace drasim

#endif  // DRASIM_TESTS_POLICIES_ALLOCATOR_NAIVE_SEARCH_H_
