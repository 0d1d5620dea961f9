// Pictures as PNG files, for screenshots.
#ifndef DRASIM_GUI_VIEW_PNG_WRITER_H_
#define DRASIM_GUI_VIEW_PNG_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace drasim {

// `rgb` holds height rows of width pixels, top row first, each pixel as a byte of red, green and
// blue, without gaps. REQUIRES: width > 0, height > 0, rgb.size() == 3 * width * height.

// The bytes of a PNG file: 8 bits per channel, no alpha. Internal if libpng refuses the picture.
absl::StatusOr<std::string> EncodePng(int width, int height, absl::Span<const uint8_t> rgb);

// The file appears whole or not at all. InvalidArgument, with the path, if it cannot be written.
absl::Status WritePng(const std::string& path, int width, int height,
                      absl::Span<const uint8_t> rgb);

// The part of the picture from column `left` and row `top` on. REQUIRES: it lies inside and is not
// empty.
std::vector<uint8_t> PartOfPicture(int width, int height, absl::Span<const uint8_t> rgb, int left,
                                   int top, int part_width, int part_height);

// Turns the picture upside down: OpenGL hands out the bottom row first.
void FlipRows(int width, int height, std::vector<uint8_t>* rgb);

}  // namespace drasim

#endif  // DRASIM_GUI_VIEW_PNG_WRITER_H_
