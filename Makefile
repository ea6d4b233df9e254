# SPDX-License-Identifier: Apache-2.0
# The entry points of the project: each target is one line over a script or CMake.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# What was compiled in one clone serves every other, and the Containerfiles.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
# Of the targets that speak to a cluster: the manager's image, and the programs that they run.
IMG ?= paddle-operator:v0.1.0
KUBECTL ?= kubectl
DOCKER ?= docker
PREFIX ?= /usr/local
SOAK ?= walks
.PHONY: help build check test fuzz soak quickstart e2e-core e2e bench-read bench-control fmt tidy images manifests crds \
  helm refresh-pod-schema docs docs-serve install uninstall deploy undeploy docker-build docker-push install-cli clean

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

soak: ## random walks over specs for an hour; SOAK="walks --seconds 600 --seed 7" shortens and repeats
	@tools/bootstrap && tools/run_tests soak $(SOAK)

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

helm: ## write charts/paddle-operator and deploy/install.yaml from deploy/
	@tools/chart

docs: ## the documentation site in both languages, in build/docs/site
	@tools/docs build

docs-serve: ## build the documentation site and show it; PORT= (8000) is where
	@tools/docs serve $(PORT)

install: ## apply the definitions of the resources to the cluster of kubectl
	@$(KUBECTL) apply -f deploy/v1/crd.yaml

uninstall: ## delete the definitions, and with them every job and sample set
	@$(KUBECTL) delete --ignore-not-found -f deploy/v1/crd.yaml

deploy: ## apply the definitions and all managers; IMG= names the managers' image
	@sed 's|image: .*paddle-operator[:@].*|image: $(IMG)|' deploy/install.yaml | $(KUBECTL) apply -f -

undeploy: ## delete all that deploy applied, and with it every job and sample set
	@$(KUBECTL) delete --ignore-not-found -f deploy/install.yaml

docker-build: ## build the managers' image with Docker; IMG= names it
	@$(DOCKER) build -f deploy/images/paddle-operator/Containerfile -t $(IMG) .

docker-push: ## push the managers' image; IMG= names it
	@$(DOCKER) push $(IMG)

install-cli: build ## put paddlectl, kubectl-paddle and paddle-cache on PATH, in PREFIX/bin (/usr/local/bin)
	@install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin build/bin/paddlectl build/bin/paddle-cache
	@ln -sfn paddlectl $(DESTDIR)$(PREFIX)/bin/kubectl-paddle
	@echo "installed paddlectl, kubectl-paddle and paddle-cache in $(DESTDIR)$(PREFIX)/bin"

refresh-pod-schema: ## renew the pod template's schema from the pinned API server, then the CRDs
	@tools/bootstrap && tools/components install etcd kube-apiserver && tools/refresh_pod_schema && tools/crds

clean: ## remove everything built in this tree
	@rm -rf build
