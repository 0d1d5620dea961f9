#include "policies/allocator/device_explainer.h"

#include <utility>

#include "model/status_macros.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/allocator/claim_plan.h"
#include "policies/allocator/clause_verdicts.h"
#include "policies/allocator/device_survey.h"
#include "policies/allocator/held_devices.h"
#include "policies/allocator/node_causes.h"
#include "policies/allocator/node_pools.h"

namespace drasim {

class DeviceExplainer::Impl {
 public:
  Impl(const AllocatorOptions& options, std::shared_ptr<DeviceCatalog> the_catalog,
       absl::Span<const proto::kube::DeviceClass* const> the_classes)
      : catalog(std::move(the_catalog)),
        pools(std::make_shared<NodePools>(options, catalog)),
        verdicts(MakeCelVerdicts(&catalog->columns(), options.features)),
        clauses(&catalog->columns()),
        classes(the_classes.begin(), the_classes.end()) {
    for (const proto::kube::DeviceClass* device_class : classes) {
      class_index[device_class->metadata().name()] = device_class;
    }
  }

  std::shared_ptr<DeviceCatalog> catalog;
  std::shared_ptr<NodePools> pools;
  std::shared_ptr<SelectorVerdicts> verdicts;
  ClauseVerdicts clauses;
  std::vector<const proto::kube::DeviceClass*> classes;
  DeviceClassIndex class_index;
};

DeviceExplainer::DeviceExplainer(const AllocatorOptions& options,
                                 std::shared_ptr<DeviceCatalog> catalog,
                                 absl::Span<const proto::kube::DeviceClass* const> classes)
    : impl_(std::make_unique<Impl>(options, std::move(catalog), classes)) {}

DeviceExplainer::~DeviceExplainer() = default;

absl::StatusOr<DeviceStory> DeviceExplainer::Explain(const DeviceQuestion& question) {
  auto held = std::make_shared<HeldDevices>(impl_->pools);
  RETURN_IF_ERROR(held->Add(question.use));
  ClaimPlan plan(impl_->pools->options(), *impl_->catalog, impl_->class_index,
                 impl_->verdicts.get(), question.claims);
  DeviceChecks checks(impl_->pools.get(), impl_->verdicts.get(), &impl_->clauses, &held->index(),
                      &plan, &question.holders);
  std::vector<const NodeView*> views;
  for (const proto::kube::Node* node : question.nodes) {
    views.push_back(&impl_->pools->ViewOf(*node));
  }
  DeviceSurvey survey(impl_->pools.get(), &plan, &checks, std::move(views), question.list_devices);
  DeviceStory story;
  story.node_count = question.nodes.size();
  story.claims = survey.MakeClaims();
  NodeCauses(held, impl_->verdicts, impl_->classes, question.claims, question.nodes, &plan, &checks,
             &survey)
      .Judge(&story);
  return story;
}

}  // namespace drasim
