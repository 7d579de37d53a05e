import { useIsFetching } from '@tanstack/react-query';
import { useUser } from '../../accounts/session.ts';
import { choiceQuery } from '../../datasets/choice/choices.ts';
import type { WizardState } from './wizard-state.ts';

type Chosen = Pick<WizardState, 'step' | 'type' | 'baseModelId' | 'datasetId' | 'fileName'>;

/** Returns true while the data for the step's suggestions loads: base models, or the file's columns. */
export function useStepLoading({ step, type, baseModelId, datasetId, fileName }: Chosen): boolean {
  const models = useIsFetching({
    queryKey: choiceQuery(useUser().id, 'MODEL').queryKey,
    exact: true,
    // Ignore refetches.
    predicate: ({ state }) => state.data === undefined || state.fetchMeta?.fetchMore !== undefined,
  });
  const files = useIsFetching({
    queryKey: ['asset', 'preview', { assetId: datasetId, path: fileName }],
    // Ignore refetches, which don't change suggestions.
    predicate: ({ state }) => state.data === undefined,
  });
  if (step === 'selection') return type === 'finetune' && baseModelId === null && models > 0;
  return step === 'parameters' && files > 0;
}
