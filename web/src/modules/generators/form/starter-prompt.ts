import type { Generator } from '@bakehouse/contract/generators/generator';

/** The starter models read 32 tokens; what that is in words depends on the words. */
const WORDS_READ = 20;

/** What the starter makes of a picture: the editor, or the one that a film begins with. */
export function sourceNote({ edits }: { edits: boolean }): string {
  const how = edits ? 'Edited as a 128-pixel' : 'Used as a 64-pixel';
  return `${how} square, cropped around its middle.`;
}

/** What is said under a prompt for a starter model, which refuses longer ones. */
function shortPromptHelp(prompt: string): string {
  const advice = `Keep it short: about ${WORDS_READ} words.`;
  const count = prompt.split(/\s+/).filter(Boolean).length;
  return count > WORDS_READ ? `${advice} Yours has ${count}, which may be too many.` : advice;
}

/** What is said under a prompt: an editor's line keeps its place, since who edits is known late. */
export function promptHelp(
  prompt: string,
  { edits, isStarter }: { edits: boolean; isStarter: boolean },
): string | undefined {
  if (isStarter) return shortPromptHelp(prompt);
  return edits ? 'Say in a sentence what to change.' : undefined;
}

/**
 * An empty prompt shows what its model can do: the starters know single objects, and no people. One line on a phone,
 * because the field is as high as its text.
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
