/** What a browser shows in its place and runs nothing of. */
const inlineTypes: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
};

/** What is saved under its own type. Pages, and pictures that may hold scripts (SVG), are not among them. */
const saved: Record<string, string> = {
  txt: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  tsv: 'text/tab-separated-values; charset=utf-8',
  json: 'application/json',
  jsonl: 'application/jsonl',
  ndjson: 'application/x-ndjson',
  jsonlines: 'application/jsonl',
  parquet: 'application/vnd.apache.parquet',
};

const UNKNOWN = 'application/octet-stream';

/** The type of a file by its name, as far as it is one that cannot do harm; and whether browsers may show it. */
export function contentTypeOf(path: string): { contentType: string; canBeInline: boolean } {
  const extension = path.split('.').at(-1)?.toLowerCase() ?? '';
  const canBeInline = Object.hasOwn(inlineTypes, extension);
  if (canBeInline) return { contentType: inlineTypes[extension] ?? UNKNOWN, canBeInline };
  const contentType = Object.hasOwn(saved, extension) ? (saved[extension] ?? UNKNOWN) : UNKNOWN;
  return { contentType, canBeInline };
}
