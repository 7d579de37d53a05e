import type { Generation } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
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

/** The displayed generation, and optionally one to compare it with. */
export type ShownResult = {
  /** Null shows nothing, even if there is a newer one. */
  id: string | null;
  comparedId?: string;
};

/** The picture to edit and the requested model, if any. */
type Wanted = { source: Source | null; model: string | undefined };

type Props = {
  generator: GeneratorName;
  /** The generation started here. If null, shows the latest, which also restores it after a reload. */
  shown: ShownResult | null;
  onShow: (shown: ShownResult | null) => void;
  /** The form's inputs: the latest generation is shown only if it was made from them. */
  wanted: Wanted;
  /** Shown if there is no result. */
  empty: ReactNode;
  /** Clears the page for another picture. */
  onStartOver?: (() => void) | undefined;
};

/** The current or latest picture of a generator, with its experts and actions. */
export function GeneratorResults({ generator, shown, onShow, wanted, empty, onStartOver }: Props) {
  const list = useGenerations(useUser().id, historyOf(generator));
  const all = list.data?.pages[0]?.generations ?? [];
  const [newest] = all;
  // After a reload, follows the first unfinished generation to its end.
  const underWay = all.find(isUnderWay);
  const [followedId, follow] = useState<string>();
  if (underWay && underWay.id !== followedId) follow(underWay.id);
  const followed = underWay ?? all.find(({ id }) => id === followedId);
  const found = followed ?? (newest && isAbout(newest, wanted) ? newest : undefined);
  const id = shown ? shown.id : found?.id;
  if (shown?.id && shown.comparedId) {
    return (
      <Card
        title="Side by side"
        actions={
          <Button size="sm" onClick={() => onShow({ id: shown.id })}>
            Close
          </Button>
        }
      >
        <CompareGenerations ids={[shown.comparedId, shown.id]} />
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

/** Returns true if it has a picture that was made from the wanted source, or is that source. */
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
  /** It was started here. */
  isNew: boolean;
  onShow: (shown: ShownResult | null) => void;
  onStartOver: (() => void) | undefined;
};

function Result({ id, known, isNew, onShow, onStartOver }: ResultProps) {
  const place = useRef<HTMLElement>(null);
  // On a narrow screen the result is below the form.
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
            <Skeleton className="aspect-square max-h-128 w-full rounded-xl" />
          </LoadingRegion>
        }
      >
        {(generation) => (
          <div className="grid gap-5">
            <GenerationPicture generation={generation} />
            <GenerationActions
              generation={generation}
              onDeleted={() => onShow(null)}
              onRunAgain={(started) => onShow({ id: started.id, comparedId: id })}
              more={onStartOver && <Button onClick={onStartOver}>Start over</Button>}
            />
            <GenerationFigures generation={generation} />
            {generation.expert_weights && generation.expert_weights.length > 0 && (
              <Disclosure title="How it was drawn">
                <ExpertWeights rows={generation.expert_weights} steps={generation.steps} />
              </Disclosure>
            )}
            {generation.source && <EditTree generation={generation} />}
          </div>
        )}
      </QueryView>
    </section>
  );
}

/** Announces the end of an edit once, if it was started here or seen unfinished. */
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
