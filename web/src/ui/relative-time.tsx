import { relativeTime } from '../lib/format/format-time.ts';
import { useNow } from '../lib/use-now.ts';

const TICK_MS = 10_000;

type Props = {
  at: string | Date;
  /** Lowercase, for use inside a sentence. */
  inSentence?: boolean;
};

/** A relative time that updates, such as '5 minutes ago'. */
export function RelativeTime({ at, inSentence = false }: Props) {
  const text = relativeTime(new Date(at), useNow(TICK_MS));
  return inSentence ? text.toLowerCase() : text;
}
