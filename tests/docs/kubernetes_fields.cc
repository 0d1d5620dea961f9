#include "tests/docs/kubernetes_fields.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace drasim {
namespace {

struct Line {
  enum class Kind : uint8_t { kType, kFields, kOther };
  Kind kind = Kind::kType;
  const char* type;
  const char* names;  // of a type: its message
  KubeFieldVerdict verdict;
  const char* reason;   // of a type: its place
  const char* without;  // of a type: its frame
  const char* with;
};

constexpr KubeFieldVerdict kHonoured = KubeFieldVerdict::kHonoured;
constexpr KubeFieldVerdict kElsewhere = KubeFieldVerdict::kElsewhere;
constexpr KubeFieldVerdict kNoEffect = KubeFieldVerdict::kNoEffect;

#define KUBE_TYPE(type, message, place, frame) \
  {Line::Kind::kType, type, message, kNoEffect, place, frame, ""},
#define KUBE_FIELDS(type, names, verdict, reason, without, with) \
  {Line::Kind::kFields, type, names, verdict, reason, without, with},
#define KUBE_OTHER(type, names, reason) \
  {Line::Kind::kOther, type, names, kNoEffect, reason, "", ""},
constexpr Line kLines[] = {
#include "model/data/kubernetes_fields.inc"
};
#undef KUBE_TYPE
#undef KUBE_FIELDS
#undef KUBE_OTHER

std::vector<KubeTypeRows> ReadTable() {
  std::vector<KubeTypeRows> table;
  for (const Line& line : kLines) {
    if (line.kind == Line::Kind::kType) {
      table.push_back({line.type, line.names, line.reason, line.without, {}, {}});
      continue;
    }
    // A row under another type's heading makes a type that no message has.
    if (table.empty() || table.back().name != line.type) {
      table.push_back({line.type, "", "", "", {}, {}});
    }
    KubeTypeRows& type = table.back();
    (line.kind == Line::Kind::kFields ? type.fields : type.others)
        .push_back(
            {absl::StrSplit(line.names, ' '), line.verdict, line.reason, line.without, line.with});
  }
  return table;
}

absl::string_view VerdictText(KubeFieldVerdict verdict) {
  switch (verdict) {
    case KubeFieldVerdict::kHonoured:
    case KubeFieldVerdict::kElsewhere:
      return "honoured";
    case KubeFieldVerdict::kNoEffect:
      return "no effect on scheduling";
    case KubeFieldVerdict::kWarned:
      break;
  }
  return "warned";
}

}  // namespace

const std::vector<KubeTypeRows>& KubernetesFields() {
  static const auto* const table = new std::vector<KubeTypeRows>(ReadTable());
  return *table;
}

std::string KubeFieldsPage(const std::vector<KubeTypeRows>& table) {
  std::string text =
      "# Fields of Kubernetes' pods and nodes\n\n"
      "Every field of PodSpec, NodeSpec and NodeStatus as of Kubernetes 1.34, with what becomes of "
      "it.\n[kubernetes.md](kubernetes.md) explains how to bring a cluster.\n\n"
      "<!-- Written by `make docs` from model/data/kubernetes_fields.inc: edit that file. -->\n\n"
      "* *honoured*: it decides as in kube-scheduler.\n"
      "* *no effect on scheduling*: kube-scheduler does not read it, either.\n"
      "* *warned*: it would matter; a warning says that it does not.\n\n"
      "Names are those of Kubernetes' OpenAPI specification. Below a field without effect nothing "
      "is read.\nFields that a type lacks are warned about, with a suggestion.\n";
  for (const KubeTypeRows& type : table) {
    absl::StrAppend(&text, "\n## ", type.name, "\n\nIn ", type.place,
                    ".\n\n| Field | Verdict | Why |\n|---|---|---|\n");
    for (const KubeFieldRow& row : type.fields) {
      absl::StrAppend(&text, "| ", absl::StrJoin(row.names, ", "), " | ", VerdictText(row.verdict),
                      " | ", row.reason, " |\n");
    }
    for (const KubeFieldRow& row : type.others) {
      absl::StrAppend(&text, "| ", absl::StrJoin(row.names, ", "), " | not in 1.34 | ", row.reason,
                      " |\n");
    }
  }
  return text;
}

}  // namespace drasim
