import type { Generation } from '@bakehouse/contract/generations';
import { useRef, useState } from 'react';
import { cx } from '../../../lib/cx.ts';

type Shown = { url: string; thumbnail_url?: string; width?: number; height?: number };

/** Videos this short loop. */
const REPEATED_S_MAX = 6;

/** Returns the poster frame, or undefined if it is the video itself. */
function posterOf({ url, thumbnail_url: thumbnail }: Shown): string | undefined {
  return thumbnail === url ? undefined : thumbnail;
}

/** A video player with the browser's controls. */
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
    // oxlint-disable-next-line jsx-a11y/media-has-caption -- generated videos have no captions
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

/** A small video: muted, repeated, with controls on hover and focus. Smoothed, because it is enlarged. */
export function LoopingVideo({ video, label }: { video: Shown; label: string }) {
  const [isUsed, setUsed] = useState(false);
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  return (
    // oxlint-disable-next-line jsx-a11y/media-has-caption -- generated videos have no captions
    <video
      muted
      loop
      playsInline
      autoPlay={!isStill}
      controls={isUsed || isStill}
      // Without controls a video cannot be focused.
      tabIndex={0}
      onPointerEnter={() => setUsed(true)}
      onPointerLeave={() => setUsed(false)}
      onFocus={() => setUsed(true)}
      onBlur={() => setUsed(false)}
      src={video.url}
      poster={posterOf(video)}
      aria-label={label}
      width={video.width}
      height={video.height}
      className={cx('h-auto w-full -outline-offset-2', !isUsed && !isStill && 'scale-102 blur-[3px]')}
    />
  );
}

/** A video in a list: its poster, played on hover. */
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

/** Length, size and sound of a video in one line. */
export function VideoFacts({ video, className }: { video: Facts; className?: string }) {
  return <p className={cx('text-compact text-muted tabular-nums', className)}>{videoFacts(video)}</p>;
}

function videoFacts({ duration_s: seconds, width, height, has_audio: hasAudio }: Facts): string {
  const length = seconds === null ? [] : [`${Number(seconds.toFixed(2))} seconds`];
  return [...length, `${width} × ${height} pixels`, hasAudio ? 'with sound' : 'without sound'].join(', ');
}
