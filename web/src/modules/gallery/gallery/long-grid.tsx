import type { Generation } from '@bakehouse/contract/generations';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { usePageOffset } from '../../../ui/use-page-offset.ts';
import { GenerationTile, gridClass } from './generation-grid.tsx';

/** Shorter grids are not virtualized. */
const VIRTUAL_FROM = 100;
const GAP_PX = 16;
/** Estimated column width and caption height before they are measured. */
const COLUMN_PX = 200;
const CAPTION_PX = 44;

type Props = {
  generations: readonly Generation[];
  /** Rendered below each picture. */
  caption: (generation: Generation) => ReactNode;
  /** Rendered in the corner of each picture: its checkbox. */
  corner: (generation: Generation) => ReactNode;
};

/** Large pictures with links to their pages. Virtualized: only visible tiles are rendered. */
export function LongGrid({ generations, caption, corner }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const { visible, columns, style, measure } = useTilesInSight(list, generations);
  return (
    <ul ref={list} className={gridClass('large')} style={{ rowGap: GAP_PX, ...style }}>
      {visible.map(({ generation, place }) => (
        <li
          key={generation.id}
          // The first tile determines the height of its row.
          ref={place % columns === 0 ? measure : undefined}
          data-index={Math.floor(place / columns)}
          aria-setsize={generations.length}
          aria-posinset={place + 1}
          className="group relative min-w-0"
        >
          <GenerationTile generation={generation} large />
          {caption(generation)}
          <div className="absolute top-2 left-2 rounded-md bg-surface shadow-card empty:hidden">
            {corner(generation)}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Returns the visible tiles with their index, and the total size of the grid. */
function useTilesInSight(list: RefObject<HTMLElement | null>, generations: readonly Generation[]) {
  const top = usePageOffset(list);
  const { columns, width, template } = useTracks(list);
  const isLong = generations.length >= VIRTUAL_FROM;
  const virtualizer = useWindowVirtualizer({
    count: Math.ceil(generations.length / columns),
    estimateSize: () => width + CAPTION_PX,
    gap: GAP_PX,
    scrollMargin: top,
    overscan: 2,
    enabled: isLong,
  });
  // Row heights change with the columns.
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, template]);
  if (!isLong) return { columns, visible: generations.map((generation, place) => ({ generation, place })) };
  const rows = virtualizer.getVirtualItems();
  const from = (rows[0]?.index ?? 0) * columns;
  const shown = generations.slice(from, from + rows.length * columns);
  return {
    columns,
    visible: shown.map((generation, index) => ({ generation, place: from + index })),
    style: {
      alignContent: 'start',
      height: virtualizer.getTotalSize(),
      paddingTop: (rows[0]?.start ?? top) - top,
    } as const,
    measure: virtualizer.measureElement,
  };
}

/** Returns the number and width of the grid's columns. */
function useTracks(list: RefObject<HTMLElement | null>) {
  const [template, setTemplate] = useState('');
  useLayoutEffect(() => {
    const grid = list.current;
    if (!grid) return;
    const measure = () => setTemplate(getComputedStyle(grid).gridTemplateColumns);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(grid);
    return () => observer.disconnect();
  }, [list]);
  const tracks = template.split(' ');
  return { template, columns: tracks.length, width: Number.parseFloat(template) || COLUMN_PX };
}
