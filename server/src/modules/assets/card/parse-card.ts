import { type CST, Parser, parseDocument } from 'yaml';
import * as z from 'zod';
import { findUnstorable } from '../../../platform/db/storable-text.ts';

/** Far more than people write by hand. */
export const METADATA_BYTES_MAX = 64 * 1024;
/** The metadata plus the lines of dashes around it. */
export const HEAD_BYTES_MAX = METADATA_BYTES_MAX + 1024;
const NODES_MAX = 20_000;
const DEPTH_MAX = 64;
const ALIASES_MAX = 100;
/** Limited separately, because each alias repeats its value in the JSON. */
const JSON_CHARS_MAX = 4 * METADATA_BYTES_MAX;
const TAG = /^!!(?:str|int|float|bool|null|map|seq)$/;

export type CardData = Record<string, unknown>;
/**
 * `problem` explains why the metadata cannot be parsed. If both fields are null, the card has no metadata.
 */
export type ParsedCard = { data: CardData | null; problem: string | null };

/** Returns the YAML between the two lines of dashes at the start of a card. */
export function frontMatterOf(card: string): string | null {
  return /^\uFEFF?\s*---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(\r?\n|$)/.exec(card)?.[1] ?? null;
}

/** Parses the metadata of a card. Hostile YAML can take long: call it only in a confined process. */
export function parseMetadata(metadata: string): ParsedCard {
  try {
    const fault = findExcess(metadata);
    if (fault !== null) return { data: null, problem: fault };
    // With unique keys, the parser compares every key with all others.
    const document = parseDocument(metadata, { uniqueKeys: false, logLevel: 'silent' });
    if (document.errors[0]) throw document.errors[0];
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    return value === null ? { data: null, problem: null } : toData(value);
  } catch (error) {
    const problem = error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it is not YAML';
    return { data: null, problem };
  }
}

function toData(value: unknown): ParsedCard {
  const toFailure = (problem: string) => ({ data: null, problem });
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    return toFailure('it contains itself');
  }
  if (json.length > JSON_CHARS_MAX) return toFailure('its aliases repeat too much');
  const { data } = z.record(z.string(), z.unknown()).safeParse(JSON.parse(json));
  if (!data) return toFailure('it has to be names and values');
  return findUnstorable(data)
    ? toFailure('it has characters that cannot be stored')
    : { data, problem: null };
}

/**
 * Returns why the YAML is rejected before it is composed, or null. Composing is slow and recursive, and logs
 * warnings about unknown tags.
 */
function findExcess(metadata: string): string | null {
  let nodes = 0;
  const open: { token: CST.Token; depth: number }[] = [];
  for (const token of new Parser().parse(metadata)) open.push({ token, depth: 0 });
  for (let next = open.pop(); next; next = open.pop()) {
    const { token, depth } = next;
    nodes += 1;
    if (nodes > NODES_MAX) return `it may have at most ${NODES_MAX} values`;
    if (depth > DEPTH_MAX) return `it may be at most ${DEPTH_MAX} levels deep`;
    if (token.type === 'document') {
      const tag = findTag(token.start);
      if (tag) return tag;
      if (token.value) open.push({ token: token.value, depth: depth + 1 });
    }
    if (!('items' in token)) continue;
    for (const { start, key, sep, value } of token.items) {
      const tag = findTag(start) ?? findTag(sep ?? []);
      if (tag) return tag;
      for (const inner of [key, value]) if (inner) open.push({ token: inner, depth: depth + 1 });
    }
  }
  return null;
}

function findTag(tokens: CST.SourceToken[]): string | null {
  const tag = tokens.find(({ type, source }) => type === 'tag' && !TAG.test(source));
  return tag ? `the tag ${tag.source.slice(0, 50)} is not known` : null;
}
