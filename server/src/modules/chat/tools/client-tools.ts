import { createHash } from 'node:crypto';
import { invalidParam } from '../../../platform/errors.ts';

/** A tool's name as the client sent it. */
export type ToolName = { type: string; name: string; namespace?: string | null | undefined };
/** A tool offered to the model, from any endpoint. `place` is the tool's field in the sent body. */
export type OfferedTool = {
  place: string;
  type: string;
  name: string;
  namespace?: string;
  description?: string | null | undefined;
  parameters?: Record<string, unknown> | null | undefined;
  strict?: boolean | null | undefined;
  format?: unknown;
};
type FunctionTool = {
  type: 'function';
  function: Pick<OfferedTool, 'name' | 'description' | 'parameters' | 'strict'>;
};

export type OfferedTools = {
  /** All offered tools, converted into functions. */
  tools: FunctionTool[];
  /** The field of the sent body for each tool. */
  places: string[];
  /** Maps function names to the client's names, for tools that were renamed or are custom tools. */
  clientTools: Map<string, ToolName>;
  /** Warnings about tools that were dropped or changed. */
  warnings: string[];
};

const NAME_LENGTH_MAX = 64;
/** The parameters of the function for a custom tool: the tool's text is its only argument. */
const TEXT_PARAMETERS = {
  ...{ type: 'object', required: ['input'], additionalProperties: false },
  properties: { input: { type: 'string' } },
};

/**
 * Converts tools into functions, because model servers support nothing else. A custom tool becomes a function
 * with one text argument. The function of a namespaced tool has the namespace in its name. Tools of other
 * types are dropped, because this server runs none. `allowed` limits the offered tools. Throws AppError
 * 'invalid_request' if an allowed tool is missing.
 */
export function offerTools(asked: OfferedTool[], allowed: ToolName[] | null): OfferedTools {
  const isOffered = ({ type }: OfferedTool) => type === 'function' || type === 'custom';
  const names = allowed && new Set(allowed.map(functionNameOf));
  const offered = asked.filter((tool) => isOffered(tool) && (!names || names.delete(functionNameOf(tool))));
  const [missing] = names ?? [];
  if (missing !== undefined)
    throw invalidParam('tool_choice', `tool_choice: there is no '${missing}' in 'tools'`);
  const ignored = new Set(asked.filter((tool) => !isOffered(tool)).map(({ type }) => type.slice(0, 64)));
  const free = offered.filter(({ format }) => grammarOf(format) !== null);
  return {
    tools: offered.map(toFunctionTool),
    places: offered.map(({ place }) => place),
    clientTools: new Map(
      offered
        .filter(({ type, namespace }) => type === 'custom' || namespace !== undefined)
        .map((tool) => [functionNameOf(tool), tool]),
    ),
    warnings: [
      ...(ignored.size > 0 ? [`ignored tools: ${[...ignored].join(', ')}`] : []),
      ...free.map(({ place }) => `${place}.format is passed to the model but not enforced`),
    ],
  };
}

/** Returns the function name of a tool. */
export function functionNameOf({ name, namespace }: Pick<ToolName, 'name' | 'namespace'>): string {
  const whole = namespace ? `${namespace}__${name}` : name;
  if (whole.length <= NAME_LENGTH_MAX) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${whole.slice(0, NAME_LENGTH_MAX - 9)}_${hash}`;
}

/** Returns the function arguments for a custom tool's text. */
export function toArguments(input: string): string {
  return JSON.stringify({ input });
}

/** Returns a custom tool's text, or the undecoded arguments if the call was truncated. */
export function toInput(written: string): string {
  try {
    const { input } = JSON.parse(written) as { input?: unknown };
    return typeof input === 'string' ? input : written;
  } catch {
    return written;
  }
}

function toFunctionTool(tool: OfferedTool): FunctionTool {
  const { type, description, parameters, strict, format } = tool;
  const name = functionNameOf(tool);
  if (type === 'function') return { type, function: { name, description, parameters, strict } };
  const words = [description, grammarOf(format)].filter(Boolean).join('\n\n');
  return {
    type: 'function',
    function: { name, description: words, parameters: TEXT_PARAMETERS },
  };
}

/** Describes the grammar of a custom tool. Chats nest it one level deeper. */
function grammarOf(format: unknown): string | null {
  const { grammar, ...flat } = (format ?? {}) as { grammar?: object; definition?: unknown };
  const { syntax, definition } = { ...flat, ...grammar } as { syntax?: unknown; definition?: unknown };
  if (typeof definition !== 'string') return null;
  return `The input follows this grammar (${String(syntax)}):\n${definition}`;
}
