import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Images } from 'lucide-react';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { useUser } from '../../accounts/session.ts';
import { recentGenerationsQuery } from '../generation-queries.ts';
import { GenerationGrid, PendingGrid } from './generation-grid.tsx';

/** Maximum number, in one row if there is room. */
const SHOWN_MAX = 10;

/** The latest generations of all generators. */
export function RecentGenerations({ title }: { title: string }) {
  const list = useInfiniteQuery(recentGenerationsQuery(useUser().id));
  return (
    <Card
      title={title}
      actions={
        <Link to="/gallery" className="rounded text-compact text-muted hover:text-ink hover:underline">
          All generations
        </Link>
      }
    >
      <QueryView
        query={list}
        failed="Your generations could not be loaded"
        pending={<PendingGrid tiles={SHOWN_MAX} size="small" />}
        isEmpty={({ pages }) => pages[0]?.generations.length === 0}
        empty={
          <EmptyState
            icon={<Images aria-hidden />}
            title="No generations yet"
            description="Your pictures and videos appear here."
            compact
          />
        }
        compact
      >
        {({ pages }) => (
          <GenerationGrid generations={pages.flatMap((page) => page.generations).slice(0, SHOWN_MAX)} />
        )}
      </QueryView>
    </Card>
  );
}
