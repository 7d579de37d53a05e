import { countOf } from '../../../lib/format/count-of.ts';

/** Returns when a future deployment sleeps. Null: never. */
export function sleepSentence(minutes: number | null): string {
  return minutes === null
    ? 'It never sleeps: you pay until you terminate it.'
    : `After ${countOf(minutes, 'minute')} without a request it sleeps and costs nothing; the next request wakes it.`;
}

/** Returns the same as a note on the time of the last request. */
export function sleepNote(minutes: number | null): string {
  return minutes === null ? 'Never sleeps' : `Sleeps after ${countOf(minutes, 'minute')} without a request`;
}
