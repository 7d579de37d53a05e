import type { Context } from '../../context.ts';
import type { Http } from '../bind.ts';
import { onClose } from '../on-close.ts';
import { untilKeyEnds } from './until-key-ends.ts';

/**
 * Closes the connection of a long answer once the API key that asked for it opens nothing more: its length was
 * stated, so the client sees that it is not whole.
 */
export function breakOffWithKey(ctx: Context, { reply }: Pick<Http, 'reply'>): void {
  const key = untilKeyEnds(ctx);
  key.signal.addEventListener('abort', () => reply.raw.destroy());
  onClose(reply, key.stop);
}
