// The answers of kube-scheduler 1.34.1 to the cases of <DRASIM_SHARED>/expected/kube.

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "sim/kube/case_compare.h"
#include "sim/kube/case_file.h"
#include "sim/kube/kube_case.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/shared_data.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

constexpr const char* kSharedCases = "expected/kube/shared_cases.jsonl.gz";

TEST(SharedKubeCasesTest, EveryFieldOfEveryAnswerIsEqual) {
  DRASIM_NEEDS_SHARED_DATA(kSharedCases);
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source,
                       OpenByteSource(SharedPath(kSharedCases)));
  CaseComparison comparison;
  const absl::Status status = ForEachKubeCase(
      *source, /*with_answers=*/true, [&](const KubeCaseLine& line) -> absl::Status {
        const absl::StatusOr<proto::kube::KubeAnswer> answer = AnswerKubeCase(line.given);
        if (!answer.ok()) return answer.status();
        if (!line.stored.has_value()) return absl::InvalidArgumentError("no answer");
        comparison.Add(line.given.id(), line.given.family(), *answer, *line.stored);
        return absl::OkStatus();
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(comparison.cases(), 693u);
  EXPECT_EQ(comparison.unequal_ids(), "") << comparison.Text();
}

}  // namespace
}  // namespace drasim
