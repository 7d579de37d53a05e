import { tooMany } from '../../../platform/errors.ts';
import type { ChatPictures } from './chat-pictures.ts';

/** Maximum characters of pictures in memory: of all requests of this process, and of one user. */
const HELD_MAX = { all: 512 * 1024 ** 2, user: 96 * 1024 ** 2 };
const RETRY_AFTER_MS = 5_000;

const held = new Map<string, number>();
let all = 0;

/**
 * Counts pictures that stay in memory until their request ends. Returns a function that stops counting them.
 * Throws AppError 'rate_limited' if the user or this process holds too many.
 */
export function holdPictures(userId: string, pictures: ChatPictures = {}): () => void {
  const characters = Object.values(pictures).reduce((sum, { url }) => sum + url.length, 0);
  const own = (held.get(userId) ?? 0) + characters;
  if (own > HELD_MAX.user || all + characters > HELD_MAX.all)
    throw tooMany('Too many pictures are being read at the moment. Try again shortly', {
      retryAfterMs: RETRY_AFTER_MS,
    });
  held.set(userId, own);
  all += characters;
  return () => {
    all -= characters;
    const left = (held.get(userId) ?? 0) - characters;
    if (left > 0) held.set(userId, left);
    else held.delete(userId);
  };
}
