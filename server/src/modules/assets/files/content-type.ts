/** Types that a browser shows inline without running code. */
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

/** Types for saving only. Excludes pages, and pictures that may contain scripts (SVG). */
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

/** Returns a file's type by its name if it is harmless, and whether browsers may show it. */
export function contentTypeOf(path: string): { contentType: string; canBeInline: boolean } {
  const extension = path.split('.').at(-1)?.toLowerCase() ?? '';
  const canBeInline = Object.hasOwn(inlineTypes, extension);
  if (canBeInline) return { contentType: inlineTypes[extension] ?? UNKNOWN, canBeInline };
  const contentType = Object.hasOwn(saved, extension) ? (saved[extension] ?? UNKNOWN) : UNKNOWN;
  return { contentType, canBeInline };
}

/** Returns the header with the name under which a file is saved. */
export function contentDisposition(type: 'attachment' | 'inline', path: string): string {
  return `${type}; filename*=UTF-8''${encodeFileName(path.split('/').at(-1) ?? path)}`;
}

/** RFC 8187: escapes what encodeURIComponent leaves unescaped but the header reserves. */
function encodeFileName(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
