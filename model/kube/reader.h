// Kubernetes objects from the text that kubectl takes: manifests and what `kubectl get -o
// yaml|json` prints.
//
// The kinds and their fields are those of model/proto/kube.proto. Read are YAML with one or more
// documents, JSON with one or more values, `kind: List` and lists of one kind (PodList), nested or
// not. Words without quotes mean what they mean to kubectl (YAML 1.1, see kube_scalar.h): a number
// or a boolean is no text, `yes` is a boolean, 010 is eight. Quantities alone may be numbers:
// `nvidia.com/gpu: 1`. Merge keys (<<) work in mappings, tags do not.
#ifndef DRASIM_MODEL_KUBE_READER_H_
#define DRASIM_MODEL_KUBE_READER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"

namespace drasim {

struct KubeObject {
  proto::kube::Object object;  // one of its kinds is set, with apiVersion and kind
  size_t line = 0;             // where it begins, from 1
};

// An object that nothing here reads, by its kind or by its API version.
struct KubeSkipped {
  std::string api_version;  // "resource.k8s.io/v1"
  std::string kind;
  std::string ns;
  std::string name;
  size_t line = 0;  // where it begins, from 1
};

struct KubeManifest {
  std::vector<KubeObject> objects;   // in the order of the text
  std::vector<KubeSkipped> skipped;  // with KubeReadOptions::of_cluster
  // "FILE:LINE:COLUMN: PATH: what is odd", in the order of the text. What is odd in many places in
  // the same way, list items apart, is said once, for the first of them, with the number of others.
  std::vector<std::string> warnings;
};

struct KubeReadOptions {
  bool validate = true;  // also ValidateKubeObject
  // The text is what a cluster of any release printed, and is used as far as it is understood:
  // objects of unknown kinds or versions go to `skipped` without a message, and what would be an
  // error of a field or an object is a warning and is left out. Errors are those of syntax alone.
  bool of_cluster = false;
};

// Reads all objects of `text`. `file` is used in messages only.
//
// Warnings: fields that Kubernetes does not have either (what Kubernetes has and no simulation
// reads, such as volumes and probes, is passed over); objects of unknown kinds, which are left out.
//
// Errors (InvalidArgument, "FILE:LINE:COLUMN: PATH: what was found, what was expected", one per
// line, at most 20 of them): syntax; values of a wrong type; duplicate keys; objects without kind
// or apiVersion; known kinds in an API version that is not read; what ValidateKubeObject finds.
// Paths are Kubernetes' own: "spec.containers[0].name", "metadata.labels[example.com/app]".
//
// Limits: those of YamlTree per document of YAML; 64 levels in JSON. Cost: linear in the text.
absl::StatusOr<KubeManifest> ReadKubeObjects(absl::string_view text, absl::string_view file,
                                             const KubeReadOptions& options = {});

// The claim or the template that an entry of spec.resourceClaims names, in whichever of the two
// forms; empty when it names none.
inline const std::string& KubeClaimName(const proto::kube::PodResourceClaim& entry) {
  return entry.has_source() ? entry.source().resource_claim_name() : entry.resource_claim_name();
}
inline const std::string& KubeClaimTemplateName(const proto::kube::PodResourceClaim& entry) {
  return entry.has_source() ? entry.source().resource_claim_template_name()
                            : entry.resource_claim_template_name();
}

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_READER_H_
