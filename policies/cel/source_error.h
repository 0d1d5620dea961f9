// Errors of a CEL expression, with their position, as cel-go prints them:
//
//   ERROR: <input>:1:8: undefined field 'foo'
//    | device.foo == 1
//    | .......^
#ifndef DRASIM_POLICIES_CEL_SOURCE_ERROR_H_
#define DRASIM_POLICIES_CEL_SOURCE_ERROR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim::cel {

struct SourceError {
  uint32_t position = 0;  // byte of the expression
  std::string message;
};

// The errors in order of position, one below the other. Columns count characters from 1.
std::string SourceErrorText(absl::string_view source, std::vector<SourceError> errors);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_SOURCE_ERROR_H_
