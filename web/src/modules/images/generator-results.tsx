import type { Generation } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/api.ts';
import { GenerationActions } from './actions/generation-actions.tsx';
import { useGeneration, useGenerations } from './generation-calls.ts';
import { isUnderWay } from './generation-sentences.ts';
import { CompareGenerations } from './view/compare-generations.tsx';
import { ExpertWeights } from './view/expert-weights.tsx';
import { GenerationFigures } from './view/generation-figures.tsx';
import { GenerationPicture } from './view/generation-picture.tsx';

/** What the page shows: a generation, and perhaps the one that it is compared with. */
export type Shown = { id: string; besideId?: string };

type Props = {
  generator: GeneratorName;
  /** What was begun here; without it the newest, so that a reload finds it again. */
  shown: Shown | null;
  onShow: (shown: Shown | null) => void;
  /** Stands there while there is nothing. */
  empty: ReactNode;
};

/** The picture that is drawn or was drawn last, with the experts at work and what can be done with it. */
export function GeneratorResults({ generator, shown, onShow, empty }: Props) {
  const list = useGenerations(useUser().id, { generator });
  const newest = list.data?.pages[0]?.generations[0];
  const found = newest && (isUnderWay(newest) || newest.state === 'completed') ? newest : undefined;
  const id = shown?.id ?? found?.id;
  if (shown?.besideId) {
    return (
      <Card
        title="Side by side"
        actions={
          <Button size="sm" onClick={() => onShow({ id: shown.id })}>
            Close
          </Button>
        }
      >
        <CompareGenerations ids={[shown.besideId, shown.id]} />
      </Card>
    );
  }
  if (!id) return empty;
  return <Result key={id} id={id} known={found} onShow={onShow} />;
}

type ResultProps = { id: string; known: Generation | undefined; onShow: (shown: Shown | null) => void };

function Result({ id, known, onShow }: ResultProps) {
  const query = useGeneration(id, known?.id === id ? known : undefined);
  return (
    <section aria-label="Results" className="min-w-0">
      <QueryView
        query={query}
        failed="This picture cannot be shown"
        pending={
          <LoadingRegion>
            <Skeleton className="aspect-square max-h-[32rem] w-full rounded-xl" />
          </LoadingRegion>
        }
      >
        {(generation) => (
          <div className="grid gap-5">
            <GenerationPicture generation={generation} />
            <GenerationActions
              generation={generation}
              onDeleted={() => onShow(null)}
              onRunAgain={(started) => onShow({ id: started.id, besideId: id })}
            />
            <GenerationFigures generation={generation} />
            {generation.expert_weights && generation.expert_weights.length > 0 && (
              <ExpertWeights rows={generation.expert_weights} steps={generation.steps} />
            )}
          </div>
        )}
      </QueryView>
    </section>
  );
}
