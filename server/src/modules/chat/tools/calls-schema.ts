import type { Tool } from './asked-tools.ts';

type Fields = Record<string, unknown>;

/** Calls in one answer that is made to call; a model that may go on seldom ends by itself. */
const CALLS_MAX = 8;

/**
 * The JSON Schema of an answer that is a call, or a list of calls: the name of a function, then what it takes. A
 * grammar binds the model to it from the first token on, where llama.cpp's own for tools lets it talk before it
 * calls. Pure.
 */
export function callsSchema(tools: Tool[], { isMany }: { isMany: boolean }): object {
  const calls = tools.map(({ name }, index) => ({
    type: 'object',
    properties: { name: { const: name }, arguments: { $ref: `#/$defs/${index}` } },
    required: ['name', 'arguments'],
    additionalProperties: false,
  }));
  const [only] = calls;
  const call = calls.length === 1 && only ? only : { anyOf: calls };
  const schema = isMany ? { type: 'array', items: call, minItems: 1, maxItems: CALLS_MAX } : call;
  const parameters = tools.map((tool, index) => [index, moved(tool.parameters, `#/$defs/${index}`)]);
  return { ...schema, $defs: Object.fromEntries(parameters) };
}

/** A schema that is not the whole any more: what it refers to of itself is found from its new place. */
function moved(schema: unknown, place: string): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => moved(inner, place));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema as Fields).map(([name, value]) => [
      name,
      name === '$ref' && typeof value === 'string' ? value.replace(/^#/, place) : moved(value, place),
    ]),
  );
}
