import path from 'node:path/posix';

/** A line of metadata.jsonl, which describes one picture. */
export type CaptionLine = { line: number; path: string; text: string; isEdit: boolean };

/**
 * Returns the pictures that a metadata.jsonl lists. If a line is invalid, returns an error message with its
 * number. Keep in step with the runtime's captioned.py.
 */
export function readCaptionLines(content: string, fileName: string): CaptionLine[] | string {
  const found: CaptionLine[] = [];
  for (const [at, text] of linesOf(content).entries()) {
    if (text.trim() === '') continue;
    const row = parseRow(text);
    const where = `Line ${at + 1} of ${fileName}`;
    if (row === null) return `${where} is not a JSON object`;
    if (typeof row.file_name !== 'string' || row.file_name === '') return `${where} has no file_name`;
    if (row.text !== undefined && typeof row.text !== 'string')
      return `${where} has a text that is not a string`;
    found.push({
      line: at + 1,
      path: path.join(path.dirname(fileName), row.file_name),
      text: words(row.text ?? ''),
      isEdit: typeof row.source === 'string',
    });
  }
  return found;
}

/**
 * Returns the file with these lines changed, and with new lines for pictures without one. All other lines
 * stay the same.
 */
export function writeCaptionLines(
  content: string,
  fileName: string,
  changes: readonly { line: number | null; path: string; text: string }[],
): string {
  const lines = linesOf(content);
  while (lines.at(-1)?.trim() === '') lines.pop();
  for (const { line, path: picture, text } of changes) {
    if (line === null) {
      if (words(text) === '') continue;
      const file_name = path.relative(path.dirname(fileName), picture);
      lines.push(JSON.stringify({ file_name, text: words(text) }));
    } else {
      const row = parseRow(lines[line - 1] ?? '');
      lines[line - 1] = JSON.stringify({ ...row, text: words(text) });
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Returns the caption as a single line. */
export function words(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(' ');
}

function linesOf(content: string): string[] {
  return content.replace(/^\uFEFF/, '').split(/\r?\n/);
}

function parseRow(text: string): Record<string, unknown> | null {
  try {
    const row: unknown = JSON.parse(text);
    return typeof row === 'object' && row !== null && !Array.isArray(row)
      ? (row as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
