# SPDX-License-Identifier: GPL-2.0-only
#
#	make demo	install what is missing, build, compare two placement policies
#	make check	format, lint, unit and golden tests: some minutes, no virtual machines
#	make test	every test, those in virtual machines included
#	make golden	make the golden corpus of tests/golden again, and say what moved
#	make book	the documentation as a book: target/book/index.html
#	make bench	instructions per job, held against the tree's figures; and speeds
#	make cards	make the cards and figures of docs/results/policies again
#	make studies	run the published experiments (hours), write docs/results/studies.md
#	make bench-live	the live scheduler against others in a guest, write docs/results/bench-live.md (an hour)
#	make release	the program, laid out by a profile of itself: target/profiled/release/alight
#	make deb	the Debian package, for Debian 12 and 13, by the same profile
#	make wheel	the Python wheel, by the same profile: target/profiled/wheel
#	make soak	do to the live scheduler what machines and people do (hours), make its decisions of a
#			minute again, write docs/results/soak.md; load it on all kernels, write docs/results/live-kernels.md; install the package in guests
#	make verify	hold the model against stock kernels (hours), write docs/results/fidelity.md

DEMO_MACHINE   = juno-r0
DEMO_WORKLOAD  = sysbench --max-time=5 --max-requests=-1 --test=threads --num-threads=6 run
# What a system does meanwhile, without which no thread of the above is ever in another's way.
DEMO_BESIDE    = housekeeping
DEMO_SCHEDULER = linux-5.5 linux-5.5+asym-capacity
DEMO_RUNS      = 20

.PHONY: book check demo golden test bench bench-live cards deb release soak studies verify wheel

# Where cargo builds, if not in the tree.
TARGET = $(or $(CARGO_TARGET_DIR),target)

demo:
	vm/install.sh --build
	cargo build --release
	$(TARGET)/release/alight compare -m $(DEMO_MACHINE) -w '$(DEMO_WORKLOAD)' \
		$(DEMO_SCHEDULER) --runs $(DEMO_RUNS)
	@echo
	$(TARGET)/release/alight compare -m $(DEMO_MACHINE) -w '$(DEMO_WORKLOAD)' -w $(DEMO_BESIDE) \
		$(DEMO_SCHEDULER) --runs $(DEMO_RUNS) \
		--html $(TARGET)/demo.html --html-time 0s:1s \
		--picture $(TARGET)/demo.svg --picture-time 0s:1s

check:
	tests/all.sh format lint cargo

test:
	tests/all.sh

golden:
	ALIGHT_BLESS=1 cargo test -q --workspace --test golden -- --nocapture
	git diff --stat -- tests/golden

# All figures are printed even if one has grown by too much; then it fails.
bench:
	vm/install.sh --bench
	status=0; \
	cargo bench -p alight-sim --bench speed || status=1; \
	cargo bench -p alight-policy --bench select || status=1; \
	cargo bench -p alight-trace --bench speed || status=1; \
	exit $$status

bench-live:
	vm/install.sh --test
	crates/live/bench/bench.sh docs/results/bench-live.md

release:
	vm/install.sh --build
	packaging/release.sh

wheel:
	vm/install.sh --deb
	packaging/release.sh --wheel

deb:
	vm/install.sh --deb
	packaging/deb.sh

soak:
	vm/install.sh --test
	status=0; \
	crates/live/tests/faults.sh --soak docs/results/soak.md || status=1; \
	crates/live/tests/kernels.sh --all || status=1; \
	packaging/test.sh --guests || status=1; \
	exit $$status

book:
	docs/book.sh

cards:
	cargo build --release
	docs/results/cards.sh $(TARGET)/release/alight
	cargo run --release -p xtask -- figures docs/results/policies

studies:
	cargo build --release
	docs/results/studies.sh $(TARGET)/release/alight

verify:
	verify/all.sh
