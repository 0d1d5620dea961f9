#include "gui/view/call_series.h"

#include <algorithm>
#include <cstddef>

#include "model/time.h"

namespace drasim::view {
namespace {

// More than any run has; a damaged ledger may name as many as it likes.
constexpr size_t kMostClients = 256;

}  // namespace

std::vector<ClientSeries> CallsByClient(absl::Span<const CallsSample> samples) {
  std::vector<ClientSeries> clients;
  SimTime time;
  for (const CallsSample& sample : samples) {
    time = std::max(time, sample.time);
    for (const ClientCalls& of_client : sample.clients) {
      auto series = std::find_if(
          clients.begin(), clients.end(),
          [&of_client](const ClientSeries& known) { return known.client == of_client.client; });
      if (series == clients.end()) {
        if (clients.size() == kMostClients) continue;
        series = clients.emplace(series);
        series->client = of_client.client;
        series->calls.Append(SimTime(), 0);
      }
      series->calls.Append(time, static_cast<double>(of_client.calls));
    }
  }
  return clients;
}

}  // namespace drasim::view
