"""Lists of phrases in files, one a line, as gazetteers take them."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from purport.errors import FormatError


def read_phrases(path: str | os.PathLike[str]) -> list[str]:
    r"""Return the lines of a file of text, packed with gz or not, that are not empty.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cities.txt"
    >>> _ = path.write_text("San Jose\n\nBoston\n", encoding="utf-8")
    >>> read_phrases(path)
    ['San Jose', 'Boston']
    """
    name = os.fspath(path)
    try:
        packed = Path(path).read_bytes()
        data = gzip.decompress(packed) if name.endswith(".gz") else packed
        text = data.decode("utf-8-sig")
    except FileNotFoundError:
        raise FormatError.missing(name) from None
    except UnicodeDecodeError as error:
        raise FormatError.not_utf8(name, data.count(b"\n", 0, error.start) + 1) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FormatError.truncated(name, 0) from None
    except OSError as error:
        raise FormatError.unreadable(name, error.strerror or type(error).__name__) from None
    if any(
        line.startswith("{") and line.endswith("}") for line in map(str.strip, text.splitlines())
    ):
        raise FormatError.unreadable(name, "it holds JSON lines, not one phrase a line")
    phrases = [" ".join(line.split()) for line in text.splitlines()]
    return [phrase for phrase in phrases if phrase]
