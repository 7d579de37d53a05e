import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { countTokens as contract } from '@bakehouse/contract/messages';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import type { ChatParts } from '../chat-parts.ts';
import { countPrompt } from '../count-prompt.ts';
import { ignoredWarning } from '../warnings.ts';
import { checkVersion } from './check-version.ts';
import { type Places, renameMessageField } from './rename-message-field.ts';
import { toChat } from './to-chat.ts';

/** Counts the prompt tokens of a message. */
export async function countTokens(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof contract>,
  http: Http,
): Promise<ResponseOf<typeof contract>> {
  checkVersion(http);
  let places: Places | null = null;
  const read = () => {
    const chat = toChat(asked);
    places = chat;
    return { body: chat.body, warnings: [...ignoredWarning(contract.body, asked), ...chat.warnings] };
  };
  const tokens = await countPrompt(ctx, parts, { model: asked.model, read }, http).catch((error: unknown) => {
    throw renameMessageField(error, places);
  });
  return { input_tokens: tokens };
}
