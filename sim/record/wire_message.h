// A protobuf message of long columns, encoded as they grow: without an object per value, and with
// memory that serves the next message again.
//
//   wire.Column(proto::LedgerLive::kPodFieldNumber).U64(step);       // packed repeated uint64
//   wire.Column(proto::LedgerLive::kPriorityFieldNumber).I64(-5);    // packed repeated sint32
//   wire.AddBytes(proto::LedgerLive::kPodNameFieldNumber, name);     // repeated bytes
//   const std::string message = wire.Take();
#ifndef DRASIM_SIM_RECORD_WIRE_MESSAGE_H_
#define DRASIM_SIM_RECORD_WIRE_MESSAGE_H_

#include <array>
#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "model/state_io.h"

namespace drasim {

class WireMessage {
 public:
  // The values of a packed repeated field. U64 and I64 give the encodings of unsigned and zig-zag
  // (sint) fields. A field of bytes takes values below 128 by U64, too. REQUIRES: `field` is below
  // kFields.
  StateWriter& Column(int field) { return columns_[static_cast<size_t>(field)]; }
  // Appends a value to a repeated field of bytes or strings.
  void AddBytes(int field, absl::string_view value) { AddField(field, value, &others_); }
  // The message, its fields in no particular order; the next one begins.
  std::string Take();

 private:
  static constexpr size_t kFields = 40;
  static void AddField(int field, absl::string_view value, StateWriter* out);

  std::array<StateWriter, kFields> columns_;
  StateWriter others_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_WIRE_MESSAGE_H_
