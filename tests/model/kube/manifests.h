// A manifest with an object of every kind that model/proto/kube.proto has, each with as many of its
// fields as one object can have, and help to read it.
#ifndef DRASIM_TESTS_MODEL_KUBE_MANIFESTS_H_
#define DRASIM_TESTS_MODEL_KUBE_MANIFESTS_H_

#include <google/protobuf/text_format.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/kube/reader.h"
#include "tests/testing/data_text.h"

namespace drasim::kube_manifests {

// Reads `text` as "f.yaml"; a failure, and nothing, when it has errors.
inline KubeManifest ReadManifest(absl::string_view text, const KubeReadOptions& options = {}) {
  absl::StatusOr<KubeManifest> read = ReadKubeObjects(text, "f.yaml", options);
  if (read.ok()) return *std::move(read);
  ADD_FAILURE() << read.status().message();
  return KubeManifest();
}

// The errors, one per line, or "no error" and the warnings.
inline std::string ErrorsOf(absl::string_view text) {
  const absl::StatusOr<KubeManifest> read = ReadKubeObjects(text, "f.yaml");
  if (!read.ok()) return std::string(read.status().message());
  return "no error\n" + absl::StrJoin(read->warnings, "\n");
}

inline std::string TextOf(const KubeManifest& manifest) {
  std::string text;
  for (const KubeObject& object : manifest.objects) text += object.object.DebugString();
  return text;
}

// An object from protobuf's own text format.
inline proto::kube::Object ObjectOf(const std::string& text) {
  proto::kube::Object object;
  DRASIM_CHECK(google::protobuf::TextFormat::ParseFromString(text, &object));
  return object;
}

inline const std::string& NodeManifest() { return TestText("NodeManifest"); }

inline const std::string& PodManifest() { return TestText("PodManifest"); }

inline const std::string& GatedPodManifest() { return TestText("GatedPodManifest"); }

inline const std::string& OwnersManifest() { return TestText("OwnersManifest"); }

inline const std::string& ClaimsManifest() { return TestText("ClaimsManifest"); }

inline const std::string& ParametersManifest() { return TestText("ParametersManifest"); }

inline const std::string& StorageManifest() { return TestText("StorageManifest"); }

inline const std::string& DevicesManifest() { return TestText("DevicesManifest"); }

// All of them, in the order above.
inline std::string EveryKind() {
  const std::vector<std::string> parts = {NodeManifest(),    PodManifest(),    GatedPodManifest(),
                                          OwnersManifest(),  ClaimsManifest(), ParametersManifest(),
                                          StorageManifest(), DevicesManifest()};
  return absl::StrJoin(parts, "---\n");
}

}  // namespace drasim::kube_manifests

#endif  // DRASIM_TESTS_MODEL_KUBE_MANIFESTS_H_
