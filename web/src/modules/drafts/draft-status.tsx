import type { Draft } from '@bakehouse/contract/drafts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { isRunning } from './draft-sentences.ts';

/** The status of a draft; "saved" once all its rows are in a dataset. */
export function DraftStatus({ draft }: { draft: Draft }) {
  const isSaved = draft.rows > 0 && draft.rows === draft.rows_saved && !isRunning(draft);
  return <StatusBadge status={isSaved ? 'saved' : draft.status} moving={isRunning(draft)} />;
}
