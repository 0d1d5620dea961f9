#include "policies/allocator/cel_verdicts.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/status_macros.h"
#include "policies/allocator/search_counts.h"
#include "policies/cel/value.h"

namespace drasim {
namespace {

constexpr size_t kLargestBlock = 1024;

SelectorVerdict AsSelectorVerdict(cel::Verdict verdict) {
  switch (verdict) {
    case cel::Verdict::kFalse:
      return SelectorVerdict::kNo;
    case cel::Verdict::kTrue:
      return SelectorVerdict::kYes;
    case cel::Verdict::kError:
      break;
  }
  return SelectorVerdict::kError;
}

}  // namespace

CelVerdicts::Compiled CelVerdicts::CompileFor(absl::string_view expression,
                                              bool derived_attribute) {
  Compiled compiled;
  cel::CompileOptions options;
  options.derived_attribute = derived_attribute;
  absl::StatusOr<cel::Program> program = cel::Compile(expression, options);
  if (!program.ok()) {
    compiled.error = std::string(program.status().message());
    return compiled;
  }
  compiled.program = std::make_unique<cel::Program>(*std::move(program));
  compiled.bound = std::make_unique<cel::DeviceSelector>(compiled.program.get(), &columns_);
  return compiled;
}

int CelVerdicts::Selector(absl::string_view expression) {
  const auto found = selector_ids_.find(expression);
  if (found != selector_ids_.end()) return found->second;
  const int id = static_cast<int>(selectors_.size());
  selectors_.push_back(CompileFor(expression, /*derived_attribute=*/false));
  selector_ids_.emplace(expression, id);
  return id;
}

const std::string& CelVerdicts::CompileError(int selector) {
  return selectors_[static_cast<size_t>(selector)].error;
}

void CelVerdicts::Decide(Compiled* compiled, size_t row) {
  std::vector<uint8_t>& verdicts = compiled->verdicts;
  if (verdicts.size() < columns_.size()) verdicts.resize(columns_.size(), kUnknown);
  rows_.clear();
  const size_t end = std::min(columns_.size(), row + compiled->block);
  for (size_t i = row; i < end && verdicts[i] == kUnknown; ++i) rows_.push_back(DeviceRow(i));
  compiled->block = std::min(2 * compiled->block, kLargestBlock);
  if (counts_ != nullptr) counts_->cel_evaluations += rows_.size();
  decided_.resize(rows_.size());
  compiled->bound->Evaluate(rows_, absl::MakeSpan(decided_));
  for (size_t i = 0; i < rows_.size(); ++i) {
    verdicts[row + i] = static_cast<uint8_t>(decided_[i]);
  }
}

SelectorVerdict CelVerdicts::Evaluate(int selector, DeviceRow row) {
  Compiled& compiled = selectors_[static_cast<size_t>(selector)];
  const size_t at = row.value();
  if (at >= compiled.verdicts.size() || compiled.verdicts[at] == kUnknown) Decide(&compiled, at);
  return AsSelectorVerdict(static_cast<cel::Verdict>(compiled.verdicts[at]));
}

std::string CelVerdicts::ErrorText(int selector, DeviceRow row) {
  return cel::WithAdvice(selectors_[static_cast<size_t>(selector)].bound->Explain(row).error);
}

absl::StatusOr<DeviceValue> CelVerdicts::Derive(absl::string_view expression, DeviceRow row) {
  auto found = derived_ids_.find(expression);
  if (found == derived_ids_.end()) {
    found = derived_ids_.emplace(expression, derived_.size()).first;
    derived_.push_back(CompileFor(expression, /*derived_attribute=*/true));
  }
  Compiled& compiled = derived_[found->second];
  if (!compiled.error.empty()) return absl::InvalidArgumentError(compiled.error);
  if (counts_ != nullptr) ++counts_->cel_evaluations;
  return compiled.bound->Derive(row);
}

std::shared_ptr<SelectorVerdicts> MakeCelVerdicts(DeviceColumns* columns, const DraFeatures&) {
  return std::make_shared<CelVerdicts>(columns);
}

}  // namespace drasim
