#include "sim/record/ledger_frame.h"

#include <zlib.h>
#include <zstd.h>

#include "model/check.h"

namespace drasim {
namespace {

constexpr uint64_t kMaxUnpackedBytes = uint64_t{1} << 33;
// A block of Zstandard expands to at most 128 KiB and takes at least 4 bytes.
constexpr uint64_t kMostExpansion = uint64_t{1} << 15;
constexpr int kPackLevel = 1;

}  // namespace

void AppendLittleEndian(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

uint64_t ReadLittleEndian(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

uint32_t FrameCrc(FrameType type, absl::string_view payload) {
  const auto type_byte = static_cast<unsigned char>(type);
  uLong crc = crc32(0, &type_byte, 1);
  crc = crc32_z(crc, reinterpret_cast<const unsigned char*>(payload.data()), payload.size());
  return static_cast<uint32_t>(crc);
}

std::string FrameHead(FrameType type, absl::string_view payload) {
  std::string head;
  AppendLittleEndian(payload.size(), 4, &head);
  AppendLittleEndian(FrameCrc(type, payload), 4, &head);
  head.push_back(static_cast<char>(type));
  return head;
}

std::string MakeFrame(FrameType type, absl::string_view payload) {
  std::string frame = FrameHead(type, payload);
  frame.append(payload.data(), payload.size());
  return frame;
}

std::string Pack(absl::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kPackLevel);
  DRASIM_CHECK_EQ(ZSTD_isError(size), 0U);  // it fails for want of memory only
  packed.resize(size);
  return packed;
}

bool CanUnpackTo(absl::string_view packed, uint64_t bytes) {
  return bytes <= kMaxUnpackedBytes && bytes <= kMostExpansion * (packed.size() + uint64_t{1}) &&
         ZSTD_getFrameContentSize(packed.data(), packed.size()) == bytes;
}

bool Unpack(absl::string_view packed, uint64_t bytes, std::string* out) {
  out->resize(bytes);
  return ZSTD_decompress(out->data(), out->size(), packed.data(), packed.size()) == bytes;
}

}  // namespace drasim
