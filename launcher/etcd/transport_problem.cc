// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/transport_problem.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include <fmt/format.h>

namespace paddle_launch {
namespace {

std::string words_of_system(int error) {
  std::string words = std::generic_category().message(error);
  if (!words.empty()) {
    words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  }
  return words;
}

}  // namespace

bool names_a_remedy(const TransportFailure& failure) {
  switch (failure.code) {
    case CURLE_GOT_NOTHING:
      return !failure.tls;
    case CURLE_COULDNT_CONNECT:
      return failure.os_error == 0 && failure.tls;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_WRITE_ERROR:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return false;
    default:
      return failure.tls;
  }
}

std::string transport_problem(const TransportFailure& failure) {
  switch (failure.code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "name not known";
    case CURLE_OPERATION_TIMEDOUT:
      return fmt::format(
          "no answer in {} s",
          std::max<long>(1, std::chrono::round<std::chrono::seconds>(failure.took).count()));
    case CURLE_COULDNT_CONNECT:
      if (failure.os_error != 0) return words_of_system(failure.os_error);
      break;
    case CURLE_GOT_NOTHING:
      return failure.tls ? "closed the connection without an answer"
                         : "closed the connection without an answer; where it speaks TLS, write "
                           "https:// before the address or give --etcd_cacert=FILE";
    case CURLE_WRITE_ERROR:
      return "answers with more than it should";
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return "answers, but not as etcd does (no HTTP)";
    default:
      break;
  }
  std::string words(failure.words);
  while (!words.empty() && std::isspace(static_cast<unsigned char>(words.back())) != 0) {
    words.pop_back();
  }
  if (!failure.tls) return words;
  return fmt::format(
      "no TLS connection: {}; check that it speaks TLS, and --etcd_cacert, --etcd_cert and "
      "--etcd_key",
      words);
}

}  // namespace paddle_launch
