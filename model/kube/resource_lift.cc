#include "model/kube/resource_lift.h"

#include <utility>

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

void LiftSlice(kube::ResourceSliceSpec* spec) {
  for (kube::Device& device : *spec->mutable_devices()) {
    if (!device.has_basic()) continue;
    kube::Device basic = std::move(*device.mutable_basic());
    basic.clear_name();
    device.clear_basic();
    device.MergeFrom(basic);
  }
}

// Whether the request has a field of its own that `exactly` has in v1.
bool IsFlat(const kube::DeviceRequest& request) {
  return !request.device_class_name().empty() || request.selectors_size() > 0 ||
         !request.allocation_mode().empty() || request.count() != 0 || request.has_admin_access() ||
         request.tolerations_size() > 0 || request.has_capacity() ||
         request.derived_attributes_size() > 0;
}

void LiftRequest(kube::DeviceRequest* request) {
  if (!IsFlat(*request)) return;
  kube::ExactDeviceRequest* exactly = request->mutable_exactly();
  exactly->set_device_class_name(request->device_class_name());
  *exactly->mutable_selectors() = std::move(*request->mutable_selectors());
  exactly->set_allocation_mode(request->allocation_mode());
  exactly->set_count(request->count());
  if (request->has_admin_access()) exactly->set_admin_access(request->admin_access());
  *exactly->mutable_tolerations() = std::move(*request->mutable_tolerations());
  if (request->has_capacity()) *exactly->mutable_capacity() = request->capacity();
  *exactly->mutable_derived_attributes() = std::move(*request->mutable_derived_attributes());
  request->clear_device_class_name();
  request->clear_selectors();
  request->clear_allocation_mode();
  request->clear_count();
  request->clear_admin_access();
  request->clear_tolerations();
  request->clear_capacity();
  request->clear_derived_attributes();
}

void LiftClaim(kube::ResourceClaimSpecV1* spec) {
  for (kube::DeviceRequest& request : *spec->mutable_devices()->mutable_requests()) {
    LiftRequest(&request);
  }
}

void LiftTaintRule(kube::DeviceTaintRuleSpec* spec, std::vector<KubeProblem>* problems) {
  if (!spec->has_device_selector()) return;
  kube::DeviceTaintSelector* selector = spec->mutable_device_selector();
  if (selector->has_device_class_name()) {
    problems->push_back(
        {"spec.deviceSelector.deviceClassName",
         "found a selection by class, expected driver, pool or device: v1 has no other"});
  }
  if (selector->selectors_size() > 0) {
    problems->push_back(
        {"spec.deviceSelector.selectors",
         "found a selection by expressions, expected driver, pool or device: v1 has no other"});
  }
  selector->clear_device_class_name();
  selector->clear_selectors();
}

}  // namespace

bool IsStructuredDra(const kube::Object& object) {
  switch (object.object_case()) {
    case kube::Object::kResourceSlice:
    case kube::Object::kDeviceClass:
    case kube::Object::kResourceClaimV1:
    case kube::Object::kResourceClaimTemplateV1:
    case kube::Object::kDeviceTaintRule:
      return true;
    default:
      return false;
  }
}

std::vector<KubeProblem> LiftResourceObject(kube::Object* object) {
  std::vector<KubeProblem> problems;
  switch (object->object_case()) {
    case kube::Object::kResourceSlice:
      if (object->resource_slice().has_spec()) {
        LiftSlice(object->mutable_resource_slice()->mutable_spec());
      }
      object->mutable_resource_slice()->set_api_version(kResourceV1);
      break;
    case kube::Object::kDeviceClass:
      object->mutable_device_class()->set_api_version(kResourceV1);
      break;
    case kube::Object::kResourceClaimV1:
      if (object->resource_claim_v1().spec().has_devices()) {
        LiftClaim(object->mutable_resource_claim_v1()->mutable_spec());
      }
      object->mutable_resource_claim_v1()->set_api_version(kResourceV1);
      break;
    case kube::Object::kResourceClaimTemplateV1:
      if (object->resource_claim_template_v1().spec().spec().has_devices()) {
        LiftClaim(object->mutable_resource_claim_template_v1()->mutable_spec()->mutable_spec());
      }
      object->mutable_resource_claim_template_v1()->set_api_version(kResourceV1);
      break;
    case kube::Object::kDeviceTaintRule:
      if (object->device_taint_rule().has_spec()) {
        LiftTaintRule(object->mutable_device_taint_rule()->mutable_spec(), &problems);
      }
      object->mutable_device_taint_rule()->set_api_version(kResourceV1);
      break;
    default:
      break;
  }
  return problems;
}

}  // namespace drasim
