// Checks of fields with the API server's own texts: "Invalid value: \"x\": must be ...", as field
// errors of k8s.io/apimachinery print them (pkg/util/validation, release 1.37). For the kinds of
// resource.k8s.io (validate_device.h, validate_claim.h); field_check.h has the texts of the older
// kinds. Shown values are cut after 60 bytes.
#ifndef DRASIM_MODEL_KUBE_API_CHECK_H_
#define DRASIM_MODEL_KUBE_API_CHECK_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/kube/field_check.h"
#include "model/kube/kube_problem.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// "PATH[INDEX]" and "PATH[KEY]".
std::string KubeIndex(absl::string_view path, int index);
std::string KubeKeyPath(absl::string_view path, absl::string_view key);

// Collects the problems of one object, in the order of the calls.
class ApiCheck {
 public:
  // `problems` outlives the check.
  explicit ApiCheck(std::vector<KubeProblem>* problems) : kube_(problems) {}

  // Checks whose texts are the simulator's own: metadata, selectors of nodes.
  KubeCheck& kube() { return kube_; }

  // --- Problems; `path` as in KubeProblem ---

  void Required(const std::string& path, absl::string_view detail = "");
  void Invalid(const std::string& path, absl::string_view value, absl::string_view detail);
  // The value stands without quotes: a number, a list, null.
  void InvalidShown(const std::string& path, absl::string_view shown, absl::string_view detail);
  void TooLong(const std::string& path, size_t most);
  void Duplicate(const std::string& path, absl::string_view value);
  void Forbidden(const std::string& path, absl::string_view detail);
  void NotFound(const std::string& path, absl::string_view value);

  // --- Checks, which add a problem only when the value is wrong ---

  // At most `most` items; false when there are more, and their own checks are left out.
  bool AtMost(const std::string& path, int count, int most);
  void MaxBytes(const std::string& path, absl::string_view value, size_t most);
  // Not in `seen`, which the value joins.
  void Unique(const std::string& path, const std::string& value, std::set<std::string>* seen);
  // One of `supported`, which are in the order of the message.
  void OneOf(const std::string& path, const std::string& value,
             absl::Span<const absl::string_view> supported);

  void DnsLabel(const std::string& path, const std::string& value);
  void Subdomain(const std::string& path, const std::string& value);
  void DriverName(const std::string& path, const std::string& value);
  // Subdomains with '/' between them, at most 253 bytes.
  void PoolName(const std::string& path, const std::string& value);
  // A C identifier of at most 32 bytes, or DRIVER/IDENTIFIER.
  void QualifiedName(const std::string& path, const std::string& value);
  void FullyQualifiedName(const std::string& path, const std::string& value);
  void LabelKey(const std::string& path, const std::string& value);
  void LabelValue(const std::string& path, const std::string& value);
  void Uuid(const std::string& path, const std::string& value);
  // The text of a JSON object, at most `most` bytes long.
  void JsonObject(const std::string& path, const std::string& json, size_t most);
  void Conditions(const std::string& path,
                  const google::protobuf::RepeatedPtrField<proto::kube::Condition>& conditions,
                  int most);
  void NodeSelector(const std::string& path, const proto::kube::NodeSelector& selector);

 private:
  void CIdentifier(const std::string& path, absl::string_view id);

  KubeCheck kube_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_API_CHECK_H_
