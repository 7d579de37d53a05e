import type { Endpoint } from '@bakehouse/contract/endpoint';
import { BODY_BYTES_MAX } from '@bakehouse/contract/endpoint';
import * as z from 'zod';

/** Upper limit of a body's size, because sending the largest files would take too long. */
const FILE_BYTES = 16 * 1024 * 1024;
/** Less than the limit that parsers have for a single field. */
const PARSED_BYTES = 60_000;
const FILE_NAMES = ['README.md', 'rows.jsonl', 'notes.txt'];

/** Texts that are slow to parse: a prefix, a unit to repeat, and a suffix. */
const fillings = {
  'line breaks': ['', '\n', ''],
  'deep nesting': ['', '[', ''],
  'one string': ['', 'a', ''],
  numbers: ['[', '0,', '0]'],
  'YAML tags': ['---\n', '- !x 1\n', '---\n'],
  'YAML nesting': ['---\na: ', '[', '\n---\n'],
  'Unicode separators': ['', '\u2028\u2029', ''],
  surrogates: ['', '\ud800', ''],
  NUL: ['', '\0', ''],
  'byte order marks': ['', '\ufeff', ''],
} as const satisfies Record<string, [string, string, string]>;

/** Texts for fields with a pattern, such as a hash or a short name. */
const WORDS = ['a'.repeat(40), 'a'.repeat(64), 'a'];

export type HostileBody = { name: string; body: string | FormData; type: string | null };
type Schema = z.core.JSONSchema.JSONSchema;

/** Yields bodies of the endpoint's maximum size, one for each kind of hostile text. Uses `ids` for UUIDs. */
export function* hostileBodies(endpoint: Endpoint, ids: string): Generator<HostileBody> {
  const { upload, body, bodyBytesMax = BODY_BYTES_MAX } = endpoint;
  const schema = body && inputSchema(body);
  if (schema?.properties?.messages) yield* manyParts('messages');
  if (schema?.properties?.max_output_tokens) yield* manyParts('input');
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
        // Leave space for the other fields.
        const text = fill((0.9 * bytes) / Math.max(1, strings), unitBytes);
        const value = sample(schema, ({ maxLength }) => text.slice(0, maxLength), ids);
        const fields = `${name} in fields of ${bytes} bytes`;
        yield { name: fields, body: JSON.stringify(value), type: 'application/json' };
      }
    }
  }
}

/** Yields chats with as many valid or invalid content parts as a body may have: in one turn, or in many. */
function* manyParts(field: 'messages' | 'input'): Generator<HostileBody> {
  const kinds = { valid: [{ type: 'text', text: '' }, 7_000], invalid: [{}, 24_000] } as const;
  for (const [kind, [part, most]] of Object.entries(kinds))
    for (const turns of [1, 500]) {
      const content = Array.from({ length: Math.floor(most / (turns * 1.2)) }, () => part);
      const messages = Array.from({ length: turns }, () => ({ role: 'user', content }));
      const value = { model: 'a', max_tokens: 1, [field]: messages };
      const name = `${kind} parts in ${turns} turns`;
      yield { name, body: JSON.stringify(value), type: 'application/json' };
    }
}

/** Removes the names of schemas, so that the JSON Schema contains no references. */
const metadata = {
  get: (type: z.ZodType) => ({ ...z.globalRegistry.get(type), id: undefined }),
} as typeof z.globalRegistry;

/**
 * Returns the JSON Schema of a body. If the schema accepts any input and pipes it into another schema,
 * returns that one's.
 */
function inputSchema(type: z.core.$ZodType): Schema {
  return z.toJSONSchema(type, {
    io: 'input',
    metadata,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      const isOfAnything =
        def.type === 'pipe' && Object.keys(jsonSchema.properties ?? { any: {} }).length === 0;
      if (isOfAnything) Object.assign(jsonSchema, inputSchema(def.out));
    },
  });
}

function form(
  { part, fields }: Exclude<Endpoint['upload'], 'bytes' | undefined>,
  name: string,
  text: string,
): FormData {
  const all = new FormData();
  const values = fields ? sample(z.toJSONSchema(fields, { io: 'input', metadata }), () => 'a', 'a') : {};
  for (const [key, value] of Object.entries(Object(values))) all.set(key, String(value));
  all.set(part, new Blob([text]), name);
  return all;
}

/** Returns a value that matches the schema, with `text` as its strings. */
function sample(schema: Schema | boolean, text: (schema: Schema) => string, ids: string): unknown {
  if (typeof schema === 'boolean') return text({});
  const one = schema.anyOf?.[0] ?? schema.oneOf?.[0] ?? schema.allOf?.[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (one) return sample(one, text, ids);
  switch (schema.type) {
    case 'object':
      if (schema.properties === undefined) return sampleMap(schema, text, ids);
      return Object.fromEntries(
        Object.entries(schema.properties).map(([name, field]) => [name, sample(field, text, ids)]),
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

/** A map gets one entry. Maps with unknown values are JSON Schemas within bodies. */
function sampleMap(
  { additionalProperties: values }: Schema,
  text: (schema: Schema) => string,
  ids: string,
): object {
  if (typeof values === 'object' && Object.keys(values).length > 0) return { a: sample(values, text, ids) };
  const [one, two] = [text({}), text({})];
  const property = { type: 'string', description: one, pattern: two };
  return { type: 'object', properties: { a: property }, required: ['a'], additionalProperties: false };
}

/** True if the word matches the field's format or pattern. Otherwise the other fields would not be parsed. */
function isOf({ pattern }: Schema, word: string): boolean {
  return pattern !== undefined && new RegExp(pattern, 'u').test(word);
}
