#include "gui/view/call_series.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/time.h"
#include "sim/record/ledger_claims.h"

namespace drasim {
namespace call_series_test {

using view::CallsByClient;
using view::ClientSeries;

CallsSample SampleAt(int64_t ns, std::vector<ClientCalls> clients) {
  CallsSample sample;
  sample.time = SimTime(ns);
  sample.clients = std::move(clients);
  return sample;
}

ClientCalls CallsOf(const std::string& client, uint64_t calls) {
  ClientCalls of_client;
  of_client.client = client;
  of_client.calls = calls;
  return of_client;
}

TEST(CallSeriesTest, OneCounterPerClient) {
  const std::vector<ClientSeries> clients =
      CallsByClient({SampleAt(10, {CallsOf("scheduler", 5)}),
                     SampleAt(30, {CallsOf("kubelet", 2), CallsOf("scheduler", 9)}),
                     // Out of order, as in a damaged ledger.
                     SampleAt(20, {CallsOf("kubelet", 7)})});
  ASSERT_EQ(clients.size(), 2u);
  EXPECT_EQ(clients[0].client, "scheduler");
  EXPECT_EQ(clients[0].calls.ValueAt(SimTime(0)), 0);
  EXPECT_EQ(clients[0].calls.ValueAt(SimTime(29)), 5);
  EXPECT_EQ(clients[0].calls.ValueAt(SimTime(30)), 9);
  EXPECT_EQ(clients[1].client, "kubelet");
  EXPECT_EQ(clients[1].calls.ValueAt(SimTime(30)), 7);
  EXPECT_TRUE(CallsByClient({}).empty());
}

TEST(CallSeriesTest, KeepsABoundedNumberOfClients) {
  CallsSample sample;
  for (int i = 0; i < 300; ++i) sample.clients.push_back(CallsOf(absl::StrCat("client-", i), 1));
  EXPECT_EQ(CallsByClient({sample}).size(), 256u);
}

}  // namespace call_series_test
}  // namespace drasim
