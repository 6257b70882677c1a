// SPDX-License-Identifier: Apache-2.0
// Markdown tables, and how a measurement reads in a cell.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/results.h"
#include "benchmarks/tools.h"

namespace paddle_launch {

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : heads_(std::move(heads)) {}

  void add(std::vector<std::string> cells);
  // `cells`, then `text` in the next column, and the rest empty.
  void add_without_numbers(std::vector<std::string> cells, const std::string& text);
  std::string markdown() const;

 private:
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> rows_;
};

// Why there is no number: "not installed", "failed (2 of 11): …"; empty when there is one.
// `numbers` must be there when the answer is empty.
std::string no_number(const Tool& tool, const Measurement* numbers);

std::string milliseconds(double seconds);
// "12.1..14.9", of values in seconds.
std::string spread_milliseconds(const std::vector<double>& seconds);
// "1.07", or "-" where there is nothing to compare with.
std::string ratio(double value, const Measurement* to);

}  // namespace paddle_launch
