import type { Generation } from '@bakehouse/contract/generations';
import { useRef, useState } from 'react';
import { cx } from '../../../lib/cx.ts';

type Shown = { url: string; thumbnail_url?: string; width?: number; height?: number };

/** One of so few seconds is played again and again, as it would be gone before one has looked. */
const REPEATED_S_MAX = 6;

/** The first frame that lists show; undefined where there is none apart from the video. */
function posterOf({ url, thumbnail_url: thumbnail }: Shown): string | undefined {
  return thumbnail === url ? undefined : thumbnail;
}

/** A video that is played, with the browser's own controls. */
export function VideoPlayer({
  video,
  label,
  className,
}: {
  video: Shown & { duration_s?: number | null };
  label: string;
  className?: string | undefined;
}) {
  const { url, width, height, duration_s: seconds } = video;
  return (
    // oxlint-disable-next-line jsx-a11y/media-has-caption -- nobody has written down what is said in it
    <video
      controls
      playsInline
      loop={typeof seconds === 'number' && seconds <= REPEATED_S_MAX}
      preload="metadata"
      src={url}
      poster={posterOf(video)}
      aria-label={label}
      width={width}
      height={height}
      className={className}
    />
  );
}

/** A video in a list: its first frame, which moves while the pointer is over it. */
export function SmallVideo({ video, className }: { video: Shown; className?: string }) {
  const [isOver, setOver] = useState(false);
  const place = useRef<HTMLVideoElement>(null);
  const poster = posterOf(video);
  const moves = isOver || poster === undefined;
  return (
    <span
      className="contents"
      onPointerEnter={({ pointerType }) => {
        if (pointerType === 'touch') return;
        setOver(true);
        void place.current?.play().catch(() => undefined);
      }}
      onPointerLeave={() => {
        setOver(false);
        place.current?.pause();
      }}
    >
      {moves ? (
        <video
          ref={place}
          muted
          loop
          playsInline
          autoPlay={isOver}
          preload="metadata"
          src={video.url}
          poster={poster}
          tabIndex={-1}
          aria-hidden
          className={className}
        />
      ) : (
        <img src={poster} alt="" loading="lazy" decoding="async" className={className} />
      )}
    </span>
  );
}

type Facts = Pick<Generation['outputs'][number], 'duration_s' | 'width' | 'height' | 'has_audio'>;

/** What a video is, in a line: its length, its size, and whether there is sound. */
export function VideoFacts({ video, className }: { video: Facts; className?: string }) {
  return <p className={cx('text-[0.8125rem] text-muted tabular-nums', className)}>{videoFacts(video)}</p>;
}

/** The same as a text. Pure. */
function videoFacts({ duration_s: seconds, width, height, has_audio: hasAudio }: Facts): string {
  const length = seconds === null ? [] : [`${Number(seconds.toFixed(2))} seconds`];
  return [...length, `${width} × ${height} pixels`, hasAudio ? 'with sound' : 'without sound'].join(', ');
}
