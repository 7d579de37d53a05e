import { countOf } from '../../../lib/format/count-of.ts';

/** Returns a sentence on when a new deployment will sleep; null minutes: never. */
export function sleepSentence(minutes: number | null): string {
  return minutes === null
    ? 'It never sleeps: you pay until you terminate it.'
    : `After ${countOf(minutes, 'minute')} without a request it sleeps and costs nothing; the next request wakes it.`;
}

/** Returns the short form, shown next to the time of the last request. */
export function sleepNote(minutes: number | null): string {
  return minutes === null ? 'Never sleeps' : `Sleeps after ${countOf(minutes, 'minute')} without a request`;
}
