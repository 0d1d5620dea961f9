// CaseTable: how many fields of answers equal the stored ones, by part of the file.
#ifndef DRASIM_SIM_SDRA_CASE_TABLE_H_
#define DRASIM_SIM_SDRA_CASE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

class CaseTable {
 public:
  // Begins a case. `part` is its row of the table.
  void Begin(const std::string& name, const std::string& part);
  // One field of the case at hand; `place` tells where in it, and may be empty.
  void Note(absl::string_view field, absl::string_view place, const std::string& ours,
            const std::string& theirs);

  size_t cases() const { return cases_; }
  size_t unequal_cases() const { return unequal_cases_; }

  // A row per part with "equal/compared" per field, then the first difference of each field.
  std::string Text() const;

 private:
  struct Count {
    int64_t equal = 0;
    int64_t compared = 0;
  };
  size_t FieldIndex(absl::string_view field);

  std::vector<std::string> fields_;                   // in the order in which they came up
  std::vector<std::string> first_;                    // by field: the first difference
  std::map<std::string, std::vector<Count>> counts_;  // by part and field
  std::string name_;
  std::string part_;
  bool equal_ = true;  // the case at hand, so far
  size_t cases_ = 0;
  size_t unequal_cases_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_CASE_TABLE_H_
