// libFuzzer target: any bytes as a case for the allocator, and as one for CEL. In cases that are
// small enough to be searched exhaustively, all ways of searching must agree.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/kube/reader_json.h"
#include "policies/allocator/cel_verdicts.h"
#include "sim/sdra/allocator_case.h"
#include "sim/sdra/allocator_rounds.h"
#include "sim/sdra/cel_case.h"

namespace {

using drasim::AllocatorCase;

template <typename Request>
int64_t DevicesOf(const Request& request) {
  return request.allocation_mode() == "All" || request.count() < 0 ? 8 : request.count();
}

bool IsSmall(const AllocatorCase& given) {
  int devices = 0;
  for (const auto& slice : given.slices) devices += slice.spec().devices_size();
  int64_t wanted = 0;
  for (const auto& claim : given.claims) {
    for (const auto& request : claim.spec().devices().requests()) {
      if (wanted > 16) return false;
      wanted += 1 + DevicesOf(request.exactly());
      for (const auto& sub : request.first_available()) wanted += DevicesOf(sub);
    }
  }
  return devices <= 6 && wanted <= 16 && given.claims.size() <= 4 && given.nodes.size() <= 3;
}

std::string AnswerBy(const AllocatorCase& given, const drasim::AllocatorOptions& options) {
  const auto answers = drasim::AnswerAllocatorCase(given, options, drasim::MakeCelVerdicts);
  if (!answers.ok()) return std::string(answers.status().message());
  return drasim::AllocatorAnswerJson(given, *answers, /*steps=*/false);
}

void SearchInAllWays(const AllocatorCase& given) {
  for (const auto variant :
       {drasim::AllocatorVariant::kStable, drasim::AllocatorVariant::kIncubating,
        drasim::AllocatorVariant::kExperimental}) {
    drasim::AllocatorOptions options;
    options.variant = variant;
    const std::string usual = AnswerBy(given, options);
    options.steps_before_pruning = 0;
    DRASIM_CHECK_EQ(AnswerBy(given, options), usual);
    options.count_steps = true;
    DRASIM_CHECK_EQ(AnswerBy(given, options), usual);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  std::deque<drasim::YamlNode> nodes;
  const drasim::JsonTree tree = drasim::ParseJsonTree(text, 0, &nodes);
  if (tree.root == nullptr) return 0;
  const absl::StatusOr<AllocatorCase> given = drasim::ReadAllocatorCase(text, *tree.root);
  if (given.ok() && IsSmall(*given)) SearchInAllWays(*given);
  const absl::StatusOr<drasim::CelCase> cel = drasim::ReadCelCase(text, *tree.root);
  if (cel.ok()) (void)drasim::AnswerCelCase(*cel);
  return 0;
}
