# Chooses the pinned versions anew: one file to run purport, one to develop and measure it. Needs uv.
set -eu
cd "$(dirname "$0")/.."
command -v uv >/dev/null || {
    echo "uv is not installed. Install it (pip install uv), then run make pins again." >&2
    exit 1
}
compile() {
    uv pip compile --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
        --no-emit-find-links --quiet --upgrade "$@"
}
compile pyproject.toml --output-file constraints/run.txt
compile pyproject.toml --group dev --group bench --constraints constraints/run.txt \
    --output-file constraints/dev.txt
