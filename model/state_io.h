// StateWriter and StateReader: the byte archive for checkpoints, used by Save and Load of every
// stateful part.
//
// Format: little-endian base-128 varints (signed values zig-zag coded), strings as length + bytes,
// doubles as their 8 IEEE bytes. There are no field tags: reader and writer must call in the same
// order. Each part begins with a Section name, which reports a mismatch where it occurs instead of
// as garbage later.
//
// Usage:
//
//   void Clock::Save(StateWriter& out) const {
//     out.Section("clock");
//     out.I64(now_.ns());
//   }
//   void Clock::Load(StateReader& in) {
//     in.Section("clock");
//     now_ = SimTime(in.I64());
//   }
#ifndef DRASIM_MODEL_STATE_IO_H_
#define DRASIM_MODEL_STATE_IO_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace drasim {

// Appends to an owned string. Never fails. Not thread-safe.
class StateWriter {
 public:
  void Section(absl::string_view name);
  void U64(uint64_t value) {
    if (value < 0x80) {
      bytes_.push_back(static_cast<char>(value));
    } else {
      LongU64(value);
    }
  }
  void I64(int64_t value) {
    U64((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void Bool(bool value) { U64(value ? 1 : 0); }
  void F64(double value);
  void Str(absl::string_view value);
  template <typename T>
  void Ints(const std::vector<T>& values) {
    U64(values.size());
    for (const T& v : values) I64(static_cast<int64_t>(v));
  }

  const std::string& bytes() const { return bytes_; }
  std::string Release() { return std::move(bytes_); }
  // Room for so many bytes in all, so that a large state is not copied as it grows.
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }

 private:
  void LongU64(uint64_t value);

  std::string bytes_;
};

// Reads the output of a StateWriter. The first error sticks: later reads return zero values and
// status() keeps the first cause, so a Load can read on and check once at its end. The bytes must
// outlive the reader.
class StateReader {
 public:
  explicit StateReader(absl::string_view bytes) : bytes_(bytes) {}

  void Section(absl::string_view name);
  uint64_t U64();
  int64_t I64();
  bool Bool() { return U64() != 0; }
  double F64();
  std::string Str();
  // A count for a container; an error when it exceeds the remaining bytes.
  size_t Count();
  template <typename T>
  void Ints(std::vector<T>* out) {
    size_t n = Count();
    out->clear();
    out->reserve(n);
    for (size_t i = 0; i < n && status_.ok(); ++i) out->push_back(static_cast<T>(I64()));
  }

  bool AtEnd() const { return offset_ == bytes_.size(); }
  const absl::Status& status() const { return status_; }
  void Fail(absl::string_view why);

 private:
  absl::string_view bytes_;
  size_t offset_ = 0;
  absl::Status status_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_STATE_IO_H_
