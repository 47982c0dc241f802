#include "shape.hpp"

namespace shapes {

double total_area(const Shape &a, const Shape &b) {
    return a.area() + b.area();
}

}  // namespace shapes
