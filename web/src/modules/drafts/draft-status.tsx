import type { Draft } from '@bakehouse/contract/drafts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { isRunning } from './draft-sentences.ts';

/** The state of a draft by its word; one whose rows are all in a dataset is saved. */
export function DraftStatus({ draft }: { draft: Draft }) {
  const isSaved = draft.rows > 0 && draft.rows === draft.rows_saved && !isRunning(draft);
  return <StatusBadge status={isSaved ? 'saved' : draft.status} moving={isRunning(draft)} />;
}
