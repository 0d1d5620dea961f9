// libFuzzer: any text ends in a filter of pods or in an error that names a column.
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gui/view/pod_filter.h"
#include "model/check.h"

namespace drasim {
namespace {

void FuzzFilter(absl::string_view text) {
  const absl::StatusOr<view::PodFilter> filter = view::PodFilter::Parse(text);
  if (!filter.ok()) {
    DRASIM_CHECK(absl::StartsWith(filter.status().message(), "column "));
    return;
  }
  view::PodFacts pod;
  pod.name = "pod-7";
  pod.wants = "2 x 1g.10gb";
  pod.verdict = "0/3 nodes are available";
  filter->Matches(pod);
}

}  // namespace
}  // namespace drasim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  drasim::FuzzFilter(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
