import { saveConversation } from '@bakehouse/contract/conversations';
import { claimVisitorPicture } from '@bakehouse/contract/visitors';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { refetchQueries } from '../../../../lib/mutation/refetch-queries.ts';
import { newUuid } from '../../../../lib/new-id.ts';
import { notify } from '../../../../ui/notify.ts';
import { initialSettings } from '../../../chat/chat-options.tsx';
import { type GuestConversation, readGuestResults, saveGuestResults } from './saved-tries.ts';

const UNDER_WAY_MS = 2_000;

/**
 * Claims this tab's guest results for the user who has just signed in: the conversation for the chat, and the
 * picture, once done, for the gallery. What fails now stays in the tab for the next page load.
 */
export async function claimGuestResults(signal: AbortSignal): Promise<void> {
  const { picture, chat } = readGuestResults() ?? {};
  if (chat) await claimConversation(chat);
  if (picture) await claimPicture(picture, signal);
}

async function claimConversation({ id, model, turns }: GuestConversation): Promise<void> {
  const conversation = { turns, unanswered: '', settings: initialSettings };
  const body = { version: 0, save_id: newUuid(), conversation };
  const of = { query: { model, id } };
  // 409: it exists already.
  const status = await statusOf(call(saveConversation, { ...of, body }));
  if (status !== 200 && status !== 409) return;
  saveGuestResults({ chat: undefined });
  refetchQueries(['conversation']);
  if (status === 200) notify.success('Your conversation is in Chat');
}

async function claimPicture(token: string, signal: AbortSignal): Promise<void> {
  let status = 409;
  while (status === 409 && !signal.aborted) {
    status = await statusOf(call(claimVisitorPicture, { params: { token } }, { signal }));
    if (status === 409) await new Promise((resolve) => setTimeout(resolve, UNDER_WAY_MS));
  }
  if (status !== 200 && status !== 404) return;
  saveGuestResults({ picture: undefined });
  refetchQueries(['generation']);
  if (status === 200) notify.success('Your picture is in the gallery');
}

/** Returns 200, the error's status, or 0 if the server is unreachable. */
async function statusOf(answer: Promise<unknown>): Promise<number> {
  try {
    await answer;
    return 200;
  } catch (error) {
    return error instanceof ApiError ? error.status : 0;
  }
}
