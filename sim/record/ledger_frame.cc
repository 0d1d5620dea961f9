#include "sim/record/ledger_frame.h"

#include <zlib.h>

#include "model/check.h"

namespace drasim {
namespace {

constexpr uint64_t kMaxInflatedBytes = uint64_t{1} << 33;

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

std::string MakeFrame(FrameType type, absl::string_view payload) {
  std::string frame;
  frame.reserve(kFrameHeaderBytes + payload.size());
  AppendLittleEndian(payload.size(), 4, &frame);
  AppendLittleEndian(FrameCrc(type, payload), 4, &frame);
  frame.push_back(static_cast<char>(type));
  frame.append(payload.data(), payload.size());
  return frame;
}

std::string Deflate(absl::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1);
  DRASIM_CHECK_EQ(code, Z_OK);  // it fails for want of memory only
  packed.resize(size);
  return packed;
}

bool CanInflateTo(size_t packed_bytes, uint64_t bytes) {
  // zlib cannot expand more than about 1030 times.
  return bytes <= kMaxInflatedBytes && bytes <= 1100 * (uint64_t{packed_bytes} + 64);
}

bool Inflate(absl::string_view packed, uint64_t bytes, std::string* out) {
  out->resize(bytes);
  uLongf size = bytes;
  const int code = uncompress(reinterpret_cast<Bytef*>(out->data()), &size,
                              reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  return code == Z_OK && size == bytes;
}

}  // namespace drasim
