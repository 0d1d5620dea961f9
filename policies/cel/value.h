// Values of CEL at run time.
//
// A value is 16 bytes and owns nothing: texts, lists, quantities and versions belong to the program
// (constants), to the table of devices, or to the evaluation's Heap.
#ifndef DRASIM_POLICIES_CEL_VALUE_H_
#define DRASIM_POLICIES_CEL_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/quantity.h"
#include "model/semver.h"
#include "policies/cel/types.h"

namespace drasim::cel {

enum class ValueKind : uint8_t {
  kError,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kType,
  kQuantity,
  kSemver,
  kOptional,
  kDevice,
  kDomains,  // device.attributes or device.capacity
  kIds,      // one domain of them
};

enum class ErrorKind : uint8_t {
  kText,
  kNoSuchKey,  // text: the key
  kNoSuchOverload,
  kLimit,  // the evaluation costs too much
};

struct Value {
  ValueKind kind = ValueKind::kNull;
  // kError: ErrorKind; kDomains, kIds: 1 for capacity; kOptional: 1 with a value
  uint8_t flag = 0;
  uint32_t size = 0;  // kString, kBytes: bytes; kList: items; kMap: entries; kIds: TextId of domain
  union {
    int64_t number = 0;  // kBool, kInt; kUint: its bits; kType: TypeKind
    double real;
    const char* text;
    const Value* items;  // kList; kMap: key, value, ...; kOptional: the value
    const Quantity* quantity;
    const Semver* version;
  };

  bool IsError() const { return kind == ValueKind::kError; }
  bool IsTrue() const { return kind == ValueKind::kBool && number != 0; }
  bool IsFalse() const { return kind == ValueKind::kBool && number == 0; }
  bool IsNumber() const {
    return kind == ValueKind::kInt || kind == ValueKind::kUint || kind == ValueKind::kDouble;
  }
  uint64_t bits() const { return static_cast<uint64_t>(number); }
  absl::string_view view() const { return absl::string_view(text, size); }
  absl::Span<const Value> list() const { return absl::MakeConstSpan(items, size); }

  static Value Null() { return Value(); }
  static Value Bool(bool value) { return Number(ValueKind::kBool, value ? 1 : 0); }
  static Value Int(int64_t value) { return Number(ValueKind::kInt, value); }
  static Value Uint(uint64_t value) {
    return Number(ValueKind::kUint, static_cast<int64_t>(value));
  }
  static Value Double(double value);
  static Value Text(absl::string_view text) { return Texts(ValueKind::kString, text); }
  static Value Bytes(absl::string_view bytes) { return Texts(ValueKind::kBytes, bytes); }
  static Value List(absl::Span<const Value> items);
  static Value Map(absl::Span<const Value> keys_and_values);
  static Value Type(TypeKind type) { return Number(ValueKind::kType, static_cast<int64_t>(type)); }
  static Value Of(const Quantity* quantity);
  static Value Of(const Semver* version);
  static Value Optional(const Value* value);  // null: none
  static Value Error(ErrorKind kind, absl::string_view text);
  static Value NoSuchOverload() { return Error(ErrorKind::kNoSuchOverload, ""); }

 private:
  static Value Number(ValueKind kind, int64_t number);
  static Value Texts(ValueKind kind, absl::string_view text);
};
static_assert(sizeof(Value) == 16);

// The values that an evaluation makes. Reset frees them all.
class Heap {
 public:
  absl::string_view Text(std::string text);
  Value Error(std::string text) { return Value::Error(ErrorKind::kText, Text(std::move(text))); }
  // Uninitialised room for values.
  absl::Span<Value> Values(size_t count);
  const Value* Copy(const Value& value);
  Value Make(Quantity quantity);
  Value Make(Semver version);
  void Reset();

 private:
  static constexpr size_t kBlock = 1024;  // values
  std::deque<std::string> texts_;
  std::deque<Quantity> quantities_;
  std::deque<Semver> versions_;
  std::vector<std::unique_ptr<Value[]>> blocks_;
  size_t used_ = 0;  // of the last block
  size_t room_ = 0;
};

// Whether two values are equal as CEL's == says: a bool, or an error if only the left one is a
// quantity or a version.
Value EqualValues(const Value& left, const Value& right);

// -1, 0 or 1 as an int; an error for values that have no common order.
Value CompareValues(const Value& left, const Value& right);

// The name of a value's type, such as "list" or "kubernetes.Semver".
absl::string_view TypeNameOf(const Value& value);
TypeKind TypeKindOf(const Value& value);

// The message of an error.
std::string ErrorText(const Value& error);

// size() of a text: its characters.
size_t CharacterCount(absl::string_view text);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_VALUE_H_
