import { checkSchema } from '../body/check-schema.ts';

type Fields = Record<string, unknown>;

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);
/** The maximum repetition in llama.cpp's grammars. */
const COUNT_MAX = 1_000;

/**
 * Removes what llama.cpp cannot read from the schema of a tool with optional calls. If the grammar would
 * stall a shared server, the schema is described to the model in words instead.
 */
export function toReadableSchema(schema: Fields): Fields {
  const readable = read(schema, schema) as Fields;
  if (checkSchema(readable) === null) return readable;
  const { description } = schema;
  const words = `JSON Schema: ${JSON.stringify(schema)}`;
  return {
    type: 'object',
    description: typeof description === 'string' ? `${description}\n${words}` : words,
  };
}

function read(value: unknown, root: Fields): unknown {
  if (Array.isArray(value)) return value.map((inner) => read(inner, root));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value as Fields).filter(([name, inner]) => isReadable(name, inner, root));
  return Object.fromEntries(kept.map(([name, inner]) => [name, read(inner, root)]));
}

function isReadable(name: string, value: unknown, root: Fields): boolean {
  // The name belongs to a property, whose value is a schema.
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return true;
  if (name === '$ref') return typeof value !== 'string' || isKnown(value, root);
  if (name === 'type') return [value].flat().every((type) => types.has(String(type)));
  if (['anyOf', 'oneOf', 'allOf', 'enum'].includes(name)) return Array.isArray(value) && value.length > 0;
  if (['minLength', 'maxLength', 'minItems', 'maxItems'].includes(name))
    return typeof value === 'number' && value <= COUNT_MAX;
  return true;
}

function isKnown(reference: string, root: Fields): boolean {
  if (!reference.startsWith('#/')) return false;
  let at: unknown = root;
  for (const name of reference.slice(2).split('/'))
    at = (at as Fields | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')];
  return typeof at === 'object' && at !== null;
}
