import { type GeneratorName, makesVideos } from '@bakehouse/contract/generators';
import { Link } from '@tanstack/react-router';
import { Card } from '../../../ui/card.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { useUser } from '../../accounts/session.ts';
import { useHistoryRefresh } from '../edit-picture/history-refresh.ts';
import type { Source } from '../edit-picture/source.ts';
import { SourceImage } from '../edit-picture/source-image.tsx';
import { historyOf } from '../generation-queries.ts';
import { useGenerations } from '../use-generations.ts';
import { GenerationGrid, PendingGrid } from './generation-grid.tsx';

const SHOWN_MAX = 20;
const VEO_SHOWN_MAX = 100;

/** Displayed size of an edit until the real one is known. */
const PLACEHOLDER_MB = 2.5;

type Props = {
  generator: GeneratorName;
  /** A source being uploaded; shown as a placeholder until its edit starts or fails. */
  awaited?: Source | null;
};

/** The user's latest pictures or videos of one generator: at most 20, or 100 of Veo. */
export function PictureHistory({ generator, awaited = null }: Props) {
  const list = useGenerations(useUser().id, historyOf(generator));
  const isVideo = makesVideos(generator);
  const shownMax = generator === 'veo' ? VEO_SHOWN_MAX : SHOWN_MAX;
  useHistoryRefresh(() => void list.refetch());
  return (
    <Card
      title={isVideo ? 'Recent videos' : 'Recent pictures'}
      className="mt-10"
      actions={
        <Link to="/gallery" className="rounded text-compact text-muted hover:text-ink hover:underline">
          All generations
        </Link>
      }
    >
      <QueryView
        query={list}
        failed={isVideo ? 'Failed to fetch video history' : 'Your pictures could not be loaded'}
        pending={<PendingGrid tiles={10} size="small" />}
        isEmpty={({ pages }) => pages[0]?.generations.length === 0 && !awaited}
        empty={<p className="text-muted">What you generate appears here.</p>}
        compact
      >
        {({ pages }) => (
          <GenerationGrid
            first={awaited && <Placeholder source={awaited} />}
            generations={pages.flatMap((page) => page.generations).slice(0, shownMax)}
            withTimes={isVideo}
          />
        )}
      </QueryView>
    </Card>
  );
}

function Placeholder({ source }: { source: Source }) {
  return (
    <div
      role="img"
      aria-label="An edit, processing"
      title={`Processing, about ${PLACEHOLDER_MB} MB`}
      className="relative aspect-square overflow-hidden rounded-lg bg-subtle shadow-card"
    >
      <SourceImage
        source={source}
        className="size-full animate-[shimmer_1.6s_ease-in-out_infinite] object-cover opacity-60"
      />
      <span className="absolute inset-x-0 bottom-0 truncate bg-surface/90 px-1.5 py-0.5 text-center text-xs">
        Processing
      </span>
    </div>
  );
}
