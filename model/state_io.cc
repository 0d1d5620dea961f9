#include "model/state_io.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace drasim {

void StateWriter::Section(absl::string_view name) { Str(name); }

void StateWriter::Grow(size_t bytes) {
  constexpr size_t kLeastBytes = 256;
  buffer_.resize(std::max({buffer_.size() * 2, size_ + bytes, kLeastBytes}));
}

void StateWriter::F64(double value) {
  uint64_t bits;
  static_assert(sizeof(bits) == sizeof(value));
  std::memcpy(&bits, &value, sizeof(bits));
  char* const at = Room(sizeof(bits));
  for (int i = 0; i < 8; ++i) at[i] = static_cast<char>((bits >> (8 * i)) & 0xff);
  size_ += sizeof(bits);
}

void StateWriter::Str(absl::string_view value) {
  U64(value.size());
  if (value.empty()) return;
  std::memcpy(Room(value.size()), value.data(), value.size());
  size_ += value.size();
}

void StateReader::Fail(absl::string_view why) {
  if (!status_.ok()) return;
  status_ = absl::DataLossError(absl::StrCat("checkpoint byte ", offset_, ": ", why));
  offset_ = bytes_.size();
}

void StateReader::Section(absl::string_view name) {
  std::string found = Str();
  if (status_.ok() && found != name) {
    Fail(absl::StrCat("expected section '", name, "', found '", found, "'"));
  }
}

uint64_t StateReader::U64() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (offset_ >= bytes_.size()) {
      Fail("the data ends inside a number");
      return 0;
    }
    const auto byte = static_cast<unsigned char>(bytes_[offset_++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  Fail("a number is longer than 64 bits");
  return 0;
}

int64_t StateReader::I64() {
  const uint64_t raw = U64();
  return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
}

double StateReader::F64() {
  if (bytes_.size() - offset_ < 8) {
    Fail("the data ends inside a double");
    return 0;
  }
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) {
    bits |= static_cast<uint64_t>(static_cast<unsigned char>(bytes_[offset_++])) << (8 * i);
  }
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::string StateReader::Str() {
  const size_t n = Count();
  if (!status_.ok()) return "";
  std::string value(bytes_.substr(offset_, n));
  offset_ += n;
  return value;
}

size_t StateReader::Count() {
  const uint64_t n = U64();
  if (status_.ok() && n > bytes_.size() - offset_) {
    Fail(absl::StrCat("a count of ", n, " is more than the bytes that are left"));
    return 0;
  }
  return static_cast<size_t>(n);
}

}  // namespace drasim
