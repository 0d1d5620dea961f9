#include "sim/app/emitted_jobs.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "sim/record/version.h"

namespace drasim {
namespace {

// Job names of Kubernetes have at most 63 characters; "drasim-" and "-merge" take 13.
constexpr size_t kMaxName = 50;

bool IsPlain(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::string_view("_@%+=:,./-").find(c) != absl::string_view::npos;
}

std::string JobName(const ShardedJob& job) {
  std::string name = absl::AsciiStrToLower(job.name).substr(0, kMaxName);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "drasim" : absl::StrCat("drasim-", name);
}

std::string ShardFolders(const ShardedJob& job) { return ShellWord(job.out + ".shards"); }

// "PROGRAM WORDS --jobs N --shard NUMBER/COUNT --out OUT.shards/NUMBER --quiet", where `number` is
// an expression of the shell.
std::string ShardCommand(const ShardedJob& job, const std::string& program,
                         absl::string_view number) {
  std::vector<std::string> words = {ShellWord(program)};
  for (const std::string& word : job.words) words.push_back(ShellWord(word));
  return absl::StrCat(absl::StrJoin(words, " "), " --jobs ", job.cpus, " --shard \"", number, "/",
                      job.shards, "\" --out ", ShardFolders(job), "/\"", number, "\" --quiet");
}

std::string MergeCommandLine(const ShardedJob& job, const std::string& program) {
  return absl::StrCat(ShellWord(program), " merge --out ", ShellWord(job.out), " ",
                      ShardFolders(job), "/*/");
}

// Double quotes of YAML take the escapes of JSON. Kubernetes expands $(NAME); $$ is one dollar.
std::string ManifestText(absl::string_view shell) {
  return absl::StrCat(
      "\"",
      absl::StrReplaceAll(shell, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}, {"$", "$$"}}),
      "\"");
}

std::string PodTemplate(absl::string_view shell, size_t cpus) {
  return absl::StrCat(
      "  template:\n"
      "    spec:\n"
      "      restartPolicy: Never\n"
      "      containers:\n"
      "      - name: drasim\n"
      "        image: drasim:",
      kDrasimVersion,
      "\n"
      "        workingDir: /work\n"
      "        command: [sh, -c, ",
      ManifestText(shell),
      "]\n"
      "        resources: {requests: {cpu: ",
      cpus,
      "}}\n"
      "        volumeMounts: [{name: work, mountPath: /work}]\n"
      "      volumes: [{name: work, persistentVolumeClaim: {claimName: drasim}}]\n");
}

}  // namespace

std::string ShellWord(absl::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsPlain)) return std::string(word);
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

std::string SlurmScript(const ShardedJob& job) {
  const std::string name = JobName(job);
  const std::string folders = ShardFolders(job);
  return absl::StrCat(
      "#!/bin/sh\n"
      "# Submits ",
      job.shards,
      " shards to Slurm, and a job that merges them. Run it where the paths below hold, on a\n"
      "# file system that all nodes share.\n"
      "set -eu\n"
      "mkdir -p ",
      folders,
      "\n"
      "shards=$(sbatch --parsable --job-name=",
      name, " --array=1-", job.shards, " --cpus-per-task=", job.cpus,
      " --requeue \\\n"
      "  --open-mode=append --output=",
      ShellWord(job.out + ".shards/%a.log"),
      " <<'END_OF_JOB'\n"
      "#!/bin/sh\n"
      "exec ",
      ShardCommand(job, job.program, "$SLURM_ARRAY_TASK_ID"),
      "\n"
      "END_OF_JOB\n"
      ")\n"
      "shards=${shards%%;*}\n"
      "merge=$(sbatch --parsable --job-name=",
      name, "-merge --dependency=\"afterany:$shards\" \\\n  --output=",
      ShellWord(job.out + ".shards/merge.log"),
      " <<'END_OF_JOB'\n"
      "#!/bin/sh\n"
      "exec ",
      MergeCommandLine(job, job.program),
      "\n"
      "END_OF_JOB\n"
      ")\n"
      "echo \"job $shards: shards; job ${merge%%;*}: merge\"\n");
}

std::string KubernetesManifests(const ShardedJob& job) {
  const std::string name = JobName(job);
  const std::string wait =
      absl::StrCat("for k in $(seq ", job.shards, "); do until [ -e ", ShardFolders(job), "/$k/",
                   job.result_file, " ]; do sleep 5; done; done; ");
  return absl::StrCat(
      "# ", job.shards,
      " shards, and a Job that merges them. The image has drasim; the volume claim drasim can be\n"
      "# mounted by all pods at once, and holds what the command reads.\n"
      "apiVersion: batch/v1\n"
      "kind: Job\n"
      "metadata: {name: ",
      name,
      "}\n"
      "spec:\n"
      "  completionMode: Indexed\n"
      "  completions: ",
      job.shards, "\n  parallelism: ", job.shards,
      "\n"
      "  backoffLimitPerIndex: 3\n"
      "  podFailurePolicy:\n"
      "    rules:\n"
      "    - action: Ignore\n"
      "      onPodConditions: [{type: DisruptionTarget, status: \"True\"}]\n",
      PodTemplate(
          absl::StrCat("k=$((JOB_COMPLETION_INDEX + 1)); exec ", ShardCommand(job, "drasim", "$k")),
          job.cpus),
      "---\n"
      "apiVersion: batch/v1\n"
      "kind: Job\n"
      "metadata: {name: ",
      name,
      "-merge}\n"
      "spec:\n"
      "  backoffLimit: 3\n",
      PodTemplate(absl::StrCat(wait, "exec ", MergeCommandLine(job, "drasim")), 1));
}

}  // namespace drasim
