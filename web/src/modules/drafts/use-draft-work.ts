import { useOwnWork } from '../../lib/live/own-work.ts';
import type { LongWork } from '../../ui/long-work.ts';
import { useCancelDraft } from './draft-calls.ts';
import { endOf, phaseText, progressOf, titleOf, workId } from './draft-sentences.ts';

/** Started drafts as long work. */
export function useDraftWork(): LongWork[] {
  const cancel = useCancelDraft();
  return (useOwnWork('drafts') ?? []).map((draft) => ({
    id: workId(draft.draft_id),
    title: titleOf(draft),
    phase: phaseText(draft),
    progress: progressOf(draft),
    link: { to: '/drafts/$id', params: { id: draft.draft_id } },
    cancel: { run: () => cancel.mutate(draft.draft_id) },
    end: endOf(draft),
  }));
}
