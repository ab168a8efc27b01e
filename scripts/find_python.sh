# Prints the path of a Python that purport can be set up with, or says on stderr why there is none.
# $PYTHON, when set, is the only candidate.

if [ -n "${PYTHON:-}" ]; then
    set -- "$PYTHON"
else
    set -- python3 python3.14 python3.13 python3.12 python3.11 python
fi

without_venv=""
for name; do
    path=$(command -v "$name" 2>/dev/null) || continue
    "$path" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
    if "$path" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        printf '%s\n' "$path"
        exit 0
    fi
    without_venv="$path"
done

# echo alone: a bare machine may lack the rest.
if [ -n "$without_venv" ]; then
    echo "$without_venv is new enough, but its module venv (or ensurepip) is missing." >&2
    echo "Install it (on Debian and Ubuntu the package python3-venv), then run make again." >&2
else
    echo "No Python 3.11 or newer was found (looked for: $*)." >&2
    echo "Install one, or name it: make PYTHON=/path/to/python3" >&2
fi
exit 1
