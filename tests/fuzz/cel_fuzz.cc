// libFuzzer target: any bytes as an expression, on one device. The ways of evaluating it must
// agree.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "model/check.h"
#include "tests/policies/cel/cel_device.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  DRASIM_CHECK(drasim::cel::VerdictOf(text) != drasim::cel::kDiffer);
  return 0;
}
