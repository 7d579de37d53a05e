import type { Machine } from '@bakehouse/contract/machine';

type Preparation = Machine['preparations'][number];

/** The banner's one line for the preparations that are not ready; null when there are none. */
export function summarisePreparations(
  open: readonly Preparation[],
): { failed: boolean; title: string; text: string } | null {
  const failed = open.filter(({ state }) => state === 'failed');
  if (failed.length > 0) {
    return {
      failed: true,
      title: 'Part of this machine could not be prepared:',
      text: failed.map(({ label }) => label).join(', '),
    };
  }
  const running = open.find(({ state }) => state === 'running');
  const current = running ?? open[0];
  if (!current) return null;
  const percent =
    typeof current.progress === 'number' && running ? ` ${Math.floor(current.progress * 100)}%` : '';
  const later = open.length > 1 ? `, then ${open.length - 1} more` : '';
  return { failed: false, title: 'Preparing this machine:', text: `${current.label}${percent}${later}` };
}
