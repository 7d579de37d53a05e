import { checkSchema } from '../body/check-schema.ts';

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/** The maximum repetition count in llama.cpp's grammars. */
const COUNT_MAX = 1_000;

/** The schema of a function without parameters: it accepts no arguments. */
const NOTHING: Fields = { type: 'object', properties: {}, additionalProperties: false };

type Fields = Record<string, unknown>;

export type Tool = { name: string; description: string | null; parameters: Fields; strict: boolean };

/** If `choice` is 'required', the answer must call one of `callable`, or at least one if `isMany`. */
export type CallableTools = { tools: Tool[]; choice: 'auto' | 'required'; callable: Tool[]; isMany: boolean };

/** The tool fields of a chat, validated by the contract. */
export type ToolsBody = {
  tools?:
    | {
        function: {
          name: string;
          description?: string | null;
          parameters?: Fields | null;
          strict?: boolean | null;
        };
      }[]
    | null;
  tool_choice?: string | { function: { name: string } } | null;
  parallel_tool_calls?: boolean | null;
  response_format?: { type: string } | null;
};

/** Returns the tools that the model may call; null if there are none. */
export function toolsOf(body: Fields): CallableTools | null {
  const { tools: sent, tool_choice: choice, parallel_tool_calls: parallel } = body as ToolsBody;
  if (!sent?.length || choice === 'none') return null;
  const tools = sent.map(({ function: { name, description, parameters, strict } }) => ({
    name,
    description: description ?? null,
    parameters: parameters && Object.keys(parameters).length > 0 ? parameters : NOTHING,
    strict: strict === true,
  }));
  if (typeof choice !== 'object' || choice === null) {
    const isAuto = choice !== 'required';
    // With required calls, the grammar lets a model call again and again. Allow several calls only on
    // request.
    const isMany = isAuto ? parallel !== false : parallel === true;
    return { tools, choice: isAuto ? 'auto' : 'required', callable: tools, isMany };
  }
  const callable = tools.filter(({ name }) => name === choice.function.name);
  return { tools, choice: 'required', callable, isMany: false };
}

/**
 * Returns a tool in the model server's format. `isRead` is true if llama.cpp compiles its parameters into a
 * grammar.
 */
export function toServerTool(
  { name, description, parameters }: Tool,
  { isRead }: { isRead: boolean },
): object {
  return {
    type: 'function',
    function: {
      name,
      ...(description !== null && { description }),
      parameters: isRead ? toReadableSchema(parameters) : parameters,
    },
  };
}

type ReadableSchemaFields = Record<string, unknown>;

/**
 * Removes the parts of an optional tool's schema that llama.cpp cannot read. If the grammar would still stall
 * a shared server, replaces the schema by a description in words.
 */
function toReadableSchema(schema: ReadableSchemaFields): ReadableSchemaFields {
  const readable = read(schema, schema) as ReadableSchemaFields;
  if (checkSchema(readable) === null) return readable;
  const { description } = schema;
  const words = `JSON Schema: ${JSON.stringify(schema)}`;
  return {
    type: 'object',
    description: typeof description === 'string' ? `${description}\n${words}` : words,
  };
}

function read(value: unknown, root: ReadableSchemaFields): unknown {
  if (Array.isArray(value)) return value.map((inner) => read(inner, root));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value as ReadableSchemaFields).filter(([name, inner]) =>
    isReadable(name, inner, root),
  );
  return Object.fromEntries(kept.map(([name, inner]) => [name, read(inner, root)]));
}

function isReadable(name: string, value: unknown, root: ReadableSchemaFields): boolean {
  // Here `name` is the name of a property, not of a keyword, because its value is a schema.
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return true;
  if (name === '$ref') return typeof value !== 'string' || isKnown(value, root);
  if (name === 'type') return [value].flat().every((type) => types.has(String(type)));
  if (['anyOf', 'oneOf', 'allOf', 'enum'].includes(name)) return Array.isArray(value) && value.length > 0;
  if (['minLength', 'maxLength', 'minItems', 'maxItems'].includes(name))
    return typeof value === 'number' && value <= COUNT_MAX;
  return true;
}

function isKnown(reference: string, root: ReadableSchemaFields): boolean {
  if (!reference.startsWith('#/')) return false;
  let at: unknown = root;
  for (const name of reference.slice(2).split('/'))
    at = (at as ReadableSchemaFields | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')];
  return typeof at === 'object' && at !== null;
}
