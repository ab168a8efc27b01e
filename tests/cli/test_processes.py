"""The program as a process of its own: pipes, signals, exit codes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from purport.records.utterances import Utterances
from purport.sequence.crf import CRF
from purport.store.folders import save

PROGRAM = [
    sys.executable,
    "-c",
    "import sys; from purport.cli.program import main; sys.exit(main())",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("process")
    talk = Utterances.from_lists([["play", "jazz"], ["stop"]], slots=[["O", "B-genre"], ["O"]])
    save(CRF().fit(talk), folder / "model")
    return folder / "model"


def test_a_pipe_goes_in_and_out(model):
    run = subprocess.run(
        [*PROGRAM, "label", str(model), "-"],
        input="tokens\nplay jazz\n",
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert '"labels":["O","B-genre"]' in run.stdout.replace(" ", "")


def test_a_reader_that_leaves_early_ends_it_quietly(model, tmp_path):
    many = tmp_path / "many.tsv"
    many.write_text("tokens\n" + "play jazz\n" * 20_000, encoding="utf-8")
    with subprocess.Popen(
        [*PROGRAM, "label", str(model), str(many)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline().startswith(b'{"tokens"')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_ctrl_c_ends_with_130(model, tmp_path):
    # Nothing is ever written to its stdin, so it waits there.
    with subprocess.Popen(
        [*PROGRAM, "label", str(model), "-", "-o", str(tmp_path / "out.jsonl")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"purport: interrupted\n"
        assert process.wait(timeout=60) == 130
    assert list(tmp_path.iterdir()) == []
