#include "traces/fetch.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "traces/embedded.h"
#include "traces/fetch_http.h"
#include "traces/file_ptr.h"

namespace drasim {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kCatalogueHeader = "trace,file,url,sha256,bytes,licence";
constexpr int kMirrorLevels = 2;
constexpr size_t kChunkBytes = size_t{1} << 16;

struct GzCloser {
  void operator()(gzFile file) const { gzclose_r(file); }
};
using GzPtr = std::unique_ptr<gzFile_s, GzCloser>;

// ---- Catalogue ----

bool IsSha256(absl::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool IsFileName(absl::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == absl::string_view::npos;
}

bool IsHttp(absl::string_view url) {
  return absl::StartsWith(url, "http://") || absl::StartsWith(url, "https://");
}

// The position of the path of an http(s) address, its '/' included; npos when there is none.
size_t PathStart(absl::string_view url) { return url.find('/', url.find("://") + 3); }

absl::StatusOr<CatalogueFile> ParseRow(const std::vector<absl::string_view>& fields) {
  const auto bad = [](absl::string_view field, absl::string_view value, absl::string_view want) {
    return absl::InvalidArgumentError(absl::StrCat(field, " '", value, "' is not ", want));
  };
  if (fields.size() != 6) {
    return absl::InvalidArgumentError(absl::StrCat("expected 6 fields, found ", fields.size()));
  }
  if (fields[0].empty()) return absl::InvalidArgumentError("the trace has no name");
  if (!IsFileName(fields[1])) return bad("file", fields[1], "a plain file name");
  if (!IsHttp(fields[2]) || PathStart(fields[2]) == absl::string_view::npos) {
    return bad("url", fields[2], "an http or https address with a path");
  }
  if (!IsSha256(fields[3])) return bad("sha256", fields[3], "64 lower-case hexadecimal digits");
  CatalogueFile row;
  if (!absl::SimpleAtoi(fields[4], &row.bytes) || row.bytes <= 0) {
    return bad("bytes", fields[4], "a number above 0");
  }
  row.file = std::string(fields[1]);
  row.url = std::string(fields[2]);
  row.sha256 = std::string(fields[3]);
  row.licence = std::string(fields[5]);
  return row;
}

// Adds a row to its trace; false when the trace has a file of that name already.
bool AddRow(absl::string_view trace, CatalogueFile row, std::vector<TraceSet>* sets) {
  auto set = std::find_if(sets->begin(), sets->end(),
                          [trace](const TraceSet& s) { return s.trace == trace; });
  if (set == sets->end()) {
    sets->emplace_back();
    set = sets->end() - 1;
    set->trace = std::string(trace);
  }
  for (const CatalogueFile& other : set->files) {
    if (other.file == row.file) return false;
  }
  set->total_bytes += row.bytes;
  set->files.push_back(std::move(row));
  return true;
}

// Levenshtein distance, by rows. O(|a| * |b|).
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? size_t{0} : size_t{1});
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

absl::Status UnknownTrace(absl::string_view name, const std::vector<TraceSet>& sets) {
  const size_t near_enough = std::max<size_t>(2, name.size() / 3);
  size_t best_distance = near_enough + 1;
  std::string best;
  std::string known;
  for (const TraceSet& set : sets) {
    const size_t distance = EditDistance(name, set.trace);
    if (distance < best_distance) {
      best_distance = distance;
      best = set.trace;
    }
    absl::StrAppend(&known, known.empty() ? "" : ", ", set.trace);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown trace '", name, "'",
                   best.empty() ? std::string() : absl::StrCat(", did you mean '", best, "'?"),
                   " (known traces: ", known, ")"));
}

// ---- Files and hashes ----

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    DRASIM_CHECK(context_ != nullptr);
    DRASIM_CHECK_EQ(EVP_DigestInit_ex(context_, EVP_sha256(), nullptr), 1);
  }
  ~Sha256() { EVP_MD_CTX_free(context_); }
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(const char* data, size_t size) {
    DRASIM_CHECK_EQ(EVP_DigestUpdate(context_, data, size), 1);
  }

  std::string FinishHex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    DRASIM_CHECK_EQ(EVP_DigestFinal_ex(context_, digest.data(), &size), 1);
    return absl::BytesToHexString(
        absl::string_view(reinterpret_cast<const char*>(digest.data()), size));
  }

 private:
  EVP_MD_CTX* context_;
};

struct FileDigest {
  int64_t bytes = 0;
  std::string sha256;
};

absl::StatusOr<FileDigest> DigestOf(const std::string& path) {
  const FilePtr file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  Sha256 hash;
  FileDigest digest;
  std::vector<char> buffer(kChunkBytes);
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    hash.Update(buffer.data(), n);
    digest.bytes += static_cast<int64_t>(n);
  }
  if (std::ferror(file.get()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  digest.sha256 = hash.FinishHex();
  return digest;
}

int64_t SizeOrZero(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

absl::Status RemoveFile(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot delete ", path));
}

// Reads up to `size` bytes; 0 at the end.
using Reader = std::function<absl::StatusOr<size_t>(char* data, size_t size)>;

absl::Status WriteAll(const Reader& read, const std::string& path) {
  FilePtr file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", path));
  std::vector<char> buffer(kChunkBytes);
  for (;;) {
    ASSIGN_OR_RETURN(const size_t n, read(buffer.data(), buffer.size()));
    if (n == 0) break;
    if (std::fwrite(buffer.data(), 1, n, file.get()) != n) return LostBytesError(errno, path);
  }
  if (std::fclose(file.release()) != 0) return LostBytesError(errno, path);
  return absl::OkStatus();
}

absl::Status CopyPlain(const std::string& from, const std::string& to) {
  const FilePtr file(std::fopen(from.c_str(), "rb"));
  if (file == nullptr) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", from));
  return WriteAll(
      [&](char* data, size_t size) -> absl::StatusOr<size_t> {
        const size_t n = std::fread(data, 1, size, file.get());
        if (std::ferror(file.get()) == 0) return n;
        return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", from));
      },
      to);
}

absl::Status CopyUnpacked(const std::string& from, const std::string& to) {
  const GzPtr file(gzopen(from.c_str(), "rb"));
  if (file == nullptr) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", from));
  return WriteAll(
      [&](char* data, size_t size) -> absl::StatusOr<size_t> {
        const int n = gzread(file.get(), data, static_cast<unsigned int>(size));
        if (n > 0) return static_cast<size_t>(n);
        // A file that is cut off reads as an early end; only gzerror tells the two apart.
        int code = Z_OK;
        gzerror(file.get(), &code);
        if (n == 0 && (code == Z_OK || code == Z_STREAM_END)) return size_t{0};
        return absl::DataLossError(absl::StrCat(from, " is a damaged or incomplete gzip file"));
      },
      to);
}

// ---- One call of FetchTrace ----

struct Job {
  const CatalogueFile* file = nullptr;
  int number = 0;  // 1-based
  std::string url;
  std::string final_path;
  std::string part_path;
};

class Fetcher {
 public:
  // Both must outlive the fetcher.
  Fetcher(const FetchOptions& options, const TraceSet& set) : options_(options), set_(set) {}

  absl::Status Run() {
    if (!options_.mirror.empty()) RETURN_IF_ERROR(IndexMirror());
    for (size_t i = 0; i < set_.files.size(); ++i) {
      const Job job = MakeJob(i);
      RETURN_IF_ERROR(FetchOne(job));
      finished_bytes_ += job.file->bytes;
    }
    return absl::OkStatus();
  }

 private:
  Job MakeJob(size_t index) const {
    const CatalogueFile& file = set_.files[index];
    Job job;
    job.file = &file;
    job.number = static_cast<int>(index) + 1;
    job.url = file.url;
    if (!options_.base_url_override.empty()) {
      job.url = absl::StrCat(absl::StripSuffix(options_.base_url_override, "/"),
                             file.url.substr(PathStart(file.url)));
    }
    job.final_path = (fs::path(options_.out_dir) / file.file).string();
    job.part_path = job.final_path + ".part";
    return job;
  }

  void Report(const Job& job, FetchStep step, int64_t done_bytes, absl::string_view note) const {
    if (options_.quiet || !options_.progress) return;
    FetchProgress progress;
    progress.step = step;
    progress.file = job.file->file;
    progress.file_number = job.number;
    progress.file_count = static_cast<int>(set_.files.size());
    progress.file_done_bytes = done_bytes;
    progress.file_total_bytes = job.file->bytes;
    progress.trace_done_bytes = finished_bytes_ + done_bytes;
    progress.trace_total_bytes = set_.total_bytes;
    progress.note = note;
    options_.progress(progress);
  }

  absl::Status FetchOne(const Job& job) {
    if (SizeOrZero(job.final_path) == job.file->bytes) {
      const absl::StatusOr<FileDigest> there = DigestOf(job.final_path);
      if (there.ok() && there->sha256 == job.file->sha256) {
        Report(job, FetchStep::kAlreadyThere, job.file->bytes, "");
        return absl::OkStatus();
      }
    }
    const absl::Status fetched = options_.mirror.empty() ? Download(job) : TakeFromMirror(job);
    if (fetched.ok()) Report(job, FetchStep::kDone, job.file->bytes, "");
    return fetched;
  }

  // Gives the .part file its final name if it is the file of the catalogue; deletes it otherwise.
  absl::Status Accept(const Job& job, absl::string_view source) const {
    ASSIGN_OR_RETURN(const FileDigest got, DigestOf(job.part_path));
    if (got.bytes != job.file->bytes || got.sha256 != job.file->sha256) {
      RETURN_IF_ERROR(RemoveFile(job.part_path));
      return absl::DataLossError(absl::StrCat(
          source, " is not the file of the catalogue: expected sha256 ", job.file->sha256, " (",
          job.file->bytes, " bytes), got sha256 ", got.sha256, " (", got.bytes, " bytes)"));
    }
    std::error_code error;
    fs::rename(job.part_path, job.final_path, error);
    if (!error) return absl::OkStatus();
    return absl::ErrnoToStatus(
        error.value(), absl::StrCat("cannot rename ", job.part_path, " to ", job.final_path));
  }

  // A network failure with what to do about it.
  absl::Status CannotDownload(const Job& job, const absl::Status& why, int attempts) const {
    const std::string& name = job.file->file;
    const int64_t kept_bytes = SizeOrZero(job.part_path);
    return absl::Status(
        why.code(),
        absl::StrCat("cannot download ", name, " from ", job.url, ": ", why.message(),
                     attempts > 1 ? absl::StrCat(" (", attempts, " attempts)") : std::string(),
                     ". Either use --mirror DIR with a folder that holds ", name, " or ", name,
                     ".gz, or download the url by hand and save it as ", job.final_path,
                     kept_bytes == 0 ? std::string()
                                     : absl::StrCat(". The ", kept_bytes, " bytes in ",
                                                    job.part_path, " are resumed next time")));
  }

  // Requests the missing rest of the .part file.
  RangeResult RequestRest(const Job& job) {
    RangeRequest request;
    request.url = job.url;
    request.path = job.part_path;
    request.offset = SizeOrZero(job.part_path);
    request.expected_bytes = job.file->bytes;
    request.on_bytes = [this, &job](int64_t size) { Report(job, FetchStep::kTransfer, size, ""); };
    return client_.Get(request);
  }

  // Carries out what a result asks for. True: ask again. False: the .part file is to be checked.
  absl::StatusOr<bool> ActOn(const RangeResult& result, const Job& job, int* attempt) {
    switch (result.outcome) {
      case RangeOutcome::kComplete:
        return false;
      case RangeOutcome::kBrokeOff:
        if (*attempt > options_.retries) return CannotDownload(job, result.why, *attempt);
        Report(job, FetchStep::kRetry, SizeOrZero(job.part_path), result.why.message());
        std::this_thread::sleep_for(
            std::chrono::milliseconds(int64_t{options_.retry_delay_ms} * *attempt));
        ++*attempt;
        return true;
      case RangeOutcome::kStartOver:
        // Not counted as an attempt: the next request is for the whole and cannot end here again.
        RETURN_IF_ERROR(RemoveFile(job.part_path));
        Report(job, FetchStep::kRetry, 0, result.why.message());
        return true;
      case RangeOutcome::kRefused:
        return CannotDownload(job, result.why, *attempt);
      case RangeOutcome::kFailed:
        break;
    }
    if (absl::IsDataLoss(result.why)) RETURN_IF_ERROR(RemoveFile(job.part_path));
    return result.why;
  }

  absl::Status Download(const Job& job) {
    if (SizeOrZero(job.part_path) > job.file->bytes) RETURN_IF_ERROR(RemoveFile(job.part_path));
    // Nobody has checked what an earlier run left, so a wrong hash is blamed on it first.
    bool leftover = SizeOrZero(job.part_path) > 0;
    int attempt = 1;
    for (;;) {
      if (SizeOrZero(job.part_path) < job.file->bytes) {
        const RangeResult result = RequestRest(job);
        ASSIGN_OR_RETURN(const bool again, ActOn(result, job, &attempt));
        if (result.from_scratch || result.outcome == RangeOutcome::kStartOver) leftover = false;
        if (again) continue;
      }
      const absl::Status accepted = Accept(job, job.url);
      if (!leftover || !absl::IsDataLoss(accepted)) return accepted;
      leftover = false;
      Report(job, FetchStep::kRetry, 0, "the bytes left by an earlier run were wrong");
    }
  }

  // Notes where below the mirror the wanted names lie, so that the folders are read once.
  absl::Status IndexMirror() {
    std::error_code error;
    if (!fs::is_directory(options_.mirror, error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("mirror ", options_.mirror, " is not a folder"));
    }
    for (const CatalogueFile& file : set_.files) {
      mirror_.try_emplace(file.file);
      mirror_.try_emplace(file.file + ".gz");
    }
    WalkMirror(options_.mirror, kMirrorLevels);
    // Folders come in no particular order; which copy is tried first should not depend on it.
    for (auto& entry : mirror_) std::sort(entry.second.begin(), entry.second.end());
    return absl::OkStatus();
  }

  void WalkMirror(const fs::path& dir, int levels) {
    std::error_code error;
    fs::directory_iterator it(dir, error);
    // A folder that cannot be read holds nothing for us; a missing file is reported by its name.
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
      std::error_code ignored;
      if (it->is_directory(ignored)) {
        if (levels > 0) WalkMirror(it->path(), levels - 1);
        continue;
      }
      const auto wanted = mirror_.find(it->path().filename().string());
      if (wanted == mirror_.end() || !it->is_regular_file(ignored)) continue;
      wanted->second.push_back(it->path().string());
    }
  }

  // Tries every copy, plain ones first; the error is that of the last one.
  absl::Status TakeFromMirror(const Job& job) {
    const std::string& name = job.file->file;
    absl::Status last = absl::NotFoundError(
        absl::StrCat("mirror ", options_.mirror, " has no file ", name, " or ", name,
                     ".gz, neither directly nor up to ", kMirrorLevels, " folders below"));
    for (const bool packed : {false, true}) {
      for (const std::string& copy : mirror_[packed ? name + ".gz" : name]) {
        last = packed ? CopyUnpacked(copy, job.part_path) : CopyPlain(copy, job.part_path);
        if (last.ok()) {
          last = Accept(job, copy);
          if (last.ok()) return last;
        } else {
          RETURN_IF_ERROR(RemoveFile(job.part_path));
        }
      }
    }
    return last;
  }

  const FetchOptions& options_;
  const TraceSet& set_;
  int64_t finished_bytes_ = 0;
  std::map<std::string, std::vector<std::string>> mirror_;  // wanted file name -> paths
  RangeClient client_;
};

absl::Status CheckOptions(const FetchOptions& options) {
  if (options.out_dir.empty()) return absl::InvalidArgumentError("the output folder has no name");
  if (options.retries < 0) {
    return absl::InvalidArgumentError(absl::StrCat("retries is ", options.retries, ", below 0"));
  }
  if (options.retry_delay_ms < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("retry_delay_ms is ", options.retry_delay_ms, ", below 0"));
  }
  if (!options.base_url_override.empty() && !IsHttp(options.base_url_override)) {
    return absl::InvalidArgumentError(absl::StrCat("base url '", options.base_url_override,
                                                   "' does not begin with http:// or https://"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<TraceSet>> ParseTraceCatalogue(absl::string_view text) {
  std::vector<TraceSet> sets;
  bool header_seen = false;
  int line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const auto fail = [line_number](absl::string_view why) {
      return absl::InvalidArgumentError(
          absl::StrCat("trace catalogue, line ", line_number, ": ", why));
    };
    if (!header_seen) {
      if (line != kCatalogueHeader) {
        return fail(absl::StrCat("expected the header '", kCatalogueHeader, "'"));
      }
      header_seen = true;
      continue;
    }
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ',');
    absl::StatusOr<CatalogueFile> row = ParseRow(fields);
    if (!row.ok()) return fail(row.status().message());
    if (!AddRow(fields[0], *std::move(row), &sets)) {
      return fail(absl::StrCat("trace ", fields[0], " has a second file ", fields[1]));
    }
  }
  if (sets.empty()) return absl::InvalidArgumentError("the trace catalogue lists no files");
  return sets;
}

std::vector<TraceSet> ListTraces() {
  absl::StatusOr<std::vector<TraceSet>> sets = ParseTraceCatalogue(EmbeddedTraceCatalogue());
  DRASIM_CHECK(sets.ok());
  return *std::move(sets);
}

absl::Status FetchTrace(const FetchOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  ASSIGN_OR_RETURN(const std::vector<TraceSet> sets,
                   ParseTraceCatalogue(options.catalogue.empty() ? EmbeddedTraceCatalogue()
                                                                 : options.catalogue));
  const auto set = std::find_if(sets.begin(), sets.end(),
                                [&options](const TraceSet& s) { return s.trace == options.trace; });
  if (set == sets.end()) return UnknownTrace(options.trace, sets);
  std::error_code error;
  fs::create_directories(options.out_dir, error);
  if (error) {
    return absl::ErrnoToStatus(error.value(),
                               absl::StrCat("cannot create folder ", options.out_dir));
  }
  return Fetcher(options, *set).Run();
}

}  // namespace drasim
