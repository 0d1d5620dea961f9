#include "model/kube/requests.h"

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

using StatusesByName = absl::flat_hash_map<absl::string_view, const kube::ContainerStatus*>;

void AddQuantities(const KubeQuantities& more, KubeQuantities* sum) {
  for (const auto& [resource, quantity] : more) {
    const auto [known, is_new] = sum->emplace(resource, quantity);
    if (!is_new) known->second = known->second + quantity;
  }
}

void RaiseTo(const KubeQuantities& least, KubeQuantities* amounts) {
  for (const auto& [resource, quantity] : least) {
    const auto [known, is_new] = amounts->emplace(resource, quantity);
    if (!is_new && known->second.Compare(quantity) < 0) known->second = quantity;
  }
}

// Sums up one pod.
class RequestSum {
 public:
  RequestSum(const kube::PodSpec& spec, const kube::PodStatus& status, const RequestRule& rule)
      : spec_(spec), rule_(rule) {
    for (const auto* list : {&status.container_statuses(), &status.init_container_statuses()}) {
      for (const kube::ContainerStatus& one : *list) {
        if (one.has_resources()) statuses_[one.name()] = &one;
      }
    }
    infeasible_ = status.resize() == "Infeasible";  // up to 1.32
    for (const kube::Condition& condition : status.conditions()) {
      if (condition.type() != "PodResizePending") continue;
      infeasible_ = condition.reason() == "Infeasible";
      break;
    }
  }

  KubeQuantities Sum() const {
    KubeQuantities request;
    for (const kube::Container& container : spec_.containers()) {
      AddQuantities(Step(container, true), &request);
    }
    KubeQuantities sidecars;
    KubeQuantities largest_step;
    for (const kube::Container& container : spec_.init_containers()) {
      const bool sidecar = IsSidecar(container);
      KubeQuantities step = Step(container, sidecar);
      if (sidecar) {
        AddQuantities(step, &request);
        AddQuantities(step, &sidecars);
        RaiseTo(sidecars, &largest_step);
      } else {
        AddQuantities(sidecars, &step);
        RaiseTo(step, &largest_step);
      }
    }
    RaiseTo(largest_step, &request);
    if (rule_.pod_level) {
      for (const auto& [resource, quantity] : ReadQuantities(spec_.resources().requests())) {
        if (IsPodLevelResource(resource)) request[resource] = quantity;
      }
    }
    AddQuantities(ReadQuantities(spec_.overhead()), &request);
    return request;
  }

 private:
  KubeQuantities Step(const kube::Container& container, bool may_run) const {
    KubeQuantities step;
    const auto status = may_run ? statuses_.find(container.name()) : statuses_.end();
    if (status == statuses_.end() || !infeasible_) {
      step = ReadQuantities(container.resources().requests());
    }
    if (status != statuses_.end()) {
      RaiseTo(ReadQuantities(status->second->resources().requests()), &step);
      RaiseTo(ReadQuantities(status->second->allocated_resources()), &step);
    }
    if (rule_.missing != nullptr) step.insert(rule_.missing->begin(), rule_.missing->end());
    return step;
  }

  const kube::PodSpec& spec_;
  const RequestRule& rule_;
  StatusesByName statuses_;  // with resources
  bool infeasible_ = false;
};

}  // namespace

KubeQuantities ReadQuantities(const google::protobuf::Map<std::string, std::string>& texts) {
  KubeQuantities quantities;
  for (const auto& [resource, text] : texts) {
    const absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
    if (quantity.ok()) quantities[resource] = *quantity;
  }
  return quantities;
}

bool IsSidecar(const kube::Container& init_container) {
  return init_container.restart_policy() == "Always";
}

bool IsPodLevelResource(absl::string_view resource) {
  return resource == "cpu" || resource == "memory" || absl::StartsWith(resource, "hugepages-");
}

bool HasPodLevelRequests(const kube::PodSpec& spec) {
  for (const auto& request : spec.resources().requests()) {
    if (IsPodLevelResource(request.first)) return true;
  }
  return false;
}

KubeQuantities QuantitiesOfPod(const kube::Pod& pod, const RequestRule& rule) {
  return RequestSum(pod.spec(), pod.status(), rule).Sum();
}

KubeQuantities QuantitiesOfPod(const kube::PodSpec& spec, const RequestRule& rule) {
  return RequestSum(spec, kube::PodStatus::default_instance(), rule).Sum();
}

}  // namespace drasim
