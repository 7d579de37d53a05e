import type { Generator } from '@bakehouse/contract/generators/generator';
import { formatNumber } from '../../../lib/format/format-number.ts';

/** The starter models read 32 tokens, which is roughly this many words. */
const WORDS_READ = 20;

/** Returns how the starter uses a picture: as source of an edit or first frame of a video. */
export function sourceNote({ edits }: { edits: boolean }): string {
  const how = edits ? 'Edited as a 128-pixel' : 'Used as a 64-pixel';
  return `${how} square, cropped around its middle.`;
}

/** Returns the help below a prompt for a starter model, which rejects long prompts. */
function shortPromptHelp(prompt: string): string {
  const advice = `Keep it short: about ${WORDS_READ} words.`;
  const count = prompt.split(/\s+/).filter(Boolean).length;
  return count > WORDS_READ ? `${advice} Yours has ${formatNumber(count)}.` : advice;
}

/** Returns the help below a prompt. An editor always has a line, because its provider is known late. */
export function promptHelp(
  prompt: string,
  { edits, isStarter }: { edits: boolean; isStarter: boolean },
): string | undefined {
  if (isStarter) return shortPromptHelp(prompt);
  return edits ? 'Describe the change in one sentence.' : undefined;
}

/**
 * Returns a placeholder that suggests what the model can do: the starters know single objects and no people.
 * It fits one line on a phone, because the field grows with its text.
 */
export function promptPlaceholder({
  edits,
  isStarter,
  makes,
}: {
  edits: boolean;
  isStarter: boolean;
  makes: Generator['makes'];
}): string | undefined {
  if (edits) return isStarter ? 'For example: make it blue' : 'What should be different?';
  if (!isStarter) return undefined;
  return makes === 'video' ? 'A red apple moves up' : 'A red apple on grass';
}
