// `drasim trace fetch`: public trace files, downloaded or copied from a folder, always checked.
//
// The catalogue (traces/data/catalogue.csv, embedded at build time) states for each file its
// address, its size and the SHA-256 of the original bytes. A file appears under its final name only
// when both match, by an atomic rename; until then its bytes are in NAME.part, from which a later
// call goes on with an HTTP range request (RFC 9110 section 14). Readers of the folder never see
// half a file.
//
// Catalogue format: '#' comments and blank lines, then the header
// `trace,file,url,sha256,bytes,licence`, then one row per file. Fields hold no commas and no
// quotes.
#ifndef DRASIM_TRACES_FETCH_H_
#define DRASIM_TRACES_FETCH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

// One row of the catalogue.
struct CatalogueFile {
  std::string file;     // final name: one path component
  std::string url;      // http(s) address of the original bytes
  std::string sha256;   // of the original bytes: 64 lower-case hexadecimal digits
  int64_t bytes = 0;    // size of the original, above 0
  std::string licence;  // a note for the reader; may be empty
};

// All files of one trace, in catalogue order. File names are unique within a trace.
struct TraceSet {
  std::string trace;
  std::vector<CatalogueFile> files;  // never empty
  int64_t total_bytes = 0;
};

// Traces in order of first appearance. InvalidArgument names the line and what is wrong with it.
// O(rows^2). The result owns its strings.
absl::StatusOr<std::vector<TraceSet>> ParseTraceCatalogue(absl::string_view text);

// The traces of the embedded catalogue. It is part of the program, so a bad one is a failed check.
std::vector<TraceSet> ListTraces();

enum class FetchStep {
  kAlreadyThere,  // the file was in place with the right hash; nothing was transferred
  kTransfer,      // bytes are arriving
  kRetry,         // the transfer broke off or its bytes were of no use; `note` says why
  kDone,          // checked and renamed to its final name
};

// The news for a progress callback. The views are valid during the call only.
struct FetchProgress {
  FetchStep step = FetchStep::kTransfer;
  absl::string_view file;
  int file_number = 0;  // 1 .. file_count
  int file_count = 0;
  int64_t file_done_bytes = 0;  // falls back when a transfer starts over
  int64_t file_total_bytes = 0;
  int64_t trace_done_bytes = 0;  // finished files plus file_done_bytes
  int64_t trace_total_bytes = 0;
  absl::string_view note;
};

struct FetchOptions {
  std::string trace;    // name of a trace in the catalogue
  std::string out_dir;  // created when missing; files lie directly in it
  // Folder to take files from instead of the network; empty means download. A file is found by its
  // name, or by its name + ".gz" (unpacked while copying), in the folder itself or up to two
  // folders below it.
  std::string mirror;
  // Replaces scheme and host of every address, as in "http://127.0.0.1:8080"; empty leaves them
  // alone.
  std::string base_url_override;
  bool quiet = false;  // never call `progress`
  int retries = 5;     // further attempts per file after the first; at least 0
  // Wait before the n-th retry of a file: n times this. At least 0.
  int retry_delay_ms = 500;
  std::function<void(const FetchProgress&)> progress;  // called on the calling thread; may be empty
  // Text of the catalogue; empty means the embedded one. Must outlive the call.
  absl::string_view catalogue;
};

// Brings every file of a trace into out_dir. Files that are there with the right hash are left
// alone; one with another hash is replaced. The first failure ends the call; files finished before
// it stay.
//
// Broken connections, time-outs and the HTTP statuses 408, 429 and 5xx are retried from the byte
// where the transfer broke off. A file starts over when the server ignores the range (200) or
// refuses it (416), and when its hash is wrong but an earlier call left part of it. A host that
// cannot be reached at all is not retried. Connecting may take 15 s; a transfer below 100 bytes/s
// for 30 s counts as broken. Proxies come from the usual environment variables.
//
// Errors:
//   InvalidArgument  unknown trace (with the nearest name), bad option, bad catalogue
//   NotFound         the server (404, 410) or the mirror does not have the file
//   DataLoss         wrong size or hash, naming what was expected; the .part file is deleted
//   Unavailable      network trouble, saying what to do instead; the .part file stays for next
//   time.
//                    Or bytes that the disk does not take
//   others           from the file system, with the path
//
// Blocks the caller. Two calls that fetch the same file into the same folder at once are not
// supported.
absl::Status FetchTrace(const FetchOptions& options);

}  // namespace drasim

#endif  // DRASIM_TRACES_FETCH_H_
