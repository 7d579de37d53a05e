import { type GeneratorName, makesVideos } from '@bakehouse/contract/generators';
import {
  acceptsMask,
  acceptsPicture,
  editsPictures,
  type Generator,
} from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useState } from 'react';
import type { Source } from '../gallery/edit-picture/source.ts';
import { useStartGeneration } from '../gallery/generation-calls.ts';
import { useRecentGenerations } from '../gallery/generation-queries.ts';
import { alreadyGeneratingMessage, isUnderWay } from '../gallery/generation-sentences.ts';
import type { ShownResult } from '../gallery/generator-results.tsx';
import { requestParameters } from './form/form-values.ts';
import type { NamedProvider } from './form/providers.ts';
import type { Draft } from './form/use-draft.ts';
import { useGenerationQuote } from './generation-price.tsx';

const video = { product: 'Video Generation' };
const editing = { product: 'Image Editing', prefix: 'Image editing failed: ' };

/** The source of an edit that has not started, with the error if it failed. */
export type PendingEdit = { source: Source; uploaded: number | null; error: Error | null };

type Asked = {
  /** The provider's form, and the provider if one is named. */
  serving: { form: Generator; named: NamedProvider };
  draft: Draft;
  userId: string | undefined;
  /** True if it can be requested and so has a price. */
  isServed: boolean;
};

/**
 * Generates on a generator's page, one at a time, and shows the latest. `onStarted` receives the source and
 * the new id.
 */
export function useGenerate(
  name: GeneratorName,
  { serving, draft, userId, isServed }: Asked,
  onStarted: (source: Source | null, id: string) => void,
) {
  const { form, named } = serving;
  const [shown, show] = useState<ShownResult | null>(null);
  const [refused, setRefused] = useState(false);
  const [uploaded, setUploaded] = useState<number | null>(null);
  const edits = editsPictures(generators[name]);
  const start = useStartGeneration(edits ? editing : makesVideos(name) ? video : undefined);
  const quote = useGenerationQuote({ name, form, values: draft.values, named }, isServed);
  const underWay = useRecentGenerations(userId).find((one) => one.generator === name && isUnderWay(one));
  const asked = edits && (start.isPending || start.isError) ? start.variables.source : undefined;
  const awaited: PendingEdit | null = asked ? { source: asked, uploaded, error: start.error } : null;
  return {
    shown,
    show,
    quote,
    awaited,
    isStarting: start.isPending,
    refusal: refused && underWay ? alreadyGeneratingMessage(name) : null,
    start: () => {
      setRefused(underWay !== undefined);
      // Shows the generation in progress, which has a Cancel button.
      if (underWay) return show({ id: underWay.id });
      if (start.isPending) return;
      const { prompt, values, source, mask } = draft;
      setUploaded(null);
      start.mutate(
        {
          generator: name,
          prompt,
          parameters: requestParameters(form, values),
          ...named,
          shownCost: quote.shownCost,
          ...(source &&
            acceptsPicture(form) && { source, mask, takesMask: acceptsMask(form), onUpload: setUploaded }),
        },
        {
          onSuccess: ({ id }) => {
            show({ id });
            onStarted(source, id);
          },
        },
      );
    },
    /** Clears the result and its error. */
    reset: () => {
      start.reset();
      setRefused(false);
      show({ id: null });
    },
  };
}
