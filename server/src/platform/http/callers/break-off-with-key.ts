import type { Context } from '../../context.ts';
import type { Http } from '../bind.ts';
import { onClose } from '../on-close.ts';
import { untilKeyEnds } from './until-key-ends.ts';

/**
 * Closes the connection of a long response once its API key ends. The response has stated its length, so the
 * client sees that it is incomplete.
 */
export function breakOffWithKey(ctx: Context, { reply }: Pick<Http, 'reply'>): void {
  const key = untilKeyEnds(ctx);
  key.signal.addEventListener('abort', () => reply.raw.destroy());
  onClose(reply, key.stop);
}
