import type { Generation } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/session.ts';
import { GenerationActions } from './actions/generation-actions.tsx';
import { EditTree } from './edit-picture/edit-tree.tsx';
import { announceEditEnd } from './edit-picture/history-refresh.ts';
import type { Source } from './edit-picture/source.ts';
import { useGeneration } from './generation-calls.ts';
import { historyOf } from './generation-queries.ts';
import { isUnderWay } from './generation-sentences.ts';
import { useGenerations } from './use-generations.ts';
import { CompareGenerations } from './view/compare-generations.tsx';
import { ExpertWeights } from './view/expert-weights.tsx';
import { GenerationFigures } from './view/generation-figures.tsx';
import { GenerationPicture } from './view/generation-picture.tsx';

/** What the page shows: a generation, and perhaps the one that it is compared with. */
export type ShownResult = {
  /** Null: nothing, also where there is something newer. */
  id: string | null;
  besideId?: string;
};

/** The picture that is to be edited, and the model that is asked for, where there are any. */
type Wanted = { source: Source | null; model: string | undefined };

type Props = {
  generator: GeneratorName;
  /** What was begun here; without it the newest, so that a reload finds it again. */
  shown: ShownResult | null;
  onShow: (shown: ShownResult | null) => void;
  /** What the form is about: the newest stands there only where it was made of that. */
  wanted: Wanted;
  /** Stands there while there is nothing. */
  empty: ReactNode;
  /** Puts all aside for another picture. */
  onStartOver?: (() => void) | undefined;
};

/** The picture that is generated or was generated last, with the experts at work and what can be done with it. */
export function GeneratorResults({ generator, shown, onShow, wanted, empty, onStartOver }: Props) {
  const list = useGenerations(useUser().id, historyOf(generator));
  const all = list.data?.pages[0]?.generations ?? [];
  const [newest] = all;
  // The first one that is not done is followed again after a reload, to its end.
  const underWay = all.find(isUnderWay);
  const [followedId, follow] = useState<string>();
  if (underWay && underWay.id !== followedId) follow(underWay.id);
  const followed = underWay ?? all.find(({ id }) => id === followedId);
  const found = followed ?? (newest && isAbout(newest, wanted) ? newest : undefined);
  const id = shown ? shown.id : found?.id;
  if (shown?.id && shown.besideId) {
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
  return (
    <Result
      key={id}
      id={id}
      known={found}
      isNew={id === shown?.id}
      onShow={onShow}
      onStartOver={onStartOver}
    />
  );
}

/** Whether it has a picture, and this is of what is wanted: made of the same picture, or itself that which is edited next. */
function isAbout({ id, state, source, model }: Generation, wanted: Wanted): boolean {
  if (state !== 'completed') return false;
  if (wanted.model !== undefined && wanted.model !== model) return false;
  if (!wanted.source) return true;
  if ('generationId' in wanted.source)
    return [id, source?.generation_id].includes(wanted.source.generationId);
  return wanted.source.editId === id || ('sameAsId' in wanted.source && wanted.source.sameAsId === id);
}

type ResultProps = {
  id: string;
  known: Generation | undefined;
  /** It was begun here. */
  isNew: boolean;
  onShow: (shown: ShownResult | null) => void;
  onStartOver: (() => void) | undefined;
};

function Result({ id, known, isNew, onShow, onStartOver }: ResultProps) {
  const place = useRef<HTMLElement>(null);
  // On a narrow screen it is below the form.
  useEffect(() => {
    if (isNew && matchMedia('(width < 64rem)').matches) place.current?.scrollIntoView({ behavior: 'smooth' });
  }, [isNew]);
  const query = useGeneration(id, known?.id === id ? known : undefined);
  useAnnouncedEnd(query.data, isNew);
  return (
    <section ref={place} aria-label="Results" className="min-w-0 scroll-mt-18">
      <QueryView
        query={query}
        failed="This generation cannot be shown"
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
              more={onStartOver && <Button onClick={onStartOver}>Start over</Button>}
            />
            <GenerationFigures generation={generation} />
            {generation.expert_weights && generation.expert_weights.length > 0 && (
              <ExpertWeights rows={generation.expert_weights} steps={generation.steps} />
            )}
            {generation.source && <EditTree generation={generation} />}
          </div>
        )}
      </QueryView>
    </section>
  );
}

/** Announces the end of an edit that was begun here or seen under way, once; one that is merely opened has long ended. */
function useAnnouncedEnd(generation: Generation | undefined, isNew: boolean) {
  const isAwaited = useRef(isNew);
  const isEdit = generation !== undefined && editsPictures(generators[generation.generator]);
  const hasEnded = isEdit && generation.ended_at !== null;
  useEffect(() => {
    if (!isEdit) return;
    if (hasEnded && isAwaited.current) announceEditEnd();
    isAwaited.current = !hasEnded;
  }, [isEdit, hasEnded]);
}
