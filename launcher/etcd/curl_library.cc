// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/curl_library.h"

// The header wraps these in macros that name functions we are not linked to.
#undef curl_easy_setopt
#undef curl_easy_getinfo

#include <stdexcept>

#include <fmt/format.h>

namespace paddle_launch {
namespace {

SharedLibrary open_curl() {
  try {
    return SharedLibrary("libcurl.so.4");
  } catch (const std::runtime_error&) {
    // The same library with another TLS; its own problem is of no interest.
  }
  try {
    return SharedLibrary("libcurl-gnutls.so.4");
  } catch (const std::runtime_error&) {
    throw std::runtime_error(
        "etcd is reached with libcurl, and libcurl.so.4 is not on this node; install it (package "
        "libcurl4 or libcurl)");
  }
}

}  // namespace

#define CURL_SYMBOL(name) name(library.symbol<decltype(name)>("curl_" #name))

CurlLibrary::CurlLibrary()
    : library(open_curl()),
      CURL_SYMBOL(easy_init),
      CURL_SYMBOL(easy_setopt),
      CURL_SYMBOL(easy_getinfo),
      CURL_SYMBOL(easy_cleanup),
      CURL_SYMBOL(easy_strerror),
      CURL_SYMBOL(multi_init),
      CURL_SYMBOL(multi_add_handle),
      CURL_SYMBOL(multi_remove_handle),
      CURL_SYMBOL(multi_perform),
      CURL_SYMBOL(multi_wait),
      CURL_SYMBOL(multi_info_read),
      CURL_SYMBOL(slist_append),
      CURL_SYMBOL(slist_free_all) {
  const auto global_init = library.symbol<CURLcode (*)(long)>("curl_global_init");
  const CURLcode code = global_init(CURL_GLOBAL_ALL);
  if (code == CURLE_OK) return;
  throw std::runtime_error(fmt::format("libcurl did not start: {}", easy_strerror(code)));
}

}  // namespace paddle_launch
