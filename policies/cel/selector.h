// A program bound to a table of devices.
//
//   DeviceSelector selector(&program, &columns);
//   std::vector<Verdict> verdicts(rows.size());
//   selector.Evaluate(rows, absl::MakeSpan(verdicts));
//   if (verdicts[0] == Verdict::kError) Report(selector.Error(rows[0]));
//
// The program's names are looked up once per layout of the table, and its texts are interned, so
// that the usual selectors compare integers. Rows may be added to the table at any time.
#ifndef DRASIM_POLICIES_CEL_SELECTOR_H_
#define DRASIM_POLICIES_CEL_SELECTOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_columns.h"
#include "policies/cel/calls.h"
#include "policies/cel/program.h"
#include "policies/cel/row_view.h"
#include "policies/cel/value.h"

namespace drasim::cel {

enum class Verdict : uint8_t { kFalse, kTrue, kError };

// The outcome of one evaluation.
struct Evaluation {
  Verdict verdict = Verdict::kFalse;
  std::string error;  // upstream's message, of kError
  uint64_t cost = 0;  // the actual cost in CEL's units
};

// Adds upstream's advice to "no such key: ..."; other messages stay as they are.
std::string WithAdvice(std::string error);

class DeviceSelector {
 public:
  // Both must outlive the selector.
  DeviceSelector(const Program* program, DeviceColumns* columns);

  // verdicts[i] is that of rows[i]. O(rows) times the program's length.
  void Evaluate(absl::Span<const DeviceRow> rows, absl::Span<Verdict> verdicts);

  // One row, with message and cost.
  Evaluation Explain(DeviceRow row);

  // The value of a derived attribute: a bool, int, string, version, or list of one of them, stored
  // in the table. InvalidArgument with the message of the evaluation, or for other values.
  absl::StatusOr<DeviceValue> Derive(DeviceRow row);

 private:
  Value Run(DeviceRow row, CallContext* context);
  DeviceValue Store(const Value& value);
  void Append(const Value& item, Value* list, CallContext* context);
  // The slots of the program's paths in a layout, -1 where it has none.
  const int* SlotsOf(LayoutId layout);
  bool NextItem(Value* iterator, Value* item) const;

  // The constant of a test as a value of the table, and its order among the table's quantities or
  // versions, as far as they were compared.
  struct TestConstant {
    DeviceValue value;
    std::vector<int8_t> orders;
  };
  Value Test(const Instruction& in, TestConstant* constant, const RowView& view, const int* slots,
             CallContext* context);
  Value TestInt(const Instruction& in, const Value& left, CallContext* context);
  // Whether the table's value and a constant of its kind are equal, or in order; false if that
  // takes a call.
  bool TestValue(Function function, const DeviceValue& value, const Value& constant,
                 TestConstant* test, Value* result) const;
  int OrderOf(const DeviceValue& value, const Value& constant, TestConstant* test) const;

  struct PathTexts {
    TextId domain;
    TextId id;
  };

  const Program& program_;
  DeviceColumns& columns_;
  std::vector<PathTexts> path_texts_;
  std::vector<int> slots_;           // by layout, then by path
  std::vector<bool> has_slots_;      // by layout
  std::vector<TestConstant> tests_;  // by instruction
  bool exact_ = true;                // count the cost of every call
  std::vector<Value> registers_;
  Heap heap_;
};

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_SELECTOR_H_
