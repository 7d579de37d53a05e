import type { Endpoint } from '@bakehouse/contract/endpoint';
import { BODY_BYTES_MAX } from '@bakehouse/contract/endpoint';
import * as z from 'zod';

/** Files may be larger than what is worth sending. */
const FILE_BYTES = 16 * 1024 * 1024;
/** Parsers of single fields have limits of their own, which lie above this. */
const PARSED_BYTES = 60_000;
const FILE_NAMES = ['README.md', 'rows.jsonl', 'notes.txt'];

/** Texts that parsers stumble over, as they are repeated, and what stands around them. */
const fillings = {
  'line breaks': ['', '\n', ''],
  'deep nesting': ['', '[', ''],
  'one string': ['', 'a', ''],
  'YAML tags': ['---\n', '- !x 1\n', '---\n'],
  'YAML nesting': ['---\na: ', '[', '\n---\n'],
  'Unicode separators': ['', '\u2028\u2029', ''],
  surrogates: ['', '\ud800', ''],
  NUL: ['', '\0', ''],
  'byte order marks': ['', '\ufeff', ''],
} as const satisfies Record<string, [string, string, string]>;

/** Text of fields that have a pattern: a hash, a short name. */
const WORDS = ['a'.repeat(40), 'a'.repeat(64), 'a'];

export type HostileBody = { name: string; body: string | FormData; type: string | null };
type Schema = z.core.JSONSchema.JSONSchema;

/** Bodies of the largest size that the endpoint takes, in each hostile shape. `ids` stand for UUIDs. */
export function* hostileBodies(endpoint: Endpoint, ids: string): Generator<HostileBody> {
  const { upload, body, bodyBytesMax = BODY_BYTES_MAX } = endpoint;
  const schema = body && z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' });
  for (const [name, [before, unit, after]] of Object.entries(fillings)) {
    const fill = (bytes: number, unitBytes = Buffer.byteLength(unit)) =>
      before + unit.repeat(Math.max(0, bytes - before.length - after.length) / unitBytes) + after;
    if (upload === 'bytes') {
      yield { name, body: fill(FILE_BYTES), type: 'application/octet-stream' };
    } else if (upload) {
      for (const file of FILE_NAMES)
        yield { name: `${name} as ${file}`, body: form(upload, file, fill(FILE_BYTES)), type: null };
    } else {
      const closed = '['.repeat(bodyBytesMax / 2) + ']'.repeat(bodyBytesMax / 2);
      yield { name, body: unit === '[' ? closed : fill(bodyBytesMax), type: 'application/json' };
      if (!schema) continue;
      const unitBytes = Buffer.byteLength(JSON.stringify(unit)) - 2;
      const strings = JSON.stringify(sample(schema, () => '§', ids)).split('§').length - 1;
      for (const bytes of new Set([bodyBytesMax, Math.min(bodyBytesMax, PARSED_BYTES)])) {
        // Beside what the other fields take.
        const text = fill((0.9 * bytes) / Math.max(1, strings), unitBytes);
        const value = sample(schema, ({ maxLength }) => text.slice(0, maxLength), ids);
        const fields = `${name} in fields of ${bytes} bytes`;
        yield { name: fields, body: JSON.stringify(value), type: 'application/json' };
      }
    }
  }
}

function form(
  { part, fields }: Exclude<Endpoint['upload'], 'bytes' | undefined>,
  name: string,
  text: string,
): FormData {
  const all = new FormData();
  const values = fields ? sample(z.toJSONSchema(fields, { io: 'input' }), () => 'a', 'a') : {};
  for (const [key, value] of Object.entries(Object(values))) all.set(key, String(value));
  all.set(part, new Blob([text]), name);
  return all;
}

/** A value of the schema with `text` in its strings. */
function sample(schema: Schema | boolean, text: (schema: Schema) => string, ids: string): unknown {
  if (typeof schema === 'boolean') return text({});
  const one = schema.anyOf?.[0] ?? schema.oneOf?.[0] ?? schema.allOf?.[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (one) return sample(one, text, ids);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, field]) => [name, sample(field, text, ids)]),
      );
    case 'array':
      return Array.isArray(schema.items) || schema.items === undefined
        ? []
        : [sample(schema.items, text, ids)];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return [ids, ...WORDS].find((word) => isOf(schema, word)) ?? text(schema);
  }
}

/** Of a format or pattern, so that the fields beside it are reached. */
function isOf({ pattern }: Schema, word: string): boolean {
  return pattern !== undefined && new RegExp(pattern, 'u').test(word);
}
