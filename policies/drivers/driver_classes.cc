#include "policies/drivers/driver_classes.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

using proto::kube::DeviceClass;

DeviceClass ClassOf(const std::string& name, const std::string& expression) {
  DeviceClass made;
  made.mutable_metadata()->set_name(name);
  made.mutable_spec()->add_selectors()->mutable_cel()->set_expression(expression);
  return made;
}

}  // namespace

std::vector<DeviceClass> ClassesOfDriver(const proto::SliceDriver& options) {
  const std::string driver = options.name().empty() ? options.kind() : options.name();
  const std::string published = absl::StrCat("device.driver == '", driver, "'");
  if (options.kind() == "gpu.example.com") return {ClassOf(driver, published)};
  if (options.kind() != "gpu.nvidia.com") return {};
  const std::string type =
      absl::StrCat(published, " && device.attributes['", driver, "'].type == ");
  DeviceClass whole = ClassOf(driver, type + "'gpu'");
  whole.mutable_spec()->set_extended_resource_name("nvidia.com/gpu");
  return {std::move(whole), ClassOf("mig.nvidia.com", type + "'mig'")};
}

}  // namespace drasim
