#include "gui/view/png_writer.h"

#include <png.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "sim/record/atomic_file.h"

namespace drasim {
namespace {

constexpr size_t kBytesPerPixel = 3;

size_t RowBytes(int width) { return static_cast<size_t>(width) * kBytesPerPixel; }

void CheckSize(int width, int height, size_t bytes) {
  DRASIM_CHECK(width > 0 && height > 0);
  DRASIM_CHECK_EQ(bytes, RowBytes(width) * static_cast<size_t>(height));
}

absl::Status Refused(const png_image& image) {
  return absl::InternalError(absl::StrCat("cannot encode a PNG: ", image.message));
}

}  // namespace

absl::StatusOr<std::string> EncodePng(int width, int height, absl::Span<const uint8_t> rgb) {
  CheckSize(width, height, rgb.size());
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  // Without memory to write to, libpng only says how much it would need.
  png_alloc_size_t size = 0;
  if (png_image_write_to_memory(&image, nullptr, &size, 0, rgb.data(), 0, nullptr) == 0) {
    return Refused(image);
  }
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, rgb.data(), 0, nullptr) == 0) {
    return Refused(image);
  }
  bytes.resize(size);
  return bytes;
}

absl::Status WritePng(const std::string& path, int width, int height,
                      absl::Span<const uint8_t> rgb) {
  ASSIGN_OR_RETURN(const std::string bytes, EncodePng(width, height, rgb));
  return WriteFileAtomically(path, bytes);
}

std::vector<uint8_t> PartOfPicture(int width, int height, absl::Span<const uint8_t> rgb, int left,
                                   int top, int part_width, int part_height) {
  CheckSize(width, height, rgb.size());
  DRASIM_CHECK(left >= 0 && part_width > 0 && part_width <= width - left);
  DRASIM_CHECK(top >= 0 && part_height > 0 && part_height <= height - top);
  std::vector<uint8_t> part;
  part.reserve(RowBytes(part_width) * static_cast<size_t>(part_height));
  for (int row = top; row < top + part_height; ++row) {
    const absl::Span<const uint8_t> pixels = rgb.subspan(
        RowBytes(width) * static_cast<size_t>(row) + RowBytes(left), RowBytes(part_width));
    part.insert(part.end(), pixels.begin(), pixels.end());
  }
  return part;
}

void FlipRows(int width, int height, std::vector<uint8_t>* rgb) {
  CheckSize(width, height, rgb->size());
  const auto row_bytes = static_cast<std::ptrdiff_t>(RowBytes(width));
  for (int top = 0, bottom = height - 1; top < bottom; ++top, --bottom) {
    const auto upper = rgb->begin() + top * row_bytes;
    std::swap_ranges(upper, upper + row_bytes, rgb->begin() + bottom * row_bytes);
  }
}

}  // namespace drasim
