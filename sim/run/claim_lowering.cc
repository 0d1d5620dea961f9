#include "sim/run/claim_lowering.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/util/message_differencer.h"
#include "model/proto/kube.pb.h"
#include "model/status_macros.h"
#include "policies/drivers/driver_classes.h"
#include "policies/drivers/nvidia_gpu.h"
#include "sim/run/claim_entries.h"

namespace drasim {
namespace {

using proto::kube::ExactDeviceRequest;

constexpr absl::string_view kNvidia = "gpu.nvidia.com";
constexpr size_t kMostNameBytes = 63;

void Select(const std::string& expression, ExactDeviceRequest* request) {
  request->add_selectors()->mutable_cel()->set_expression(expression);
}

}  // namespace

proto::SliceDriver ServingDriver(const StructuredDraSpec& spec) {
  if (!spec.drivers.empty()) return spec.drivers[0];
  proto::SliceDriver driver;
  driver.set_kind(std::string(kNvidia));
  return driver;
}

bool PublishesInstances(const proto::SliceDriver& driver) {
  return driver.mig() == "static" || driver.mig() == "dynamic";
}

int64_t SharesOfDevice(const proto::SliceDriver& driver) {
  int64_t shares = 0;
  return absl::SimpleAtoi(driver.consumable_shares(), &shares) ? shares : 0;
}

ClaimLowering::ClaimLowering(const StructuredDraSpec& spec)
    : driver_(ServingDriver(spec)),
      driver_name_(driver_.name().empty() ? driver_.kind() : driver_.name()),
      shares_(SharesOfDevice(driver_)) {
  const std::vector<proto::kube::DeviceClass> classes = ClassesOfDriver(driver_);
  if (!classes.empty()) gpu_class_ = classes[0].metadata().name();
  if (classes.size() > 1) mig_class_ = classes[1].metadata().name();
}

std::string ClaimLowering::AttributeOf(absl::string_view name) const {
  return absl::StrCat("device.attributes['", driver_name_, "'].", name);
}

void ClaimLowering::SelectModels(const std::string& models, ExactDeviceRequest* request) const {
  if (models.empty() || driver_.kind() != kNvidia) return;
  std::vector<std::string> products;
  for (const absl::string_view model : absl::StrSplit(models, '|')) {
    products.push_back(absl::StrCat("'", NvidiaGpuOf(model).product_name, "'"));
  }
  const std::string product = AttributeOf("productName");
  Select(products.size() == 1 ? absl::StrCat(product, " == ", products[0])
                              : absl::StrCat(product, " in [", absl::StrJoin(products, ", "), "]"),
         request);
}

void ClaimLowering::AskForAll(ExactDeviceRequest* request) const {
  if (shares_ == 0) return;
  (*request->mutable_capacity()->mutable_requests())["shares"] = absl::StrCat(shares_);
}

absl::Status ClaimLowering::AskForShare(const PodShape& shape, int64_t memory_mib,
                                        ExactDeviceRequest* request) const {
  const std::string& mode = driver_.consumable_shares();
  const bool by_memory = memory_mib > 0 && (mode == "memory" || mode == "unlimited");
  if (shares_ == 0 && !by_memory) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a pod wants ", shape.request.gpu_milli, " thousandths of a GPU, which the driver ",
        driver_name_,
        " does not share; choose whole-gpu or mig-smallest in front_end.lowering.rule, or a number "
        "of shares in front_end.structured.drivers.0.consumable_shares"));
  }
  auto& amounts = *request->mutable_capacity()->mutable_requests();
  if (shares_ > 0) {
    const int64_t milli = shape.request.gpu_milli * shares_;
    amounts["shares"] = absl::StrCat((milli + kDeviceMilli - 1) / kDeviceMilli);
  }
  if (memory_mib > 0) amounts["memory"] = absl::StrCat(memory_mib, "Mi");
  return absl::OkStatus();
}

std::string ClaimLowering::TemplateFor(const std::string& name, const std::string& request_name,
                                       ExactDeviceRequest request) {
  proto::kube::DeviceClaim claim;
  claim.add_requests()->set_name(request_name);
  *claim.mutable_requests(0)->mutable_exactly() = std::move(request);
  std::string free = name.substr(0, kMostNameBytes);
  for (int number = 2;; ++number) {
    const auto [place, added] = templates_.try_emplace(free, claim);
    if (added || google::protobuf::util::MessageDifferencer::Equals(place->second, claim)) {
      return free;
    }
    const std::string suffix = absl::StrCat("-", number);
    free = absl::StrCat(name.substr(0, kMostNameBytes - suffix.size()), suffix);
  }
}

absl::Status ClaimLowering::AddInstances(const std::string& profile, int32_t count,
                                         PodShape* shape) {
  if (mig_class_.empty() || !PublishesInstances(driver_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a pod wants MIG instances (", profile, "), which the driver ", driver_name_,
                     " does not publish; expected front_end.structured.drivers.0 of the kind ",
                     kNvidia, " with mig: dynamic or static"));
  }
  ExactDeviceRequest request;
  request.set_device_class_name(mig_class_);
  request.set_count(count);
  Select(absl::StrCat(AttributeOf("profile"), " == '", profile, "'"), &request);
  SelectModels(shape->request.gpu_spec, &request);
  AskForAll(&request);
  std::string name = absl::StrCat("mig-", AsObjectName(profile));
  ClaimEntry entry;
  entry.name = FreeEntryName(shape->claims, shape->request.mig.size() == 1 ? "mig" : name);
  if (count > 1) absl::StrAppend(&name, "-x", count);
  if (!shape->request.gpu_spec.empty()) {
    absl::StrAppend(&name, "-", AsObjectName(shape->request.gpu_spec));
  }
  entry.from_template = TemplateFor(name, "mig", std::move(request));
  entry.mig_profile = profile;
  entry.gpus = count;
  shape->claims.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status ClaimLowering::AddGpus(PodShape* shape) {
  const ResourceRequest& wanted = shape->request;
  ExactDeviceRequest request;
  request.set_device_class_name(gpu_class_);
  request.set_count(wanted.gpu_count);
  SelectModels(wanted.gpu_spec, &request);
  const int64_t memory_mib = shape->demand.memory_mib / std::max(1, wanted.gpu_count);
  std::string name = absl::StrCat("gpus-", wanted.gpu_count);
  if (wanted.is_share()) {
    absl::StrAppend(&name, "-", wanted.gpu_milli, "m");
    RETURN_IF_ERROR(AskForShare(*shape, memory_mib, &request));
  } else {
    AskForAll(&request);
    if (memory_mib > 0) {
      Select(absl::StrCat("device.capacity['", driver_name_, "'].memory.compareTo(quantity('",
                          memory_mib, "Mi')) >= 0"),
             &request);
    }
  }
  if (memory_mib > 0) absl::StrAppend(&name, "-", memory_mib, "mi");
  if (!wanted.gpu_spec.empty()) absl::StrAppend(&name, "-", AsObjectName(wanted.gpu_spec));
  ClaimEntry entry;
  entry.name = FreeEntryName(shape->claims, "gpu");
  entry.from_template = TemplateFor(name, "gpu", std::move(request));
  entry.gpus = wanted.gpu_count;
  shape->claims.push_back(std::move(entry));
  MoveGpusToClaims(shape);
  return absl::OkStatus();
}

absl::StatusOr<PodShape> ClaimLowering::ToClaims(const PodShape& lowered) {
  PodShape shape = lowered;
  if (shape.request.gpu_count == 0 && shape.request.mig.empty()) return shape;
  if (gpu_class_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a pod wants GPUs, expected pods with resourceClaims, or a first driver in "
                     "front_end.structured.drivers whose class for GPUs is known: ",
                     kNvidia, " or gpu.example.com"));
  }
  for (const auto& [profile, count] : lowered.request.mig) {
    RETURN_IF_ERROR(AddInstances(profile, count, &shape));
  }
  shape.request.mig.clear();
  if (shape.request.gpu_count > 0) RETURN_IF_ERROR(AddGpus(&shape));
  return shape;
}

std::vector<std::shared_ptr<const proto::kube::Object>> ClaimLowering::TemplatesIn(
    const std::string& ns) const {
  std::vector<std::shared_ptr<const proto::kube::Object>> objects;
  for (const auto& [name, claim] : templates_) {
    auto object = std::make_shared<proto::kube::Object>();
    proto::kube::ResourceClaimTemplateV1* const made = object->mutable_resource_claim_template_v1();
    made->mutable_metadata()->set_name(name);
    made->mutable_metadata()->set_namespace_(ns);
    *made->mutable_spec()->mutable_spec()->mutable_devices() = claim;
    objects.push_back(std::move(object));
  }
  return objects;
}

}  // namespace drasim
