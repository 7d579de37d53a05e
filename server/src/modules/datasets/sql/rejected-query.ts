/** A query cannot be answered. The message is for the user who wrote it. */
export class RejectedQuery extends Error {}

/** Prefix of DuckDB's errors. */
const KIND = /^(?:Failed to extract statements: )?(INTERRUPT|[A-Z][A-Za-z]*( [A-Za-z]+)*) Error: /;
const SENTENCE_CHARS_MAX = 2_000;

/**
 * Returns the message of a DuckDB error, with the affected line of the query, but without local paths and
 * advice about settings. Null for any other error.
 */
export function sentenceOf(error: unknown, { seconds, megabytes, folder }: Limits): string | null {
  if (!(error instanceof Error)) return null;
  const { message } = error;
  const [, kind] = KIND.exec(message) ?? [];
  if (kind === undefined) return null;
  if (kind === 'INTERRUPT')
    return `The query was stopped after ${seconds} ${seconds === 1 ? 'second' : 'seconds'}. Read fewer rows, or add a LIMIT.`;
  if (kind === 'Out of Memory')
    return `The query needs more than ${megabytes} MB of memory. Select fewer columns or rows, or aggregate them first.`;
  const [first = '', ...parts] = message.split('\n\n');
  const line = parts.find((part) => part.startsWith('LINE '));
  return [first.trim(), ...(line ? [line.trimEnd()] : [])]
    .join('\n\n')
    .replace('Failed to extract statements: ', '')
    .replaceAll(`${folder}/`, '')
    .slice(0, SENTENCE_CHARS_MAX);
}

type Limits = { seconds: number; megabytes: number; folder: string };
