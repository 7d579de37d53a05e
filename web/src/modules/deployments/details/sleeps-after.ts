import { countOf } from '../../../lib/format/count-of.ts';

/** When a deployment sleeps, said of one that is to be made. Null: never. */
export function sleepSentence(minutes: number | null): string {
  return minutes === null
    ? 'It never sleeps: you pay until you terminate it.'
    : `After ${countOf(minutes, 'minute')} without a request it sleeps and costs nothing; the next request wakes it.`;
}

/** The same beside the time of the last request. */
export function sleepNote(minutes: number | null): string {
  return minutes === null ? 'It never sleeps' : `It sleeps after ${countOf(minutes, 'minute')} without one`;
}
