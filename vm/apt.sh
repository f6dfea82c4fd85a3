# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A private apt: its own sources, lists and downloads below vm/cache/apt, so
# that kernels and arm64 programs of any Debian suite can be looked up and
# downloaded while the machine's own apt configuration stays as it is.
# Sourced by install.sh and fetch.sh after env.sh.

: "${ALIGHT_DEBIAN_MIRROR:=http://deb.debian.org/debian}"
# Suites of security updates lie beside the others on every mirror that has them.
: "${ALIGHT_DEBIAN_SECURITY_MIRROR:=$ALIGHT_DEBIAN_MIRROR-security}"

# Debian 11 to unstable: every series of kernel that Debian offers today. A series
# that its release no longer updates gets its fixes in the suite of security updates.
# shellcheck disable=SC2034 # used by fetch.sh
APT_SUITES=(bullseye bullseye-security bookworm bookworm-security bookworm-backports
	trixie trixie-security trixie-backports forky sid)

# mirror_of SUITE
mirror_of() {
	case $1 in
	*-security) printf '%s\n' "$ALIGHT_DEBIAN_SECURITY_MIRROR" ;;
	*) printf '%s\n' "$ALIGHT_DEBIAN_MIRROR" ;;
	esac
}

# apt_prepare ARCH SUITE...: writes the sources of ARCH's private state.
apt_prepare() {
	local arch=$1 state=$CACHE/apt/$1 suite
	shift
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	for suite in "$@"; do
		printf 'deb [signed-by=%s] %s %s main\n' \
			/usr/share/keyrings/debian-archive-keyring.gpg \
			"$(mirror_of "$suite")" "$suite"
	done >"$state/sources.list.$$"
	mv "$state/sources.list.$$" "$state/sources.list"
}

# apt_private ARCH TOOL ARG...: runs apt-get or apt-cache on ARCH's private
# state. Neither the Dep-11 catalogue nor translations are downloaded: they are
# half of the volume and nobody reads them here.
apt_private() {
	local arch=$1 state=$CACHE/apt/$1 tool=$2
	shift 2
	"$tool" -q \
		-o Dir::State::Lists="$state/lists" \
		-o Dir::Cache::archives="$state/archives" \
		-o Dir::Cache::pkgcache="$state/pkgcache.bin" \
		-o Dir::Cache::srcpkgcache="$state/srcpkgcache.bin" \
		-o Dir::Etc::SourceList="$state/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o APT::Architecture="${APT_ARCH:-$arch}" \
		-o APT::Architectures="${APT_ARCH:-$arch}" \
		-o APT::Sandbox::User=root \
		-o Acquire::Languages=none \
		-o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
		-o Acquire::Retries=3 \
		"$@"
}

# apt_update ARCH: brings the lists of ARCH's private state up to date. A suite
# that cannot be reached only costs the kernels that it has. Scripts that run side
# by side take turns: apt refuses lists that another one writes.
apt_update() {
	say "reading the package lists of Debian for $1 ($ALIGHT_DEBIAN_MIRROR)"
	(
		flock 9
		apt_private "$1" apt-get update >"$CACHE/apt/$1/update.log" 2>&1
	) 9>"$CACHE/apt/$1/update.lock" ||
		say "not every suite could be read; see $CACHE/apt/$1/update.log"
}
