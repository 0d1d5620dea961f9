#include "sim/record/wire_message.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "model/proto/ledger.pb.h"
#include "model/random.h"

namespace drasim {
namespace wire_message_test {

TEST(WireMessageTest, ReadsAsTheMessageOfTheSameValues) {
  Random random(1, "wire_message_test");
  WireMessage wire;  // serves again and again
  for (const int values : {0, 1, 5, 3000, 2}) {
    proto::LedgerLive expected;
    using Live = proto::LedgerLive;
    for (int i = 0; i < values; ++i) {
      const uint64_t word = random.U64() >> random.Below(64);
      const auto small = static_cast<uint32_t>(word);
      const auto sign = static_cast<int64_t>(word) * (i % 2 == 0 ? 1 : -1);
      expected.add_pod(word);
      wire.Column(Live::kPodFieldNumber).U64(word);
      expected.add_priority(static_cast<int32_t>(small));
      wire.Column(Live::kPriorityFieldNumber).I64(static_cast<int32_t>(small));
      expected.add_arrival_ns(sign);
      wire.Column(Live::kArrivalNsFieldNumber).I64(sign);
      expected.mutable_phase()->push_back(static_cast<char>(small % 128));
      wire.Column(Live::kPhaseFieldNumber).U64(small % 128);
      const std::string name(word % 300, static_cast<char>(i));
      expected.add_pod_name(name);
      wire.AddBytes(Live::kPodNameFieldNumber, name);
    }
    proto::LedgerLive found;
    ASSERT_TRUE(found.ParseFromString(wire.Take()));
    EXPECT_EQ(found.SerializeAsString(), expected.SerializeAsString()) << values;
  }
  EXPECT_EQ(wire.Take(), "");
}

}  // namespace wire_message_test
}  // namespace drasim
