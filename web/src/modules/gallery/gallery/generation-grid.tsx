import type { Generation } from '@bakehouse/contract/generations';
import { makesVideos } from '@bakehouse/contract/generators';
import { Link } from '@tanstack/react-router';
import { Images, Play } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { isVideo, Media } from '../view/media.tsx';
import { Thumbnail } from '../view/thumbnail.tsx';

const grids = {
  small: 'grid-cols-3 sm:grid-cols-5 lg:grid-cols-10 gap-2',
  large: 'grid-cols-2 sm:grid-cols-3 lg:grid-cols-4 xl:grid-cols-5 gap-4',
};

/** Small tiles, or large ones with room for a caption. */
export const gridClass = (size: keyof typeof grids) => cx('grid', grids[size]);

type Props = {
  generations: readonly Generation[];
  /** Rendered before the pictures. */
  first?: ReactNode;
  /** Shows the age of each generation below it. */
  withTimes?: boolean;
};

/** A few small pictures with links to their pages. */
export function GenerationGrid({ generations, first, withTimes = false }: Props) {
  return (
    <ul className={gridClass('small')}>
      {first && <li>{first}</li>}
      {generations.map((generation) => (
        <li key={generation.id} className="group relative min-w-0">
          <GenerationTile generation={generation} />
          {withTimes && (
            <p className="mt-1 truncate text-center text-muted text-xs">
              <RelativeTime at={generation.created_at} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Placeholders for at least as many pictures as will load. */
export function PendingGrid({ tiles, size = 'large' }: { tiles: number; size?: keyof typeof grids }) {
  return (
    <LoadingRegion className={gridClass(size)}>
      {Array.from({ length: tiles }, (_, index) => (
        <Skeleton key={index} className="aspect-square w-full rounded-lg" />
      ))}
    </LoadingRegion>
  );
}

/** A picture with a link to its page; the large variant shows more. */
export function GenerationTile({ generation, large = false }: { generation: Generation; large?: boolean }) {
  const { id, prompt, state, source, outputs, generator } = generation;
  const [first] = outputs;
  return (
    <Link
      to="/gallery/$id"
      params={{ id }}
      title={prompt}
      className="relative block aspect-square overflow-hidden rounded-lg bg-subtle outline-offset-2 shadow-card"
    >
      <Thumbnail generation={generation} />
      {first && isVideo(first) && <VideoMark seconds={first.duration_s} />}
      <span className="sr-only">
        {prompt}
        {makesVideos(generator) ? ', a video' : source && ', an edit'}
        {outputs.length > 1 && `, ${outputs.length} pictures`}
        {state !== 'completed' && `, ${state}`}
      </span>
      {outputs.length > 1 && (
        <span
          aria-hidden
          title={`${outputs.length} pictures`}
          className="absolute top-2 right-2 flex items-center gap-1 rounded-md bg-black/65 px-1.5 py-0.5 text-white text-xs tabular-nums"
        >
          <Images className="size-3" />
          {outputs.length}
        </span>
      )}
      {large && source && (
        <Media
          small
          media={source}
          alt=""
          title={makesVideos(generator) ? 'First frame' : 'Source picture'}
          className="absolute bottom-2 left-2 size-[28%] rounded-md border-2 border-white bg-white shadow-card"
        />
      )}
      {large && state !== 'completed' && (
        <span aria-hidden className="absolute right-2 bottom-2">
          <StatusBadge status={state} moving={state === 'running' || undefined} />
        </span>
      )}
    </Link>
  );
}

/** Marks a video and shows its length. */
function VideoMark({ seconds }: { seconds: number | null }) {
  return (
    <span
      aria-hidden
      className="pointer-events-none absolute top-2 right-2 flex items-center gap-1 rounded-md bg-black/65 px-1.5 py-0.5 text-white text-xs tabular-nums"
    >
      <Play className="size-3" />
      {seconds !== null && `${Number(seconds.toFixed(1))} s`}
    </span>
  );
}
