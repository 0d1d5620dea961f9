#include "model/kube/admission.h"

#include <algorithm>

#include "absl/strings/string_view.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

using Keys = google::protobuf::RepeatedPtrField<std::string>;
using LabelMap = google::protobuf::Map<std::string, std::string>;

void MergeKeys(const Keys& keys, absl::string_view op, const LabelMap& labels,
               kube::LabelSelector* selector) {
  for (const std::string& key : keys) {
    const auto label = labels.find(key);
    if (label == labels.end()) continue;
    const auto& known = selector->match_expressions();
    const bool merged = std::any_of(known.begin(), known.end(), [&](const auto& one) {
      return one.key() == key && one.operator_() == op && one.values_size() == 1 &&
             one.values(0) == label->second;
    });
    if (merged) continue;
    kube::SelectorRequirement* added = selector->add_match_expressions();
    added->set_key(key);
    added->set_operator_(std::string(op));
    added->add_values(label->second);
  }
}

void MergeTerm(const LabelMap& labels, kube::PodAffinityTerm* term) {
  if (!term->has_label_selector()) return;
  MergeKeys(term->match_label_keys(), "In", labels, term->mutable_label_selector());
  MergeKeys(term->mismatch_label_keys(), "NotIn", labels, term->mutable_label_selector());
}

void MergeTerms(const LabelMap& labels, kube::PodAffinity* affinity) {
  for (auto& term : *affinity->mutable_required_during_scheduling_ignored_during_execution()) {
    MergeTerm(labels, &term);
  }
  for (auto& term : *affinity->mutable_preferred_during_scheduling_ignored_during_execution()) {
    MergeTerm(labels, term.mutable_pod_affinity_term());
  }
}

}  // namespace

PriorityClasses::PriorityClasses() {
  classes_["system-cluster-critical"].value = 2'000'000'000;
  classes_["system-node-critical"].value = 2'000'001'000;
}

void PriorityClasses::Add(const kube::PriorityClass& given) {
  Class& added = classes_[given.metadata().name()];
  added = {given.value(), given.preemption_policy()};
  if (!given.global_default()) return;
  if (!global_default_.has_value() || added.value < global_default_->value) {
    global_default_ = added;
  }
}

const PriorityClasses::Class* PriorityClasses::Find(const std::string& name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : &found->second;
}

Admission::Admission(absl::Span<const kube::PriorityClass* const> classes) {
  for (const kube::PriorityClass* one : classes) classes_.Add(*one);
}

void Admission::Admit(kube::Pod* pod) const {
  if (pod->metadata().namespace_().empty()) pod->mutable_metadata()->set_namespace_("default");
  kube::PodSpec& spec = *pod->mutable_spec();
  if (spec.scheduler_name().empty()) spec.set_scheduler_name("default-scheduler");
  if (!spec.has_priority()) {
    const std::string& name = spec.priority_class_name();
    const PriorityClasses::Class* by_class =
        name.empty() ? classes_.global_default() : classes_.Find(name);
    spec.set_priority(by_class == nullptr ? 0 : by_class->value);
    if (by_class != nullptr && spec.preemption_policy().empty()) {
      spec.set_preemption_policy(by_class->preemption_policy);
    }
  }
  if (!spec.has_affinity()) return;
  const LabelMap& labels = pod->metadata().labels();
  if (spec.affinity().has_pod_affinity()) {
    MergeTerms(labels, spec.mutable_affinity()->mutable_pod_affinity());
  }
  if (spec.affinity().has_pod_anti_affinity()) {
    MergeTerms(labels, spec.mutable_affinity()->mutable_pod_anti_affinity());
  }
}

}  // namespace drasim
