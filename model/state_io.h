// StateWriter and StateReader: the byte archive for checkpoints, used by Save and Load of every
// stateful part.
//
// Format: little-endian base-128 varints (signed values zig-zag coded), strings as length + bytes,
// doubles as their 8 IEEE bytes. There are no field tags: reader and writer must call in the same
// order. Each part begins with a Section name, which reports a mismatch where it occurs instead of
// as garbage later.
//
// Tables that grow with the run, with a row per job or per pod, are written by Rows. A writer with
// picks leaves out all other rows, those that an earlier state already has (saved_state.h).
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

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace drasim {

// The kind of objects in the rows of a table.
enum class RowKind : uint8_t { kJob = 0, kPod = 1 };
inline constexpr size_t kRowKinds = 2;
// Numbers of rows by kind, ascending.
using RowPicks = std::array<std::vector<uint32_t>, kRowKinds>;

// A table in the output of a StateWriter.
struct SavedTable {
  RowKind kind = RowKind::kJob;
  uint64_t at = 0;              // place of its first row in the output
  uint64_t size = 0;            // rows of the whole table
  std::vector<uint32_t> bytes;  // of each row that is there, which follow each other
};

// Appends to an owned string. Never fails. Not thread-safe.
class StateWriter {
 public:
  StateWriter() = default;
  // Saves only the picked rows of tables, and records where they are.
  explicit StateWriter(const RowPicks* picks) : picks_(picks) {}

  void Section(absl::string_view name);
  void U64(uint64_t value) {
    char* at = Room(kMostDigits);
    const char* const begin = at;
    while (value >= 0x80) {
      *at++ = static_cast<char>(static_cast<unsigned char>(value | 0x80));
      value >>= 7;
    }
    *at++ = static_cast<char>(value);
    size_ += static_cast<size_t>(at - begin);
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
  // The number of rows, and the rows by `save_row(size_t)`. A row never changes after its job, or
  // the job of its pod, has ended, and rows are not taken away.
  template <typename SaveRow>
  void Rows(RowKind kind, size_t size, const SaveRow& save_row) {
    U64(size);
    if (picks_ == nullptr) {
      for (size_t i = 0; i < size; ++i) save_row(i);
      return;
    }
    SavedTable table;
    table.kind = kind;
    table.at = size_;
    table.size = size;
    for (const uint32_t i : (*picks_)[static_cast<size_t>(kind)]) {
      if (i >= size) break;
      const size_t before = size_;
      save_row(size_t{i});
      table.bytes.push_back(static_cast<uint32_t>(size_ - before));
    }
    tables_.push_back(std::move(table));
  }

  absl::string_view bytes() const { return absl::string_view(buffer_.data(), size_); }
  const std::vector<SavedTable>& tables() const { return tables_; }  // only with picks
  // Drops the contents, and keeps the memory.
  void Clear() {
    size_ = 0;
    tables_.clear();
  }
  // Leaves the writer without bytes.
  std::string Release() {
    buffer_.resize(std::exchange(size_, 0));
    return std::move(buffer_);
  }
  // Reserves memory for `bytes` bytes in all, so that a large state is not copied as it grows.
  void Reserve(size_t bytes) {
    if (buffer_.size() < bytes) buffer_.resize(bytes);
  }

 private:
  static constexpr size_t kMostDigits = 10;

  // Returns the place of the next bytes, at least `bytes` of them.
  char* Room(size_t bytes) {
    if (buffer_.size() - size_ < bytes) Grow(bytes);
    return &buffer_[size_];
  }
  void Grow(size_t bytes);

  std::string buffer_;  // longer than what is written
  size_t size_ = 0;
  const RowPicks* picks_ = nullptr;  // null: all
  std::vector<SavedTable> tables_;
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
