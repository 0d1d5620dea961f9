#include "sim/sdra/case_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/text/text_table.h"

namespace drasim {

void CaseTable::Begin(const std::string& name, const std::string& part) {
  name_ = name;
  part_ = part;
  equal_ = true;
  counts_[part];
  ++cases_;
}

size_t CaseTable::FieldIndex(absl::string_view field) {
  const auto found = std::find(fields_.begin(), fields_.end(), field);
  if (found != fields_.end()) return static_cast<size_t>(found - fields_.begin());
  fields_.emplace_back(field);
  first_.emplace_back();
  return fields_.size() - 1;
}

void CaseTable::Note(absl::string_view field, absl::string_view place, const std::string& ours,
                     const std::string& theirs) {
  const size_t index = FieldIndex(field);
  std::vector<Count>& counts = counts_[part_];
  if (counts.size() <= index) counts.resize(index + 1);
  ++counts[index].compared;
  if (ours == theirs) {
    ++counts[index].equal;
    return;
  }
  if (equal_) ++unequal_cases_;
  equal_ = false;
  if (!first_[index].empty()) return;
  first_[index] = absl::StrCat(name_, place.empty() ? "" : ", ", place, "\n    is:       ", ours,
                               "\n    expected: ", theirs);
}

std::string CaseTable::Text() const {
  std::vector<std::string> head = {"part"};
  head.insert(head.end(), fields_.begin(), fields_.end());
  TextTable table(head);
  std::vector<Count> sum(fields_.size());
  const auto add_row = [&](const std::string& part, const std::vector<Count>& counts) {
    std::vector<std::string> row = {part};
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Count count = i < counts.size() ? counts[i] : Count();
      row.push_back(count.compared == 0 ? "" : absl::StrCat(count.equal, "/", count.compared));
    }
    table.AddRow(row);
  };
  for (const auto& [part, counts] : counts_) {
    add_row(part, counts);
    for (size_t i = 0; i < counts.size(); ++i) {
      sum[i].equal += counts[i].equal;
      sum[i].compared += counts[i].compared;
    }
  }
  add_row("all", sum);
  std::string text = table.Render(/*ansi=*/false);
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (first_[i].empty()) continue;
    absl::StrAppend(&text, "first difference in ", fields_[i], ": ", first_[i], "\n");
  }
  absl::StrAppend(&text, cases_ - unequal_cases_, " of ", cases_, " cases are equal\n");
  return text;
}

}  // namespace drasim
