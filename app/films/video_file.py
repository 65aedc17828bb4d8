"""Videos, written by PyAV (FFmpeg)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from ..widgets.widget_picture import PictureError
from .kinds import even
from .model.gif_palette import Frame

if TYPE_CHECKING:
    import av

Frames = Iterator[tuple[Frame, int]]
# One thread each, so that the same frames give the same video; the quality keeps text sharp.
# x264's macroblock tree is off, since its vector code is not deterministic (15 of 40 films of 400 x 300 differed);
# files are a fifth larger without it.
CODECS = {
    ".mp4": ("mp4", "libx264", {"preset": "veryfast", "crf": "18", "x264-params": "mbtree=0"}),
    ".webm": ("webm", "libvpx-vp9", {"deadline": "realtime", "cpu-used": "7", "crf": "24", "b": "0"}),
}
SAME = {"fflags": "+bitexact"}  # no random numbers in the file
BT709, LIMITED = 1, 1  # FFmpeg's constants for the colours of HD video
KEY_SECONDS = 5  # between key frames, to which a player can seek


def check_video(suffix: str) -> None:
    """Raise PictureError if videos of this kind can't be written here."""
    try:
        import av
    except ImportError:
        raise PictureError(
            f"PyAV, which writes {suffix} files, is not installed: install the extra video (pip install av), "
            "or choose a .gif, a .webp or a folder."
        ) from None
    codec = CODECS[suffix][1]
    if codec not in av.codecs_available:
        raise PictureError(
            f"PyAV was built without {codec}, which writes {suffix} files. Choose a .gif or .webp."
        )


class _Target:
    """A file for FFmpeg, which loses I/O errors. error: the first one."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None
        self.seek, self.tell = file.seek, file.tell

    def write(self, data: bytes) -> int:
        """Write, and keep the first error."""
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = self.error or error
            raise


def write_video(file: IO[bytes], suffix: str, frames: Frames, rate: Fraction) -> None:
    """Write frames as .mp4 or .webm; an odd side gets its last row or column twice.

    Raises OSError of the file, and PictureError if the encoding fails.
    """
    import av

    form, codec, options = CODECS[suffix]
    target = _Target(file)
    try:
        with av.open(cast("IO[bytes]", target), "w", format=form, container_options=SAME) as container:
            _encode(container, codec, options, frames, rate)
    except av.FFmpegError as error:
        if target.error is not None:
            raise target.error from None
        raise PictureError(f"The video can't be encoded: {error}.") from error


def _encode(
    container: av.container.OutputContainer,
    codec: str,
    options: dict[str, str],
    frames: Frames,
    rate: Fraction,
) -> None:
    number, stream = 0, None
    for frame, times in frames:
        stream = stream or _stream(container, codec, options, frame.shape, rate)
        picture = _picture(frame)
        for _ in range(times):
            picture.pts, picture.time_base = number, 1 / rate
            container.mux(stream.encode(picture))
            number += 1
    if stream is not None:
        container.mux(stream.encode(None))


def _stream(
    container: av.container.OutputContainer,
    codec: str,
    options: dict[str, str],
    shape: tuple[int, ...],
    rate: Fraction,
) -> av.VideoStream:
    stream = cast("av.VideoStream", container.add_stream(codec, rate=rate, options=options))
    stream.height, stream.width = (even(side) for side in shape)
    stream.pix_fmt = "yuv420p"
    context = stream.codec_context
    context.thread_count = 1
    context.gop_size = max(1, round(KEY_SECONDS * rate))
    context.colorspace = context.color_primaries = context.color_trc = BT709
    context.color_range = LIMITED
    return stream


def _picture(frame: Frame) -> av.VideoFrame:
    import av

    height, width = frame.shape
    padded = (
        np.pad(frame, ((0, height % 2), (0, width % 2)), mode="edge") if height % 2 or width % 2 else frame
    )
    pixels = np.ascontiguousarray(padded).view(np.uint8).reshape(*padded.shape, 4)
    video_frame = av.VideoFrame.from_ndarray(pixels, format="bgra")
    return video_frame.reformat(
        format="yuv420p", dst_colorspace=BT709, src_color_range=2, dst_color_range=LIMITED
    )
