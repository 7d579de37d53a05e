"""Encodes results as the files of a response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..image.picture_file import encoded
from ..image.video import Video
from ..image.video_file import encode_video, encoded_webp, poster, video_strip
from ..protocol import DoneImageEvent, DoneImageEventBeside

if TYPE_CHECKING:
    from PIL.Image import Image

    from ..image.picture_file import Format
    from ..image.sampling import Generated

_MEDIA_TYPES: dict[Format, Literal["image/png", "image/jpeg", "image/webp"]] = {
    "png": "image/png",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
}


@dataclass(frozen=True)
class FileOptions:
    """The file options of a request; `format` is the picture format, None for a video."""

    format: Format | None
    metadata: dict[str, str]


def written(generated: Generated, wanted: FileOptions) -> tuple[DoneImageEvent, bytes]:
    """Returns the event that describes the files, and their content."""
    if isinstance(generated.media, Video):
        return _written_video(generated, generated.media, wanted.metadata)
    assert wanted.format is not None
    file = encoded(generated.media, wanted.format, wanted.metadata)
    event = DoneImageEvent(
        type="done",
        media_type=_MEDIA_TYPES[wanted.format],
        size_bytes=len(file),
        width=generated.media.width,
        height=generated.media.height,
        duration_s=None,
        expert_used=generated.expert_used,
        routing_confidence=generated.routing_confidence,
        beside=[],
    )
    return event, file


def _written_video(
    generated: Generated, video: Video, metadata: dict[str, str]
) -> tuple[DoneImageEvent, bytes]:
    file = encode_video(video, metadata)
    pictures = [_beside("poster", poster(video)), _beside("strip", video_strip(video))]
    event = DoneImageEvent(
        type="done",
        media_type="video/mp4",
        size_bytes=len(file),
        width=video.width,
        height=video.height,
        duration_s=video.duration_s,
        expert_used=generated.expert_used,
        routing_confidence=generated.routing_confidence,
        beside=[said for said, _ in pictures],
    )
    return event, b"".join([file, *(content for _, content in pictures)])


def _beside(role: Literal["poster", "strip"], picture: Image) -> tuple[DoneImageEventBeside, bytes]:
    content = encoded_webp(picture)
    said = DoneImageEventBeside(
        role=role,
        media_type="image/webp",
        size_bytes=len(content),
        width=picture.width,
        height=picture.height,
    )
    return said, content
