// Calls of the API server over time.
#ifndef DRASIM_GUI_VIEW_CALL_SERIES_H_
#define DRASIM_GUI_VIEW_CALL_SERIES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gui/view/pyramid.h"
#include "sim/record/ledger_claims.h"

namespace drasim::view {

struct ClientSeries {
  std::string client;
  Pyramid calls;  // so far, from 0 at time 0
};

// One per client, in the order of their first calls. In a damaged ledger, times that go back count
// as the latest one, and no more than 256 clients are kept. O(samples x clients^2).
std::vector<ClientSeries> CallsByClient(absl::Span<const CallsSample> samples);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_CALL_SERIES_H_
