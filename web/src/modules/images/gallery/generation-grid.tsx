import type { Generation } from '@bakehouse/contract/generations';
import { Link } from '@tanstack/react-router';
import { Images } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { Thumbnail } from '../view/thumbnail.tsx';

const grids = {
  small: 'grid-cols-3 sm:grid-cols-5 lg:grid-cols-10 gap-2',
  large: 'grid-cols-2 sm:grid-cols-3 lg:grid-cols-4 xl:grid-cols-5 gap-4',
};

type Props = {
  generations: readonly Generation[];
  size?: keyof typeof grids;
  /** Stands before them. */
  first?: ReactNode;
  /** Under each picture. */
  caption?: (generation: Generation) => ReactNode;
  /** In the corner of each picture: a box to choose it by. */
  corner?: (generation: Generation) => ReactNode;
};

/** Pictures, each with a link to all that is known of it. Of the large ones, which may be many, what is out of sight costs nothing. */
export function GenerationGrid({ generations, size = 'large', first, caption, corner }: Props) {
  return (
    <ul className={cx('grid', grids[size])}>
      {first && <li>{first}</li>}
      {generations.map((generation) => (
        <li
          key={generation.id}
          className={cx(
            'group relative min-w-0',
            size === 'large' && '[contain-intrinsic-size:auto_14rem] [content-visibility:auto]',
          )}
        >
          <Tile generation={generation} large={size === 'large'} />
          {caption?.(generation)}
          <div className="absolute top-2 left-2 rounded-md bg-surface shadow-card empty:hidden">
            {corner?.(generation)}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** As many places as there will be pictures at least. */
export function PendingGrid({ tiles, size = 'large' }: { tiles: number; size?: keyof typeof grids }) {
  return (
    <LoadingRegion className={cx('grid', grids[size])}>
      {Array.from({ length: tiles }, (_, index) => (
        <Skeleton key={index} className="aspect-square w-full rounded-lg" />
      ))}
    </LoadingRegion>
  );
}

function Tile({ generation, large }: { generation: Generation; large: boolean }) {
  const { id, prompt, state, source, outputs } = generation;
  return (
    <Link
      to="/gallery/$id"
      params={{ id }}
      title={prompt}
      className="relative block aspect-square overflow-hidden rounded-lg bg-subtle outline-offset-2 shadow-card"
    >
      <Thumbnail generation={generation} />
      <span className="sr-only">
        {prompt}
        {source && ', an edit'}
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
        <img
          src={source.thumbnail_url}
          alt=""
          title="The picture that was edited"
          loading="lazy"
          decoding="async"
          className="absolute bottom-2 left-2 size-[28%] rounded-md border-2 border-white bg-white object-cover shadow-card"
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
