// A special trace format over small files, and everything that it needs to live.
#ifndef DRASIM_TESTS_TRACES_FORMAT_RIG_H_
#define DRASIM_TESTS_TRACES_FORMAT_RIG_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/pod_shape.h"
#include "model/shape_table.h"
#include "model/state_io.h"
#include "tests/testing/temp_dir.h"
#include "traces/format_source.h"
#include "traces/formats.h"

namespace drasim {

class FormatRig {
 public:
  // The main file is called "main" in messages.
  FormatRig(absl::string_view format, absl::string_view text) : format_(format), shapes_(&models_) {
    input.path = Write("main", text);
    input.shapes = &shapes_;
  }

  std::string Write(absl::string_view name, absl::string_view text) {
    dir_.Write(name, text);
    return dir_.PathOf(name);
  }
  // Messages call the file as the table.
  void AddTable(absl::string_view name, absl::string_view text) {
    input.tables[std::string(name)] = Write(name, text);
  }

  // A fresh source; null, and status(), when it cannot be opened.
  std::unique_ptr<TraceFormatSource> Open() {
    absl::StatusOr<std::unique_ptr<TraceFormatSource>> opened = OpenSpecialFormat(format_, input);
    status_ = opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  // All jobs; status() tells how it ended, and warnings() what was peculiar.
  std::vector<JobArrival> All() {
    std::vector<JobArrival> jobs;
    const std::unique_ptr<TraceFormatSource> source = Open();
    JobArrival job;
    while (source != nullptr) {
      absl::StatusOr<bool> got = source->Next(&job);
      status_ = got.status();
      if (!got.ok() || !*got) break;
      jobs.push_back(job);
    }
    if (source == nullptr) return jobs;
    // The end, or the error, stays.
    absl::StatusOr<bool> again = source->Next(&job);
    EXPECT_EQ(again.status(), status_);
    EXPECT_TRUE(!again.ok() || !*again);
    warnings_ = source->Warnings();
    for (std::string& line : warnings_) line = WithoutFolder(line);
    return jobs;
  }

  // The message that reading ends in; empty when it succeeds.
  std::string Error() {
    All();
    if (!status_.ok()) {
      EXPECT_EQ(status_.code(), absl::StatusCode::kInvalidArgument);
    }
    return WithoutFolder(status_.message());
  }

  // Saves after each job and loads into a fresh source: both go on alike.
  void ExpectSavesAndLoads() {
    const std::vector<JobArrival> all = All();
    ASSERT_TRUE(status_.ok()) << status_;
    for (size_t taken = 0; taken <= all.size() + 1; ++taken) {
      SCOPED_TRACE(taken);
      const std::unique_ptr<TraceFormatSource> before = Open();
      JobArrival job;
      for (size_t i = 0; i < taken; ++i) {
        absl::StatusOr<bool> got = before->Next(&job);
        ASSERT_TRUE(got.ok()) << got.status();
      }
      StateWriter saved;
      before->Save(saved);
      const std::unique_ptr<TraceFormatSource> after = Open();
      StateReader reader(saved.bytes());
      absl::Status loaded = after->Load(reader);
      ASSERT_TRUE(loaded.ok()) << loaded;
      EXPECT_TRUE(reader.AtEnd());
      EXPECT_EQ(after->Warnings(), before->Warnings());
      for (size_t i = taken; i <= all.size(); ++i) {
        absl::StatusOr<bool> got = after->Next(&job);
        ASSERT_TRUE(got.ok()) << got.status();
        ASSERT_EQ(*got, i < all.size());
        if (*got) {
          EXPECT_TRUE(job == all[i]) << job.name;
        }
      }
    }
  }

  // The status of loading the place behind this input's jobs into a source over `text`.
  absl::Status LoadOverAnotherText(absl::string_view text) {
    const std::unique_ptr<TraceFormatSource> before = Open();
    JobArrival job;
    absl::StatusOr<bool> got = before->Next(&job);
    while (got.ok() && *got) got = before->Next(&job);
    StateWriter saved;
    before->Save(saved);
    input.path = Write("another", text);
    const std::unique_ptr<TraceFormatSource> after = Open();
    StateReader reader(saved.bytes());
    return after->Load(reader);
  }

  const absl::Status& status() const { return status_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const ShapeTable& shapes() const { return shapes_; }
  const PodShape& shape(ShapeId id) const { return shapes_.row(id); }
  // Text without the folder that the files are in.
  std::string WithoutFolder(absl::string_view text) const {
    return absl::StrReplaceAll(text, {{absl::StrCat(dir_.path(), "/"), ""}});
  }

  FormatInput input;

 private:
  const std::string format_;
  TempDir dir_;
  GpuModelTable models_;
  ShapeTable shapes_;
  absl::Status status_;
  std::vector<std::string> warnings_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_TRACES_FORMAT_RIG_H_
