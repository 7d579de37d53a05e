import { saveConversation } from '@bakehouse/contract/conversations';
import { keepVisitorPicture } from '@bakehouse/contract/visitors';
import { call } from '../../../../lib/api/api-client.ts';
import { readAgain } from '../../../../lib/mutation/read-again.ts';
import { notify } from '../../../../ui/notify.ts';
import { initialSettings } from '../../../deployments/chat/chat-options.tsx';
import type { Said, Tries } from './kept-tries.ts';

/** Gives who has just signed in what was tried in this tab: the picture to the gallery, the conversation to the chat. */
export async function giveTries({ picture, chat }: Tries): Promise<void> {
  const kept = await Promise.allSettled([
    picture && call(keepVisitorPicture, { params: { token: picture } }),
    chat && call(saveConversation, { query: { model: chat.model }, body: toConversation(chat.turns) }),
  ]);
  readAgain(['generation'], ['conversation']);
  const [hasPicture, hasChat] = kept.map(({ status }, at) => status === 'fulfilled' && [picture, chat][at]);
  if (hasPicture) notify.success('Your picture is in the gallery');
  else if (hasChat) notify.success('Your conversation is in Deploy Models');
}

/** The first one with this model: of who has another, that stays. */
function toConversation(turns: Said[]) {
  const conversation = { turns, unanswered: '', settings: initialSettings };
  return { version: 0, save_id: crypto.randomUUID(), conversation };
}
