#include "model/kube/shared_message.h"

#include "gtest/gtest.h"
#include "model/proto/resource.pb.h"

namespace drasim {
namespace {

using Message = SharedMessage<proto::kube::DeviceClaim>;

proto::kube::DeviceClaim ClaimOfRequest(const char* name) {
  proto::kube::DeviceClaim claim;
  claim.add_requests()->set_name(name);
  return claim;
}

TEST(SharedMessageTest, ComparesFields) {
  const Message a(ClaimOfRequest("gpu"));
  EXPECT_EQ(a, Message(ClaimOfRequest("gpu")));
  EXPECT_EQ(a, Message(a.shared()));
  EXPECT_FALSE(a == Message(ClaimOfRequest("nic")));
  EXPECT_EQ(a->requests(0).name(), "gpu");
}

// Null is no empty message.
TEST(SharedMessageTest, NullIsUnset) {
  EXPECT_FALSE(static_cast<bool>(Message()));
  EXPECT_TRUE(static_cast<bool>(Message(proto::kube::DeviceClaim())));
  EXPECT_EQ(Message(), Message());
  EXPECT_FALSE(Message() == Message(proto::kube::DeviceClaim()));
}

}  // namespace
}  // namespace drasim
