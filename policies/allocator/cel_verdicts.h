// CelVerdicts: the allocator's view of CEL (policies/cel).
//
//   const std::shared_ptr<SelectorVerdicts> verdicts = MakeCelVerdicts(&columns, features);
//   const int selector = verdicts->Selector("device.driver == 'gpu.example.com'");
//   if (verdicts->CompileError(selector).empty()) verdicts->Evaluate(selector, row);
#ifndef DRASIM_POLICIES_ALLOCATOR_CEL_VERDICTS_H_
#define DRASIM_POLICIES_ALLOCATOR_CEL_VERDICTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "policies/allocator/dra_features.h"
#include "policies/allocator/selector_verdicts.h"
#include "policies/cel/compile.h"
#include "policies/cel/program.h"
#include "policies/cel/selector.h"

namespace drasim {

// Compiles every expression once, as kube-scheduler does stored ones: whatever the gates say, all
// fields and functions exist. Keeps the verdict of every row that was asked for; a miss also
// decides some of the rows behind it, more with every miss, since devices are asked for in order.
class CelVerdicts final : public SelectorVerdicts {
 public:
  // `columns` must outlive it.
  explicit CelVerdicts(DeviceColumns* columns) : columns_(*columns) {}

  int Selector(absl::string_view expression) override;
  const std::string& CompileError(int selector) override;
  SelectorVerdict Evaluate(int selector, DeviceRow row) override;
  std::string ErrorText(int selector, DeviceRow row) override;
  absl::StatusOr<DeviceValue> Derive(absl::string_view expression, DeviceRow row) override;

 private:
  static constexpr uint8_t kUnknown = 255;

  struct Compiled {
    std::string error;  // empty: the others are set
    std::unique_ptr<cel::Program> program;
    std::unique_ptr<cel::DeviceSelector> bound;
    std::vector<uint8_t> verdicts;  // by row
    size_t block = 1;               // rows that the next miss decides
  };

  Compiled CompileFor(absl::string_view expression, bool derived_attribute);
  void Decide(Compiled* compiled, size_t row);

  DeviceColumns& columns_;
  std::deque<Compiled> selectors_;
  absl::flat_hash_map<std::string, int> selector_ids_;
  std::deque<Compiled> derived_;
  absl::flat_hash_map<std::string, size_t> derived_ids_;
  std::vector<DeviceRow> rows_;  // scratch
  std::vector<cel::Verdict> decided_;
};

// The verdicts of the expressions of one cluster.
std::shared_ptr<SelectorVerdicts> MakeCelVerdicts(DeviceColumns* columns, const DraFeatures&);

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_CEL_VERDICTS_H_
