type Row = { expected: string; base: string; tuned: string };

/** Whether an answer says what the row says, however it is spaced and whether in capitals. */
export function isExpected(answer: string, expected: string): boolean {
  return plain(answer) === plain(expected);
}

/** 'Word-for-word matches: 3 by this model, none by the base model.'; empty where neither says any. */
export function countExpected(rows: readonly Row[]): string {
  const right = (of: 'base' | 'tuned') => rows.filter((row) => isExpected(row[of], row.expected)).length;
  const [base, tuned] = [right('base'), right('tuned')];
  if (base === 0 && tuned === 0) return '';
  return `Word-for-word matches: ${tuned || 'none'} by this model, ${base || 'none'} by the base model.`;
}

function plain(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}
