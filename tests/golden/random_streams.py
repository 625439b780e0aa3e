"""Random programs that also have streams."""

from __future__ import annotations

import os
from typing import Final

from tests.golden.random_program import Program
from tests.golden.rules import READ, WRITE

STREAMS: Final = 16
MODES: Final = ("r", "r+", "w", "w+", "a", "a+")
EOF: Final = -1
WORD: Final = 4
BYTE_CALLS: Final = {"fgetc": READ, "fputc": WRITE, "getc": READ, "putc": WRITE}
NOT_DARSHANS: Final = ("getc", "putc")


class StreamProgram(Program):
    """A program that may have streams open, each with a number of its own."""

    def run(self) -> None:
        self.numbers: list[int] = []
        super().run()
        for key in list(self.numbers):
            self.close_stream(key)

    def stream(self) -> int | None:
        return self.random.choice(self.numbers) if self.numbers else None

    def close_stream(self, key: int) -> None:
        self.model.stream_closed(key)
        self.call("fclose", key)
        self.numbers.remove(key)

    def do_fopen(self) -> None:
        free = [key for key in range(STREAMS) if key not in self.numbers]
        if free:
            path, mode = self.path(), self.random.choice(MODES)
            result, fd = self.call("fopen", free[0], path=path, other=mode)
            self.model.stream_opened(free[0], path, fd)
            self.numbers += [free[0]] if result == 0 else []

    def do_fdopen(self) -> None:
        free = [key for key in range(STREAMS) if key not in self.numbers]
        fd = self.fd()
        copy, _ = self.call("dup", fd)
        self.model.duplicated(fd, copy)
        if copy < 0:
            return
        result = -1
        if free:
            mode = self.random.choice(MODES)
            result, _ = self.call("fdopen", free[0], copy, other=mode)
            self.model.stream_made(free[0], copy, result)
        if result == 0:
            self.numbers.append(free[0])
        else:
            self.model.closed(copy)
            self.call("close", copy)

    def do_freopen(self) -> None:
        key = self.stream()
        if key is not None and self.random.random() < 0.3:
            path = self.path()
            result, fd = self.call("freopen", key, path=path, other=self.random.choice(MODES))
            self.model.stream_closed(key)
            self.model.stream_opened(key, path, fd)
            if result < 0:
                self.numbers.remove(key)

    def do_fclose(self) -> None:
        key = self.stream()
        if key is not None and self.random.random() < 0.5:
            self.close_stream(key)

    def do_fileno(self) -> None:
        key = self.stream()
        if key is not None:
            fd, _ = self.call("fileno", key)
            self.model.stream_number(key, fd)
            moved, _ = self.call("pread", fd, 100, 0, 7)
            self.model.moved(READ, fd, moved, 7)

    def do_items(self) -> None:
        key = self.stream()
        if key is not None:
            name, kind = self.random.choice([("fread", READ), ("fwrite", WRITE)])
            size, n = self.random.randrange(20), self.random.randrange(600)
            items, _ = self.call(name, key, size, n)
            self.model.stream_moved(key, kind, size * items, items > 0)

    def do_bytes(self) -> None:
        key = self.stream()
        if key is not None:
            name = self.random.choice(list(BYTE_CALLS))
            byte, _ = self.call(name, key, ord("7"))
            counts = byte != EOF and (self.model.extended or name not in NOT_DARSHANS)
            self.model.stream_moved(key, BYTE_CALLS[name], 1, counts)

    def do_words(self) -> None:
        key = self.stream()
        if key is not None and self.random.random() < 0.5:
            word, in_error = self.call("getw", key)
            self.model.stream_moved(key, READ, WORD, not (word == EOF and in_error))
            word, _ = self.call("putw", key, 12345)
            self.model.stream_moved(key, WRITE, WORD, word != EOF)

    def do_lines(self) -> None:
        key = self.stream()
        if key is not None:
            length, _ = self.call("fgets", key, self.random.randint(1, 200))
            self.model.stream_moved(key, READ, length, length >= 0)
            text = self.random.choice(["", "x", "a line\n"])
            result, _ = self.call("fputs", key, path=text)
            self.model.stream_moved(key, WRITE, len(text), result > 0)

    def do_formats(self) -> None:
        key = self.stream()
        if key is not None:
            length, _ = self.call("fprintf", key, 17, self.random.randrange(30))
            self.model.stream_moved(key, WRITE, length, length > 0)
            matches, consumed = self.call("fscanf", key)
            self.model.stream_moved(key, READ, consumed, matches != 0)

    def do_fseek(self) -> None:
        key = self.stream()
        if key is not None:
            name = self.random.choice(["fseek", "fseeko"])
            whence = self.random.choice([os.SEEK_SET, os.SEEK_CUR, os.SEEK_END])
            offset = self.random.randrange(-20, 3000)
            result, position = self.call(name, key, offset, whence)
            self.model.stream_sought(key, position, result)

    def do_marks(self) -> None:
        key = self.stream()
        if key is not None and self.call("fgetpos", key)[0] == 0:
            result, position = self.call("fsetpos", key)
            self.model.stream_sought(key, position, result)

    def do_rewind(self) -> None:
        key = self.stream()
        if key is not None:
            self.call("rewind", key)
            self.model.stream_sought(key, 0, 0)

    def do_fflush(self) -> None:
        key = self.stream()
        if key is not None:
            result, _ = self.call("fflush", key)
            self.model.stream_flushed(key, result)
