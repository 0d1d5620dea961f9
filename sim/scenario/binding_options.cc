#include "sim/scenario/binding_options.h"

#include <cstdint>
#include <limits>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "model/key_error.h"
#include "model/proto/slice_driver.pb.h"
#include "model/status_macros.h"
#include "sim/scenario/duration_text.h"

namespace drasim {

bool MayHaveBindingConditions(const proto::SliceDriver& driver) {
  return driver.binding_conditions() || driver.kind() == "slices";
}

absl::StatusOr<BindingBehaviour> ReadBinding(const proto::SliceDriver& driver,
                                             const std::string& key) {
  BindingBehaviour behaviour;
  const bool of_file = driver.kind() == "slices";
  behaviour.driver = driver.name().empty() && !of_file ? driver.kind() : driver.name();
  RETURN_IF_ERROR(
      ReadDuration(absl::StrCat(key, ".binding_delay"), driver.binding_delay(), &behaviour.delay));
  for (const auto& [name, given, most, out] :
       {std::tuple("binding_failures", driver.binding_failures(),
                   std::numeric_limits<int32_t>::max(), &behaviour.failures),
        std::tuple("binding_failures_per_mille", driver.binding_failures_per_mille(), 1000,
                   &behaviour.failures_per_mille),
        std::tuple("binding_timeouts", driver.binding_timeouts(),
                   std::numeric_limits<int32_t>::max(), &behaviour.timeouts)}) {
    if (given < 0 || given > most) {
      return KeyError(absl::StrCat(key, ".", name),
                      absl::StrCat("found ", given, ", expected 0 to ", most));
    }
    *out = given;
  }
  if (MayHaveBindingConditions(driver)) return behaviour;
  const bool given = !driver.binding_delay().empty() || behaviour.failures > 0 ||
                     behaviour.failures_per_mille > 0 || behaviour.timeouts > 0;
  if (!given) return behaviour;
  return KeyError(key,
                  "found binding_delay, binding_failures, binding_failures_per_mille or "
                  "binding_timeouts, expected none: devices have binding conditions only with "
                  "binding_conditions: true or kind: slices");
}

void ClearBinding(proto::SliceDriver* driver) {
  driver->clear_binding_delay();
  driver->clear_binding_failures();
  driver->clear_binding_failures_per_mille();
  driver->clear_binding_timeouts();
}

}  // namespace drasim
