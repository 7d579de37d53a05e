import { useQuery } from '@tanstack/react-query';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import type { LongWork } from '../../ui/long-work.ts';
import { draftsQuery, useCancelDraft } from './draft-calls.ts';
import { endOf, phaseText, progressOf, titleOf, workId } from './draft-sentences.ts';

const POLL_MS = 10_000;

/** Started drafts as long work. */
export function useDraftWork(): LongWork[] {
  const cancel = useCancelDraft();
  const { data } = useQuery({ ...draftsQuery, refetchInterval: useFallbackInterval(POLL_MS) });
  const started = data?.drafts.filter(({ status }) => status !== 'open') ?? [];
  return started.map((draft) => ({
    id: workId(draft.draft_id),
    title: titleOf(draft),
    phase: phaseText(draft),
    progress: progressOf(draft),
    link: { to: '/drafts/$id', params: { id: draft.draft_id } },
    cancel: { run: () => cancel.mutate(draft.draft_id) },
    end: endOf(draft),
  }));
}
