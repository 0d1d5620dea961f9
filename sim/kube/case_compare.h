// Differences between answers to scheduling cases, counted by family and field.
#ifndef DRASIM_SIM_KUBE_CASE_COMPARE_H_
#define DRASIM_SIM_KUBE_CASE_COMPARE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "model/proto/kube_answer.pb.h"

namespace drasim {

// The fields that are compared. For a refused configuration, only the fact of the refusal.
enum class CaseField : uint8_t {
  kRefused,
  kNodeOrder,
  kOutcome,  // and which pod was attempted
  kFeasible,
  kInfeasible,  // and the nodes that PreFilter left out
  kRaw,         // and the plugins that were skipped
  kWeighted,
  kTop,
  kPreemption,
  kNextStart,
  kMessage,  // and the plugins that rejected the pod
  kEvents,
};
inline constexpr size_t kCaseFields = 12;
absl::string_view CaseFieldName(CaseField field);

class CaseComparison {
 public:
  // `answer` is ours, `stored` the original's. O(size of the answers).
  void Add(const std::string& id, const std::string& family, const proto::kube::KubeAnswer& answer,
           const proto::kube::KubeAnswer& stored);

  size_t cases() const { return cases_; }
  // Cases with any difference, and their ids separated by blanks.
  size_t unequal_cases() const { return unequal_cases_; }
  const std::string& unequal_ids() const { return unequal_ids_; }

  // A line per family and field with "equal/compared", and for each field the first difference.
  std::string Text() const;

 private:
  struct Count {
    int64_t equal = 0;
    int64_t compared = 0;
  };
  void Note(CaseField field, const std::string& place, const std::string& ours,
            const std::string& theirs);
  void CompareAttempt(const std::string& place, const proto::kube::KubeAnswer::Attempt& ours,
                      const proto::kube::KubeAnswer::Attempt& theirs);

  std::map<std::string, std::array<Count, kCaseFields>> counts_;  // by family
  std::array<std::string, kCaseFields> first_;        // the first difference of each field
  std::array<Count, kCaseFields>* family_ = nullptr;  // of the case at hand
  bool equal_ = true;                                 // the case at hand, so far
  size_t cases_ = 0;
  size_t unequal_cases_ = 0;
  std::string unequal_ids_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_KUBE_CASE_COMPARE_H_
