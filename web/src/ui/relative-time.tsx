import { relativeTime } from '../lib/format/format-time.ts';
import { useNow } from '../lib/use-now.ts';

const TICK_MS = 10_000;

type Props = {
  at: string | Date;
  /** Not at the beginning of a sentence. */
  inSentence?: boolean;
};

/** How long ago something was, such as '5 minutes ago', for as long as it is in sight. */
export function RelativeTime({ at, inSentence = false }: Props) {
  const text = relativeTime(new Date(at), useNow(TICK_MS));
  return inSentence ? text.toLowerCase() : text;
}
