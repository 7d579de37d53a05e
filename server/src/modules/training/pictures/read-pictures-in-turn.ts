import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { readingLimits } from '../readings/limits.ts';
import { type ReadPictures, readPictures } from './read-pictures.ts';

const line = fairQueue(readingLimits.shortAtOnce, { perKey: 1 });

/** Limits concurrent picture reads to one per user, served round-robin. */
export const readPicturesInTurn: ReadPictures = (ctx, input, signal) =>
  line.run(ctx.caller.userId, () => readPictures(ctx, input, signal), signal);
