import { useQuery } from '@tanstack/react-query';
import { countOf } from '../../../lib/format/count-of.ts';
import { GoOn } from '../../deployments/chat/go-on.tsx';
import { quoteQuery, useStartDraft } from '../draft-calls.ts';

/** Asks about the chunks that have no answer. */
export function GoOnWithDraft({ draftId, chunks }: { draftId: string; chunks: number }) {
  const quote = useQuery(quoteQuery(draftId, undefined));
  return <GoOn left={countOf(chunks, 'chunk')} quote={quote} start={useStartDraft(draftId)} />;
}
