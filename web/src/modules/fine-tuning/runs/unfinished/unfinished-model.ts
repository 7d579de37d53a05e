import type { Run } from '@bakehouse/contract/runs';

/** Returns the text for a model that has no files yet. */
export function unfinishedText({
  state,
  reason,
  resume_hold,
}: Pick<Run, 'state' | 'reason' | 'resume_hold'>): {
  title: string;
  description: string;
} {
  const rest =
    resume_hold === null
      ? 'It can no longer be resumed. You can delete the model.'
      : 'Resume the run to continue, or delete the model.';
  switch (state) {
    case 'cancelled':
      return {
        title: 'This model was not finished',
        description: `Its run was cancelled before it produced any files. ${rest}`,
      };
    case 'failed':
      return {
        title: 'This model was not finished',
        description: `Its run failed before it produced any files: ${reason} ${rest}`,
      };
    default:
      return {
        title: 'Still in training',
        description: 'The model and its card appear here when the run has finished.',
      };
  }
}
