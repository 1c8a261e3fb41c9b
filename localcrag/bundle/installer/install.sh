#!/bin/sh
# Installs localcrag from this folder, and puts its models and knowledge bases in place. No network is used.
#
#   sh install.sh [FOLDER]     FOLDER is made for the environment; by default ~/localcrag
#
# PYTHON=/path/to/python chooses the Python, LOCALCRAG_HOME=/folder where models and knowledge bases go.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
environment=${1:-$HOME/localcrag}
python=${PYTHON:-$(command -v python@PYTHON@ || echo python3)}

"$python" -I "$here/check.py"
if [ -e "$environment" ]; then
  echo "not installed: $environment exists already; name another folder, or delete it" >&2
  exit 1
fi
trap 'rm -rf "$environment"; echo "not installed: nothing is left of $environment" >&2' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$python" -m venv --without-pip "$environment"
set -- "$here"/wheels/pip-*.whl
"$environment/bin/python" -I "$1/pip" --isolated --disable-pip-version-check install --quiet --no-cache-dir \
  --no-compile --no-index --find-links "$here/wheels" --no-deps --require-hashes --requirement "$here/requirements.txt"
"$environment/bin/python" -m compileall -q -j 0 "$environment/lib" > /dev/null || true # some are templates
"$environment/bin/localcrag" --offline bundle load "$here"
trap - EXIT INT TERM
"$environment/bin/localcrag" --offline doctor || {
  code=$?
  [ "$code" -ne 132 ] || echo "llama.cpp was compiled for another processor: see manual/air-gap.md" >&2
  exit "$code"
}
echo "Installed. Ask with: $environment/bin/localcrag ask \"...\""
