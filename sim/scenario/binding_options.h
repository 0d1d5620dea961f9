// `binding_*` of front_end.structured.drivers: how devices with binding conditions bind.
#ifndef DRASIM_SIM_SCENARIO_BINDING_OPTIONS_H_
#define DRASIM_SIM_SCENARIO_BINDING_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/dra/structured/device_binder.h"

namespace drasim {

namespace proto {
class SliceDriver;
}

// The behaviour without nodes; its driver is empty for all drivers of a file. InvalidArgument,
// beginning with `key`: a bad duration or number, or any option of a driver whose devices have no
// such conditions.
absl::StatusOr<BindingBehaviour> ReadBinding(const proto::SliceDriver& driver,
                                             const std::string& key);

// Whether devices of the driver may have binding conditions.
bool MayHaveBindingConditions(const proto::SliceDriver& driver);

// Removes the options, which publishers do not know.
void ClearBinding(proto::SliceDriver* driver);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_BINDING_OPTIONS_H_
