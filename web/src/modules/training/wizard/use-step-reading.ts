import { useIsFetching } from '@tanstack/react-query';
import { useUser } from '../../accounts/session.ts';
import { choiceQuery } from '../../assets/choice/choices.ts';
import type { WizardState } from './wizard-state.ts';

type Chosen = Pick<WizardState, 'step' | 'type' | 'baseModelId' | 'datasetId' | 'fileName'>;

/** Whether what this step chooses for the person is still read: the only base model, and the columns that the file offers. */
export function useStepReading({ step, type, baseModelId, datasetId, fileName }: Chosen): boolean {
  const models = useIsFetching({
    queryKey: choiceQuery(useUser().id, 'MODEL').queryKey,
    exact: true,
    // Not where they are only read again.
    predicate: ({ state }) => state.data === undefined || state.fetchMeta?.fetchMore !== undefined,
  });
  const files = useIsFetching({
    queryKey: ['asset', 'preview', { assetId: datasetId, path: fileName }],
    // A refetch in the background changes no choice: the button would ignore a click for nothing.
    predicate: ({ state }) => state.data === undefined,
  });
  if (step === 'selection') return type === 'finetune' && baseModelId === null && models > 0;
  return step === 'parameters' && files > 0;
}
