import { CALL_NAME_LENGTH_MAX } from '@bakehouse/contract/fields/model-name';

/** Leaves room for a numeric suffix within the contract's length. */
const LENGTH_MAX = CALL_NAME_LENGTH_MAX - 10;

/** Accents of Latin, Greek and Cyrillic can be dropped; in other scripts marks change the word. */
const bare = /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]\p{M}*)\p{M}/gu;
/** Marks on characters other than letters, e.g. emoji, and variation selectors. */
const noPart = /(?<![\p{L}\p{M}])\p{M}+|\p{Variation_Selector}/gu;

/** A title as the name for `model` in OpenAI-style calls: 'My Bot (v2)' -> 'my-bot-v2'. */
export function toModelName(title: string): string {
  const name = title
    .normalize('NFKD')
    .replace(bare, '')
    .replace(noPart, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}.]+/gu, '-')
    // The form to which the contract normalizes requested names.
    .normalize('NFKC')
    .slice(0, LENGTH_MAX)
    // Half of a surrogate pair that the slice split.
    .replace(/\p{Surrogate}$/u, '')
    .replace(/^[-.]+|[-.]+$/g, '');
  return name || 'model';
}

/** Returns the name, or the first of name-2, name-3 … that is free. */
export function freeModelName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
  }
}
