import { toReadableSchema } from './readable-schema.ts';

type Fields = Record<string, unknown>;

export type Tool = { name: string; description: string | null; parameters: Fields; strict: boolean };

/** `required`: the answer must call one of `callable`, or several if `isMany`. */
export type AskedTools = { tools: Tool[]; choice: 'auto' | 'required'; callable: Tool[]; isMany: boolean };

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

/** A function without parameters accepts no arguments. */
const NOTHING: Fields = { type: 'object', properties: {}, additionalProperties: false };

/** Returns the tools that the model may call; null if there are none. */
export function toolsOf(body: Fields): AskedTools | null {
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
    // A model with required calls would not stop calling, so several calls must be requested explicitly.
    const isMany = isAuto ? parallel !== false : parallel === true;
    return { tools, choice: isAuto ? 'auto' : 'required', callable: tools, isMany };
  }
  const callable = tools.filter(({ name }) => name === choice.function.name);
  return { tools, choice: 'required', callable, isMany: false };
}

/** Returns a tool for the model server. `isRead`: llama.cpp compiles its parameters into a grammar. */
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
