// Manifests from texts of a test, and what is read of them as text.
#ifndef DRASIM_TESTS_SIM_RUN_MANIFEST_TEXTS_H_
#define DRASIM_TESTS_SIM_RUN_MANIFEST_TEXTS_H_

#include <google/protobuf/text_format.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "sim/run/manifests.h"
#include "tests/testing/temp_dir.h"

namespace drasim::manifest_texts {

// What is read of texts, which become files f0.yaml, f1.yaml, ...
struct ReadTexts {
  explicit ReadTexts(const std::vector<std::string>& texts) {
    TempDir dir;
    std::vector<std::string> paths;
    for (const std::string& text : texts) {
      const std::string name = absl::StrCat("f", paths.size(), ".yaml");
      dir.Write(name, text);
      paths.push_back(absl::StrCat(dir.path(), "/", name));
    }
    const auto plain = [&dir](absl::string_view text) {
      return absl::StrReplaceAll(text, {{dir.path() + "/", ""}});
    };
    absl::StatusOr<Manifests> read = ReadManifests(paths);
    if (!read.ok()) {
      EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
      error = plain(read.status().message());
      return;
    }
    manifests = *std::move(read);
    for (std::string& warning : manifests.warnings) warning = plain(warning);
  }
  ReadTexts(std::initializer_list<std::string> texts)
      : ReadTexts(std::vector<std::string>(texts)) {}
  explicit ReadTexts(const std::string& text) : ReadTexts(std::vector<std::string>{text}) {}

  // The jobs as text, one per line.
  std::string Jobs() const {
    std::vector<std::string> lines;
    for (const proto::InlineJob& job : manifests.jobs) lines.push_back(job.ShortDebugString());
    return absl::StrJoin(lines, "\n");
  }
  std::string Warnings() const { return absl::StrJoin(manifests.warnings, "\n"); }

  Manifests manifests;
  std::string error;
};

// A job from protobuf's text, printed as Jobs() does.
inline std::string Job(const std::string& text) {
  proto::InlineJob job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job)) << text;
  return job.ShortDebugString();
}

// A pod `name` with `lines`, each with its indentation, below spec.
inline std::string Pod(absl::string_view name, absl::string_view lines = "") {
  return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                      "}\nspec:\n  containers: [{name: c}]\n", lines);
}

// Something with a template of an empty pod; `spec` stands beside it.
inline std::string Owner(absl::string_view version, absl::string_view kind, absl::string_view name,
                         absl::string_view spec) {
  const bool job = kind == "Job";
  return absl::StrCat("apiVersion: ", version, "\nkind: ", kind, "\nmetadata: {name: ", name,
                      "}\nspec:\n", spec, job ? "" : "  selector: {matchLabels: {app: a}}\n",
                      "  template:\n    metadata: {labels: {app: a}}\n",
                      "    spec: {containers: [{name: c}]", job ? ", restartPolicy: Never" : "",
                      "}\n");
}

}  // namespace drasim::manifest_texts

#endif  // DRASIM_TESTS_SIM_RUN_MANIFEST_TEXTS_H_
