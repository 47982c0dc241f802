#pragma once

namespace shapes {

/// Something with an area.
class Shape {
public:
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

class Square : public Shape {
public:
    explicit Square(double side) : side_(side) {}
    double area() const override { return side_ * side_; }

private:
    double side_;
};

double total_area(const Shape &a, const Shape &b);

}  // namespace shapes
