# A toolchain for programs that run on every Linux with glibc 2.28 or later: zig's C and C++ compiler, which brings the
# old glibc and its own C++ library along. scripts/release makes the folder PADDLE_LAUNCH_PORTABLE for it, with
#   tools/cc, c++, ar, ranlib    zig for the processor
#   parts/include, lib, share    the libraries' headers, their CMake packages and libsodium.a; nothing else of a machine
set(portable_variables PADDLE_LAUNCH_PORTABLE PADDLE_LAUNCH_PROCESSOR)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ${portable_variables})
foreach(variable IN LISTS portable_variables)
  if(NOT ${variable})
    message(FATAL_ERROR "cmake/portable.cmake needs ${variable}: use scripts/release")
  endif()
endforeach()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${PADDLE_LAUNCH_PROCESSOR})
set(tools ${PADDLE_LAUNCH_PORTABLE}/tools)
set(CMAKE_C_COMPILER ${tools}/cc)
set(CMAKE_CXX_COMPILER ${tools}/c++)
set(CMAKE_AR ${tools}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${tools}/ranlib CACHE FILEPATH "")

set(parts ${PADDLE_LAUNCH_PORTABLE}/parts)
set(CMAKE_FIND_ROOT_PATH ${parts})
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_DISABLE_FIND_PACKAGE_PkgConfig ON) # it would tell of this machine's libraries

# Wherever it is built, the same bytes.
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(always "-isystem ${parts}/include -ffile-prefix-map=${source}=. -fno-sanitize=undefined")
set(CMAKE_C_FLAGS_INIT ${always})
set(CMAKE_CXX_FLAGS_INIT ${always})
# Its C++ library is static anyway: it does not know the words by which g++ is asked for that.
set(link "-s -Wno-unused-command-line-argument")
set(CMAKE_EXE_LINKER_FLAGS_INIT ${link})
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${link})
set(CMAKE_MODULE_LINKER_FLAGS_INIT ${link})
