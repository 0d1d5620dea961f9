#include "sim/compare/kept_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "model/text/yaml_node.h"
#include "model/text/yaml_tree.h"
#include "sim/compare/cell_metrics.h"

namespace drasim {
namespace {

using Kind = YamlNode::Kind;

// JSON is read as YAML, of which it is a part.
class ComparisonReader {
 public:
  explicit ComparisonReader(const YamlTree* tree) : tree_(tree) {}

  absl::StatusOr<KeptComparison> Read() const {
    const YamlNode* root = tree_->root();
    if (root == nullptr || root->kind != Kind::kMapping) return Wrong(root, "a JSON object");
    const YamlNode* schema = Member(*root, "schema");
    if (schema != nullptr && schema->text == SchemaName("bench-judge")) return ReadJudgement(*root);
    if (schema == nullptr || schema->text != SchemaName("compare")) {
      return Wrong(
          schema != nullptr ? schema : root,
          absl::StrCat("the schema ", SchemaName("compare"), " of `drasim compare --out`, or ",
                       SchemaName("bench-judge"), " of `drasim bench judge --format json`"));
    }
    KeptComparison kept;
    RETURN_IF_ERROR(ReadOrigin(*root, &kept));
    ASSIGN_OR_RETURN(const YamlNode* const seeds, List(*root, "seeds"));
    for (const YamlNode* seed : seeds->children) {
      uint64_t value = 0;
      if (!absl::SimpleAtoi(seed->text, &value)) return Wrong(seed, "a seed");
      kept.seeds.push_back(value);
    }
    if (kept.seeds.empty()) return Wrong(seeds, "at least one seed");
    ASSIGN_OR_RETURN(const YamlNode* const rows, List(*root, "policies"));
    for (const YamlNode* row : rows->children) {
      ASSIGN_OR_RETURN(ComparedRow read, ReadRow(*row, kept.seeds.size()));
      if (kept.Find(read.name) != nullptr) {
        return Wrong(row, absl::StrCat("one row ", read.name, ", not two"));
      }
      kept.rows.push_back(std::move(read));
    }
    return kept;
  }

 private:
  // One row of one seed: decisions that are given have no other.
  absl::StatusOr<KeptComparison> ReadJudgement(const YamlNode& root) const {
    KeptComparison kept;
    kept.seeds = {0};
    RETURN_IF_ERROR(ReadOrigin(root, &kept));
    const YamlNode* const metrics = Member(root, "metrics");
    if (metrics == nullptr) return Wrong(&root, "an object 'metrics'");
    ComparedRow row;
    row.name = "decisions";
    row.labels = {{"policy", row.name}};
    for (const CellMetric& metric : AllMetrics()) {
      const YamlNode* const figure = Member(*metrics, metric.name);
      if (figure == nullptr) continue;
      double value = 0;
      if (!absl::SimpleAtod(figure->text, &value) || !std::isfinite(value))
        return Wrong(figure, "a number");
      row.figures[metric.name] = {value};
    }
    kept.rows.push_back(std::move(row));
    return kept;
  }

  // The program and the files that it read.
  absl::Status ReadOrigin(const YamlNode& root, KeptComparison* kept) const {
    if (const YamlNode* version = Member(root, "drasim_version"); version != nullptr) {
      kept->version = version->text;
    }
    ASSIGN_OR_RETURN(const YamlNode* const inputs, List(root, "inputs"));
    for (const YamlNode* input : inputs->children) {
      const YamlNode* sha256 = Member(*input, "sha256");
      if (sha256 == nullptr) return Wrong(input, "an object with sha256");
      kept->inputs.push_back(sha256->text);
    }
    std::sort(kept->inputs.begin(), kept->inputs.end());
    return absl::OkStatus();
  }

  static const YamlNode* Member(const YamlNode& object, absl::string_view key) {
    if (object.kind != Kind::kMapping) return nullptr;
    for (size_t i = 0; i + 1 < object.children.size(); i += 2) {
      if (object.children[i]->text == key) return object.children[i + 1];
    }
    return nullptr;
  }

  absl::Status Wrong(const YamlNode* node, absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat(tree_->Locate(node != nullptr ? node->position : 0), ": expected ", expected));
  }

  absl::StatusOr<const YamlNode*> List(const YamlNode& object, absl::string_view key) const {
    const YamlNode* list = Member(object, key);
    if (list != nullptr && list->kind == Kind::kSequence) return list;
    return Wrong(list != nullptr ? list : &object, absl::StrCat("a list '", key, "'"));
  }

  absl::StatusOr<std::vector<double>> ReadFigures(const YamlNode& list, size_t seeds) const {
    std::vector<double> figures;
    for (const YamlNode* item : list.children) {
      double value = std::numeric_limits<double>::quiet_NaN();
      if (item->kind != Kind::kNull &&
          (!absl::SimpleAtod(item->text, &value) || !std::isfinite(value))) {
        return Wrong(item, "a number or null");
      }
      figures.push_back(value);
    }
    if (figures.size() == seeds) return figures;
    return Wrong(&list, absl::StrCat("a figure for each of the ", seeds, " seeds"));
  }

  absl::StatusOr<ComparedRow> ReadRow(const YamlNode& row, size_t seeds) const {
    ComparedRow read;
    std::vector<std::string> parts;
    if (const YamlNode* axes = Member(row, "axes"); axes != nullptr) {
      for (size_t i = 0; i + 1 < axes->children.size(); i += 2) {
        const std::string& axis = axes->children[i]->text;
        const std::string& value = axes->children[i + 1]->text;
        read.labels.emplace_back(axis, value);
        parts.push_back(absl::StrCat(axis, "=", value));
      }
    }
    for (const char* key : {"queue", "policy"}) {
      const YamlNode* value = Member(row, key);
      if (value == nullptr) continue;
      read.labels.emplace_back(key, value->text);
      parts.push_back(value->text);
    }
    if (Member(row, "policy") == nullptr) return Wrong(&row, "an object with a policy");
    read.name = absl::StrJoin(parts, "/");
    for (const CellMetric& metric : AllMetrics()) {
      const YamlNode* figure = Member(row, metric.name);
      if (figure == nullptr) continue;
      std::vector<double>& figures = read.figures[metric.name];
      if (figure->kind == Kind::kNull) {
        figures.assign(seeds, std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      const YamlNode* by_seed = Member(*figure, "by_seed");
      if (by_seed == nullptr || by_seed->kind != Kind::kSequence) {
        return Wrong(figure, "an object with by_seed; write the file again with this version");
      }
      ASSIGN_OR_RETURN(figures, ReadFigures(*by_seed, seeds));
    }
    return read;
  }

  const YamlTree* tree_;
};

}  // namespace

const ComparedRow* KeptComparison::Find(absl::string_view name) const {
  for (const ComparedRow& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

absl::StatusOr<KeptComparison> ParseComparison(absl::string_view text, absl::string_view file) {
  ASSIGN_OR_RETURN(const YamlTree tree, YamlTree::Parse(text, file));
  return ComparisonReader(&tree).Read();
}

}  // namespace drasim
