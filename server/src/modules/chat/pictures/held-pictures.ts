import { CHAT_BYTES_MAX } from '@bakehouse/contract/chat';
import { tooMany } from '../../../platform/errors.ts';

/**
 * Maximum characters of pictures in memory: of all requests of this process, and of one user. A request holds
 * its pictures in its body and as they are sent to the model server.
 */
const HELD_MAX = { all: 128 * 1024 ** 2, user: 48 * 1024 ** 2 };
const RETRY_AFTER_MS = 5_000;

const held = new Map<string, number>();
let all = 0;

export type PictureRoom = {
  /** Changes the reserved characters. Throws AppError 'rate_limited' if the user or this process has too many. */
  take: (characters: number) => void;
  /** Call when the request ends. */
  leave: () => void;
};

/** Returns a room for a request's pictures, empty at first. */
export function pictureRoom(userId: string): PictureRoom {
  let own = 0;
  const take = (characters: number) => {
    const more = characters - own;
    const ofUser = (held.get(userId) ?? 0) + more;
    if (more > 0 && (ofUser > HELD_MAX.user || all + more > HELD_MAX.all))
      throw tooMany('Too many pictures are being read at the moment. Try again shortly', {
        retryAfterMs: RETRY_AFTER_MS,
      });
    own = characters;
    all += more;
    if (ofUser > 0) held.set(userId, ofUser);
    else held.delete(userId);
  };
  return { take, leave: () => take(0) };
}

/**
 * Reserves room for a body, before it is read, if its size shows that it has pictures. Returns a function that
 * releases it. Throws AppError 'rate_limited'.
 */
export function holdBody(userId: string, bytes: number): () => void {
  const room = pictureRoom(userId);
  if (bytes > CHAT_BYTES_MAX) room.take(bytes);
  return room.leave;
}
