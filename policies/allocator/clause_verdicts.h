// ClauseVerdicts: why a selector is not true for a device: which clause of its && chain fails, the
// values that the clause found, and what would mend it. For explanations.
//
//   ClauseVerdicts clauses(&columns);
//   const ClauseFailure& why = clauses.Explain("device.driver == 'a'", row);
//   why.found;   // device.driver is "b"
#ifndef DRASIM_POLICIES_ALLOCATOR_CLAUSE_VERDICTS_H_
#define DRASIM_POLICIES_ALLOCATOR_CLAUSE_VERDICTS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "policies/cel/clauses.h"
#include "policies/cel/program.h"
#include "policies/cel/selector.h"

namespace drasim {

struct ClauseFailure {
  size_t clause = 0;   // its number in the selector
  size_t clauses = 1;  // of the selector
  std::string text;    // of the clause
  std::string error;   // upstream's words, of a clause that is an error; otherwise empty
  std::string found;   // 'model is "A100"'; empty: the clause reads nothing of the device
  std::string mend;    // a change of the clause that would help; often empty
};

class ClauseVerdicts {
 public:
  // `columns` must outlive it, and may grow. Texts of expressions are interned there.
  explicit ClauseVerdicts(DeviceColumns* columns) : columns_(*columns) {}

  // The first clause that is false, or, in a selector that is an error, the first that is an error.
  // REQUIRES: the selector compiles, and is not true for the row. Kept by selector and row.
  // O(clauses) evaluations for a new pair.
  const ClauseFailure& Explain(absl::string_view expression, DeviceRow row);

 private:
  struct Compiled {
    cel::Clause clause;
    std::vector<cel::DeviceLookup> lookups;
    std::unique_ptr<cel::Program> program;
    std::unique_ptr<cel::DeviceSelector> selector;
  };
  struct Selector {
    std::vector<Compiled> clauses;
    absl::flat_hash_map<DeviceRow, std::unique_ptr<ClauseFailure>> failures;
  };

  Selector& SelectorOf(absl::string_view expression);
  ClauseFailure Find(Selector* selector, DeviceRow row);
  void Describe(const Compiled& compiled, DeviceRow row, ClauseFailure* failure) const;
  void DescribeMissing(const cel::DeviceLookup& lookup, const Compiled& compiled, DeviceRow row,
                       ClauseFailure* failure) const;

  DeviceColumns& columns_;
  absl::flat_hash_map<std::string, std::unique_ptr<Selector>> selectors_;
};

// A value as CEL would write it: "A100" with its quotes, 40Gi, 12.2.0, ["a", "b"].
std::string DeviceValueText(const DeviceColumns& columns, const DeviceValue& value);

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_CLAUSE_VERDICTS_H_
