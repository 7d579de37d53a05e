import type { Draft, DropReason } from '@bakehouse/contract/drafts';
import { countOf } from '../../lib/format/count-of.ts';
import { outcomeText } from '../../lib/format/outcome-text.ts';
import type { LongWork } from '../../ui/long-work.ts';

export const workId = (id: string): string => `draft-${id}`;

export const isRunning = ({ status }: Pick<Draft, 'status'>): boolean =>
  status === 'running' || status === 'cancelling';

/** Returns a title from its documents: 'handbook.pdf and 2 more'. */
export function titleOf({ documents: [first, ...more] }: Pick<Draft, 'documents'>): string {
  if (!first) return 'New draft';
  return more.length === 0 ? first.name : `${first.name} and ${more.length} more`;
}

/** Returns the progress: 'handbook.pdf · chunk 12 of 40 · 31 rows'. */
export function phaseText({ status, current_document, chunks, chunks_done, rows }: Draft): string {
  if (status === 'cancelling') return 'Cancelling';
  const now = Math.min(chunks_done + 1, chunks);
  return [current_document, `chunk ${now} of ${chunks}`, countOf(rows, 'row')].filter(Boolean).join(' · ');
}

export const progressOf = ({ chunks, chunks_done }: Draft): number =>
  chunks === 0 ? 0 : (100 * chunks_done) / chunks;

const reasons: Record<DropReason, (count: number) => string> = {
  duplicate: (count) => `${countOf(count, 'row')} repeated another question`,
  empty: (count) => `${countOf(count, 'row')} had no question or no answer`,
  cut_off: (count) => `${countOf(count, 'row')} did not fit in the answer`,
  unreadable: (count) => `${countOf(count, 'answer')} had no rows`,
};

/** Returns the number of dropped answers by reason; empty if there are none. */
export function droppedText({ dropped }: Pick<Draft, 'dropped'>): string {
  const parts = (Object.entries(dropped) as [DropReason, number][]).map(([reason, count]) =>
    reasons[reason](count),
  );
  return parts.length === 0 ? '' : `Skipped: ${parts.join(', ')}.`;
}

/** Returns the toast at its end; null while it runs. */
export function endOf(draft: Draft): LongWork['end'] {
  const { status, rows, error, cost_so_far: cost } = draft;
  const title = titleOf(draft);
  if (status === 'failed')
    return {
      kind: 'failure',
      title: `Writing rows from ${title} failed`,
      description: outcomeText(error ?? '', cost),
    };
  if (status === 'cancelled')
    return {
      kind: 'info',
      title: `Writing rows from ${title} was cancelled`,
      description: outcomeText('', cost),
    };
  if (status !== 'completed') return null;
  return rows === 0
    ? { kind: 'warning', title: `The model wrote no rows from ${title}`, description: droppedText(draft) }
    : { kind: 'success', title: `${countOf(rows, 'row')} from ${title}`, description: outcomeText('', cost) };
}
