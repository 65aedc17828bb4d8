"""Frames in files: they equal the drawn ones and last as long; atomic writes; the same bytes twice."""

import errno
import os
import sys
import threading
from fractions import Fraction
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from patience import PATIENCE
from tilescope.app.films.files import Encoding, WriterThread, check_output, new_folder
from tilescope.app.films.kinds import kind_of
from tilescope.app.films.model.gif_palette import SIZE, Lookup, palette_of
from tilescope.app.films.video_file import check_video
from tilescope.app.widgets.widget_picture import PictureError

RATE = Fraction(20)
ALL = ("a.mp4", "a.webm", "a.gif", "a.webp", "pngs")


def frame(colour=0x123456, spot=None):
    """Return a small frame of a colour, with a white square that begins at `spot`."""
    frame = np.full((46, 64), 0xFF000000 | colour, np.uint32)
    if spot is not None:
        frame[spot : spot + 8, spot : spot + 8] = 0xFFFFFFFF
    return frame


FRAMES = [(frame(spot=0), 1), (frame(spot=3), 2), (frame(spot=3), 1), (frame(0xC0FFEE, spot=20), 7)]
TIMES = [times for _, times in FRAMES]


def encoding(name):
    """Write frames into a file of this name."""
    seen = [frame for frame, _ in FRAMES]
    return Encoding(kind_of(name), RATE, Lookup(palette_of(seen, [])) if name.endswith(".gif") else None)


def packed(picture):
    """Return a picture's pixels as frames have them."""
    red, green, blue = np.moveaxis(np.asarray(picture.convert("RGB")).astype(np.uint32), -1, 0)
    return 0xFF000000 | red << 16 | green << 8 | blue


def shown(path):
    """Return (frame, milliseconds) of each picture in an animation."""
    frames = []
    with Image.open(path) as file:
        for i in range(file.n_frames):
            file.seek(i)
            frames.append((packed(file), file.info["duration"]))
    return frames


@pytest.mark.parametrize("name", ["a.gif", "a.webp"])
def test_an_animation_shows_the_frames_for_as_long(tmp_path, name):
    path = tmp_path / name
    encoding(name).write(path, iter(FRAMES), TIMES)
    film = shown(path)
    assert sum(stay for _, stay in film) == 50 * sum(TIMES)
    different = [FRAMES[0][0], FRAMES[1][0], FRAMES[3][0]]
    pictures = [film[0][0]] + [b for (a, _), (b, _) in pairwise(film) if (a != b).any()]
    assert len(pictures) == 3
    for ours, theirs in zip(different, pictures, strict=True):
        assert (ours == theirs).all()
    with Image.open(path) as file:
        assert file.info["loop"] == 0


def test_a_folder_has_a_file_for_each_frame(tmp_path):
    encoding("pngs").write(tmp_path / "pngs", iter(FRAMES), TIMES)
    names = [f"frame-{i:05}.png" for i in range(1, 12)]
    assert sorted(path.name for path in (tmp_path / "pngs").iterdir()) == names
    with Image.open(tmp_path / "pngs" / names[2]) as file:
        assert (packed(file) == FRAMES[1][0]).all()


@pytest.mark.parametrize("name", ALL[:4])
def test_the_same_frames_make_the_same_bytes(name):
    files = [BytesIO() for _ in range(2)]
    for file in files:
        encoding(name).encode(file, iter(FRAMES), TIMES)
    assert files[0].getvalue() == files[1].getvalue() != b""


@pytest.mark.parametrize("name", ALL[:2])
def test_a_film_with_movement_is_the_same_each_time(name):
    places = np.random.default_rng(1).integers(0, 290, (60, 3))
    frames = [(np.full((300, 400), 0xFF202530, np.uint32), 1) for _ in range(30)]
    for i, (frame, _) in enumerate(frames):
        for row, column, colour in places:
            frame[row : row + 8, column : column + 8] = 0xFF000000 | int(colour) << 12
        frame[7 * i : 7 * i + 30, 5 * i : 5 * i + 30] = 0xFFFFFFFF
    files = [BytesIO() for _ in range(12)]
    for file in files:
        encoding(name).encode(file, iter(frames), [1] * len(frames))
    assert len({file.getvalue() for file in files}) == 1


@pytest.mark.parametrize("name", ALL[:2])
def test_a_video_has_every_frame_and_even_sides(tmp_path, name):
    av = pytest.importorskip("av")
    odd = [(np.ascontiguousarray(frame[:45, :63]), times) for frame, times in FRAMES]
    encoding(name).write(tmp_path / name, iter(odd), TIMES)
    with av.open(str(tmp_path / name)) as file:
        pictures = [picture.to_ndarray(format="rgb24") for picture in file.decode(video=0)]
        assert file.streams.video[0].average_rate == 20
    assert len(pictures) == sum(TIMES) and pictures[0].shape == (46, 64, 3)
    wanted = np.array([0xC0, 0xFF, 0xEE])
    assert abs(pictures[-1][10, 50].astype(int) - wanted).max() < 12


def test_a_long_stay_goes_beyond_what_a_frame_of_a_gif_can_say(tmp_path):
    times = 20 * 700
    encoding("a.gif").write(tmp_path / "a.gif", iter([(frame(), times)]), [times])
    assert sum(stay for _, stay in shown(tmp_path / "a.gif")) == 700_000


class Full(BytesIO):
    """A file on a disk that is full."""

    def write(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", ALL[:4])
def test_a_full_disk_is_reported(name):
    with pytest.raises(OSError) as caught:
        encoding(name).encode(Full(), iter(FRAMES), TIMES)
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("name", ALL)
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, name):
    path = tmp_path / name
    if path.suffix:
        path.write_bytes(b"old")
    else:
        path.mkdir()
        (path / "frame-00001.png").write_bytes(b"old")

    def broken():
        yield FRAMES[0]
        raise OSError(errno.EIO, "cable bitten")

    with pytest.raises(PictureError, match="could not be written: cable bitten"):
        encoding(name).write(path, broken(), TIMES)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (path if path.suffix else path / "frame-00001.png").read_bytes() == b"old"


def test_frames_of_an_earlier_recording_make_room_and_nothing_else_does(tmp_path):
    folder = tmp_path / "film"
    for count in (5, 2):
        with new_folder(folder) as created:
            for i in range(count):
                (created / f"frame-{i:05}.png").write_bytes(b"")
    assert len(list(folder.iterdir())) == 2
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(PictureError, match=r"contains other files \(thesis\.tex\)"):
        check_output(kind_of(str(folder)), folder)
    assert len(list(folder.iterdir())) == 3


def test_what_writing_raises_comes_where_the_frames_come_from():
    def write(frames):
        next(frames)
        raise PictureError("no")

    thread = WriterThread(write)
    with pytest.raises(PictureError, match="no"):
        for _ in range(20):
            thread.add(frame(), 1)


def test_an_abandoned_file_is_gone_at_once(tmp_path):
    begun = threading.Event()

    def write(frames):
        def watched():
            for item in frames:
                begun.set()
                yield item

        encoding("a.mp4").write(tmp_path / "a.mp4", watched(), TIMES)

    pytest.importorskip("av")
    thread = WriterThread(write)
    thread.add(frame(), 1)
    assert begun.wait(PATIENCE)
    thread.abandon()
    assert list(tmp_path.iterdir()) == []


def test_colours_that_are_wanted_or_flat_stay_as_they_are():
    random = np.random.default_rng(3)
    noise = random.integers(0, 1 << 24, (64, 64)).astype(np.uint32)
    flat = np.full((64, 64), 0x0072B2, np.uint32)
    palette = palette_of([noise, flat], [0xD55E00])
    assert palette.shape == (SIZE, 3)
    numbers = Lookup(palette).numbers(np.array([0xFF0072B2, 0x00D55E00], np.uint32))
    assert palette[numbers].tolist() == [[0x00, 0x72, 0xB2], [0xD5, 0x5E, 0x00]]
    off = palette[Lookup(palette).numbers(noise)].astype(int) - np.stack(
        [noise >> 16, noise >> 8 & 255, noise & 255], -1
    )
    assert abs(off).mean() < 32


def test_missing_pyav_is_reported_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(
        PictureError, match=r"PyAV, which writes \.mp4 files, is not installed: install the extra video"
    ):
        check_video(".mp4")
