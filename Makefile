# Two commands do everything on a fresh machine with Go, git and bash:
#
#   make demo   build, start everything on loopback, play the story, end it
#   make test   build, then run every test
#
# What else is needed is installed by them: pinned tools into build/out, Debian
# packages with apt-get where they are missing and the user is root (else the
# package is named). Nothing is written outside build/out and Go's own caches,
# and nothing that was started stays, except by `make up`.

SHELL := /bin/bash -eu -o pipefail
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# The environment decides how tools behave nowhere else: no workspace of a
# parent folder, no flags of the user's.
export GOWORK := off
export GOFLAGS :=

OUT := build/out
GO := go
TOOL := $(GO) tool -modfile=build/tools/go.mod
WASM_ENV := GOOS=wasip1 GOARCH=wasm

.PHONY: help build wasm binaries demo up down test test-unit test-race test-wasm test-plugin test-e2e \
	test-old test-long stories conformance check generate fuzz faults bench soak model envoy envoy-old redis cc store clean FORCE

help: ## this list, and the variables that the stack reads
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile
	@sed -n 's/^#> \{0,1\}//p' Makefile

#>
#> Variables of make up, make demo and the stack under tests:
#>   GATEWAY_PORT 10000  ENVOY_ADMIN_PORT 9901  BRIDGE_PORT 8081  BRIDGE_ADMIN_PORT 8082
#>   SHOP_PORT 8090      REDIS_PORTS 7000-7005
#>   STORE=embedded|cluster   CONCURRENCY=n (Envoy workers)   ENVOY=path
#>   GATEWAYS=n (next ports)  BRIDGES=n (next pairs of ports; needs STORE=cluster)
#>   EDGE=1  a plain Envoy before the gateways, at GATEWAY_PORT+10
#>   INNER=1 a plain Envoy between gateway and shop, at GATEWAY_PORT+20
#>   BARE=1  a listener without the filter, at GATEWAY_PORT+100
#>   LIVE=1  the gateway's listeners stand in RUN_DIR/gateway.listeners.yaml, which Envoy watches
#>   RULES=file.json  BRIDGE_CONFIG=file.yaml  ENVOY_PATCH=file.yaml (see envoy/README.md)
#>   RUN_DIR=folder of logs, pid files and generated configurations (build/out/run)
#>   for fault tests: REDIS_VIA  BRIDGE_DELAY  ISSUE_LIFE  DEBUG=1
#>   BRIDGE_CLOCK_OFFSET (of several bridges the last one's)

build: wasm binaries ## the plugin and the programs (the default)

wasm: $(OUT)/oncewall.wasm ## the plugin

binaries: $(OUT)/oncewall $(OUT)/shop $(OUT)/stack $(OUT)/oncewall-host

# Go knows best what has to be built again.
FORCE:

$(OUT):
	@mkdir -p $@

# The output file keeps its time when nothing changed, so that a running Envoy's
# file is not replaced under it.
$(OUT)/oncewall.wasm: FORCE | $(OUT)
	@cd plugin && $(WASM_ENV) $(GO) build -buildmode=c-shared -trimpath -ldflags=-s -o ../$@.new .
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(OUT)/oncewall: FORCE | $(OUT)
	@$(GO) build -trimpath -o $@ ./bridge/cmd/oncewall

$(OUT)/shop: FORCE | $(OUT)
	@$(GO) build -trimpath -o $@ ./testenv/shop/cmd/shop

$(OUT)/stack: FORCE | $(OUT)
	@$(GO) build -trimpath -o $@ ./testenv/stack/cmd/stack

$(OUT)/oncewall-host: FORCE | $(OUT)
	@$(GO) build -trimpath -o $@ ./testenv/cmd/oncewall-host

$(OUT)/wasmtest: FORCE | $(OUT)
	@$(GO) build -trimpath -o $@ ./testenv/wasmtest

$(OUT)/story: FORCE | $(OUT)
	@$(GO) build -trimpath -o $@ ./testenv/story/cmd/story

$(OUT)/conformance: FORCE | $(OUT)
	@$(GO) build -trimpath -o $@ ./testenv/conformance/cmd/conformance

$(OUT)/bench: FORCE | $(OUT)
	@$(GO) build -trimpath -o $@ ./testenv/bench/cmd/bench

$(OUT)/model: FORCE | $(OUT)
	@$(GO) build -trimpath -o $@ ./testenv/model/cmd/model

envoy: ## installs the pinned Envoy, unless $ENVOY or PATH has one
	@build/envoy.sh

envoy-old: ## installs the oldest Envoy that is tested
	@build/envoy.sh 1.36.2

redis: ## installs redis-server where it is missing
	@build/redis.sh

cc:
	@build/cc.sh

# Redis is installed for those who ask for it: the default store is embedded.
store:
	@if [ "$${STORE:-}" = cluster ]; then build/redis.sh >/dev/null; fi

demo: build envoy store $(OUT)/story ## builds everything, plays the story through the real Envoy
	@$(OUT)/story

up: build envoy store ## starts the stack and leaves it running
	@$(OUT)/stack up

down: $(OUT)/stack ## ends the stack, and whatever else listens on its ports
	@$(OUT)/stack down

# Packages that start whole stacks run after all others, one at a time.
E2E := $(addsuffix /...,$(addprefix ./,$(wildcard testenv/e2e testenv/story testenv/bench testenv/soak testenv/scenario testenv/conformance testenv/clusterfault testenv/mixed)))
UNIT = $(shell $(GO) list ./... | grep -v -E '/oncewall/(bridge|testenv/(e2e|clusterfault|mixed|story|bench|soak|scenario|stack|conformance))(/|$$)')

test: build envoy redis cc test-unit test-race test-wasm test-plugin test-e2e ## every test
	@echo "every test passed"

test-unit:
	$(GO) test $(UNIT)
	$(GO) test ./testenv/stack/...

# The data race detector where goroutines share state. The API's tests bring a
# validator of OpenAPI with them that takes minutes to build for the detector;
# what they drive is the server, which is under it.
test-race:
	$(GO) test -race $$($(GO) list ./bridge/... | grep -v '/bridge/admin')
	$(GO) test ./bridge/admin/...

# The core once more as it runs in Envoy: compiled to wasip1, under wazero.
test-wasm: $(OUT)/wasmtest
	$(WASM_ENV) $(GO) test -exec "$(CURDIR)/$(OUT)/wasmtest" ./filter/...

# The plugin runs nowhere but in Envoy: it is tested end to end.
test-plugin:
	cd plugin && $(WASM_ENV) $(GO) vet ./...

test-e2e: build envoy redis cc
	$(if $(E2E),$(GO) test -count=1 -p 1 $(E2E))

conformance: envoy envoy-old $(OUT)/conformance ## compares the wasm host with both Envoys, fact by fact
	@$(OUT)/conformance

test-old: build redis cc ## the tests with a real Envoy, on the oldest one
	ENVOY="$$(build/envoy.sh 1.36.2)" $(GO) test -count=1 -p 1 ./testenv/stack/... $(E2E)

# make test tells a real Envoy those that are worth it; the rest is told to the
# core and to the wasm host.
stories: build envoy envoy-old ## every story, every variant, in both pause modes, in both Envoys
	$(GO) test -count=1 -timeout 60m ./testenv/scenario -run TestEnvoy -args -all
	ENVOY="$$(build/envoy.sh 1.36.2)" $(GO) test -count=1 -timeout 60m ./testenv/scenario -run TestEnvoy -args -all

test-long: build envoy redis cc ## long forms of end-to-end tests: 17,000 rounds of simultaneous requests, 20 losses of the bridge
	ONCEWALL_E2E=long $(GO) test -count=1 -timeout 60m -v ./testenv/e2e -run 'TestLocal|TestRounds|TestBridgeComesAndGoes'

faults: redis cc ## every fault of a Redis Cluster, several times under longer load
	$(GO) test -count=1 -timeout 30m -v ./testenv/clusterfault -args -long

bench: build envoy redis $(OUT)/bench ## cost of a request beside bare proxying
	@$(OUT)/bench

# About half an hour on an idle machine; make test has the short form.
REQUESTS ?= 1000000
soak: build envoy ## REQUESTS (1000000) of every kind: memory of the VM, open streams
	$(GO) test -count=1 -timeout 3h -v ./testenv/soak -args -requests $(REQUESTS)

# Minutes and up to 600 MB; make test has the short form.
SCHEDULES ?= 10000
model: redis $(OUT)/model ## every run of the protocol's model, SCHEDULES (10000) on the real scripts
	@$(OUT)/model
	$(GO) test -count=1 -timeout 60m ./testenv/model/schedule -run 'Embedded|Server' -fresh -schedules $(SCHEDULES)

check: ## formatting, vet, staticcheck, import rules, links, generated files
	@build/check.sh

generate: ## writes the generated files again
	@build/generate.sh

FUZZTIME ?= 30s
fuzz: ## every fuzz target for FUZZTIME (30s)
	@build/fuzz.sh $(FUZZTIME)

clean: ## ends the stack if it runs, and removes build/out
	@if compgen -G '$(OUT)/run/*.pid' >/dev/null; then $(MAKE) down; fi
	rm -rf $(OUT)
