#include "sim/perf/perf_templates.h"

#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/kube/reader.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "model/text/yaml_node.h"
#include "model/text/yaml_tree.h"
#include "traces/byte_source.h"

namespace drasim::perf {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileBytes = size_t{64} << 20;

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  return ReadAll(*source, kMaxFileBytes);
}

absl::StatusOr<const TextTemplate*> PerfTemplates::Find(absl::string_view folder,
                                                        absl::string_view path) {
  const std::string below =
      (fs::path(std::string(folder)) / std::string(path)).lexically_normal().generic_string();
  if (fs::path(below).is_absolute() || absl::StartsWith(below, "..")) {
    return absl::InvalidArgumentError(
        absl::StrCat("template ", ShownText(path), ": expected a path below the folder"));
  }
  std::unique_ptr<TextTemplate>& known = templates_[below];
  if (known != nullptr) return known.get();
  std::string file = (fs::path(root_) / below).generic_string();
  if (!overlay_.empty()) {
    const std::string other = (fs::path(overlay_) / below).generic_string();
    std::error_code error;
    if (fs::exists(other, error)) file = other;
  }
  absl::StatusOr<std::string> text = ReadTextFile(file);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(absl::StrCat("the template ", below, " is missing"));
  }
  RETURN_IF_ERROR(text.status());
  ASSIGN_OR_RETURN(TextTemplate parsed, TextTemplate::Parse(*text, below));
  texts_[below] = *std::move(text);
  known = std::make_unique<TextTemplate>(std::move(parsed));
  return known.get();
}

ObjectSeries::ObjectSeries(const TextTemplate* text, int64_t count, Params params)
    : text_(text), count_(count), params_(std::move(params)) {}

absl::StatusOr<std::string> ObjectSeries::Fill(int64_t index) const {
  TemplateInput input;
  input.index = index;
  input.count = count_;
  input.params = params_;
  return text_->Fill(input);
}

absl::StatusOr<ObjectKind> ObjectSeries::Kind() const {
  ASSIGN_OR_RETURN(const std::string text, Fill(0));
  ASSIGN_OR_RETURN(const YamlTree tree, YamlTree::Parse(text, text_->file()));
  ObjectKind kind;
  if (tree.root() != nullptr && tree.root()->kind == YamlNode::Kind::kMapping) {
    const std::vector<const YamlNode*>& parts = tree.root()->children;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      if (parts[i]->text == "apiVersion") kind.api_version = parts[i + 1]->text;
      if (parts[i]->text == "kind") kind.kind = parts[i + 1]->text;
    }
  }
  if (!kind.kind.empty()) return kind;
  return absl::InvalidArgumentError(
      absl::StrCat(text_->file(), ":1:1: expected an object with apiVersion and kind"));
}

absl::StatusOr<ObjectSeries::Object> ObjectSeries::At(int64_t index) {
  if (only_ != nullptr) return only_;
  ASSIGN_OR_RETURN(const std::string text, Fill(index));
  KubeReadOptions options;
  options.any_case = true;
  // Names are given later.
  options.validate = false;
  ASSIGN_OR_RETURN(KubeManifest manifest, ReadKubeObjects(text, text_->file(), options));
  if (!manifest.warnings.empty()) return absl::UnimplementedError(manifest.warnings.front());
  if (manifest.objects.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        text_->file(), ":1:1: found ", manifest.objects.size(), " objects, expected one"));
  }
  auto object =
      std::make_shared<const proto::kube::Object>(std::move(manifest.objects.front().object));
  if (same_for_all()) only_ = object;
  return object;
}

}  // namespace drasim::perf
