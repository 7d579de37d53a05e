import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { FileRow } from '../queries.ts';

/** Far more than people write before the text of a card: parsing it keeps the process from all else. */
export const METADATA_BYTES_MAX = 64 * 1024;
/** With the lines of dashes around it. */
const HEAD_BYTES_MAX = METADATA_BYTES_MAX + 1024;
/** So that a card of a few lines does not become one of gigabytes. */
const ALIASES_MAX = 100;

export type CardData = Record<string, unknown>;

/** The metadata at the beginning of a card; null where it has none that can be read. */
export async function readCardData(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  card: FileRow | undefined,
): Promise<CardData | null> {
  if (!card || card.size_bytes === 0n) return null;
  const range = { start: 0, end: Math.min(Number(card.size_bytes), HEAD_BYTES_MAX) - 1 };
  try {
    return parseCardData(await text(await readBlob(services, { ...card, range })));
  } catch (error) {
    // The bytes are damaged; all else can be said of the repository.
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** The metadata that stands between two lines of dashes, null where there is none that can be read. Pure. */
export function parseCardData(card: string): CardData | null {
  const metadata = frontMatterOf(card);
  if (metadata === null || isLongMetadata(metadata)) return null;
  try {
    // By way of JSON: what names itself within itself cannot be sent.
    const parsed: unknown = JSON.parse(JSON.stringify(parseMetadata(metadata)));
    return z.record(z.string(), z.unknown()).safeParse(parsed).data ?? null;
  } catch {
    return null;
  }
}

/** Whether it is more than is parsed. Pure. */
export function isLongMetadata(metadata: string): boolean {
  return Buffer.byteLength(metadata) > METADATA_BYTES_MAX;
}

/** Throws what is wrong with YAML. Of a name that stands there twice the last counts: to look for it takes the square of their number. Pure. */
export function parseMetadata(metadata: string): unknown {
  return parse(metadata, { maxAliasCount: ALIASES_MAX, uniqueKeys: false });
}

/** The text of the metadata; null where a card has none. Pure. */
export function frontMatterOf(card: string): string | null {
  return /^\uFEFF?\s*---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(\r?\n|$)/.exec(card)?.[1] ?? null;
}
