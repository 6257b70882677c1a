# One machine at a time: made from the base, used, and thrown away by the next. Sourced by play.
root=$work/root
home=/root/paddle-launch # where the clone lies on the machine

new_machine() {
  if mountpoint -q "$root"; then umount --lazy "$root"; fi
  rm -rf --one-file-system "$work/upper" "$work/overlay" "$root"
  mkdir "$work/upper" "$work/overlay" "$root"
  # Not on every file system: then a copy, which takes a few seconds.
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/overlay" "$root" 2>/dev/null || {
    cp -a "$base/." "$root"
    mount --bind "$root" "$root"
  }
  # Links, not the folder itself: apt locks it, and another run may be at work.
  rm -rf "$work/archives"
  cp -al "$cache/archives" "$work/archives"
  rm -f "$work/archives/lock"
  mount --bind "$work/archives" "$root/var/cache/apt/archives"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  surroundings=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb
    PADDLE_LAUNCH_FRESH_MACHINE=1)
  # Of this machine's environment only how it reaches the network, and its language, which ccache asks for.
  local name
  for name in $(compgen -e | grep -E '^(https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|LANG|LC_.*|PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT|RETRIES))$'); do
    surroundings+=("$name=${!name}")
  done
}

put_clone() {
  cp -a "$work/clone" "$root$home"
}

# Runs a command in the machine, in the clone if there is one. It fails too when a process is left behind. With
# offline=1 there is no network but the loopback.
inside() {
  local net=()
  [ -z "${offline-}" ] || net=(--net)
  local status=0
  unshare --mount --pid --uts "${net[@]}" --fork --kill-child "$here/enter" "$root" "$home" \
    env --ignore-environment "${surroundings[@]}" "$@" || status=$?
  # What apt has downloaded is for all that come later.
  find "$work/archives" -maxdepth 1 -name '*.deb' -links 1 -exec ln -f -t "$cache/archives" {} +
  return "$status"
}

# The same, with all it says kept in $work/said.
inside_heard() {
  inside "$@" 2>&1 | tee "$work/said"
}

fail() {
  echo "fresh machine, $scenario: $1" >&2
  exit 1
}

said() {
  grep -qE -e "$1" "$work/said"
}

# This machine's ccache, where dpkg does not see it: what was compiled here from the very same text is not compiled
# there again. Headers must all be there for that, and linking is real.
lend_ccache() {
  if [ -z "$offer_ccache" ] || ! command -v ccache >/dev/null; then return 0; fi
  echo "with the ccache of this machine (--no_ccache: without)"
  local there=/opt/ccache-of-the-host program file
  program=$(command -v ccache)
  mkdir -p "$root$there/cache"
  for file in "$program" $(ldd "$program" | grep -o '/[^ ]*'); do cp -L "$file" "$root$there"; done
  mv "$root$there/ccache" "$root$there/program"
  printf '#!/bin/sh\nexec %s/ld-linux-* --argv0 ccache --library-path %s %s/program "$@"\n' $there $there $there >"$root$there/ccache"
  chmod 755 "$root$there/ccache"
  mount --bind "$(ccache --get-config cache_dir)" "$root$there/cache"
  surroundings+=("CMAKE_C_COMPILER_LAUNCHER=$there/ccache" "CMAKE_CXX_COMPILER_LAUNCHER=$there/ccache"
    "CCACHE_DIR=$there/cache" "CCACHE_BASEDIR=$home" CCACHE_NOHASHDIR=1 CCACHE_IGNOREOPTIONS=-Werror)
}

install_packages() {
  inside sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null' sh "$@"
}

# Every path of the machine with what it is, apart from what apt and dpkg remember of all they have ever done. Groups
# that Debian's own packages have made stay in Debian for ever. Words are find's: "! -type d" leaves folders out.
list_files() {
  find "$root" -xdev "$@" -printf '/%P %y %m %l' \( -type d -printf '\n' -o -printf ' %s\n' \) |
    grep -vE '^/(root/paddle-launch|dev|tmp|var/(lib/(dpkg|apt)|log|cache/(apt|debconf|ldconfig))|etc/(ld\.so\.cache|g(roup|shadow)-?))([/ ]|$)' | sort
}

# Compares with a list from before, which was made with the same words.
expect_no_trace() {
  list_files "${@:2}" >"$work/after"
  diff --unchanged-line-format= --old-line-format='gone: %L' --new-line-format='left: %L' "$1" "$work/after" \
    >"$work/traces" && return
  head -n 50 "$work/traces"
  fail "there are traces: $(wc -l <"$work/traces")"
}
