import { CALL_NAME_LENGTH_MAX } from '@bakehouse/contract/fields/model-name';

/** What is left of the contract's length is for a number behind it. */
const LENGTH_MAX = CALL_NAME_LENGTH_MAX - 10;

/** Letters that stay words without their accents; those of other scripts become others, or none. */
const bare = /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]\p{M}*)\p{M}/gu;
/** Marks on what is no letter, as of emoji, and what only chooses the look of one. */
const noPart = /(?<![\p{L}\p{M}])\p{M}+|\p{Variation_Selector}/gu;

/** A title as the name for `model` in OpenAI-style calls: 'My Bot (v2)' -> 'my-bot-v2'. */
export function toModelName(title: string): string {
  const name = title
    .normalize('NFKD')
    .replace(bare, '')
    .replace(noPart, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}.]+/gu, '-')
    // As the contract reads a name that is asked for.
    .normalize('NFKC')
    .slice(0, LENGTH_MAX)
    // Half of a character, where that cut one.
    .replace(/\p{Surrogate}$/u, '')
    .replace(/^[-.]+|[-.]+$/g, '');
  return name || 'model';
}

/** The name, or the first of name-2, name-3 … that is not taken. */
export function freeModelName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
  }
}
