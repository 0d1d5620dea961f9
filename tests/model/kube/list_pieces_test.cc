#include "model/kube/list_pieces.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/kube/reader.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace list_pieces_test {

std::vector<std::string> PiecesOf(absl::string_view text) {
  std::vector<std::string> pieces;
  KubeListPieces list(text);
  for (std::string piece; list.Next(&piece);) pieces.push_back(piece);
  return pieces;
}

// "NAME:LINE" of the pods in all pieces.
std::vector<std::string> PodsIn(const std::vector<std::string>& pieces) {
  std::vector<std::string> pods;
  for (const std::string& piece : pieces) {
    const absl::StatusOr<KubeManifest> manifest = ReadKubeObjects(piece, "f");
    EXPECT_EQ(manifest.status(), absl::OkStatus());
    if (!manifest.ok()) continue;
    for (const KubeObject& read : manifest->objects) {
      pods.push_back(absl::StrCat(read.object.pod().metadata().name(), ":", read.line));
    }
  }
  return pods;
}

// A list with six long pods, each in `lines` lines, and the pods that it has.
struct LongList {
  LongList(bool json, bool more_behind) {
    const std::string padding(size_t{1} << 20, 'x');
    text = json ? "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n" : "apiVersion: v1\nitems:\n";
    int line = json ? 4 : 3;
    for (int i = 0; i < 6; ++i) {
      pods.push_back(absl::StrCat("p", i, ":", line));
      if (json) {
        absl::StrAppend(
            &text, "        {\n            \"apiVersion\": \"v1\", \"kind\": \"Pod\",\n",
            "            \"metadata\": {\"name\": \"p", i, "\", \"uid\": \"", padding,
            "\"},\n            \"spec\": {\"containers\": [{\"name\": \"c\"}]}\n        }",
            i < 5 ? ",\n" : "\n");
        line += 5;
      } else {
        absl::StrAppend(&text, "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p", i,
                        "\n    uid: ", padding, "\n  spec:\n    containers:\n    - name: c\n");
        line += 8;
      }
    }
    if (json) {
      absl::StrAppend(&text, "    ],\n    \"kind\": \"List\"\n}\n");
    } else {
      absl::StrAppend(&text, "kind: List\nmetadata:\n  resourceVersion: \"\"\n");
    }
    if (more_behind) absl::StrAppend(&text, json ? "{}\n" : "---\n{}\n");
  }
  std::string text;
  std::vector<std::string> pods;
};

TEST(KubeListPiecesTest, APieceKeepsItsLines) {
  for (const bool json : {false, true}) {
    const LongList list(json, /*more_behind=*/false);
    const std::vector<std::string> pieces = PiecesOf(list.text);
    EXPECT_GT(pieces.size(), 1u);
    for (const std::string& piece : pieces) EXPECT_LT(piece.size(), list.text.size());
    EXPECT_EQ(PodsIn(pieces), list.pods) << json;
  }
}

TEST(KubeListPiecesTest, WhatIsNoLongListIsOnePiece) {
  EXPECT_EQ(PiecesOf(""), std::vector<std::string>{""});
  const std::string list = "apiVersion: v1\nitems:\n- a: 1\nkind: List\n";
  EXPECT_EQ(PiecesOf(list), std::vector<std::string>{list});
  // Several documents.
  for (const bool is_json : {false, true}) {
    const LongList more(is_json, /*more_behind=*/true);
    EXPECT_EQ(PiecesOf(more.text), std::vector<std::string>{more.text});
  }
  // Another indent; items that are cut off.
  std::string json = LongList(/*json=*/true, /*more_behind=*/false).text;
  const std::string torn = json.substr(0, json.size() - 30);
  EXPECT_EQ(PiecesOf(torn), std::vector<std::string>{torn});
  json.insert(json.find("        {\n"), " ");
  EXPECT_EQ(PiecesOf(json), std::vector<std::string>{json});
}

}  // namespace list_pieces_test
}  // namespace drasim
