import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { readingLimits } from '../readings/limits.ts';
import { type ReadPictures, readPictures } from './read-pictures.ts';

const line = fairQueue(readingLimits.shortAtOnce, { perKey: 1 });

/** Reads pictures, of few datasets at once: of each user one, and the users take turns. */
export const readPicturesInTurn: ReadPictures = (ctx, input, signal) =>
  line.run(ctx.caller.userId, () => readPictures(ctx, input, signal), signal);
