#!/bin/bash
# build.sh DIR: builds etcd, a Kubernetes control plane and Kueue from their Go modules into DIR, which takes
# about ten minutes and 10 GB of caches. Existing programs are not built again. Needs Go 1.26.
set -euo pipefail
bin=$1
kubernetes=36.3 etcd=v3.6.16 kueue=v0.16.2
work=$bin/build
mkdir -p "$work/tmp"
export GOMODCACHE=$work/mod GOCACHE=$work/cache GOTMPDIR=$work/tmp GOTOOLCHAIN=local CGO_ENABLED=0
export GOFLAGS='-modcacherw -buildvcs=false'

build() { # MODULE-DIR NAME PACKAGE LDFLAGS
  [ -x "$bin/$2" ] && return
  (cd "$1" && go build -trimpath -ldflags "-s -w ${4:-}" -o "$bin/$2" "$3")
}

# Kubernetes' go.mod replaces its parts with folders that the module does not contain: use their modules.
if [ ! -f "$work/kubernetes/go.sum" ]; then
  mkdir -p "$work/kubernetes"
  cd "$work/kubernetes"
  theirs=$(go mod download -json "k8s.io/kubernetes@v1.$kubernetes" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
  {
    echo 'module local/kubernetes'
    grep -E '^(go|godebug) ' "$theirs"
    echo "require k8s.io/kubernetes v1.$kubernetes"
    sed -nE "s|^\s*(k8s.io/\S+) => ./staging.*|replace \1 => \1 v0.$kubernetes|p" "$theirs"
  } > go.mod
  printf 'package kubernetes\n\nimport (\n' > programs.go
  for name in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
    printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' "$name" >> programs.go
  done
  printf ')\n' >> programs.go
  sed -i '1i //go:build tools\n' programs.go
  go mod tidy
fi
version=
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  version="$version -X $package.gitVersion=v1.$kubernetes -X $package.gitMajor=1 -X $package.gitMinor=${kubernetes%.*}"
done
for name in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
  build "$work/kubernetes" "$name" "k8s.io/kubernetes/cmd/$name" "$version"
done

program() { # NAME MODULE VERSION PACKAGE LDFLAGS
  mkdir -p "$work/$1"
  if [ ! -f "$work/$1/go.sum" ]; then
    printf 'module local/%s\n\ngo 1.26.0\n\nrequire %s %s\n' "$1" "$2" "$3" > "$work/$1/go.mod"
    printf '//go:build tools\n\npackage program\n\nimport _ "%s"\n' "$4" > "$work/$1/program.go"
    (cd "$work/$1" && go mod tidy)
  fi
  build "$work/$1" "$1" "$4" "${5:-}"
}
program etcd go.etcd.io/etcd/server/v3 $etcd go.etcd.io/etcd/server/v3
program kueue sigs.k8s.io/kueue $kueue sigs.k8s.io/kueue/cmd/kueue

# Kueue's CRDs and webhooks as one file, each webhook at a URL instead of a Service.
if [ ! -f "$bin/kueue.yaml" ]; then
  mkdir -p "$work/manifests"
  cp -r "$GOMODCACHE/sigs.k8s.io/kueue@$kueue/config/components/crd" \
    "$GOMODCACHE/sigs.k8s.io/kueue@$kueue/config/components/webhook" "$work/manifests/"
  chmod -R u+w "$work/manifests"
  printf 'namespace: kueue-system\nnamePrefix: kueue-\nresources: [crd, webhook]\n' > "$work/manifests/kustomization.yaml"
  "$bin/kubectl" kustomize "$work/manifests" > "$bin/kueue.yaml"
fi
