# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# weir: `make` builds build/weir; `make demo` and `make test` also bring in what they need (scripts/deps.sh).
CC ?= gcc
CLANG ?= clang
PKGS := libbpf libpcap jansson libmnl libnftnl libnftables
WARN := -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wvla -Werror
B ?= build
OPT ?= -O2 -g
SAN ?=
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS = $(shell pkg-config --libs $(PKGS) 2>/dev/null)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
CFLAGS += -std=gnu11 $(OPT) $(WARN) $(SAN) -D_GNU_SOURCE -Isrc -I$(B) -DBPF_DIR='"$(B)/bpf"' $(PKG_CFLAGS)
LDLIBS += $(PKG_LIBS) -lelf -lz

SRC := $(filter-out %.bpf.c,$(wildcard src/*/*.c src/lang/*/*.c))
CLI := $(wildcard src/cli/*.c)
LIB := $(filter-out $(CLI),$(SRC))
OBJ := $(SRC:src/%.c=$(B)/obj/%.o)
LIBOBJ := $(LIB:src/%.c=$(B)/obj/%.o)
BPF := $(patsubst src/%.bpf.c,$(B)/bpf/%.bpf.o,$(wildcard src/*/*.bpf.c))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/*.c))
DIFF := $(patsubst tests/diff/%.c,$(B)/tests/%,$(wildcard tests/diff/*.c))

.PHONY: all tests demo test check clean deps deps-test
all: $(B)/weir

$(B)/weir: $(OBJ)
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(B)/libweir.a: $(LIBOBJ)
	@rm -f $@
	ar rcs $@ $^
$(B)/obj/%.o: src/%.c $(BPF)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<
# The datapath for the kernel: every *.bpf.c becomes an object that the loader embeds (kernel/objects.c).
$(B)/bpf/%.bpf.o: src/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) -O2 -g -target bpf -mcpu=v3 -Wall -Werror -Isrc -I/usr/include/$(shell uname -m)-linux-gnu -MMD -MP -c -o $@ $<
tests: $(UNIT) $(DIFF)
$(UNIT): $(B)/tests/%: tests/unit/%.c $(B)/libweir.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Itests -MMD -MP -o $@ $< $(B)/libweir.a $(LDLIBS) -lcmocka
$(DIFF): $(B)/tests/%: tests/diff/%.c $(B)/libweir.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Itests -MMD -MP -o $@ $< $(B)/libweir.a $(LDLIBS)

clean:
	rm -rf build build-*

-include $(shell find $(B) -name '*.d' 2>/dev/null)
