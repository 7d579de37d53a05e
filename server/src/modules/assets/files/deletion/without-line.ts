/** Removes lines with this `file_name` from the metadata of pictures. All other bytes stay the same. */
export function withoutLine(metadata: Buffer, path: string): Buffer {
  // Decode one character per byte to preserve invalid UTF-8.
  const lines = metadata.toString('latin1').split(/(?<=\n)/);
  return Buffer.from(lines.filter((line) => nameIn(line) !== path).join(''), 'latin1');
}

function nameIn(line: string): unknown {
  try {
    const row: unknown = JSON.parse(Buffer.from(line, 'latin1').toString());
    return typeof row === 'object' && row !== null && 'file_name' in row ? row.file_name : null;
  } catch {
    return null;
  }
}
