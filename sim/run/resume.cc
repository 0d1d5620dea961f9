#include "sim/run/resume.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "sim/record/atomic_file.h"
#include "sim/record/ledger_extender_calls.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/version.h"
#include "sim/run/resolved_yaml.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/resolve.h"
#include "sim/scenario/scenario_paths.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

namespace fs = std::filesystem;

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::TextFormat;

// Dotted path -> value as text, of every field that is set.
using Leaves = std::map<std::string, std::string>;

void AddLeaves(const Message& message, const std::string& prefix, Leaves* leaves) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string path = absl::StrCat(prefix, field->name());
    const bool nested = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!field->is_repeated()) {
      if (nested) {
        AddLeaves(reflection.GetMessage(message, field), path + ".", leaves);
      } else {
        TextFormat::PrintFieldValueToString(message, field, -1, &(*leaves)[path]);
      }
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      if (!nested) {
        TextFormat::PrintFieldValueToString(message, field, i,
                                            &(*leaves)[absl::StrCat(path, ".", i)]);
        continue;
      }
      const Message& item = reflection.GetRepeatedMessage(message, field, i);
      if (!field->is_map()) {
        AddLeaves(item, absl::StrCat(path, ".", i, "."), leaves);
        continue;
      }
      // Keys of the schema's maps are texts, in no particular order.
      const std::string key =
          item.GetReflection()->GetString(item, field->message_type()->map_key());
      TextFormat::PrintFieldValueToString(item, field->message_type()->map_value(), -1,
                                          &(*leaves)[absl::StrCat(path, ".", key)]);
    }
  }
}

std::string ValueAt(const Leaves& leaves, const std::string& path) {
  const auto it = leaves.find(path);
  return it == leaves.end() ? "nothing" : it->second;
}

std::string FileIn(const std::string& dir, absl::string_view name) {
  return absl::StrCat(dir, "/", name);
}

bool IsThere(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The ledger of an unfinished run. Files of an earlier run remain beside it, so ledger.partial
// takes precedence over summary.json.
absl::StatusOr<std::string> UnfinishedLedger(const std::string& dir) {
  const std::string whole = FileIn(dir, "ledger");
  const std::string partial = FileIn(dir, "ledger.partial");
  if (IsThere(partial)) return partial;
  if (!IsThere(whole)) {
    return absl::NotFoundError(absl::StrCat("nothing to resume: ", partial,
                                            " is not there; with its scenario beside --resume, the "
                                            "run begins anew"));
  }
  if (!IsThere(FileIn(dir, "summary.json"))) return whole;
  return absl::FailedPreconditionError(absl::StrCat("nothing to resume: ", whole, " is complete"));
}

// The scenario left by a run, with `dir` as its output folder.
absl::StatusOr<RunSpec> ScenarioLeft(absl::string_view yaml, const std::string& path,
                                     const std::string& dir) {
  proto::Scenario scenario;
  RETURN_IF_ERROR(MergeYaml(yaml, path, &scenario));
  ASSIGN_OR_RETURN(RunSpec spec, ResolveScenario(scenario));
  for (const auto& [key, file] : {std::pair("cluster.path", spec.cluster.nodes.path),
                                  std::pair("workload.trace.path", spec.workload.trace.path)}) {
    if (file != "-") continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--resume: ", key, " is standard input, which cannot be read a second time"));
  }
  spec.SetOutputDir(dir);
  return spec;
}

absl::StatusOr<std::unique_ptr<LedgerReader>> OpenUnfinished(const std::string& path) {
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(path);
  std::error_code error;
  const bool cut = absl::IsDataLoss(reader.status()) ||
                   (!reader.ok() && fs::file_size(path, error) < kLedgerMagic.size() && !error);
  if (cut) {
    return absl::DataLossError(absl::StrCat(
        path, ": has no readable header, so that nothing is known of the run; begin it anew"));
  }
  if (!reader.ok()) return reader.status();
  const std::string& version = (*reader)->header().drasim_version();
  if (version != kDrasimVersion) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": a run of drasim ", version,
                                                      ", which drasim ", kDrasimVersion,
                                                      " cannot go on with; begin it anew"));
  }
  return reader;
}

}  // namespace

absl::Status CheckSameScenario(const proto::Scenario& given, const proto::Scenario& begun) {
  proto::Scenario left = given;
  proto::Scenario right = begun;
  for (proto::Scenario* scenario : {&left, &right}) {
    scenario->mutable_output()->clear_dir();
    scenario->mutable_output()->clear_max_ledger();
  }
  left.mutable_output()->clear_dir();
  right.mutable_output()->clear_dir();
  // The ledger has absolute paths, so a run can be resumed from any working directory.
  MakePathsAbsolute(&left);
  MakePathsAbsolute(&right);
  if (left.cluster().sha256().empty() && !right.cluster().sha256().empty()) {
    left.mutable_cluster()->set_sha256(right.cluster().sha256());
  }
  const std::string& pods_sha256 = right.workload().trace().sha256();
  if (left.workload().trace().sha256().empty() && !pods_sha256.empty()) {
    left.mutable_workload()->mutable_trace()->set_sha256(pods_sha256);
  }
  Leaves now;
  Leaves then;
  AddLeaves(left, "", &now);
  AddLeaves(right, "", &then);
  Leaves both = now;
  both.insert(then.begin(), then.end());
  for (const auto& [path, value] : both) {
    const std::string found = ValueAt(now, path);
    const std::string wanted = ValueAt(then, path);
    if (found == wanted) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--resume: ", path, ": found ", found, ", but the run began with ", wanted));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BegunScenario>> BegunScenario::Leave(const RunSpec& spec,
                                                                    const std::string& dir) {
  std::string path = FileIn(dir, kBegunScenarioFile);
  RETURN_IF_ERROR(WriteFileAtomically(path, ResolvedYaml(*spec.written)));
  return std::unique_ptr<BegunScenario>(new BegunScenario(std::move(path)));
}

BegunScenario::~BegunScenario() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

bool HasBegunRun(const std::string& dir) {
  return IsThere(FileIn(dir, kBegunScenarioFile)) || IsThere(FileIn(dir, "ledger.partial")) ||
         IsThere(FileIn(dir, "ledger"));
}

absl::StatusOr<Resumption> FindResumption(const std::string& dir) {
  Resumption resumption;
  // Newer than any ledger beside it, which belongs to an earlier run.
  if (const std::string begun = FileIn(dir, kBegunScenarioFile); IsThere(begun)) {
    ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(begun));
    ASSIGN_OR_RETURN(const std::string yaml, ReadAll(*source, kMaxScenarioBytes));
    ASSIGN_OR_RETURN(resumption.spec, ScenarioLeft(yaml, begun, dir));
    return resumption;
  }
  ASSIGN_OR_RETURN(const std::string path, UnfinishedLedger(dir));
  ASSIGN_OR_RETURN(std::unique_ptr<LedgerReader> reader, OpenUnfinished(path));
  ASSIGN_OR_RETURN(resumption.spec, ScenarioLeft(reader->header().scenario_yaml(), path, dir));
  ASSIGN_OR_RETURN(resumption.position, FindLastCheckpoint(*reader));
  if (resumption.position.checkpoints.empty()) return resumption;
  ASSIGN_OR_RETURN(resumption.extender_calls,
                   ReadExtenderCalls(*reader, resumption.position.index));
  ASSIGN_OR_RETURN(resumption.state,
                   reader->ReadCheckpoint(resumption.position.checkpoints.back()));
  return resumption;
}

}  // namespace drasim
