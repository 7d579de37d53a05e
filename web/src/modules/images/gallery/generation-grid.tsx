import type { Generation } from '@bakehouse/contract/generations';
import { Link } from '@tanstack/react-router';
import { Ban, CircleAlert, ImageIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';

const grids = {
  small: 'grid-cols-3 sm:grid-cols-5 lg:grid-cols-10 gap-2',
  large: 'grid-cols-2 sm:grid-cols-3 lg:grid-cols-4 xl:grid-cols-5 gap-4',
};

type Props = {
  generations: readonly Generation[];
  size?: keyof typeof grids;
  /** Under each picture. */
  caption?: (generation: Generation) => ReactNode;
  /** In the corner of each picture: a box to choose it by. */
  corner?: (generation: Generation) => ReactNode;
};

/** Pictures, each with a link to all that is known of it. Of the large ones, which may be many, what is out of sight costs nothing. */
export function GenerationGrid({ generations, size = 'large', caption, corner }: Props) {
  return (
    <ul className={cx('grid', grids[size])}>
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
  const { id, prompt, state } = generation;
  return (
    <Link
      to="/gallery/$id"
      params={{ id }}
      title={prompt}
      className="relative block aspect-square overflow-hidden rounded-lg bg-subtle outline-offset-2 shadow-card"
    >
      <Content generation={generation} />
      <span className="sr-only">
        {prompt}
        {state !== 'completed' && `, ${state}`}
      </span>
      {large && state !== 'completed' && (
        <span aria-hidden className="absolute right-2 bottom-2">
          <StatusBadge status={state} moving={state === 'running' || undefined} />
        </span>
      )}
    </Link>
  );
}

const iconClass = 'absolute inset-0 m-auto size-5 text-faint';

function Content({ generation: { outputs, preview, state } }: { generation: Generation }) {
  const [output] = outputs;
  const src = output?.url ?? preview;
  if (src) {
    return (
      <img
        src={src}
        alt=""
        loading="lazy"
        decoding="async"
        className="size-full object-cover transition-opacity group-hover:opacity-90"
      />
    );
  }
  if (state === 'failed') return <CircleAlert aria-hidden className={iconClass} />;
  if (state === 'cancelled') return <Ban aria-hidden className={iconClass} />;
  return <ImageIcon aria-hidden className={cx(iconClass, 'animate-[shimmer_1.6s_ease-in-out_infinite]')} />;
}
