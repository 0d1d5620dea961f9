// drasim cdi: the specifications of classic and of structured claims, and bad usage.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace cli_cdi_test {

using CdiCliTest = CliTest;

TEST_F(CdiCliTest, StructuredClaims) {
  dir_.Write("s.yaml", TestText("structured.yaml"));
  Succeed({"run", "s.yaml", "--out", "out", "--quiet"});
  EXPECT_EQ(Succeed({"cdi", "out", "--pod", "small"}), TestText("StructuredClaims"));
  EXPECT_EQ(Succeed({"cdi", "out", "--pod", "default/small", "--at", "1m"}),
            TestText("StructuredClaims"));
  EXPECT_EQ(Succeed({"cdi", "out/ledger", "--pod", "large"}), TestText("StructuredClaims.2"));
  ExpectRefused({"cdi", "out", "--pod", "small", "--at", "15m"},
                "--pod: 'small' uses no allocated claim at that time");
  ExpectRefused({"cdi", "out", "--pod", "smal"},
                "--pod: no pod with claims in out/ledger is called 'smal' (did you mean 'small'?)");
}

TEST_F(CdiCliTest, ClassicClaims) {
  dir_.Write("s.yaml", TestText("classic.yaml"));
  Succeed({"run", "s.yaml", "--out", "out", "--quiet"});
  EXPECT_EQ(Succeed({"cdi", "out", "--pod", "a"}), TestText("ClassicClaims"));
}

TEST_F(CdiCliTest, RefusesWhatMakesNoSense) {
  ExpectRefused({"cdi", "out"},
                "cdi needs one run (its folder or its ledger) and --pod NAMESPACE/NAME");
  ExpectRefused({"cdi", "out", "--pod", "a", "--at", "x"},
                "--at: found 'x', expected a duration such as 5ms, 1.5s or 2h");
}

}  // namespace cli_cdi_test
}  // namespace drasim
