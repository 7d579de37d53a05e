import { useIsFetching } from '@tanstack/react-query';
import { useUser } from '../../accounts/session.ts';
import { choiceQuery } from '../../datasets/choice/choices.ts';
import type { WizardState } from './wizard-state.ts';

type Chosen = Pick<WizardState, 'step' | 'type' | 'baseModelId' | 'datasetId' | 'fileName'>;

/** Returns true while the step's suggestions are loading: the only base model, and the file's columns. */
export function useStepLoading({ step, type, baseModelId, datasetId, fileName }: Chosen): boolean {
  const models = useIsFetching({
    queryKey: choiceQuery(useUser().id, 'MODEL').queryKey,
    exact: true,
    // First loads only, not refetches.
    predicate: ({ state }) => state.data === undefined || state.fetchMeta?.fetchMore !== undefined,
  });
  const files = useIsFetching({
    queryKey: ['asset', 'preview', { assetId: datasetId, path: fileName }],
    // A refetch changes no choice, so the button needn't wait for it.
    predicate: ({ state }) => state.data === undefined,
  });
  if (step === 'selection') return type === 'finetune' && baseModelId === null && models > 0;
  return step === 'parameters' && files > 0;
}
