import { CALL_NAME_LENGTH_MAX } from '@bakehouse/contract/fields/model-name';

/** Leaves room for a numeric suffix within the contract's length. */
const LENGTH_MAX = CALL_NAME_LENGTH_MAX - 10;

/** Latin, Greek and Cyrillic accents, which are dropped. In other scripts, a mark changes the word. */
const bare = /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]\p{M}*)\p{M}/gu;
/** Variation selectors, and marks on other characters than letters, e.g. on emoji. */
const noPart = /(?<![\p{L}\p{M}])\p{M}+|\p{Variation_Selector}/gu;

/** Converts a title to a model name for the OpenAI-style APIs: 'My Bot (v2)' -> 'my-bot-v2'. */
export function toModelName(title: string): string {
  const name = title
    .normalize('NFKD')
    .replace(bare, '')
    .replace(noPart, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}.]+/gu, '-')
    // Requested names are normalized to the same form.
    .normalize('NFKC')
    .slice(0, LENGTH_MAX)
    // Drop half of a surrogate pair that the slice has split.
    .replace(/\p{Surrogate}$/u, '')
    .replace(/^[-.]+|[-.]+$/g, '');
  return name || 'model';
}

/** Returns the name if it is free, else the first free one of name-2, name-3, … */
export function freeModelName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
  }
}
