type Row = { expected: string; base: string; tuned: string };

/** Returns true if an answer matches the row's, ignoring whitespace and case. */
export function isExpected(answer: string, expected: string): boolean {
  return plain(answer) === plain(expected);
}

/**
 * Returns a summary such as 'Word-for-word matches: 3 by this model, none by the base model.'; empty if there
 * are none.
 */
export function countExpected(rows: readonly Row[]): string {
  const right = (of: 'base' | 'tuned') => rows.filter((row) => isExpected(row[of], row.expected)).length;
  const [base, tuned] = [right('base'), right('tuned')];
  if (base === 0 && tuned === 0) return '';
  return `Word-for-word matches: ${tuned || 'none'} by this model, ${base || 'none'} by the base model.`;
}

function plain(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}
