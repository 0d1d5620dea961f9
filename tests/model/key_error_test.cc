#include "model/key_error.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace drasim {
namespace key_error_test {

TEST(KeyErrorTest, HoldsItsKeyBesideItsText) {
  const absl::Status status = KeyError("cluster.events[0].at", "found 'soon', expected a duration");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "cluster.events[0].at: found 'soon', expected a duration");
  EXPECT_EQ(KeyOfError(status), "cluster.events[0].at");
}

TEST(KeyErrorTest, OtherErrorsHaveNoKey) {
  EXPECT_EQ(KeyOfError(absl::OkStatus()), "");
  EXPECT_EQ(KeyOfError(absl::InvalidArgumentError("seed: found 'x'")), "");
}

TEST(KeyErrorTest, AKeyIsGivenToAnyError) {
  const absl::Status status = WithKey("seed", absl::NotFoundError("a text without a key"));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "a text without a key");
  EXPECT_EQ(KeyOfError(status), "seed");
  EXPECT_EQ(KeyOfError(WithKey("order", status)), "order");
  EXPECT_EQ(WithKey("seed", absl::OkStatus()), absl::OkStatus());
}

}  // namespace key_error_test
}  // namespace drasim
