import { TAG_LENGTH_MAX } from '@bakehouse/contract/limits';
import { lengthProblem } from './text-problem.ts';

/** Returns the validation error for the tags of a `TagInput`, if any. */
export function tagsProblem(tags: readonly string[]): string | undefined {
  return tags.map((tag) => lengthProblem('A tag', tag, TAG_LENGTH_MAX)).find(Boolean);
}
