/** A query cannot be answered: the sentence that its author reads. */
export class RefusedQuery extends Error {}

/** What DuckDB's errors begin with. */
const KIND = /^(?:Failed to extract statements: )?(INTERRUPT|[A-Z][A-Za-z]*( [A-Za-z]+)*) Error: /;
const SENTENCE_CHARS_MAX = 2_000;

/**
 * An error of DuckDB as its sentence, with the line of the query that it is about, and without the places of this
 * machine and advice that its settings need. Null for any other error.
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
