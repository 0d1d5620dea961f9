#include "tests/policies/allocator/naive_search.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

constexpr int64_t kLimit = 32;

std::string NaiveDeviceText(const NaiveDevice& device) {
  return absl::StrCat(device.pool->driver, "/", device.pool->name, "/", device.device->name());
}

}  // namespace

NaiveAnswer NaiveSearch::Run() {
  NaiveAnswer answer;
  answer.kind = NaiveAnswer::Kind::kError;
  if (rules_.has_bad_request()) return answer;
  for (const auto& claim : rules_.requests()) {
    int64_t devices = 0;
    for (const auto& group : claim) {
      int64_t least = -1;
      for (const NaiveRequest& request : group) {
        int64_t count = request.count;
        if (request.all) {
          const auto list = rules_.ListAll(request);
          if (!list.has_value()) return answer;
          count = static_cast<int64_t>(list->size());
        }
        least = least < 0 ? count : std::min(least, count);
      }
      devices += least;
    }
    if (devices > kLimit) return answer;
  }
  const Outcome outcome = Step(0, 0, -1, 0, 0);
  answer.steps = steps_;
  if (outcome == Outcome::kYes) answer.kind = NaiveAnswer::Kind::kFits;
  if (outcome == Outcome::kNo || outcome == Outcome::kTooMany) {
    answer.kind = NaiveAnswer::Kind::kDoesNotFit;
  }
  if (outcome == Outcome::kTooLong) answer.kind = NaiveAnswer::Kind::kTooLong;
  answer.taken = taken_;
  return answer;
}

NaiveSearch::Outcome NaiveSearch::Step(size_t claim, size_t group, int option, int64_t count,
                                       size_t start) {
  if (++steps_ > most_) return Outcome::kTooLong;
  if (claim >= rules_.requests().size()) return Outcome::kYes;
  if (group >= rules_.requests()[claim].size()) {
    const Outcome outcome = Step(claim + 1, 0, -1, 0, 0);
    return outcome == Outcome::kTooMany ? Outcome::kNo : outcome;
  }
  const std::vector<NaiveRequest>& options = rules_.requests()[claim][group];
  if (!options[0].sub.empty() && option < 0) return TryOptions(claim, group);
  const NaiveRequest& request = options[static_cast<size_t>(std::max(option, 0))];
  std::vector<NaiveDevice> all;
  if (request.all) all = *rules_.ListAll(request);
  if (request.all && all.empty()) return Outcome::kNo;
  const int64_t wanted = request.all ? static_cast<int64_t>(all.size()) : request.count;
  if (count == wanted) return Step(claim, group + 1, -1, 0, 0);
  if (TakenOf(claim) + wanted - count > kLimit) return Outcome::kTooMany;
  if (!request.all) return TryDevices(claim, group, option, count, start);
  const Outcome taken = Take(request, all[static_cast<size_t>(count)], /*must=*/true);
  if (taken != Outcome::kYes) return taken;
  const Outcome outcome = Step(claim, group, option, count + 1, 0);
  if (outcome != Outcome::kYes && outcome != Outcome::kTooLong) taken_.pop_back();
  return outcome;
}

NaiveSearch::Outcome NaiveSearch::TryOptions(size_t claim, size_t group) {
  bool all_exceed = true;
  const size_t options = rules_.requests()[claim][group].size();
  for (size_t option = 0; option < options; ++option) {
    const Outcome outcome = Step(claim, group, static_cast<int>(option), 0, 0);
    if (outcome == Outcome::kTooMany) continue;
    all_exceed = false;
    if (outcome != Outcome::kNo) return outcome;
  }
  return all_exceed ? Outcome::kTooMany : Outcome::kNo;
}

NaiveSearch::Outcome NaiveSearch::TryDevices(size_t claim, size_t group, int option, int64_t count,
                                             size_t start) {
  const NaiveRequest& request =
      rules_.requests()[claim][group][static_cast<size_t>(std::max(option, 0))];
  for (size_t i = start; i < rules_.devices().size(); ++i) {
    const NaiveDevice& device = rules_.devices()[i];
    if (IsInUse(request, device)) continue;
    const NaiveVerdict selectable = rules_.Selectable(request, device);
    if (selectable == NaiveVerdict::kError) return Outcome::kError;
    if (selectable == NaiveVerdict::kNo) continue;
    const Outcome taken = Take(request, device, /*must=*/false);
    if (taken == Outcome::kError) return taken;
    if (taken == Outcome::kNo) continue;
    const Outcome outcome = Step(claim, group, option, count + 1, rules_.sorted() ? i + 1 : 0);
    if (outcome == Outcome::kYes || outcome == Outcome::kTooLong) return outcome;
    taken_.pop_back();
    if (outcome != Outcome::kNo) return outcome;
  }
  return Outcome::kNo;
}

NaiveSearch::Outcome NaiveSearch::Take(const NaiveRequest& request, const NaiveDevice& device,
                                       bool must) {
  if (IsInUse(request, device) || rules_.IsTainted(request, device)) return Outcome::kNo;
  if (!device.device->consumes_counters().empty() &&
      !world_.options.features.partitionable_devices) {
    return Outcome::kNo;
  }
  taken_.push_back({&request, device});
  // In mode All, capacities are looked at after constraints.
  Outcome outcome = Outcome::kNo;
  if (rules_.CountersAllow(taken_) && (must || rules_.CapacitiesSuffice(taken_))) {
    const NaiveVerdict holds = rules_.ConstraintsHold(request.claim, taken_);
    if (holds == NaiveVerdict::kError || (holds == NaiveVerdict::kNo && must)) {
      outcome = Outcome::kError;
    } else if (holds == NaiveVerdict::kYes && rules_.CapacitiesSuffice(taken_)) {
      return Outcome::kYes;
    }
  }
  taken_.pop_back();
  return outcome;
}

bool NaiveSearch::IsInUse(const NaiveRequest& request, const NaiveDevice& device) const {
  if (!request.admin && rules_.IsDedicated(device)) return true;
  return std::any_of(taken_.begin(), taken_.end(), [&](const NaiveTaken& one) {
    if (one.device.device != device.device || rules_.IsShared(one.device)) return false;
    return !request.admin || one.request->claim == request.claim;
  });
}

int64_t NaiveSearch::TakenOf(size_t claim) const {
  return std::count_if(taken_.begin(), taken_.end(),
                       [claim](const NaiveTaken& one) { return one.request->claim == claim; });
}

namespace {

// Mistake in one device on its own.
std::string WrongDevice(const NaiveRules& rules, absl::Span<const NaiveTaken> before,
                        const NaiveTaken& one) {
  const std::string text = NaiveDeviceText(one.device);
  if (rules.Selectable(*one.request, one.device) != NaiveVerdict::kYes) {
    return absl::StrCat(text, " is not selectable");
  }
  if (rules.IsTainted(*one.request, one.device)) return absl::StrCat(text, " is tainted");
  if (!one.request->admin && rules.IsDedicated(one.device)) return absl::StrCat(text, " is held");
  for (const NaiveTaken& other : before) {
    if (other.device.device != one.device.device) continue;
    const bool same_request = other.request == one.request;
    if (rules.IsShared(one.device) && !(same_request && rules.sorted())) continue;
    if (one.request->admin && other.request->claim != one.request->claim) continue;
    return absl::StrCat(text, " is given twice");
  }
  return "";
}

// Mistake in the numbers of devices; `one` is in its claim's place among all.
std::string WrongCounts(const NaiveRules& rules, absl::Span<const NaiveTaken> taken) {
  size_t next = 0;
  for (const auto& claim : rules.requests()) {
    const size_t first = next;
    for (const auto& group : claim) {
      if (next >= taken.size()) return "a request has no devices";
      const NaiveRequest& request = *taken[next].request;
      const bool known = std::any_of(group.begin(), group.end(),
                                     [&](const NaiveRequest& one) { return &one == &request; });
      if (!known) return absl::StrCat("a request before ", request.group, " has no devices");
      const size_t begin = next;
      while (next < taken.size() && taken[next].request == &request) ++next;
      size_t wanted = static_cast<size_t>(request.count);
      if (request.all) wanted = rules.ListAll(request)->size();
      if (next - begin != wanted) return absl::StrCat("wrong count for ", request.group);
    }
    if (next - first > static_cast<size_t>(kLimit)) return "more than 32 devices in a claim";
  }
  return next == taken.size() ? "" : "devices for no request";
}

}  // namespace

std::string WrongWith(const RandomWorld& world, const NaiveRules& rules,
                      absl::Span<const NaiveTaken> taken) {
  const std::string counts = WrongCounts(rules, taken);
  if (!counts.empty()) return counts;
  for (size_t i = 0; i < taken.size(); ++i) {
    const std::string wrong = WrongDevice(rules, taken.subspan(0, i), taken[i]);
    if (!wrong.empty()) return wrong;
    const bool charges = !taken[i].device.device->consumes_counters().empty();
    if (charges && !world.options.features.partitionable_devices) return "counters need a gate";
  }
  const std::vector<NaiveTaken> list(taken.begin(), taken.end());
  if (!rules.CountersAllow(list)) return "counters or groups do not allow it";
  if (!rules.CapacitiesSuffice(list)) return "capacities do not suffice";
  for (size_t claim = 0; claim < world.claims.size(); ++claim) {
    if (rules.ConstraintsHold(claim, list) != NaiveVerdict::kYes) {
      return absl::StrCat("the constraints of claim ", claim, " do not hold");
    }
  }
  return "";
}

namespace {

// Goes through all combinations in order of preference.
class Combinations {
 public:
  // `cost`: null to stop at the first solution.
  Combinations(const RandomWorld& world, const NaiveRules& rules, int64_t most,
               const NaiveCost& cost)
      : world_(world), rules_(rules), left_(most), cost_(cost) {}

  // True once a solution is found, or too many have been tried.
  bool TryClaim(size_t claim) {
    if (claim == rules_.requests().size()) {
      if (--left_ < 0) return true;
      return WrongWith(world_, rules_, taken_).empty() && Keep();
    }
    return TryGroup(claim, 0);
  }

  bool gave_up() const { return left_ < 0; }
  bool found() const { return found_; }
  const std::vector<NaiveTaken>& best() const { return best_; }

 private:
  // True: no other solution counts.
  bool Keep() {
    const int64_t cost = cost_ == nullptr ? 0 : cost_(taken_);
    if (!found_ || std::tie(places_, cost) < std::tie(best_places_, best_cost_)) {
      best_ = taken_;
      best_places_ = places_;
      best_cost_ = cost;
    }
    found_ = true;
    return cost_ == nullptr;
  }

  bool TryGroup(size_t claim, size_t group) {
    if (group == rules_.requests()[claim].size()) return TryClaim(claim + 1);
    int64_t place = -1;
    for (const NaiveRequest& request : rules_.requests()[claim][group]) {
      ++place;
      if (request.all) {
        const std::vector<NaiveDevice> list = *rules_.ListAll(request);
        if (list.empty()) continue;
        for (const NaiveDevice& device : list) taken_.push_back({&request, device});
        places_ += place;
        if (TryGroup(claim, group + 1)) return true;
        places_ -= place;
        taken_.resize(taken_.size() - list.size());
        continue;
      }
      places_ += place;
      if (TryDevices(claim, group, request, request.count, 0)) return true;
      places_ -= place;
    }
    return false;
  }

  bool TryDevices(size_t claim, size_t group, const NaiveRequest& request, int64_t wanted,
                  size_t start) {
    if (wanted == 0) return TryGroup(claim, group + 1);
    for (size_t i = start; i < rules_.devices().size(); ++i) {
      // A device that is wrong by itself is left out at once, to keep the number small.
      const NaiveTaken one = {&request, rules_.devices()[i]};
      if (!WrongDevice(rules_, {}, one).empty()) continue;
      taken_.push_back(one);
      const size_t next = rules_.sorted() ? i + 1 : 0;
      if (TryDevices(claim, group, request, wanted - 1, next)) return true;
      taken_.pop_back();
      if (--left_ < 0) return true;
    }
    return false;
  }

  const RandomWorld& world_;
  const NaiveRules& rules_;
  int64_t left_;
  const NaiveCost& cost_;
  std::vector<NaiveTaken> taken_;
  int64_t places_ = 0;  // of the alternatives that are chosen now
  bool found_ = false;
  std::vector<NaiveTaken> best_;
  int64_t best_places_ = 0;
  int64_t best_cost_ = 0;
};

// Whether the search may meet an error, for which the order of its decisions matters.
bool MayBeError(const RandomWorld& world, const NaiveRules& rules) {
  if (rules.has_bad_request()) return true;
  for (const auto& claim : rules.requests()) {
    for (const auto& group : claim) {
      for (const NaiveRequest& request : group) {
        const auto& constraints = world.claims[request.claim].spec().devices().constraints();
        if (!constraints.empty() && (request.all || !request.derived.empty())) return true;
        if (request.all && !rules.ListAll(request).has_value()) return true;
        for (const NaiveDevice& device : rules.devices()) {
          if (rules.Selectable(request, device) == NaiveVerdict::kError) return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

NaiveAnswer BruteForce(const RandomWorld& world, const NaiveRules& rules, int64_t most) {
  return BestByBruteForce(world, rules, most, nullptr);
}

NaiveAnswer BestByBruteForce(const RandomWorld& world, const NaiveRules& rules, int64_t most,
                             const NaiveCost& cost) {
  NaiveAnswer answer;
  answer.kind = NaiveAnswer::Kind::kTooLong;
  if (MayBeError(world, rules)) return answer;
  Combinations combinations(world, rules, most, cost);
  combinations.TryClaim(0);
  if (combinations.gave_up()) return answer;
  const bool found = combinations.found();
  answer.kind = found ? NaiveAnswer::Kind::kFits : NaiveAnswer::Kind::kDoesNotFit;
  answer.taken = combinations.best();
  return answer;
}

std::optional<std::vector<NaiveTaken>> TakenByResults(
    const NaiveRules& rules, absl::Span<const proto::kube::AllocationResultV1> results) {
  std::vector<NaiveTaken> taken;
  for (size_t claim = 0; claim < results.size(); ++claim) {
    for (const auto& result : results[claim].devices().results()) {
      NaiveTaken one;
      for (const auto& group : rules.requests()[claim]) {
        for (const NaiveRequest& request : group) {
          if (request.ResultNameIs(result.request())) one.request = &request;
        }
      }
      for (const NaiveDevice& device : rules.devices()) {
        if (NaiveDeviceText(device) ==
            absl::StrCat(result.driver(), "/", result.pool(), "/", result.device())) {
          one.device = device;
        }
      }
      if (one.request == nullptr || one.device.device == nullptr) return std::nullopt;
      taken.push_back(one);
    }
  }
  return taken;
}

}  // namespace drasim
