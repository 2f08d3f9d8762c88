"""Pictures and videos as files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
from PIL import Image as Pillow

from ..errors import InputError
from ._window import Image

__all__ = ["VIDEOS", "encode_webp", "save", "write"]

#: Kinds of videos, by the ends of their names.
VIDEOS = (".mp4", ".webm", ".gif", ".webp")
#: Quality of an mp4 or webm: 0 is lossless, 51 the worst.
QUALITY = {".mp4": 20, ".webm": 32}
CODECS = {".mp4": "libx264", ".webm": "libvpx-vp9"}
#: Quality of the frames of a webp: 0 to 100.
WEBP_QUALITY = 80


def save(picture: Image, file: str | os.PathLike[str]) -> None:
    """Writes a picture: ``.png``, ``.jpg`` or ``.webp``.

    Parameters
    ----------
    picture : ndarray of uint8, (height, width, 3)
    file : str or path
    """
    path = Path(file)
    if path.suffix.lower() not in (".png", ".jpg", ".jpeg", ".webp"):
        raise InputError(f"{path}: pictures are .png, .jpg or .webp")
    try:
        Pillow.fromarray(picture).save(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def write(pictures: Iterable[Image], file: str | os.PathLike[str], fps: float) -> int:
    """Writes a video, of the kind its name ends with, and returns the number of frames."""
    path = Path(file)
    kind = path.suffix.lower()
    if kind not in VIDEOS:
        raise InputError(f"{path}: videos are {', '.join(VIDEOS)}")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
    try:
        return _write_still(pictures, path, fps) if kind in (".gif", ".webp") else _write_stream(pictures, path, kind, fps)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _write_stream(pictures: Iterable[Image], path: Path, kind: str, fps: float) -> int:
    writer: Any = None
    count = 0
    try:
        for picture in pictures:
            # Colors are stored for 2 × 2 pixels: sides are even.
            even = np.ascontiguousarray(picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2])
            if writer is None:
                size = (even.shape[1], even.shape[0])
                options = ["-crf", str(QUALITY[kind]), *(["-b:v", "0"] if kind == ".webm" else ["-movflags", "+faststart"])]
                writer = imageio_ffmpeg.write_frames(
                    str(path), size, fps=fps, codec=CODECS[kind], quality=None, macro_block_size=2, output_params=options, ffmpeg_log_level="error"
                )
                writer.send(None)
            writer.send(even)
            count += 1
    finally:
        if writer is not None:
            writer.close()
    return count


def _write_still(pictures: Iterable[Image], path: Path, fps: float) -> int:
    frames = [Pillow.fromarray(picture) for picture in pictures]
    if not frames:
        return 0
    # Times are whole milliseconds, and hundredths of a second in a gif.
    times = [round(1000 * (i + 1) / fps) - round(1000 * i / fps) for i in range(len(frames))]
    if path.suffix.lower() == ".gif":
        # One palette for all frames, so that colors do not flicker.
        some = frames[:: max(1, len(frames) // 8)]
        joined = Pillow.new("RGB", (frames[0].width, frames[0].height * len(some)))
        for i, one in enumerate(some):
            joined.paste(one, (0, i * one.height))
        palette = joined.quantize(256)
        frames = [one.quantize(palette=palette, dither=Pillow.Dither.NONE) for one in frames]
        frames[0].save(path, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
    else:
        frames[0].save(path, save_all=True, append_images=frames[1:], duration=times, loop=0, quality=WEBP_QUALITY, method=4)
    return len(frames)


def encode_webp(picture: Image, quality: int = WEBP_QUALITY) -> bytes:
    """A picture as the bytes of a webp file."""
    from io import BytesIO

    out = BytesIO()
    Pillow.fromarray(picture).save(out, "webp", quality=quality, method=4)
    return out.getvalue()
