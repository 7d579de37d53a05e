import {
  askAsVisitor,
  getVisitorPicture,
  getVisitorTries,
  startVisitorPicture,
  VISITOR_TURNS_MAX,
  type VisitorPicture,
} from '@bakehouse/contract/visitors';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, callRaw } from '../../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../../lib/api/endpoint-query.ts';
import { useMutation } from '../../../../lib/mutation/use-mutation.ts';
import { newUuid } from '../../../../lib/new-id.ts';
import { streamAnswer } from '../../../chat/chat.ts';
import { readGuestResults, type Said, saveGuestResults } from './saved-tries.ts';

const PREPARING_POLL_MS = 5_000;
const PICTURE_POLL_MS = 400;

/** Reads which starters visitors can try; polls while one is being prepared. */
export function useGuestStarters() {
  return useQuery({
    ...endpointQuery(['visitor', 'tries'], getVisitorTries),
    refetchInterval: ({ state: { data } }) =>
      [data?.picture, data?.chat].includes('preparing') ? PREPARING_POLL_MS : false,
  });
}

const hasEnded = ({ state }: VisitorPicture) => ['completed', 'failed', 'cancelled'].includes(state);

/** Generates a picture without an account and follows it; starts with the one stored in this tab. */
export function useVisitorPicture() {
  const [kept] = useState(() => readGuestResults()?.picture);
  const start = useMutation({
    mutationFn: (prompt: string) => call(startVisitorPicture, { body: { prompt } }),
    onSuccess: ({ token }) => saveGuestResults({ picture: token }),
    meta: { inPlace: true },
  });
  const begun = start.data;
  const token = begun?.token ?? kept;
  const followed = useQuery({
    ...endpointQuery(['visitor', 'picture', token], getVisitorPicture, {
      params: { token: token ?? '' },
    }),
    enabled: token !== undefined,
    refetchInterval: ({ state: { data, error } }) =>
      (data && hasEnded(data)) || (error && !begun) ? false : PICTURE_POLL_MS,
  });
  const picture = followed.data ?? begun;
  return {
    generate: start.mutate,
    picture,
    isBusy: start.isPending || (picture !== undefined && !hasEnded(picture) && !followed.isError),
    // A stored picture may have been deleted.
    error: start.error ?? (begun ? followed.error : null),
  };
}

/** A conversation with the starter model without an account; starts with the one stored in this tab. */
export function useVisitorChat(model: string | undefined) {
  const [{ id, turns: kept }] = useState(() => readGuestResults()?.chat ?? { id: newUuid(), turns: [] });
  const [said, setSaid] = useState<Said[]>(kept);
  const answer = useMutation({
    mutationFn: async (question: string) => {
      const before = said.filter(({ content }) => content !== '').slice(-VISITOR_TURNS_MAX);
      const asked = [...said, { role: 'user' as const, content: question }];
      let text = '';
      const show = () => setSaid([...asked, { role: 'assistant', content: text }]);
      show();
      const body = { question, turns: before };
      const onText = (piece: string) => {
        text += piece;
        show();
      };
      try {
        await streamAnswer(
          (options) => callRaw(askAsVisitor, { body }, options),
          { onText },
          AbortSignal.timeout(10 * 60_000),
        );
      } catch (error) {
        setSaid(said);
        throw error;
      }
      const turns = [...asked, { role: 'assistant' as const, content: text }];
      if (model) saveGuestResults({ chat: { id, model, turns } });
    },
    meta: { inPlace: true },
  });
  return { said, ask: answer.mutate, isAnswering: answer.isPending, error: answer.error };
}
