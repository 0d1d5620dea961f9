#include "policies/allocator/structured_allocator.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "policies/allocator/allocation_results.h"
#include "policies/allocator/allocation_search.h"
#include "policies/allocator/branch_pruner.h"
#include "policies/allocator/choice_policy.h"
#include "policies/allocator/choice_search.h"
#include "policies/allocator/claim_plan.h"
#include "policies/allocator/node_states.h"
#include "policies/allocator/plan_cache.h"
#include "policies/allocator/shared_answers.h"

namespace drasim {
namespace {

// A claim is one bit of a word in the search.
constexpr size_t kMaxClaims = 64;

}  // namespace

// The parts that an allocator keeps: the plan of the latest claims, and the search with it.
class AllocatorState {
 public:
  AllocatorState(std::shared_ptr<HeldDevices> held, std::shared_ptr<SelectorVerdicts> verdicts,
                 absl::Span<const proto::kube::DeviceClass* const> classes)
      : held_(std::move(held)),
        pools_(held_->pools()),
        verdicts_(std::move(verdicts)),
        classes_(classes.begin(), classes.end()) {}

  void SharePlans(PlanCache* plans, StructuredAllocator::SpecOf spec_of) {
    plans_ = plans;
    spec_of_ = std::move(spec_of);
  }

  AllocationAnswer Decide(const proto::kube::Node& node, AskedClaims claims) {
    AllocationAnswer answer;
    if (!Accepts(claims, &answer)) return answer;
    Plan(claims);
    const NodeView& view = pools_.ViewOf(node);
    const std::optional<AllocationOutcome> known = KnownOutcome(view);
    // Errors are worded by a search on the node itself.
    if (!known.has_value() || known == AllocationOutcome::kError) return Search(view);
    answer.outcome = *known;
    answer.steps = answers_->StepsOf(held_->states().StateOf(view));
    if (known == AllocationOutcome::kNodeError) answer.error = kInvalidPools;
    return answer;
  }

  AllocationAnswer Allocate(const proto::kube::Node& node, AskedClaims claims) {
    AllocationAnswer answer;
    if (!Accepts(claims, &answer)) return answer;
    Plan(claims);
    const NodeView& view = pools_.ViewOf(node);
    if (KnownOutcome(view) == AllocationOutcome::kDoesNotFit) {
      answer.steps = answers_->StepsOf(held_->states().StateOf(view));
      return answer;
    }
    answer = Search(view);
    if (answer.outcome != AllocationOutcome::kAllocated) return answer;
    const AllocationSearch* found = search_.get();
    if (pools_.options().policy != nullptr) {
      answer.choice = Choose(view);
      found = chooser();
    }
    auto results = AllocationResults(pools_, plan_.get(), *found, node.metadata().name());
    if (results.ok()) {
      answer.results = *std::move(results);
    } else {
      answer.outcome = AllocationOutcome::kError;
      answer.error = std::string(results.status().message());
    }
    return answer;
  }

  void DecideAll(absl::Span<const NodeView* const> nodes, AskedClaims claims,
                 absl::Span<AllocationOutcome> outcomes) {
    DRASIM_CHECK_EQ(nodes.size(), outcomes.size());
    AllocationAnswer refused;
    if (!Accepts(claims, &refused)) {
      std::fill(outcomes.begin(), outcomes.end(), refused.outcome);
      return;
    }
    Plan(claims);
    for (size_t i = 0; i < nodes.size(); ++i) outcomes[i] = OutcomeOn(*nodes[i]);
  }

  const NodeOutcomes* DecideNodes(AskedClaims claims) {
    AllocationAnswer refused;
    if (!Accepts(claims, &refused)) return nullptr;
    Plan(claims);
    if (answers_ == nullptr) return nullptr;
    const absl::Span<const NodeView* const> nodes = held_->nodes();
    NodeOutcomes& known = held_->OutcomesFor(answers_);
    const uint64_t changes = held_->states().changes();
    std::optional<absl::Span<const uint32_t>> changed;
    if (known.seen.has_value()) changed = held_->states().ChangedSince(*known.seen);
    if (changed.has_value()) {
      for (const uint32_t view : *changed) {
        const NodeId node = held_->NodeOf(view);
        if (node.valid()) known.Set(node, OutcomeOn(*nodes[node.value()]));
      }
    } else {
      std::vector<AllocationOutcome> outcomes;
      outcomes.reserve(nodes.size());
      for (const NodeView* node : nodes) outcomes.push_back(OutcomeOn(*node));
      known.SetAll(std::move(outcomes));
    }
    known.seen = changes;
    return &known;
  }

  void RankAll(absl::Span<const NodeView* const> nodes, AskedClaims claims,
               absl::Span<int64_t> ranks, ChoiceCounts* counts) {
    DRASIM_CHECK_EQ(nodes.size(), ranks.size());
    DRASIM_CHECK(pools_.options().policy != nullptr);
    Plan(claims);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Choice* const known =
          answers_ == nullptr ? nullptr : answers_->ChoiceOf(held_->states().StateOf(*nodes[i]));
      Choice choice;
      if (known != nullptr) {
        choice = *known;
      } else {
        DRASIM_CHECK(Search(*nodes[i]).outcome == AllocationOutcome::kAllocated);
        choice = Choose(*nodes[i]);
      }
      ranks[i] = choice.rank;
      counts->Add(choice);
    }
  }

 private:
  static constexpr char kInvalidPools[] = "invalid resource pools were encountered";

  static bool Accepts(AskedClaims claims, AllocationAnswer* answer) {
    if (claims.size() <= kMaxClaims) return true;
    answer->outcome = AllocationOutcome::kError;
    answer->error = absl::StrCat("found ", claims.size(), " claims, expected at most ", kMaxClaims);
    return false;
  }

  void Plan(AskedClaims claims) {
    held_->states().Refresh();
    const bool same = plan_ != nullptr &&
                      std::equal(claims.begin(), claims.end(), claims_.begin(), claims_.end());
    // A shared plan may have served claims of another pod since.
    if (same && plans_ != nullptr && !plan_->has_errors()) plan_->Rename(claims_);
    const uint64_t generation = pools_.shared_answers().generation();
    if (same && generation == generation_) return;
    generation_ = generation;
    if (!same) {
      claims_.assign(claims.begin(), claims.end());
      choice_search_ = nullptr;
      mended_search_ = nullptr;
      search_ = nullptr;
      plan_ = MakePlan();
    }
    answers_ = pools_.options().share_answers
                   ? pools_.shared_answers().For(plan_->Content(), verdicts_)
                   : nullptr;
  }

  std::shared_ptr<ClaimPlan> MakePlan() {
    std::shared_ptr<ClaimPlan> plan = plans_ == nullptr ? nullptr : plans_->Find(claims_);
    if (plan != nullptr) {
      plan->Rename(claims_);
      return plan;
    }
    DeviceClassIndex classes;
    for (const auto* device_class : classes_) {
      classes[device_class->metadata().name()] = device_class;
    }
    plan = std::make_shared<ClaimPlan>(pools_.options(), pools_.catalog(), classes, verdicts_.get(),
                                       claims_);
    if (plans_ == nullptr || plan->has_errors()) return plan;
    PlanCache::Specs specs;
    for (size_t i = 0; i < claims_.size(); ++i) specs.push_back(spec_of_(i));
    if (absl::c_find(specs, nullptr) == specs.end()) plans_->Keep(std::move(specs), plan);
    return plan;
  }

  std::optional<AllocationOutcome> KnownOutcome(const NodeView& view) {
    if (answers_ == nullptr) return std::nullopt;
    return answers_->Of(held_->states().StateOf(view));
  }

  AllocationOutcome OutcomeOn(const NodeView& view) {
    const std::optional<AllocationOutcome> known = KnownOutcome(view);
    return known.has_value() ? *known : Search(view).outcome;
  }

  std::unique_ptr<AllocationSearch> NewSearch(const ReleaseRules* rules) {
    return std::make_unique<AllocationSearch>(
        &pools_, verdicts_.get(), &held_->index(), plan_.get(),
        [](AllocationSearch* search) { return std::make_unique<BranchPruner>(search); }, rules);
  }

  AllocationAnswer Search(const NodeView& view) {
    if (search_ == nullptr) search_ = NewSearch(nullptr);
    AllocationAnswer answer;
    const AllocationSearch::Outcome outcome = search_->Run(view);
    if (pools_.options().count_steps) answer.steps = search_->steps();
    if (outcome == AllocationSearch::Outcome::kFound) {
      answer.outcome = AllocationOutcome::kAllocated;
    } else if (outcome == AllocationSearch::Outcome::kError) {
      answer.outcome = AllocationOutcome::kError;
      answer.error = search_->error();
    } else if (view.any_invalid && pools_.rules().passes_invalid_pools) {
      answer.outcome = AllocationOutcome::kNodeError;
      answer.error = kInvalidPools;
    }
    if (answers_ != nullptr) {
      answers_->Keep(held_->states().StateOf(view), answer.outcome, answer.steps);
    }
    return answer;
  }

  // The search whose solution is the policy's. Where bugs of an older release let an answer depend
  // on what was tried before, the choice is made without them.
  AllocationSearch* chooser() {
    return mended_search_ == nullptr ? search_.get() : mended_search_.get();
  }

  // The policy's choice, just after a Search of the node that found a solution.
  Choice Choose(const NodeView& view) {
    if (choice_search_ == nullptr) {
      const ReleaseRules& rules = pools_.rules();
      if (!rules.gives_back || !rules.distinct_by_device || !rules.restores_common) {
        mended_rules_ = rules;
        mended_rules_.gives_back = true;
        mended_rules_.distinct_by_device = true;
        mended_rules_.restores_common = true;
        mended_search_ = NewSearch(&mended_rules_);
      }
      choice_search_ = std::make_unique<ChoiceSearch>(chooser(), pools_.options().policy.get(),
                                                      pools_.options().policy_budget);
    }
    const Choice choice = choice_search_->Run(view, *search_);
    if (answers_ != nullptr) answers_->KeepChoice(held_->states().StateOf(view), choice);
    return choice;
  }

  std::shared_ptr<HeldDevices> held_;
  NodePools& pools_;
  std::shared_ptr<SelectorVerdicts> verdicts_;
  std::vector<const proto::kube::DeviceClass*> classes_;
  std::vector<AskedClaim> claims_;
  PlanCache* plans_ = nullptr;
  StructuredAllocator::SpecOf spec_of_;
  std::shared_ptr<ClaimPlan> plan_;
  std::unique_ptr<AllocationSearch> search_;  // null: no node has needed it yet
  // With a policy, from the first choice on.
  ReleaseRules mended_rules_;
  std::unique_ptr<AllocationSearch> mended_search_;
  std::unique_ptr<ChoiceSearch> choice_search_;
  std::shared_ptr<AnswersByState> answers_;  // for the claims; null: answers are not shared
  uint64_t generation_ = 0;                  // of answers_
};

absl::StatusOr<std::unique_ptr<StructuredAllocator>> StructuredAllocator::Make(
    std::shared_ptr<NodePools> pools, std::shared_ptr<SelectorVerdicts> verdicts,
    absl::Span<const proto::kube::DeviceClass* const> classes, const DeviceUse& use) {
  auto held = std::make_shared<HeldDevices>(std::move(pools));
  RETURN_IF_ERROR(held->Add(use));
  return Make(std::move(held), std::move(verdicts), classes);
}

std::unique_ptr<StructuredAllocator> StructuredAllocator::Make(
    std::shared_ptr<HeldDevices> held, std::shared_ptr<SelectorVerdicts> verdicts,
    absl::Span<const proto::kube::DeviceClass* const> classes) {
  auto state = std::make_unique<AllocatorState>(std::move(held), std::move(verdicts), classes);
  return std::unique_ptr<StructuredAllocator>(new StructuredAllocator(std::move(state)));
}

StructuredAllocator::StructuredAllocator(std::unique_ptr<AllocatorState> state)
    : state_(std::move(state)) {}

StructuredAllocator::~StructuredAllocator() = default;

void StructuredAllocator::SharePlans(PlanCache* plans, SpecOf spec_of) {
  state_->SharePlans(plans, std::move(spec_of));
}

AllocationAnswer StructuredAllocator::Allocate(const proto::kube::Node& node, AskedClaims claims) {
  return state_->Allocate(node, claims);
}

AllocationAnswer StructuredAllocator::Decide(const proto::kube::Node& node, AskedClaims claims) {
  return state_->Decide(node, claims);
}

const NodeOutcomes* StructuredAllocator::DecideNodes(AskedClaims claims) {
  return state_->DecideNodes(claims);
}

void StructuredAllocator::DecideAll(absl::Span<const NodeView* const> nodes, AskedClaims claims,
                                    absl::Span<AllocationOutcome> outcomes) {
  state_->DecideAll(nodes, claims, outcomes);
}

void StructuredAllocator::RankAll(absl::Span<const NodeView* const> nodes, AskedClaims claims,
                                  absl::Span<int64_t> ranks, ChoiceCounts* counts) {
  state_->RankAll(nodes, claims, ranks, counts);
}

}  // namespace drasim
