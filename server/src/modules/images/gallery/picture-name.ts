const WORDS_MAX = 48;

/**
 * A readable name for the file of a picture, by its prompt; the end of its id tells it from others of the same prompt.
 * Pure.
 */
export function pictureName(prompt: string, output: { id: string; media_type: string }): string {
  const words = prompt
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^\p{Letter}\p{Number}]+/gu, '-')
    .slice(0, WORDS_MAX)
    .replace(/^-|[^\p{Letter}\p{Number}]+$/gu, '');
  const extension = output.media_type.split('/').at(-1)?.replace('jpeg', 'jpg');
  return `${words || 'picture'}-${output.id.slice(-12)}.${extension}`;
}
