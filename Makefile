# SPDX-License-Identifier: Apache-2.0
# The entry points of the project: each target is one line over a script or CMake.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# What was compiled in one clone serves every other, and the Containerfiles.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
.PHONY: help build check test fuzz quickstart e2e-core e2e bench-read bench-control fmt tidy images manifests crds refresh-pod-schema clean

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 26

build: ## the programs, optimized, in build/bin
	@tools/bootstrap && cmake --preset release && cmake --build build/release --target all_programs

check: ## inner loop: static checks and unit tests
	@tools/bootstrap && tools/run_tests check

test: ## everything: unit and integration tests, sanitizers, fuzzers, real components
	@tools/bootstrap && tools/run_tests test

fuzz: ## all parsers for an hour; FUZZ="schedule_fuzz --seconds 60" selects and shortens
	@tools/bootstrap && tools/run_tests fuzz $(FUZZ)

quickstart: ## a trained model on cached samples on this machine
	@tools/bootstrap --quickstart && tools/quickstart

e2e-core: ## one real cluster through the main paths: install, train, mount, uninstall
	@tools/bootstrap && tools/e2e core

e2e: ## everything on real clusters
	@tools/bootstrap && tools/e2e all

bench-read: ## speed of reading samples: native disk, samplefs and JuiceFS side by side
	@tools/bootstrap && cmake --preset release && cmake --build build/release --target bench_programs && bench/read $(BENCH)

bench-control: ## speed and cost of the operator: against a bare client on 100 simulated nodes
	@tools/bootstrap && cmake --preset release && cmake --build build/release --target bench_control_programs && bench/control $(BENCH)

fmt: ## format the C++ files
	@tools/bootstrap && tools/check_format --fix

tidy: ## lint the C++ files with clang-tidy
	@tools/bootstrap && tools/tidy

images: build ## container images in build/images
	@tools/images build

manifests: ## write the manifests of deploy/ from config/
	@tools/bootstrap && tools/manifests

crds: ## write deploy/*/crd.yaml from src/api
	@tools/bootstrap && tools/crds

refresh-pod-schema: ## renew the pod template's schema from the pinned API server, then the CRDs
	@tools/bootstrap && tools/components install etcd kube-apiserver && tools/refresh_pod_schema && tools/crds

clean: ## remove everything built in this tree
	@rm -rf build
