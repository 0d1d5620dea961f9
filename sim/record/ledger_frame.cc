#include "sim/record/ledger_frame.h"

#include <zlib.h>

namespace drasim {

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

}  // namespace drasim
