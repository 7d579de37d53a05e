import type { AssetSummary } from '@bakehouse/contract/assets';
import type { Run } from '@bakehouse/contract/training';

/** The run that an empty model waits for, or has waited for in vain; undefined for every other model. */
export function runOfModel(
  model: Pick<AssetSummary, 'dataset_id' | 'file_count'>,
  runs: readonly Run[] | undefined,
): Run | undefined {
  return model.file_count > 0 ? undefined : runs?.find((run) => run.model_id === model.dataset_id);
}

/** What to say where the model would be. */
export function unfinishedText({ state, reason }: Pick<Run, 'state' | 'reason'>): {
  title: string;
  description: string;
} {
  const rest = 'Resume the run to continue, or delete the model.';
  switch (state) {
    case 'cancelled':
      return {
        title: 'This model was not finished',
        description: `Its run was cancelled before it had made any files. ${rest}`,
      };
    case 'failed':
      return {
        title: 'This model was not finished',
        description: `Its run failed before it had made any files: ${reason} ${rest}`,
      };
    default:
      return {
        title: 'Still in training',
        description: 'The model and its card appear here when the run has finished.',
      };
  }
}
