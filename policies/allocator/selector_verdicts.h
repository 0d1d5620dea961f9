// SelectorVerdicts: what CEL expressions say of devices, as the allocator asks for it.
#ifndef DRASIM_POLICIES_ALLOCATOR_SELECTOR_VERDICTS_H_
#define DRASIM_POLICIES_ALLOCATOR_SELECTOR_VERDICTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/device_columns.h"

namespace drasim {

struct SearchCounts;

enum class SelectorVerdict : uint8_t { kNo, kYes, kError };

// Expressions have dense ids, so that the allocator never compares their texts. Devices are rows
// of the columns that the implementation was made for. Verdicts of a row never change; an
// implementation keeps them.
class SelectorVerdicts {
 public:
  virtual ~SelectorVerdicts() = default;

  // Evaluations are added there from now on; it must outlive the verdicts.
  void set_counts(SearchCounts* counts) { counts_ = counts; }

  // The id of a selector. The same text has the same id.
  virtual int Selector(absl::string_view expression) = 0;
  // Why the selector does not compile, in upstream's words ("compilation failed: ..."), or empty.
  virtual const std::string& CompileError(int selector) = 0;
  // Requires a selector that compiles.
  virtual SelectorVerdict Evaluate(int selector, DeviceRow row) = 0;
  // The run-time error behind kError, in upstream's words.
  virtual std::string ErrorText(int selector, DeviceRow row) = 0;

  // The value of a derived attribute's expression. Lists are interned in the columns. The status
  // has upstream's words, be it a compilation that fails.
  virtual absl::StatusOr<DeviceValue> Derive(absl::string_view expression, DeviceRow row) = 0;

 protected:
  SearchCounts* counts_ = nullptr;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_SELECTOR_VERDICTS_H_
