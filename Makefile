# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# weir. What a person types:
#     make            builds build/weir
#     make demo       brings in what is missing, builds, shows a firewall at work (as root, in its own namespaces)
#     make test       brings in what is missing, builds twice (plain, and with sanitizers), runs every test;
#                     T=pattern runs those whose name holds it
#     make check      the source itself: gcc and clang without warnings, layers, sizes, words, licences, format
#     make fuzz       SECS=60 for each fuzzer
#     make soak       long runs of the random tests; SEED=, ROUNDS=
#     make oracle     200 random rulesets each in iptables and in nft itself, as root; SEED=, ROUNDS=
#     make bench      measurements beside peers; make bench-classify: what finding a rule costs, over ClassBench sets
#     make bench-lists  chains called beside chains put in, rows of counting rules; as root also in the kernel
#     make bench-sets sets of 1,000 to 1,000,000 elements beside the kernel's maps, ipset and nft; N="1000 100000"
#     make lib        build/lib: the library and its header for other programs (docs/library.md); make examples: programs that use it
#     make install    PREFIX=/usr/local DESTDIR=
#     make bless      rewrites the expectations of tests/cases; review the diff
#
# The rules below are for one build directory, B. B=build-san SAN=... is a second one.

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
PKGS := libbpf libpcap jansson libmnl libnftnl libnftables
LINKED := libbpf jansson libmnl libnftnl # the others are bound when a verb needs them (base/library.h)
WARN := -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wvla -Werror
B ?= build
OPT ?= -O2 -g
SAN ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
SECS ?= 60
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS = $(shell pkg-config --libs $(LINKED) 2>/dev/null)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
CFLAGS_ALL = -std=gnu11 $(OPT) $(WARN) $(SAN) -D_GNU_SOURCE -Isrc -I$(B) -DBPF_DIR='"$(BPFDIR)"' $(PKG_CFLAGS) $(CFLAGS)
LDLIBS_ALL = $(PKG_LIBS) -lelf -lz $(LDLIBS)
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -Wall -Werror -Isrc -I/usr/include/$(shell uname -m)-linux-gnu
SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

BPFDIR := build/bpf
# Captures to read are made by libpcap itself.
UNIT_LIBS := -lcmocka -Wl,--as-needed -lpcap
SRC := $(filter-out %.bpf.c,$(wildcard src/*/*.c src/lang/*/*.c))
CLI := $(wildcard src/cli/*.c)
LIB := $(filter-out $(CLI),$(SRC))
OBJ := $(SRC:src/%.c=$(B)/obj/%.o)
LIBOBJ := $(LIB:src/%.c=$(B)/obj/%.o)
BPF := $(patsubst src/%.bpf.c,$(BPFDIR)/%.bpf.o,$(wildcard src/*/*.bpf.c))
# Every tests/FOLDER/NAME.c is a program $(B)/tests/NAME, linked with the library and with what lies in tests/FOLDER/lib;
# tests/fuzz is built by make fuzz.
TEST_SRC := $(filter-out tests/fuzz/%,$(wildcard tests/*/*.c))
TEST := $(foreach t,$(TEST_SRC),$(B)/tests/$(basename $(notdir $(t))))
FUZZ := $(patsubst tests/fuzz/%.c,build-fuzz/%,$(wildcard tests/fuzz/*.c))

.PHONY: all lib examples tests demo test test-run check fuzz soak oracle bench bench-classify bench-lists bench-sets bless install clean libs-present
all: $(B)/weir

# The library for other programs: what compiles and judges, without the kernel and without what prints. Of its names only
# those of weir.h are seen from outside, in the archive too.
API_SRC := $(filter src/api/% src/base/% src/policy/% src/lang/% src/flat/% src/classify/% src/sets/% src/datapath/% src/packet/packet.c,$(SRC))
API_OBJ := $(API_SRC:src/%.c=$(B)/pic/%.o)
SO := libweir.so.1
lib: $(B)/lib/libweir.a $(B)/lib/$(SO)
$(B)/pic/%.o: src/%.c | libs-present
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
$(filter %/api/compile.o,$(API_OBJ) $(OBJ)): | $(B)/version.h
$(B)/lib/$(SO): $(API_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-soname,$(SO) -Wl,-z,defs -o $@.new $^
	@mv $@.new $@
	@ln -sf $(SO) $(@D)/libweir.so
$(B)/lib/libweir.a: $(API_OBJ)
	@mkdir -p $(@D)
	$(LD) -r -o $(@D)/weir.o $^
	objcopy --localize-hidden $(@D)/weir.o
	@rm -f $@
	ar rcs $@ $(@D)/weir.o
	@rm -f $(@D)/weir.o
EXAMPLES := $(patsubst examples/%.c,$(B)/examples/%,$(wildcard examples/*.c))
examples: $(EXAMPLES)
$(B)/examples/%: examples/%.c src/api/weir.h $(B)/lib/libweir.a
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(OPT) $(WARN) $(SAN) -Isrc/api -o $@ $< $(B)/lib/libweir.a -lpcap -lpthread

# Linked under another name: tests that run meanwhile meet the old program or the new one, whole.
$(B)/weir: $(OBJ)
	$(CC) $(CFLAGS_ALL) -o $@.new $^ $(LDLIBS_ALL)
	@mv $@.new $@
$(B)/libweir.a: $(LIBOBJ)
	@rm -f $@
	ar rcs $@ $^
$(B)/obj/%.o: src/%.c | libs-present
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
# The version is in the program, so a new commit rebuilds the one file that knows it.
$(B)/version.h: FORCE
	@mkdir -p $(@D)
	@echo '#define WEIR_VERSION "$(VERSION)"' | cmp -s - $@ || echo '#define WEIR_VERSION "$(VERSION)"' >$@
FORCE:
$(filter $(B)/obj/cli/%,$(OBJ)): | $(B)/version.h
# The datapath for the kernel: every *.bpf.c becomes an object that the loader embeds (kernel/objects.c).
$(filter $(B)/obj/kernel/%,$(OBJ)): $(BPF)
$(BPFDIR)/%.bpf.o: src/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<
libs-present:
	@pkg-config --exists $(PKGS) 2>/dev/null || scripts/deps.sh build --print

tests: $(TEST)
define test_program
$(B)/tests/$(basename $(notdir $(1))): $(1) $(wildcard $(dir $(1))lib/*.c $(dir $(1))lib/*.h) \
		$(if $(filter tests/meaning/%,$(1)),$(wildcard tests/diff/lib/gen*.c)) $(B)/libweir.a
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS_ALL) -Itests -o $$@ $$(filter %.c,$$^) $(B)/libweir.a $$(LDLIBS_ALL) $(if $(filter tests/unit/%,$(1)),$(UNIT_LIBS))
endef
$(foreach t,$(TEST_SRC),$(eval $(call test_program,$(t))))

demo:
	@scripts/deps.sh demo
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@scripts/demo.sh

test:
	@scripts/deps.sh test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all lib examples tests
	@$(MAKE) --no-print-directory -s -j$(JOBS) B=build-san OPT="-O1 -g" SAN="$(SAN_FLAGS)" all tests
	@tests/run $(T)

check:
	@scripts/deps.sh test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all tests
	@$(MAKE) --no-print-directory -s -j$(JOBS) B=build-clang CC=clang all tests
	@scripts/check.sh

build-fuzz/%: tests/fuzz/%.c build-fuzz/libweir.a $(wildcard tests/fuzz/*.h)
	$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer -o $@ $< build-fuzz/libweir.a $(LDLIBS_ALL)
fuzz:
	@scripts/deps.sh fuzz
	@$(MAKE) --no-print-directory -s -j$(JOBS) B=build-fuzz CC=clang OPT="-O1 -g" \
		SAN="$(SAN_FLAGS) -fsanitize=fuzzer-no-link" $(FUZZ)
	@scripts/fuzz.sh $(SECS) $(FUZZ)

soak:
	@scripts/deps.sh test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all tests
	@scripts/soak.sh

oracle:
	@scripts/deps.sh test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all tests
	@ROUNDS=$(or $(ROUNDS),200) B=build WEIR=build/weir tests/oracle/random_rules.py
	@ROUNDS=$(or $(ROUNDS),200) B=build WEIR=build/weir tests/oracle/nft_random.py

BENCH := $(patsubst bench/%.c,build/bench/%,$(wildcard bench/*.c))
build/bench/%: bench/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -o $@ $< $(LDLIBS_ALL)
build/bench/classify: bench/classify/classify.c tests/diff/lib/classbench.c build/libweir.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Itests -o $@ $^ $(LDLIBS_ALL)
build/bench/lists: bench/lists/lists.c tests/diff/lib/judge.c tests/diff/lib/testrun.c build/libweir.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Itests -o $@ $^ $(LDLIBS_ALL)
build/bench/key.bpf.o: bench/classify/key.bpf.c $(wildcard src/datapath/*.h src/tables/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c -o $@ $<
build/bench/sets: $(filter-out %.bpf.c,$(wildcard bench/sets/*.c)) build/libweir.a $(wildcard bench/sets/*.h)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Ibench -o $@ $(filter-out %.h,$^) $(LDLIBS_ALL)
build/bench/peers.bpf.o: bench/sets/peers.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c -o $@ $<
# A peer, where the package libdpdk-dev is there; nobody installs it for you, for it brings 200 others.
DPDK := $(shell pkg-config --exists libdpdk 2>/dev/null && echo build/bench/acl)
build/bench/acl: bench/classify/acl.c tests/diff/lib/classbench.c build/libweir.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(subst -I,-isystem ,$(shell pkg-config --cflags libdpdk)) -Itests -o $@ $^ \
		$(shell pkg-config --libs-only-L libdpdk) -lrte_acl -lrte_eal $(LDLIBS_ALL)
WEIR_SHARED ?= ../shared
bench-classify:
	@scripts/deps.sh test
	@$(MAKE) --no-print-directory -s -j$(JOBS) build/bench/classify build/bench/key.bpf.o $(DPDK)
	@{ build/bench/classify build/bench/key.bpf.o $(WEIR_SHARED)/classbench && \
		$(if $(DPDK),$(DPDK) $(WEIR_SHARED)/classbench,echo "rte_acl  n/a: needs the package libdpdk-dev") && \
		build/bench/classify build/bench/key.bpf.o $(WEIR_SHARED)/classbench ip6; } | bench/classify/bars.py
bench-lists:
	@$(MAKE) --no-print-directory -s -j$(JOBS) build/bench/lists $(BPF)
	@build/bench/lists
bench-sets:
	@scripts/deps.sh test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BENCH) build/bench/sets build/bench/key.bpf.o build/bench/peers.bpf.o
	@bench/sets/run $(N)
bench: bench-sets
	@bench/run

bless: all
	@$(B)/weir test --bless tests/cases/*.t

install: all lib
	install -d $(DESTDIR)$(PREFIX)/sbin
	install -m 755 build/weir $(DESTDIR)$(PREFIX)/sbin/weir
	@set -e; for f in $(wildcard docs/weir.8); do \
		install -d $(DESTDIR)$(PREFIX)/share/man/man8; install -m 644 $$f $(DESTDIR)$(PREFIX)/share/man/man8/; done
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 src/api/weir.h $(DESTDIR)$(PREFIX)/include/weir.h
	install -m 644 $(B)/lib/libweir.a $(DESTDIR)$(LIBDIR)/libweir.a
	install -m 755 $(B)/lib/$(SO) $(DESTDIR)$(LIBDIR)/$(SO)
	ln -sf $(SO) $(DESTDIR)$(LIBDIR)/libweir.so
	sed 's,@PREFIX@,$(PREFIX),g; s,@LIBDIR@,$(LIBDIR),g' dist/weir.pc >$(DESTDIR)$(LIBDIR)/pkgconfig/weir.pc
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	build/weir help --completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/weir
	@set -e; for f in $(wildcard dist/weir.service); do install -d $(DESTDIR)$(PREFIX)/lib/systemd/system; \
		sed 's,@PREFIX@,$(PREFIX),g' $$f >$(DESTDIR)$(PREFIX)/lib/systemd/system/weir.service; done

clean:
	rm -rf build build-*

-include $(shell find $(B) $(BPFDIR) -name '*.d' 2>/dev/null)
