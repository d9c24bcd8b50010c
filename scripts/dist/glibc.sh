# shellcheck shell=bash
# Source this file: the oldest glibc that the files for Linux work with. Prose that names it: README.md, docs/building.md, decision 55.
readonly glibc=2.28
