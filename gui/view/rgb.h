// A colour as drawn: sRGB, 8 bits a channel.
#ifndef DRASIM_GUI_VIEW_RGB_H_
#define DRASIM_GUI_VIEW_RGB_H_

#include <cstdint>

namespace drasim {

struct Rgb {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  bool operator==(const Rgb&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_GUI_VIEW_RGB_H_
