#!/usr/bin/env bash
# Checks what packaging/dist.sh has made: sums, what the tarballs hold, manual
# pages without a warning, and a .deb that installs, runs and leaves nothing
# behind. What cannot be checked here is named; with RDMAPROBE_MUST_RUN it fails.
set -euo pipefail
cd "$(dirname "$0")/../dist"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "check.sh: $*" >&2; exit 1; }
skip() {
  echo "check.sh: NOT CHECKED: $*" >&2
  [ -z "${RDMAPROBE_MUST_RUN:-}" ] || exit 1
}

sha256sum --quiet -c SHA256SUMS || fail "the sums do not fit"

tarballs() {
  local count=0 t f names
  for t in rdmaprobe_*.tar.gz; do
    names=$(tar -tzf "$t")
    for f in rdmaprobe LICENSE README.md CHANGELOG.md completion/rdmaprobe.bash completion/_rdmaprobe completion/rdmaprobe.fish; do
      grep -qx "./$f" <<<"$names" || fail "$t has no $f"
    done
    for f in ../packaging/man/*.1; do
      grep -qx "./man/${f##*/}.gz" <<<"$names" || fail "$t has no man/${f##*/}.gz"
    done
    count=$((count + 1))
  done
  [ "$count" = 4 ] || fail "$count tarballs, want 4"
}

# What a Mac is given, out of the tarball: no Mac of ours has started it.
macs() {
  local t
  for t in rdmaprobe_*_darwin_*.tar.gz; do
    mkdir "$work/${t%.tar.gz}"
    tar -xzf "$t" -C "$work/${t%.tar.gz}" ./rdmaprobe
  done
  go run ../packaging/darwincheck "$work"/rdmaprobe_*_darwin_*/rdmaprobe || fail "a program for macOS would not start"
}

manual() {
  command -v man >/dev/null || { skip "manual pages: there is no man"; return 0; }
  local page said
  for page in ../packaging/man/*.1; do
    said=$(LC_ALL=C MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null) || fail "man $page: $said"
    [ -z "$said" ] || fail "man $page: $said"
  done
}

# run ROOT COMMAND...: in that root, with the /proc and /dev/null that a child
# process needs, mounted for as long as it runs.
run() {
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev/null "$1/dev/null" && export HOME=/root && exec chroot "$@"' sh "$@"
}

# The package goes into a root of its own, where nothing is but the C library
# that the program is linked with: no dpkg of this machine hears of it.
deb() {
  local arch root=$work/root lib status
  arch=$(dpkg --print-architecture 2>/dev/null) || { skip "the .deb: there is no dpkg"; return 0; }
  [ "$(id -u)" = 0 ] || { skip "the .deb: only root can install it"; return 0; }
  [ -f "$(echo rdmaprobe_*_"$arch".deb)" ] || { skip "the .deb: none for $arch"; return 0; }
  mkdir -p "$root"/{proc,dev,tmp,root} "$root"/var/lib/dpkg/{info,updates,triggers}
  touch "$root"/var/lib/dpkg/{status,available} "$root/dev/null"
  for lib in $(ldd "linux_$arch/rdmaprobe" | grep -o '/[^ ]*'); do
    mkdir -p "$root$(dirname "$lib")"
    cp -L "$lib" "$root$lib"
  done
  (cd "$root" && find . -not -path './var/*' | sort) >"$work/before"

  local into=(dpkg --root="$root" --log=/dev/null --force-depends) # libc6 is there, but not as a package
  "${into[@]}" -i rdmaprobe_*_"$arch".deb >"$work/log" 2>&1 || fail "install: $(cat "$work/log")"
  run "$root" /usr/bin/rdmaprobe version | grep -q '^rdmaprobe ' || fail "rdmaprobe version says nothing of itself"
  status=0
  run "$root" /usr/bin/rdmaprobe devices >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = 3 ] || fail "rdmaprobe devices without a library: status $status, want 3: $(cat "$work/out" "$work/err")"
  [ -s "$root/usr/share/man/man1/rdmaprobe.1.gz" ] || fail "no manual page was installed"
  rm -rf "$root"/root/.local "$root"/tmp/*

  "${into[@]}" -P rdmaprobe >"$work/log" 2>&1 || fail "remove: $(cat "$work/log")"
  (cd "$root" && find . -not -path './var/*' | sort) >"$work/after"
  diff "$work/before" "$work/after" || fail "the package leaves files behind"
}

tarballs
macs
manual
deb
echo "check.sh: all well"
