# The machine that all others begin as: a minimal Debian 12, kept in $cache/base-*. Sourced by play.
suite=bookworm

# "deb ADDRESS SUITE COMPONENT" for what apt of this machine has of the suite; nothing where it has another.
apt_sources() {
  # shellcheck disable=SC2016 # apt's own words
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    { grep -E " $suite(-updates|-security)? " || true; } | sort -u
}

# How apt of this machine reaches its sources: proxies and the like.
apt_ways() {
  apt-config dump --format '%F "%v";%n' Acquire | grep -E '^Acquire::(https?|Check|Retries|Force)' || true
}

# Kept for two weeks. It gets its name when it is complete, so that half of one is never used.
ensure_base() {
  local sources
  sources=$(apt_sources)
  if [ -z "$sources" ]; then # apt tells only what it has asked for
    apt-get update -qq
    sources=$(apt_sources)
  fi
  base=$cache/base-$({ cat "$here/base.sh"; echo "$sources"; apt_ways; } | sha256sum | cut -c 1-12)
  exec 7>"$cache/lock"
  flock 7
  find "$cache" -maxdepth 1 -name 'base-*' -mtime +14 -exec rm -rf --one-file-system {} +
  if [ ! -d "$base" ]; then
    echo "==== fresh machine: making a minimal Debian ($suite)"
    make_base "$work/base" "$sources"
    touch "$work/base"
    mv "$work/base" "$base"
  fi
  exec 7>&-
}

make_base() {
  local part=$1 sources=$2 mirror http_proxy_of_apt=
  mirror=$(awk -v suite="$suite" '$3 == suite { print $2; exit }' <<<"$sources")
  eval "$(apt-config shell http_proxy_of_apt Acquire::http::Proxy)"
  [ -z "$http_proxy_of_apt" ] || export http_proxy=$http_proxy_of_apt
  mkdir -p "$cache/archives/partial"
  # Without a mirror debootstrap takes its own.
  # shellcheck disable=SC2086 # nothing, or one word
  debootstrap --variant=minbase --cache-dir="$cache/archives" "$suite" "$part" $mirror >"$work/debootstrap" ||
    { tail -n 20 "$work/debootstrap"; return 1; }

  [ -z "$sources" ] || echo "$sources" >"$part/etc/apt/sources.list"
  apt_ways >"$part/etc/apt/apt.conf.d/00ways"
  echo force-unsafe-io >"$part/etc/dpkg/dpkg.cfg.d/quick" # it need not survive a power cut
  printf '#!/bin/sh\nexit 101\n' >"$part/usr/sbin/policy-rc.d" # no services: its network is that of this machine
  chmod 755 "$part/usr/sbin/policy-rc.d"
  echo fresh >"$part/etc/hostname"
  printf '127.0.0.1\tlocalhost\n127.0.1.1\tfresh\n::1\tlocalhost ip6-localhost ip6-loopback\n' >"$part/etc/hosts"
  # Authorities that only this machine trusts; the package ca-certificates takes them in when it is installed.
  mkdir -p "$part/usr/local/share/ca-certificates"
  find /usr/local/share/ca-certificates -name '*.crt' -exec cp -t "$part/usr/local/share/ca-certificates" {} + 2>/dev/null || true
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$part/etc/pip.conf"
  # As if nobody had asked apt for anything yet.
  rm -rf "$part"/var/lib/apt/lists/* "$part"/var/cache/apt/archives/*.deb "$part"/var/log/*.log
}
