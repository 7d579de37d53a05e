import type { GeneratorName } from '@bakehouse/contract/generators';
import { Link } from '@tanstack/react-router';
import { Card } from '../../../ui/card.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { useUser } from '../../accounts/api.ts';
import { useGenerations } from '../api.ts';
import { GenerationGrid, PendingGrid } from './generation-grid.tsx';

const SHOWN_MAX = 20;

/** The user's last pictures by one generator, 20 at most. */
export function PictureHistory({ generator }: { generator: GeneratorName }) {
  const list = useGenerations(useUser().id, { generator });
  return (
    <Card
      title="Your last pictures"
      className="mt-10"
      actions={
        <Link to="/gallery" className="rounded text-[0.8125rem] text-muted hover:text-ink hover:underline">
          All generations
        </Link>
      }
    >
      <QueryView
        query={list}
        failed="Your pictures could not be loaded"
        pending={<PendingGrid tiles={10} size="small" />}
        isEmpty={({ pages }) => pages[0]?.generations.length === 0}
        empty={
          <p className="text-muted">Everything you generate here is kept, with its settings and cost.</p>
        }
        compact
      >
        {({ pages }) => (
          <GenerationGrid
            size="small"
            generations={pages.flatMap((page) => page.generations).slice(0, SHOWN_MAX)}
          />
        )}
      </QueryView>
    </Card>
  );
}
