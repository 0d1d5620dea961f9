// Kubernetes objects from the text that kubectl takes: manifests and what `kubectl get -o
// yaml|json` prints.
//
//   ASSIGN_OR_RETURN(const KubeManifest manifest, ReadKubeObjects(text, "pods.yaml"));
//   for (const KubeObject& read : manifest.objects) {
//     if (read.object.has_pod()) Use(read.object.pod());
//   }
//
// The kinds and their fields are those of model/proto/kube.proto. The text is YAML with one or more
// documents or JSON with one or more values; `kind: List` and lists of one kind (PodList) may be
// nested. Unquoted words have the types that kubectl gives them (YAML 1.1, see scalar.h): a number
// or a boolean is no text, `yes` is a boolean, 010 is eight. Quantities alone may be numbers:
// `nvidia.com/gpu: 1`. Merge keys (<<) work in mappings, tags do not.
#ifndef DRASIM_MODEL_KUBE_READER_H_
#define DRASIM_MODEL_KUBE_READER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/kube/kube_problem.h"
#include "model/kube/reader_source.h"
#include "model/proto/kube.pb.h"
#include "model/text/yaml_node.h"

namespace drasim {

struct KubeObject {
  proto::kube::Object object;  // one of its kinds is set, with apiVersion and kind
  size_t line = 0;             // of its beginning, from 1
};

// An object of a kind or an API version that is not read.
struct KubeSkipped {
  std::string api_version;  // "resource.k8s.io/v1"
  std::string kind;
  std::string ns;
  std::string name;
  size_t line = 0;  // of its beginning, from 1
};

struct KubeManifest {
  std::vector<KubeObject> objects;   // in the order of the text
  std::vector<KubeSkipped> skipped;  // with KubeReadOptions::of_cluster
  // "FILE:LINE:COLUMN: PATH: what is odd", in the order of the text. Paths that differ in list
  // items only share one warning, for the first of them, with the number of others.
  std::vector<std::string> warnings;
};

// Warnings of one text or several, of which those that are alike become one.
class KubeWarnings {
 public:
  // `text` is asked only if none like it is there; else that one is counted.
  void Add(const std::string& alike, absl::FunctionRef<std::string()> text);
  // In the order of the first of each sort: "TEXT (and 3 more like it)".
  std::vector<std::string> Texts() const;

 private:
  std::vector<std::pair<std::string, size_t>> warnings_;  // and how many others are like it
  absl::flat_hash_map<std::string, size_t> index_;
};

struct KubeReadOptions {
  bool validate = true;  // also ValidateKubeObject
  // The text comes from a cluster of any release and is used as far as it is understood: objects of
  // unknown kinds or versions go to `skipped` without a message; errors of fields and objects
  // become warnings, and the field or object is left out. Only mistakes of syntax remain errors.
  bool of_cluster = false;
  // Names of fields match without regard to case, as where Go's encoding/json reads the text.
  bool any_case = false;
  // Collects the warnings of texts that are pieces of one, in place of KubeManifest::warnings.
  KubeWarnings* warnings = nullptr;
  // More checks of an object that has no problem of ValidateKubeObject. Null: none.
  std::function<std::vector<KubeProblem>(const proto::kube::Object&)> check = nullptr;
};

// Reads all objects of `text`. `file` is used in messages only.
//
// Warnings: fields that Kubernetes does not have (those that it has and the simulation does not
// read, such as probes, are ignored); objects of unknown kinds, which are left out.
//
// Errors (InvalidArgument, "FILE:LINE:COLUMN: PATH: what was found, what was expected", one per
// line, at most 20 of them): syntax; values of a wrong type; duplicate keys; objects without kind
// or apiVersion; known kinds in an API version that is not read; problems of ValidateKubeObject.
// Paths are Kubernetes' own: "spec.containers[0].name", "metadata.labels[example.com/app]".
//
// Limits: those of YamlTree per document of YAML; 64 levels in JSON. Cost: linear in the text.
absl::StatusOr<KubeManifest> ReadKubeObjects(absl::string_view text, absl::string_view file,
                                             const KubeReadOptions& options = {});

// Reads `node`, a value of `document` of `source`, into `message`: fields only, without kind, API
// version (fields are the newest version's), lifting and validation. Unknown fields are left out
// with a warning (KubeReadOptions::warnings).
//
// Errors (InvalidArgument) as ReadKubeObjects.
absl::Status ReadKubeNode(const KubeSource& source, const KubeDocument& document,
                          const YamlNode& node, const KubeReadOptions& options,
                          google::protobuf::Message* message);

// Reads the one object of `text`, a configuration file, into `message`, whose option `api` says
// which kind it is (model/proto/kube.proto). Strict: unknown fields are errors. When all fields are
// read, `check` says what else is wrong: `path` tells where, and `what` is the whole text of the
// message.
//
// Errors (InvalidArgument) as ReadKubeObjects, those of `check` as "FILE:LINE:COLUMN: WHAT".
absl::Status ReadKubeMessage(absl::string_view text, absl::string_view file,
                             google::protobuf::Message* message,
                             absl::FunctionRef<std::vector<KubeProblem>()> check);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_READER_H_
