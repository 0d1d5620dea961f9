// The stored answers of Kubernetes' own allocator, field by field.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/kube/reader_json.h"
#include "policies/allocator/cel_verdicts.h"
#include "sim/kube/case_file.h"
#include "sim/sdra/allocator_case.h"
#include "sim/sdra/allocator_rounds.h"
#include "sim/sdra/case_table.h"
#include "sim/sdra/json_message.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/shared_data.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

struct SharedRun {
  const char* file;
  const char* variant;
  size_t cases;  // that have a stable answer of the variant
};

// Answers all cases, with pruning and without; `steps_before_pruning` is that of the options.
void ExpectAllEqual(const SharedRun& run, bool count_steps, int64_t steps_before_pruning) {
  AllocatorOptions options;
  ASSERT_OK_AND_ASSIGN(options.variant, ParseAllocatorVariant(run.variant));
  options.count_steps = count_steps;
  options.steps_before_pruning = steps_before_pruning;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ByteSource> source,
                       OpenByteSource(SharedPath(run.file)));
  CaseTable table;
  const absl::Status read = ForEachCaseLine(*source, [&](absl::string_view line) -> absl::Status {
    std::deque<YamlNode> nodes;
    const JsonTree tree = ParseJsonTree(line, 0, &nodes);
    ASSIGN_OR_RETURN(const AllocatorCase given,
                     ReadAllocatorCase(line, *JsonMember(*tree.root, "case")));
    ASSIGN_OR_RETURN(const std::vector<AllocationAnswer> answers,
                     AnswerAllocatorCase(given, options, MakeCelVerdicts));
    return CompareAllocatorAnswers(line, *JsonMember(*tree.root, "want"), given, answers,
                                   run.variant, count_steps, &table)
        .status();
  });
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_EQ(table.cases(), run.cases);
  EXPECT_EQ(table.unequal_cases(), 0u) << table.Text();
}

constexpr char kUpstream[] = "expected/sdra/allocator_upstream_v1.37.2.jsonl.gz";
constexpr char kNvidia[] = "expected/sdra/nvidia_pools_shared.jsonl.gz";
constexpr SharedRun kRuns[] = {
    {kUpstream, "stable", 156},
    {kUpstream, "incubating", 234},
    {kUpstream, "experimental", 279},
    {kNvidia, "incubating", 40},
};

TEST(SharedSdraCasesTest, StepForStep) {
  DRASIM_NEEDS_SHARED_DATA(kUpstream, kNvidia);
  for (const SharedRun& run : kRuns) ExpectAllEqual(run, true, 0);
}

TEST(SharedSdraCasesTest, WithoutStepsAndRarelyPruned) {
  DRASIM_NEEDS_SHARED_DATA(kUpstream, kNvidia);
  for (const SharedRun& run : kRuns) ExpectAllEqual(run, false, 256);
}

TEST(SharedSdraCasesTest, AlwaysPruned) {
  DRASIM_NEEDS_SHARED_DATA(kUpstream, kNvidia);
  for (const SharedRun& run : kRuns) ExpectAllEqual(run, false, 0);
}

}  // namespace
}  // namespace drasim
