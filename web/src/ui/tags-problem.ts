import { TAG_LENGTH_MAX } from '@bakehouse/contract/limits';
import { lengthProblem } from './text-problem.ts';

/** What is wrong with the tags of a `TagInput`. */
export function tagsProblem(tags: readonly string[]): string | undefined {
  return tags.map((tag) => lengthProblem('A tag', tag, TAG_LENGTH_MAX)).find(Boolean);
}
