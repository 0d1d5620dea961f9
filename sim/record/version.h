// The version that runs and ledgers carry.
#ifndef DRASIM_SIM_RECORD_VERSION_H_
#define DRASIM_SIM_RECORD_VERSION_H_

#include "absl/strings/string_view.h"

namespace drasim {

inline constexpr absl::string_view kDrasimVersion = "0.1.0";

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_VERSION_H_
